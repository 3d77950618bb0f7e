// What ranks know of the sizes of blocks before they exchange them.
#pragma once

#include <cstdint>

namespace commpass {

enum class BlockSizes : std::uint8_t {
  told,   ///< a rank knows those that it sends and gets; of what it forwards it has to be told
  equal,  ///< all blocks of all ranks have the same: nothing has to be told
};

}  // namespace commpass
