// Parcels of sparse exchanges: an accepted one is blocks between ranks, one after another, that together are the
// parcel.
#include "runtime/sparse/sparse_frame.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    constexpr int ranks = 12;
    auto rest = std::as_bytes(std::span(data, size));
    const auto* end = rest.data();
    while (const auto block = next_block(rest, ranks)) {
      const auto& [source, destination, bytes] = block->header;
      fuzz::expect(source >= 0 && source < ranks && destination >= 0 && destination < ranks &&
                   bytes == std::ssize(block->bytes));
      fuzz::expect(block->bytes.data() == end + sizeof block->header);
      end = block->bytes.data() + bytes;
    }
    fuzz::expect(end == std::as_bytes(std::span(data, size)).data() + size);
  });
}
