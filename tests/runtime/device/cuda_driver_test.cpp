// What we ask of CUDA's driver, by a stand-in for its library (fake_cuda.cpp), which runs our kernel on the host.
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

class CudaDriver : public testing::Test {
 protected:
  CudaDriver() : library_(dlopen(COMMPASS_TEST_FAKE_CUDA, RTLD_NOW)) {
    if (library_) backend_.reset(cuda_backend(LoadedLibrary::Open::if_loaded));
  }

  template <class Value>
  Value& variable(const char* name) const {
    return *static_cast<Value*>(dlsym(library_, name));
  }

  void* library_;
  std::unique_ptr<DeviceBackend> backend_;  ///< one for each test: a kernel is tried once
};

TEST_F(CudaDriver, TellsItsDevices) {
  ASSERT_TRUE(backend_) << dlerror();
  EXPECT_EQ(backend_->count(), 1);
  EXPECT_EQ(backend_->identify(0).name, "no GPU");
  EXPECT_EQ(backend_->identify(0).place, "0000:01:00.0");
  EXPECT_THROW(backend_->identify(1), DeviceError);
}

// All lengths and alignments are tried by the backend itself.
TEST_F(CudaDriver, RunsTheKernelThatCopiesPieces) {
  EXPECT_EQ(backend_->why_no_kernel(0), "");
  EXPECT_EQ(variable<int>("fake_cuda_launches"), 3) << "to the device, there, and back";
  variable<int>("fake_cuda_launches") = 0;
  const Device device{backend_.get(), 0};
  constexpr Bytes pieces = 28000;
  const auto from = device_buffer(device, 4 * pieces), to = device_buffer(device, 3 * pieces);
  for (Bytes i = 0; i < 4 * pieces; ++i) from[static_cast<std::size_t>(i)] = static_cast<std::byte>(i % 251);
  std::vector<LocalCopy> copies;
  for (Bytes i = 0; i < pieces; ++i) copies.push_back({from.get() + 4 * i, to.get() + 3 * i, 3});
  DeviceQueue queue(device, nullptr);
  queue.copy(copies, Ends::reached);
  queue.wait();
  EXPECT_EQ(variable<int>("fake_cuda_launches"), 1);
  EXPECT_TRUE(std::ranges::all_of(
      copies, [](const LocalCopy& copy) { return std::equal(copy.from, copy.from + copy.bytes, copy.to); }));
}

TEST_F(CudaDriver, UsesNoKernelThatCopiesWrongly) {
  variable<bool>("fake_cuda_spoils_kernels") = true;
  EXPECT_NE(backend_->why_no_kernel(0).find("does not copy as it should"), std::string::npos);
  variable<bool>("fake_cuda_spoils_kernels") = false;
  EXPECT_NE(backend_->why_no_kernel(0), "") << "it is tried once";
}

TEST_F(CudaDriver, IsFoundByMemoryOfADevice) {
  const auto buffer = device_buffer({backend_.get(), 0}, 100);
  const auto device = device_of(buffer.get() + 99);
  ASSERT_TRUE(device);
  EXPECT_STREQ(device->backend->name(), "CUDA");
  const int own = 0;
  EXPECT_FALSE(device_of(&own));
  const auto all = all_device_backends();
  EXPECT_EQ(std::ranges::count(all, device->backend), 1);
}

}  // namespace
}  // namespace commpass
