#include "model/base/file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "model/base/gzip.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// Less than 128 KiB: glibc raises its thresholds, of all that a program allocates, when a larger block is freed.
constexpr unsigned chunk_bytes = 1U << 16;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

}  // namespace

std::string read_file(const std::string& path, const ReadLimit& limit) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path, "it is a directory", "name a file");
  errno = 0;
  const File file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw InputError(path, fmt::format("it cannot be opened ({})", std::strerror(errno)), "check the name");

  std::string contents;
  std::string chunk(chunk_bytes, '\0');
  std::optional<GzipReader> gzip;
  const auto take = [&](std::string_view piece) {
    if (std::ssize(piece) > limit.bytes - std::ssize(contents))
      throw InputError(
          path, fmt::format("it holds more than {}{}", print_bytes(limit.bytes), gzip ? " when it is unpacked" : ""),
          limit.remedy);
    within_memory(path, [&] { contents += piece; });
  };
  const auto damaged = [&](const std::string& reason) {
    return InputError(path, fmt::format("it is damaged after {} bytes ({})", contents.size(), reason),
                      "fetch or unpack it again");
  };
  for (bool is_first = true, is_last = false; !is_last; is_first = false) {
    const auto read = std::string_view(chunk).substr(0, std::fread(chunk.data(), 1, chunk_bytes, file.get()));
    if (std::ferror(file.get())) throw damaged(std::strerror(errno));
    is_last = read.size() < chunk_bytes;
    if (is_first && read.starts_with(GzipReader::beginning)) within_memory(path, [&] { gzip.emplace(); });
    if (!gzip) take(read);
    else if (const auto problem = within_memory(path, [&] { return gzip->unpack(read, take); }); !problem.empty())
      throw damaged(problem);
  }
  if (gzip && !gzip->is_complete()) throw damaged("unexpected end of file");
  return contents;
}

namespace {

InputError cannot_write(const std::string& path) {
  return {path, fmt::format("it cannot be written ({})", std::strerror(errno)),
          "check the directory and its free space"};
}

/// What a name stands for when its symbolic links are followed.
struct Target {
  std::string path;
  std::optional<struct stat> existing;
  int descriptor = -1;  ///< of this process, where the name says one: /dev/stdout, /dev/fd/N

  /// A regular file, or none yet. All else (devices, FIFOs) is no thing that a file could take the place of.
  bool is_replaced() const { return descriptor < 0 && (!existing || S_ISREG(existing->st_mode)); }
};

/// The number of a descriptor that a name in /proc/self/fd is, which is also where /dev/fd and /dev/stdout lead; -1: it
/// is none.
int descriptor_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto own = std::filesystem::canonical("/proc/self/fd", error);
  if (error) return -1;
  const auto directory = std::filesystem::canonical(path.parent_path(), error);
  return !error && directory == own ? parse_number<int>(path.filename().string()).value_or(-1) : -1;
}

/// @throws InputError if links lead nowhere in the end, or their target cannot be examined
Target follow(const std::string& name) {
  if (has_control_characters(name)) throw InputError(name, "its name has control characters", "use another name");
  constexpr int most_links = 40;  // as Linux
  std::filesystem::path path = name == "-" ? "/dev/stdout" : name;
  Target target;
  std::error_code ignored;
  // A link of /proc/self/fd stands for an open file, and no longer for a name.
  for (int links = 0; (target.descriptor = descriptor_of(path)) < 0 && std::filesystem::is_symlink(path, ignored);
       ++links) {
    errno = ELOOP;
    if (links == most_links) throw cannot_write(name);
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);  // the right side alone if it is absolute
  }
  target.path = path.string();
  struct stat status {};
  errno = 0;
  const int found = target.descriptor < 0 ? stat(target.path.c_str(), &status) : fstat(target.descriptor, &status);
  if (found == 0) target.existing = status;
  else if (errno != ENOENT || target.descriptor >= 0) throw cannot_write(name);
  return target;
}

/// Should a file be on the disk when it is closed? A device or a pipe has none.
enum class Durable { no, yes };

/// Writes, and closes the descriptor. @return whether all has arrived; errno says why not
bool write_and_close(int descriptor, std::string_view contents, Durable durable) {
  File file(fdopen(descriptor, "wb"), &std::fclose);
  const bool written = file && std::fwrite(contents.data(), 1, contents.size(), file.get()) == contents.size() &&
                       std::fflush(file.get()) == 0 && (durable == Durable::no || fsync(descriptor) == 0);
  if (!file) close(descriptor);
  return (!file || std::fclose(file.release()) == 0) && written;
}

/// Writes into a file that is not regular. A file that this process has open is written at its current offset.
void write_through(const Target& target, const std::string& name, std::string_view contents) {
  if (target.descriptor >= 0) std::fflush(nullptr);  // earlier output comes first
  const int descriptor =
      target.descriptor >= 0 ? dup(target.descriptor) : open(target.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0 || !write_and_close(descriptor, contents, Durable::no)) throw cannot_write(name);
}

/// A new file beside the one that will be written.
struct Beside {
  std::string path;
  int descriptor = -1;
};

Beside create_beside(const Target& target, const std::string& name) {
  Beside beside{target.path + ".XXXXXX"};
  beside.descriptor = mkstemp(beside.path.data());
  if (beside.descriptor < 0) throw cannot_write(name);
  return beside;
}

}  // namespace

void check_writable(const std::string& path) {
  const auto target = follow(path);
  if (target.existing && S_ISDIR(target.existing->st_mode)) throw InputError(path, "it is a directory", "name a file");
  if (target.is_replaced()) {
    const auto [temporary, descriptor] = create_beside(target, path);
    close(descriptor);
    std::remove(temporary.c_str());
    return;
  }
  // Not opened: that would wait for the reader of a FIFO, and may do something to a device.
  errno = EBADF;
  const bool writable = target.descriptor < 0 ? access(target.path.c_str(), W_OK) == 0
                                              : (fcntl(target.descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
  if (!writable) throw cannot_write(path);
}

void write_file(const std::string& path, std::string_view text) {
  const auto target = follow(path);
  const auto packed = path.ends_with(".gz") ? gzipped(text) : std::string();
  const auto contents = packed.empty() ? text : packed;
  if (!target.is_replaced()) return write_through(target, path, contents);
  const auto [temporary, descriptor] = create_beside(target, path);
  constexpr mode_t ordinary_permissions = 0644, all_permissions = 07777;
  if (target.existing && fchown(descriptor, target.existing->st_uid, target.existing->st_gid) != 0)
    errno = 0;  // only root may always
  fchmod(descriptor, target.existing ? target.existing->st_mode & all_permissions
                                     : ordinary_permissions);  // mkstemp makes it private
  // Else the name might be on the disk before the contents are, when the machine stops.
  if (!write_and_close(descriptor, contents, Durable::yes) ||
      std::rename(temporary.c_str(), target.path.c_str()) != 0) {
    const auto error = cannot_write(path);
    std::remove(temporary.c_str());
    throw error;
  }
}

}  // namespace commpass
