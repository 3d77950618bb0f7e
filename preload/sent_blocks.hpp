// What a rank sends to each of the others in one call.
#pragma once

#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct SentBlock {
  Rank to;
  Bytes bytes;
  bool operator==(const SentBlock&) const = default;
};

struct SentBlocks {
  bool is_equal = false;  ///< every rank sends `each` to every rank, itself included; then `list` is empty
  Bytes each = 0;
  std::vector<SentBlock> list = {};  ///< that are not empty
  bool receives = false;             ///< something, from any rank
  bool is_cut = false;               ///< there was no memory for all of them

  void clear() {
    is_equal = receives = is_cut = false;
    each = 0;
    list.clear();
  }
  void add(Rank to, Bytes bytes) {
    if (bytes > 0) list.push_back({to, bytes});
  }
  /// @param peers  ranks that an equal block goes to
  Bytes total(int peers) const {
    Bytes sum = is_equal ? each * peers : 0;
    for (const auto& block : list) sum += block.bytes;
    return sum;
  }
};

}  // namespace commpass
