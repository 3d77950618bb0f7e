// Many small pieces on a device: copied by one kernel if it is right, else one by one.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>

#include "runtime/communicator.hpp"
#include "runtime/device/device_machines.hpp"
#include "runtime/device/device_queue.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::DeviceBytes;
using test::EmulatedDevices;
using test::rank_of;
using test::size_of;
using Kernel = EmulatedDevices::Kernel;

std::string name_of(Kernel kernel) {
  static constexpr std::array names{"Right", "CopiesWrongly", "AddsWrongly", "Absent"};
  return names.at(static_cast<std::size_t>(kernel));
}

class Packing : public testing::TestWithParam<Kernel> {
 protected:
  Packing() { devices.have_kernel(GetParam()); }
  ~Packing() override { devices.have_kernel(Kernel::right); }

  EmulatedDevices& devices = EmulatedDevices::get();
  const bool has_kernel = GetParam() == Kernel::right;
};

INSTANTIATE_TEST_SUITE_P(Kernels, Packing,
                         testing::Values(Kernel::right, Kernel::copies_wrongly, Kernel::adds_wrongly, Kernel::absent),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Packing, TriesTheKernelsBeforeTheyAreUsed) {
  const auto why = devices.why_no_kernel(0);
  EXPECT_EQ(why.empty(), has_kernel) << why;
  EXPECT_EQ(why.find("does not copy as it should") != std::string::npos, GetParam() == Kernel::copies_wrongly);
  EXPECT_EQ(why.find("does not add as it should") != std::string::npos, GetParam() == Kernel::adds_wrongly);
}

TEST_P(Packing, OfABatchTakesSmallPiecesIntoOneKernelAndCopiesTheOthers) {
  constexpr std::size_t small = 100, large = static_cast<std::size_t>(worth_a_copy);
  DeviceBytes from(small * 11 + large), to(small * 10 + large);
  std::vector<std::byte> bytes(small * 11 + large), expected(small * 10 + large);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  std::vector<LocalCopy> copies{{from.data(), to.data(), large}};
  for (std::size_t i = 0; i < small; ++i)
    copies.push_back({from.data() + large + 11 * i, to.data() + large + 10 * i, 10});
  for (const auto& [source, target, count] : copies)
    std::copy_n(bytes.begin() + (source - from.data()), count, expected.begin() + (target - to.data()));
  from.write(bytes, nullptr);
  DeviceQueue queue({&devices, 0}, nullptr);
  EXPECT_EQ(queue.packs(small, 10 * small), has_kernel);
  EXPECT_FALSE(queue.packs(worth_a_kernel - 1, 10)) << "too few";
  EXPECT_FALSE(queue.packs(small, worth_a_copy * static_cast<Bytes>(small))) << "too large";
  const auto copies_before = devices.copies(), pieces_before = devices.pieces();
  queue.follow_user();
  queue.copy(copies, Ends::reached);
  queue.let_user_follow();
  EXPECT_EQ(to.read(nullptr), expected);
  EXPECT_EQ(devices.pieces() - pieces_before, has_kernel ? small : 0);
  EXPECT_EQ(devices.copies() - copies_before, has_kernel ? 1 : small + 1);
  queue.copy(copies);
  EXPECT_EQ(devices.copies() - copies_before, (has_kernel ? 1 : small + 1) + small + 1) << "ends may lie anywhere";
}

// Growing batches without a wait between them: none may overwrite a table that a kernel still reads.
TEST_P(Packing, KeepsTheTableOfAKernelUntilItHasRun) {
  constexpr std::size_t most = 1000;
  std::vector<std::byte> bytes(2 * most), expected(most);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 253);
  DeviceBytes from(2 * most), to(most);
  from.write(bytes, nullptr);
  DeviceQueue queue({&devices, 0}, nullptr);
  queue.follow_user();
  std::size_t done = 0;
  for (const std::size_t count : {10U, 20U, 9U, 300U, 11U, 650U}) {
    std::vector<LocalCopy> copies;
    for (; copies.size() < count; ++done) {
      copies.push_back({from.data() + 2 * done, to.data() + done, 1});
      expected[done] = bytes[2 * done];
    }
    queue.copy(copies, Ends::reached);
  }
  queue.let_user_follow();
  EXPECT_EQ(done, most);
  EXPECT_EQ(to.read(nullptr), expected);
}

/// Some hundred small edges between any two ranks, with gaps between them, and a large one.
Pattern many_small_edges() {
  Pattern pattern{size_of(), {}};
  for (Rank i = 0; i < size_of(); ++i)
    for (Rank j = 0; j < size_of(); ++j) {
      for (int k = 0; k < 200; ++k) pattern.edges.push_back({i, j, 1 + (i + 3 * j + k) % 40});
      pattern.edges.push_back({i, j, 2 * worth_a_copy});
    }
  return pattern;
}

std::vector<std::string> strategies_to_pack() {
  std::vector<std::string> names{"standard@staged", "two-step@staged"};
  if (takes_cuda_memory().value_or(false)) names.insert(names.end(), {"standard@device", "two-step@device"});
  else if (size_of() > 1) names.emplace_back("standard@staged,copies=2");
  return names;
}

TEST_P(Packing, OfAnExchangeDeliversFromAndToAnyMemory) {
  test::StreamCommunicator communicator(test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  auto local = test::local_part(many_small_edges(), rank_of(), 3, 1);
  DeviceBytes send(local.send_buffer.size()), receive(local.receive_buffer.size());
  test::fill(local, rank_of(), 5);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  for (const auto& name : strategies_to_pack())
    for (const bool sends_on_device : {true, false})
      for (const bool receives_on_device : {true, false}) {
        SCOPED_TRACE(name + (sends_on_device ? ", from a device" : "") + (receives_on_device ? ", to a device" : ""));
        auto own = local;
        send.write(own.send_buffer, communicator.users.get());
        receive.write(own.receive_buffer, communicator.users.get());
        auto exchange = communicator.neighbor_exchange(
            sends_on_device ? send.data() : own.send_buffer.data(), own.sends,
            receives_on_device ? receive.data() : own.receive_buffer.data(), own.receives, {name});
        const auto copies = devices.copies(), pieces = devices.pieces();
        exchange.start();
        exchange.wait();
        ASSERT_EQ(receives_on_device ? receive.read(communicator.users.get()) : own.receive_buffer, expected);
        const auto is_packed = sends_on_device && receives_on_device && has_kernel;
        if (is_packed) {
          EXPECT_GE(devices.pieces() - pieces, 200U);
          EXPECT_LT(devices.copies() - copies, 200U) << "those of large pieces";
        }
        if (!has_kernel) {
          EXPECT_EQ(devices.pieces(), pieces);
        }
      }
}

TEST_P(Packing, SaysWhyItCopiesPiecesOneByOne) {
  Communicator communicator(MPI_COMM_WORLD, test::some_machine());
  const auto local = test::local_part(many_small_edges(), rank_of(), 3, 1);
  const DeviceBytes send(local.send_buffer.size()), receive(local.receive_buffer.size());
  const auto exchange =
      communicator.neighbor_exchange(send.data(), local.sends, receive.data(), local.receives, {"standard@staged"});
  EXPECT_EQ(exchange.explanation().find("one by one") != std::string::npos, !has_kernel) << exchange.explanation();
}

}  // namespace
}  // namespace commpass
