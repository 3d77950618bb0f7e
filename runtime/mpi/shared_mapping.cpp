#include "runtime/mpi/shared_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// Are these at most half of the bytes that are left where this file is? A write beyond them ends in SIGBUS.
bool has_room(int file, std::size_t bytes) {
  struct statvfs system {};
  return fstatvfs(file, &system) != 0 || bytes <= system.f_bavail * system.f_frsize / 2;
}

}  // namespace

SharedMapping::~SharedMapping() {
  if (!all_.empty()) munmap(all_.data(), all_.size_bytes());
}

void SharedMapping::open(MPI_Comm comm, std::size_t bytes_of_each) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)),
             bytes = bytes_of_each * static_cast<std::size_t>(ranks_in(comm));
  const bool is_first = rank == 0;
  std::array<char, 64> name{};
  if (is_first)  // which no memory has that a killed process has left, nor another container
    std::snprintf(name.data(), name.size(), "/commpass-%ld-%lld", static_cast<long>(getpid()),
                  static_cast<long long>(std::chrono::system_clock::now().time_since_epoch().count()));
  COMMPASS_MPI_CALL(MPI_Bcast, name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm);
  constexpr mode_t of_user = S_IRUSR | S_IWUSR;
  int file = is_first ? shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, of_user) : -1;
  if (is_first && file >= 0 && !has_room(file, bytes)) {
    shm_unlink(name.data());
    close(std::exchange(file, -1));
  }
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  if (!is_first) file = shm_open(name.data(), O_RDWR, of_user);
  void* memory = MAP_FAILED;
  if (file >= 0 &&
      posix_fallocate(file, static_cast<off_t>(rank * bytes_of_each), static_cast<off_t>(bytes_of_each)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  int is_there = memory == MAP_FAILED ? 0 : 1;  // NOLINT: the system's macro
  SharedMapping mapping;
  if (is_there) mapping.all_ = {static_cast<std::byte*>(memory), bytes};
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, comm);
  if (is_first) shm_unlink(name.data());
  if (is_there) *this = std::move(mapping);
}

}  // namespace commpass
