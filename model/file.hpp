// Whole files: read with or without gzip, written under a temporary name and renamed.
#pragma once

#include <string>
#include <string_view>

namespace commpass {

/// The contents of `path`, decompressed if gzipped.
/// @throws InputError if it cannot be read or a gzipped file is damaged or cut short
std::string read_file(const std::string& path);

/// Replaces the file `path` by `contents`, or leaves it as it was: nothing is ever half-written. Symbolic links are followed, and
/// a file that was there keeps its permissions. What is no regular file (a device, a FIFO, /dev/stdout) is written to.
/// @throws InputError
void write_file(const std::string& path, std::string_view contents);

/// Finds out now whether write_file could write `path` later, and leaves nothing behind.
/// @throws InputError
void check_writable(const std::string& path);

}  // namespace commpass
