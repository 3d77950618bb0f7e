#include "model/file.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/error.hpp"

namespace commpass {

namespace {

constexpr unsigned chunk_bytes = 1U << 20;

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGz>;

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path, "it is a directory", "name a file");
  errno = 0;
  const GzFile file(gzopen(path.c_str(), "rb"));  // reads plain files too
  if (!file) throw InputError(path, fmt::format("it cannot be opened ({})", std::strerror(errno)), "check the name");

  std::string contents;
  std::vector<char> chunk(chunk_bytes);
  while (true) {
    const int count = gzread(file.get(), chunk.data(), chunk_bytes);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
      throw InputError(path, fmt::format("it is damaged after {} bytes ({})", contents.size(), reason),
                       "fetch or unpack it again");
    if (count == 0) return contents;
    contents.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

namespace {

InputError cannot_write(const std::string& path) {
  return {path, fmt::format("it cannot be written ({})", std::strerror(errno)), "check the directory and its free space"};
}

/// A new file beside the one that will be written.
struct Beside {
  std::string path;
  int descriptor = -1;
};

Beside create_beside(const std::string& path) {
  Beside beside{path + ".XXXXXX"};
  beside.descriptor = mkstemp(beside.path.data());
  if (beside.descriptor < 0) throw cannot_write(path);
  return beside;
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path, "it is a directory", "name a file");
  const auto [temporary, descriptor] = create_beside(path);
  close(descriptor);
  std::remove(temporary.c_str());
}

void write_file(const std::string& path, std::string_view contents) {
  const auto [temporary, descriptor] = create_beside(path);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(descriptor, "wb"), &std::fclose);
  constexpr auto ordinary_permissions = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write |
                                        std::filesystem::perms::group_read | std::filesystem::perms::others_read;
  std::error_code ignored;
  std::filesystem::permissions(temporary, ordinary_permissions, ignored);  // mkstemp makes it private
  const bool written = file && std::fwrite(contents.data(), 1, contents.size(), file.get()) == contents.size() &&
                       std::fflush(file.get()) == 0;
  const bool closed = !file || std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const auto error = cannot_write(path);
    std::remove(temporary.c_str());
    throw error;
  }
}

}  // namespace commpass
