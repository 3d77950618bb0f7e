// The emulated device, finding devices, and queues: other tests rely on them.
#include "runtime/device/emulated_device.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>

#include "runtime/device/device_queue.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/device/gpu_library.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::DeviceBytes;
using test::EmulatedDevices;

std::vector<std::byte> bytes_from(int first, std::size_t count) {
  std::vector<std::byte> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return result;
}

/// May the host read there? A system call fails where an access would crash.
bool is_readable(const std::byte* at) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const bool result = write(ends[1], at, 1) == 1;
  for (const int end : ends) close(end);
  return result;
}

TEST(EmulatedDevice, KeepsTheHostOutOfItsMemory) {
  const DeviceBytes memory(10);
  const std::byte own{};
  EXPECT_TRUE(is_readable(&own));
  EXPECT_FALSE(is_readable(memory.data()));
}

TEST(EmulatedDevice, IsFoundByAnyAddressInItsMemoryAndByNoOther) {
  auto& devices = EmulatedDevices::get();
  const DeviceBytes first(5000, 0), second(10, 3);
  const int own = 0;
  EXPECT_EQ(device_of(first.data()), (Device{&devices, 0}));
  EXPECT_EQ(device_of(first.data() + 4999), (Device{&devices, 0}));
  EXPECT_EQ(device_of(second.data() + 9), (Device{&devices, 3}));
  EXPECT_FALSE(device_of(&own));
  EXPECT_FALSE(device_of(nullptr));
  EXPECT_TRUE(devices.is_one_allocation(first.data(), 5000));
  EXPECT_FALSE(devices.is_one_allocation(&own, 1));
}

TEST(EmulatedDevice, DoesNothingBeforeAWait) {
  auto& devices = EmulatedDevices::get();
  DeviceBytes memory(4);
  auto* const stream = devices.make_stream(0);
  memory.write(bytes_from(1, 4), stream);
  std::array<std::byte, 4> here{};
  const LocalCopy copy{memory.data(), here.data(), here.size()};
  devices.copy(0, {&copy, 1}, stream);
  EXPECT_EQ(here[3], std::byte{0});
  devices.synchronize(0, stream);
  EXPECT_EQ(here[3], std::byte{4});
  devices.free_stream(0, stream);
}

TEST(EmulatedDevice, RefusesCopiesThatLeaveAnAllocation) {
  auto& devices = EmulatedDevices::get();
  const DeviceBytes memory(4096);
  std::array<std::byte, 8192> here{};
  const LocalCopy copy{memory.data(), here.data(), 4097};
  EXPECT_THROW(devices.copy(0, {&copy, 1}, nullptr), DeviceError);
}

TEST(DeviceQueue, FollowsTheUsersStreamAndIsFollowedByIt) {
  auto& devices = EmulatedDevices::get();
  const auto before = devices.alive();
  {
    DeviceBytes from(4), to(4);
    auto* const users = devices.make_stream(0);
    {
      DeviceQueue queue({&devices, 0}, users);
      from.write(bytes_from(7, 4), users);
      queue.follow_user();
      const LocalCopy copy{from.data(), to.data(), 4};
      queue.copy({&copy, 1});
      queue.let_user_follow();
      EXPECT_EQ(to.read(users), bytes_from(7, 4));
    }
    devices.free_stream(0, users);
  }
  EXPECT_EQ(devices.alive(), before);
}

TEST(DeviceQueue, CompletesItsCopiesWhenItGoes) {
  auto& devices = EmulatedDevices::get();
  DeviceBytes from(4);
  from.write(bytes_from(3, 4), nullptr);
  std::array<std::byte, 4> here{};
  {
    DeviceQueue queue({&devices, 0}, nullptr);
    queue.follow_user();
    const LocalCopy copy{from.data(), here.data(), here.size()};
    queue.copy({&copy, 1});
  }
  EXPECT_EQ(here[0], std::byte{3});
}

// Like IPC handles of a GPU.
TEST(EmulatedDevice, IsOpenedByAnotherProcessOfTheNode) {
  if (test::size_of() < 2) GTEST_SKIP() << "there is one process";
  auto& devices = EmulatedDevices::get();
  const int rank = test::rank_of();
  DeviceBytes memory(10000);
  DeviceHandle handle;
  if (rank == 0) {
    memory.write(bytes_from(0, 10000), nullptr);
    devices.synchronize(0, nullptr);
    handle = devices.share(0, memory.data() + 300);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    auto* const begin = devices.open(0, handle);
    EXPECT_TRUE(device_of(begin));
    std::array<std::byte, 2> here{};
    const LocalCopy copy{begin + handle.offset, here.data(), here.size()};
    devices.copy(0, {&copy, 1}, nullptr);
    devices.synchronize(0, nullptr);
    EXPECT_EQ(here[1], static_cast<std::byte>(301 % 256));
    devices.close(0, begin);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// The question loads no library.
TEST(GpuLibraries, AreNotThereWhereTheProgramHasNotLoadedThem) {
  EXPECT_EQ(cuda_backend(LoadedLibrary::Open::if_loaded), nullptr);
  EXPECT_EQ(hip_backend(LoadedLibrary::Open::if_loaded), nullptr);
}

}  // namespace
}  // namespace commpass
