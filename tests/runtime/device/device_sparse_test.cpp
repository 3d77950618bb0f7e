// Sparse exchanges of data on devices, from C++ and from C.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "commpass/commpass.h"
#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/device/device_machines.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::DeviceBytes;
using test::rank_of;
using test::size_of;
using test::some_machine;
using test::UsersStream;

/// A rank sends to itself and the next three ranks messages of 0, 1, 2 and 3 bytes, with overlaps and gaps. Each is
/// sent `copies` times; 8 of them are enough for a kernel.
struct SparseProblem {
  static constexpr Bytes stride = 3, buffer_bytes = 64;
  int copies = 1;

  static std::byte byte_of(Rank rank, Bytes at, int turn) { return static_cast<std::byte>(31 * rank + at + 7 * turn); }
  std::vector<SendEdge> sends(Rank rank) const {
    std::vector<SendEdge> edges;
    for (int copy = 0; copy < copies; ++copy)
      for (int i = 0; i < 4; ++i) edges.push_back({(rank + i) % size_of(), (stride * i + 5 * copy) % 40, i});
    return edges;
  }
  static std::vector<std::byte> buffer(Rank rank, int turn) {
    std::vector<std::byte> result;
    for (Bytes at = 0; at < buffer_bytes; ++at) result.push_back(byte_of(rank, at, turn));
    return result;
  }
  void expect(const ReceivedMessages& received, int turn) const {
    std::vector<std::pair<Rank, std::vector<std::byte>>> expected, got;
    for (Rank source = 0; source < size_of(); ++source)
      for (const auto& edge : sends(source)) {
        if (edge.destination != rank_of()) continue;
        expected.emplace_back(source, std::vector<std::byte>());
        for (Bytes i = 0; i < edge.bytes; ++i) expected.back().second.push_back(byte_of(source, edge.offset + i, turn));
      }
    for (const auto& message : received)
      got.emplace_back(message.source, std::vector(message.bytes.begin(), message.bytes.end()));
    EXPECT_EQ(got, expected);
  }
};

// Some ranks have their data in host memory.
TEST(DeviceSparse, SendsFromEitherMemory) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (const int copies : {1, 8})
    for (const auto* strategy : {"", "direct+nbx", "two-step+nbx", "direct+reduce"})
      for (int turn = 0; turn < 2; ++turn) {
        SCOPED_TRACE(strategy);
        const SparseProblem problem{copies};
        const auto sends = problem.sends(rank_of());
        const auto host = SparseProblem::buffer(rank_of(), turn);
        DeviceBytes device(host.size());
        device.write(host, communicator.users.get());
        const bool is_on_host = turn == 1 && rank_of() % 2 == 1;
        const auto* const from = is_on_host ? host.data() : device.data();
        problem.expect(communicator.sparse_alltoallv(from, sends, {strategy, {}}), turn);
      }
}

// A started exchange has read its buffer.
TEST(DeviceSparse, HasSeveralInFlight) {
  test::StreamCommunicator communicator;
  const SparseProblem problem;
  const auto sends = problem.sends(rank_of());
  DeviceBytes device(SparseProblem::buffer_bytes);
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<SparseExchange> begun;
    for (int i = 0; i < 3; ++i) {
      device.write(SparseProblem::buffer(rank_of(), i), communicator.users.get());
      begun.push_back(communicator.start_sparse_alltoallv(device.data(), sends, {"direct+nbx", {}}));
    }
    for (int i = 2; i >= 0; --i) problem.expect(begun[static_cast<std::size_t>(i)].wait(), i);
  }
}

TEST(DeviceSparse, SendsMessagesOfOneSize) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const std::vector<Rank> next{(rank_of() + 1) % size_of()};
  DeviceBytes device(1);
  for (const auto* strategy : {"direct+nbx", "direct+rma"}) {
    device.write({static_cast<std::byte>(rank_of())}, nullptr);
    const auto received = communicator.sparse_alltoall(device.data(), next, 1, {strategy, {}});
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(std::to_integer<int>(received[0].bytes[0]), (rank_of() + size_of() - 1) % size_of());
  }
}

TEST(DeviceSparse, KeepsItsMemoryFromOneExchangeToTheNext) {
  const auto& devices = test::EmulatedDevices::get();
  const auto alive = devices.alive();
  {
    Communicator communicator(MPI_COMM_WORLD, some_machine());
    const SparseProblem problem;
    const auto sends = problem.sends(rank_of());
    DeviceBytes device(SparseProblem::buffer_bytes);
    const auto call = [&] { communicator.sparse_alltoallv(device.data(), sends, {"direct+nbx", {}}); };
    call();
    const auto made = devices.made();
    for (int i = 0; i < 3; ++i) call();
    EXPECT_EQ(devices.made(), made);
  }
  EXPECT_EQ(devices.alive(), alive);
}

