// Memory of libcommpass-mpi, apart from the heap of the program: a block of ours that outlives a call of the program
// would keep glibc from trimming the program's heap, and a large one that is freed would raise glibc's thresholds.
// LAMMPS ran twice as fast under `commpass record` for that alone. The C++ library is linked statically, so that
// nothing else allocates or frees by these functions.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace {

/// Blocks of powers of 2, cut from one region of addresses and kept for the next block of their size.
class OwnHeap {
 public:
  OwnHeap() {
    // Small enough for limits of virtual memory (ulimit -v); larger requests go to malloc.
    constexpr std::size_t region_max = std::size_t{1} << 28, region_min = std::size_t{1} << 24;
    for (std::size_t bytes = region_max; bytes >= region_min && !begin_; bytes /= 4)
      if (void* const region = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
          region != MAP_FAILED) {  // NOLINT: as POSIX defines it
        begin_ = next_ = usable_ = static_cast<std::byte*>(region);
        end_ = begin_ + bytes;
      }
  }

  /// @return null if the region is full
  void* allocate(std::size_t bytes) {
    if (bytes > SIZE_MAX / 2 - header_bytes) return nullptr;
    const auto size = std::bit_ceil(bytes + header_bytes);
    const auto number = static_cast<std::size_t>(std::countr_zero(size));
    const std::lock_guard lock(mutex_);
    if (auto* const free = free_[number]) {
      free_[number] = free->next;
      return as_block(reinterpret_cast<std::byte*>(free), number);  // NOLINT: its bytes
    }
    if (size > static_cast<std::size_t>(end_ - next_) || !make_usable(next_ + size)) return nullptr;
    next_ += size;
    return as_block(next_ - size, number);
  }

  bool owns(const void* block) const { return block >= begin_ && block < end_; }

  void deallocate(void* block) {
    auto* const begin = static_cast<std::byte*>(block) - header_bytes;
    const auto number = *reinterpret_cast<std::size_t*>(begin);  // NOLINT: its header
    constexpr std::size_t page_bytes = 4096, kept_bytes_max = std::size_t{1} << 16;
    const auto size = std::size_t{1} << number;
    if (size > kept_bytes_max) {  // its pages but for the first, which has the list
      const auto after = (reinterpret_cast<std::uintptr_t>(begin) / page_bytes + 1) * page_bytes;
      madvise(reinterpret_cast<void*>(after), size - page_bytes, MADV_DONTNEED);  // NOLINT: an address
    }
    const std::lock_guard lock(mutex_);
    auto* const free = new (begin) FreeBlock{free_[number]};
    free_[number] = free;
  }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr std::size_t header_bytes = 16, numbers = 64;  // the alignment of malloc

  /// Makes the addresses up to there usable. A program's mlockall locks these alone, not the whole region.
  bool make_usable(const std::byte* end) {
    constexpr std::size_t step_bytes = std::size_t{1} << 20;
    if (end <= usable_) return true;
    const auto wanted = static_cast<std::size_t>(end - usable_);
    const auto bytes =
        std::min((wanted + step_bytes - 1) / step_bytes * step_bytes, static_cast<std::size_t>(end_ - usable_));
    if (mprotect(usable_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    usable_ += bytes;
    return true;
  }

  static void* as_block(std::byte* begin, std::size_t number) {
    new (begin) std::size_t{number};
    return begin + header_bytes;
  }

  std::mutex mutex_ = {};
  std::byte *begin_ = nullptr, *next_ = nullptr, *usable_ = nullptr, *end_ = nullptr;
  std::array<FreeBlock*, numbers> free_ = {};
};

OwnHeap& own_heap() {
  alignas(OwnHeap) static std::array<std::byte, sizeof(OwnHeap)> place;
  static auto& only = *new (place.data()) OwnHeap;  // never destroyed: programs call MPI until the very end
  return only;
}

}  // namespace

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const block = own_heap().allocate(bytes)) return block;
    if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;  // NOLINT: where the region is full
    const auto handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept {
  if (!block) return;
  if (own_heap().owns(block)) own_heap().deallocate(block);
  else std::free(block);  // NOLINT: a text of libfmt, or where the region was full
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
