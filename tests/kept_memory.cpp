// Prices of many patterns take and free the same arrays again and again; from the system, memory comes page by page.
#include <malloc.h>

namespace {

[[maybe_unused]] const bool kept =
    mallopt(M_MMAP_THRESHOLD, 1 << 30) && mallopt(M_TRIM_THRESHOLD, 1 << 30) && mallopt(M_TOP_PAD, 16 << 20);

}