/// A communicator of C.
class CCommunicator {
 public:
  explicit CCommunicator(const UsersStream& users) {
    const auto profile = std::string(COMMPASS_TEST_PROFILES) + "/lassen.json";
    EXPECT_EQ(commpass_comm_create(MPI_COMM_WORLD, profile.c_str(), &comm_), COMMPASS_SUCCESS) << commpass_error_text();
    EXPECT_EQ(commpass_comm_use_stream(comm_, users.get()), COMMPASS_SUCCESS);
  }
  ~CCommunicator() { commpass_comm_free(&comm_); }
  CCommunicator(const CCommunicator&) = delete;
  CCommunicator& operator=(const CCommunicator&) = delete;
  commpass_comm get() const { return comm_; }

 private:
  commpass_comm comm_ = nullptr;
};

// Two numbers to the next rank, one to the one after that.
TEST(DeviceSparse, SendsFromAndReceivesOnADeviceInC) {
  const UsersStream users;
  const CCommunicator comm(users);
  const auto shifted = [&](int by) { return (rank_of() + by + 2 * size_of()) % size_of(); };
  const int destinations[] = {shifted(1), shifted(2)}, counts[] = {2, 1}, begins[] = {1, 0};
  for (int turn = 0; turn < 2; ++turn) {
    const auto byte_of = [&](Rank rank, int i) { return static_cast<std::byte>(3 * rank + i + turn); };
    DeviceBytes from(3), to(8);
    from.write({byte_of(rank_of(), 0), byte_of(rank_of(), 1), byte_of(rank_of(), 2)}, users.get());
    to.write(std::vector<std::byte>(8, std::byte{0xEE}), users.get());
    int messages = 2, size = 8, sources[2], got[2], at[2];
    ASSERT_EQ(commpass_alltoallv_crs(2, destinations, counts, begins, MPI_BYTE, from.data(), &messages, &size, sources,
                                     got, at, MPI_BYTE, to.data(), "direct+nbx", comm.get()),
              COMMPASS_SUCCESS)
        << commpass_error_text();
    ASSERT_EQ(messages, 2);
    ASSERT_EQ(size, 3);
    const auto bytes = to.read(users.get());
    for (int i = 0; i < messages; ++i) {
      const auto source = sources[i];
      for (int k = 0; k < got[i]; ++k)
        EXPECT_EQ(bytes[static_cast<std::size_t>(at[i] + k)], byte_of(source, got[i] == 2 ? 1 + k : 0));
    }
    for (std::size_t i = 3; i < 8; ++i) EXPECT_EQ(bytes[i], std::byte{0xEE});

    int one = 1, source = -1;
    ASSERT_EQ(commpass_alltoall_crs(1, destinations, 3, MPI_BYTE, from.data(), &one, &source, 3, MPI_BYTE, to.data(),
                                    "direct+nbx", comm.get()),
              COMMPASS_SUCCESS)
        << commpass_error_text();
    EXPECT_EQ(source, shifted(-1));
    EXPECT_EQ(to.read(users.get())[2], byte_of(source, 2));
  }
}

// On all ranks, since all give such memory.
TEST(DeviceSparse, RefusesElementsWithGapsOnADeviceInC) {
  const UsersStream users;
  const CCommunicator comm(users);
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  const DeviceBytes from(16), to(16);
  const int next = (rank_of() + 1) % size_of();
  int one = 1, source = -1;
  std::vector<int> host(4);
  EXPECT_NE(commpass_alltoall_crs(1, &next, 1, gaps, from.data(), &one, &source, 1, gaps, host.data(), "direct+nbx",
                                  comm.get()),
            COMMPASS_SUCCESS);
  EXPECT_NE(std::string(commpass_error_text()).find("device memory"), std::string::npos) << commpass_error_text();
  one = 1;
  EXPECT_NE(commpass_alltoall_crs(1, &next, 1, gaps, host.data(), &one, &source, 1, gaps, to.data(), "direct+nbx",
                                  comm.get()),
            COMMPASS_SUCCESS);
  EXPECT_NE(std::string(commpass_error_text()).find("device memory"), std::string::npos) << commpass_error_text();
  MPI_Type_free(&gaps);
}

}  // namespace
}  // namespace commpass
