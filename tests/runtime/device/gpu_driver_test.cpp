// Backends of GPU drivers, with stand-ins for their libraries (fake_cuda.cpp, fake_hip.cpp), which run our kernel on
// the host.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "runtime/communicator.hpp"
#include "runtime/device/device_queue.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/device/gpu_library.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

struct Driver {
  const char* name;
  const char* file;
  const char* compiler;  ///< null: it needs none
  DeviceBackend* (*backend)(LoadedLibrary::Open);
};
void PrintTo(const Driver& driver, std::ostream* out) { *out << driver.name; }  // NOLINT: GoogleTest's name

class GpuDriver : public testing::TestWithParam<Driver> {
 protected:
  GpuDriver() : library_(dlopen(GetParam().file, RTLD_NOW)) {
    if (GetParam().compiler) compiler_ = dlopen(GetParam().compiler, RTLD_NOW);
    if (library_) backend_.reset(GetParam().backend(LoadedLibrary::Open::if_loaded));
  }

  int& launches() const { return *static_cast<int*>(dlsym(library_, "fake_gpu_launches")); }
  bool& spoils_kernels() const { return *static_cast<bool*>(dlsym(library_, "fake_gpu_spoils_kernels")); }

  void *library_, *compiler_ = nullptr;
  std::unique_ptr<DeviceBackend> backend_;  ///< one for each test: a kernel is tried once
};

INSTANTIATE_TEST_SUITE_P(Drivers, GpuDriver,
                         testing::Values(Driver{"CUDA", COMMPASS_TEST_FAKE_CUDA, nullptr, cuda_backend},
                                         Driver{"HIP", COMMPASS_TEST_FAKE_HIP, COMMPASS_TEST_FAKE_HIPRTC, hip_backend}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(GpuDriver, TellsItsDevices) {
  ASSERT_TRUE(backend_) << dlerror();
  EXPECT_EQ(backend_->count(), 1);
  EXPECT_EQ(backend_->identify(0).name, "no GPU");
  EXPECT_EQ(backend_->identify(0).place, "0000:01:00.0");
  EXPECT_THROW(backend_->identify(1), DeviceError);
}

// All lengths and alignments are tried by the backend itself.
TEST_P(GpuDriver, RunsTheKernelThatCopiesPieces) {
  launches() = 0;
  EXPECT_EQ(backend_->why_no_kernel(0), "");
  EXPECT_EQ(launches(), 3 + 6) << "to the device, there, and back; and six types of numbers";
  launches() = 0;
  const Device device{backend_.get(), 0};
  constexpr Bytes pieces = 28000;
  const auto from = device_buffer(device, 4 * pieces), to = device_buffer(device, 3 * pieces);
  for (Bytes i = 0; i < 4 * pieces; ++i) from[static_cast<std::size_t>(i)] = static_cast<std::byte>(i % 251);
  std::vector<LocalCopy> copies;
  for (Bytes i = 0; i < pieces; ++i) copies.push_back({from.get() + 4 * i, to.get() + 3 * i, 3});
  DeviceQueue queue(device, nullptr);
  queue.copy(copies, Ends::reached);
  queue.wait();
  EXPECT_EQ(launches(), 1);
  EXPECT_TRUE(std::ranges::all_of(
      copies, [](const LocalCopy& copy) { return std::equal(copy.from, copy.from + copy.bytes, copy.to); }));
}

TEST_P(GpuDriver, RunsTheKernelThatAddsPieces) {
  ASSERT_EQ(backend_->why_no_kernel(0), "");
  const Device device{backend_.get(), 0};
  constexpr std::size_t numbers = 10000;
  const auto memory = device_buffer(device, 2 * numbers * sizeof(double));
  auto* const values = reinterpret_cast<double*>(memory.get());
  for (std::size_t i = 0; i < 2 * numbers; ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  std::vector<LocalCopy> pieces;
  for (std::size_t i = 0; i < numbers; i += 3)
    pieces.push_back(
        {memory.get() + (numbers + i) * sizeof(double), memory.get() + i * sizeof(double), sizeof(double)});
  launches() = 0;
  DeviceQueue queue(device, nullptr);
  queue.add_by_kernel(pieces, NumberType::doubles);
  queue.wait();
  EXPECT_EQ(launches(), 1);
  for (std::size_t i = 0; i < numbers; ++i)
    EXPECT_EQ(values[i], 1.0 / static_cast<double>(i + 1) + (i % 3 == 0 ? values[numbers + i] : 0)) << i;
}

TEST_P(GpuDriver, UsesNoKernelThatCopiesWrongly) {
  spoils_kernels() = true;
  EXPECT_NE(backend_->why_no_kernel(0).find("does not copy as it should"), std::string::npos);
  spoils_kernels() = false;
  EXPECT_NE(backend_->why_no_kernel(0), "") << "it is tried once";
}

TEST_P(GpuDriver, SaysWhyThereIsNoKernelWhereItsCompilerFails) {
  if (!compiler_) GTEST_SKIP() << "it takes what clang has compiled";
  auto& fails = *static_cast<bool*>(dlsym(compiler_, "fake_hiprtc_fails"));
  fails = true;
  EXPECT_EQ(backend_->why_no_kernel(0),
            "HIP: its compiler hipRTC could not compile the kernels for pieces: HIPRTC_ERROR_COMPILATION (code 6).");
  fails = false;
  EXPECT_EQ(*static_cast<int*>(dlsym(compiler_, "fake_hiprtc_programs")), 0) << "nothing is left behind";
}

TEST_P(GpuDriver, IsFoundByMemoryOfADevice) {
  const auto buffer = device_buffer({backend_.get(), 0}, 100);
  const auto device = device_of(buffer.get() + 99);
  ASSERT_TRUE(device);
  EXPECT_STREQ(device->backend->name(), GetParam().name);
  const int own = 0;
  EXPECT_FALSE(device_of(&own));
  const auto all = all_device_backends();
  EXPECT_EQ(std::ranges::count(all, device->backend), 1);
}

}  // namespace
}  // namespace commpass
