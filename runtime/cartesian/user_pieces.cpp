#include "runtime/cartesian/user_pieces.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "runtime/execute/persistent_requests.hpp"

namespace commpass {

std::optional<UserPieces> UserPieces::of(const TypedBlocks& blocks, const void* users) {
  constexpr std::size_t most_user_pieces = std::size_t{1} << 20;
  std::map<std::size_t, std::vector<TypePiece>> by_type;
  struct Found {
    std::uintptr_t address;
    Bytes bytes;
  };
  std::vector<Found> found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& block = blocks[i];
    if (blocks.bytes(i) == 0 || !block.is_first) continue;
    const auto& type = blocks.type(i);
    if (!by_type.contains(block.type)) {
      auto pieces = pieces_of(type);
      if (!pieces) return std::nullopt;
      by_type[block.type] = std::move(*pieces);
    }
    const auto& pieces = by_type[block.type];
    if (found.size() + pieces.size() * static_cast<std::size_t>(block.count) > most_user_pieces) return std::nullopt;
    for (Bytes element = 0; element < block.count; ++element)
      for (const auto& piece : pieces) {
        const auto address = reinterpret_cast<std::uintptr_t>(
            TypedBlocks::address(users, block.offset + element * type.extent() + piece.offset));
        if (!found.empty() && found.back().address + static_cast<std::uintptr_t>(found.back().bytes) == address)
          found.back().bytes += piece.bytes;
        else found.push_back({address, piece.bytes});
      }
  }
  UserPieces result;
  if (found.empty()) return result;
  const auto base = std::ranges::min(found, {}, &Found::address).address;
  result.base_ = reinterpret_cast<std::byte*>(base);  // NOLINT: of the user's memory
  Bytes at = 0;
  for (const auto& [address, bytes] : found) {
    result.parts_.push_back({at, static_cast<Bytes>(address - base), bytes});
    at += bytes;
  }
  return result;
}

std::vector<UserPieces::Part>::const_iterator UserPieces::find(Bytes offset) const {
  return std::prev(std::ranges::upper_bound(parts_, offset, {}, &Part::at));
}

namespace {

class Layer {
 public:
  Layer(Plan& plan, const UserPieces* sends, const UserPieces* receives, const Machine& machine)
      : plan_(plan), sends_(sends), receives_(receives), machine_(machine) {}

  void run() {
    lay_out_self();
    const Bytes forwarded = end_of_forwarded();
    plan_.packing_bytes = 0;
    plan_.transit_bytes = forwarded;
    for (auto& batch : plan_.batches) {
      Bytes packed = 0, landed = forwarded;
      for (auto& message : batch.sends) lay_out(message, Place::Buffer::packing, packed);
      for (auto& message : batch.receives)
        if (message.is_forwarded) lay_out_pieces(message);
        else lay_out(message, Place::Buffer::transit, landed);
      plan_.packing_bytes = std::max(plan_.packing_bytes, packed);
      plan_.transit_bytes = std::max(plan_.transit_bytes, landed);
    }
  }

 private:
  const UserPieces* pieces_in(Place::Buffer buffer) const {
    if (buffer == Place::Buffer::send) return sends_;
    return buffer == Place::Buffer::receive ? receives_ : nullptr;
  }

  std::vector<std::pair<Place, Bytes>> parts_of(const Place& place, Bytes bytes) const {
    const auto* pieces = pieces_in(place.buffer);
    if (!pieces) return {{place, bytes}};
    std::vector<std::pair<Place, Bytes>> parts;
    pieces->for_each(place.offset, bytes, [&](Bytes memory, Bytes taken) {
      parts.push_back({{place.buffer, memory}, taken});
    });
    return parts;
  }

  void lay_out_self() {
    std::vector<PlannedCopy> copies;
    for (const auto& copy : plan_.self) {
      const auto from = parts_of(copy.from, copy.bytes), to = parts_of(copy.to, copy.bytes);
      std::size_t f = 0, t = 0;
      Bytes in_from = 0, in_to = 0;
      while (f < from.size()) {
        const Bytes bytes = std::min(from[f].second - in_from, to[t].second - in_to);
        copies.push_back({{from[f].first.buffer, from[f].first.offset + in_from},
                          {to[t].first.buffer, to[t].first.offset + in_to},
                          bytes});
        if ((in_from += bytes) == from[f].second) ++f, in_from = 0;
        if ((in_to += bytes) == to[t].second) ++t, in_to = 0;
      }
    }
    plan_.self = std::move(copies);
  }

  /// Where what waits to be sent on ends. All else that lands there leaves in the same batch.
  Bytes end_of_forwarded() const {
    Bytes end = 0;
    for (const auto& batch : plan_.batches)
      for (const auto& message : batch.receives)
        if (message.is_forwarded) end = std::max(end, message.place.offset + message.bytes);
    return end;
  }

  void lay_out_pieces(PlannedMessage& message) const {
    std::vector<Piece> pieces;
    for (const auto& piece : message.pieces) {
      Bytes offset = piece.offset;
      for (const auto& [place, bytes] : parts_of(piece.place, piece.bytes)) {
        pieces.push_back({offset, place, bytes});
        offset += bytes;
      }
    }
    message.pieces = std::move(pieces);
  }

  /// @param together  where pieces are brought together, or from where they go to their places, and
  /// @param end       how far that is taken in this batch; a message that stays in pieces takes none
  void lay_out(PlannedMessage& message, Place::Buffer together, Bytes& end) const {
    if (message.pieces.empty()) {
      if (!pieces_in(message.place.buffer)) return;
      message.pieces.push_back({0, message.place, message.bytes});
    }
    lay_out_pieces(message);
    if (message.pieces.size() == 1) {
      message.place = message.pieces.front().place;
      message.pieces.clear();
    } else {
      message.place = {together, end};
      if (!stays_in_pieces(message, machine_)) end += message.bytes;
    }
  }

  Plan& plan_;
  const UserPieces *sends_, *receives_;
  const Machine& machine_;
};

}  // namespace

void lay_out(Plan& plan, const UserPieces* sends, const UserPieces* receives, const Machine& machine) {
  if (sends || receives) Layer(plan, sends, receives, machine).run();
}

}  // namespace commpass
