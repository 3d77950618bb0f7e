#include "runtime/sparse/sparse_frame.hpp"

#include "model/base/error.hpp"

namespace commpass {

std::optional<FramedBlock> next_block(std::span<const std::byte>& rest, int ranks) {
  if (rest.empty()) return {};
  FramedBlock block;
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < ranks; };
  const bool has_header = rest.size() >= sizeof block.header;
  if (has_header) std::memcpy(&block.header, rest.data(), sizeof block.header);
  const auto& [source, destination, bytes] = block.header;
  if (!has_header || !is_rank(source) || !is_rank(destination) || bytes < 0 ||
      bytes > static_cast<Bytes>(rest.size() - sizeof block.header))
    throw Error("sparse exchange: a parcel is damaged; do all ranks run the same version of Commpass?");
  block.bytes = rest.subspan(sizeof block.header, static_cast<std::size_t>(bytes));
  rest = rest.subspan(sizeof block.header + block.bytes.size());
  return block;
}

}  // namespace commpass
