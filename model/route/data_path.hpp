// Where the data of an exchange is while messages are on their way: the part of a strategy after '@'.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace commpass {

/// How data gets from the memory that it lies in into messages, and back.
struct DataPath {
  enum class Kind : std::uint8_t {
    host,    ///< it lies in host memory
    device,  ///< it lies on devices, and MPI gets their pointers
    staged   ///< it lies on devices, is copied to host memory, exchanged there, and copied back
  };
  Kind kind = Kind::host;
  int copies = 1;          ///< staged: processes of a node that copy the data of one rank at once, each its part
  bool is_shared = false;  ///< do messages within a node go through memory that its ranks share ("shared")?
  bool operator==(const DataPath&) const = default;

  bool is_host() const { return kind == Kind::host; }
};

/// "device", "staged", "staged,copies=4".
/// @param text   the text behind the '@' of a strategy; "host" is understood, too
/// @param where  the whole strategy, for errors
/// @throws InputError
DataPath parse_data_path(const std::string& text, const std::string& where);

/// The end of a strategy: ",shared", then the path with its '@'; nothing for host memory and messages alone.
std::string to_string(const DataPath& path);

/// Where the users of an exchange have their data.
enum class DataPlace : std::uint8_t { host, device };
/// "host", "device".
const char* name_of(DataPlace place);

/// The one path of data in host memory by messages alone.
inline constexpr std::array<DataPath, 1> host_paths{};
/// The other one.
inline constexpr DataPath shared_host_path{.is_shared = true};

/// How a path is written after a strategy, and what it means: for errors and lists.
struct DataPathRow {
  const char* name;
  const char* usage;
  const char* summary;
  const char* source;  ///< paper and section
};
/// Those but host memory.
inline constexpr DataPathRow data_path_rows[] = {
    {"@device", "@device", "the data lies on devices, and MPI, which must be device-aware, gets pointers to it",
     "node-aware paper (Lockhart, Bienz, Gropp, Olson) §3, table 6"},
    {"@staged", "@staged[,copies=K]",
     "the data lies on devices, is copied to host memory, exchanged there and copied back; K processes of the node "
     "copy the data of a rank at once",
     "node-aware paper (Lockhart, Bienz, Gropp, Olson) §3, table 6 (copies=1: Split + MD, copies=4: Split + DD)"}};

}  // namespace commpass
