// Whole files: read with or without gzip, written under a temporary name and renamed.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// How much of a file is read, counted unpacked: a gzipped one may hold a thousand times its size, a device has no end.
struct ReadLimit {
  Bytes bytes = Bytes{1} << 30;
  std::string remedy = "name a smaller file";  ///< for files that hold more
};

/// The contents of `path`, decompressed if gzipped: of several members one after the other.
/// @throws InputError if it cannot be read, holds more than the limit, or a gzipped file is damaged, cut short or
/// followed by anything else
std::string read_file(const std::string& path, const ReadLimit& limit = {});

/// What `read` returns. A lack of memory in it is the file's, not the caller's.
/// @throws InputError
template <class Read>
auto within_memory(const std::string& path, Read read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw InputError(path, "there is not enough memory to read it",
                     "name a smaller file, or use a machine with more memory");
  }
}

/// Replaces the file `path` by `contents`, or leaves it as it was: nothing is ever half-written. Symbolic links are
/// followed, and a file that was there keeps its permissions. Any other kind of file (a device, a FIFO, /dev/stdout,
/// which "-" stands for, too) is written to. A name that ends with ".gz" has the contents gzipped.
/// @throws InputError
void write_file(const std::string& path, std::string_view text);

/// Finds out now whether write_file could write `path` later, and leaves nothing behind.
/// @throws InputError
void check_writable(const std::string& path);

}  // namespace commpass
