// Copies of devices whose times are known: calculated in place of the experiment, they must come out again as the
// parameters of a profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "calibrate/devices.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/world.hpp"

namespace commpass {

namespace {

using test::EmulatedDevices;
using test::rank_of;
using test::size_of;

constexpr Seconds copy_call_s = 3e-6;
constexpr double rate_within = 5e11;
bool takes_no_time = false;

/// Time of a copy by `processes` processes at once.
DeviceCopy truth(int processes, bool to_host, bool is_pinned) {
  const double slower = is_pinned ? 1 : 3;
  return {processes, (to_host ? 1e-5 : 1.2e-5) * (processes + 1) * slower,
          slower * (to_host ? 4e-11 : 5e-11) / processes};
}

}  // namespace

// In place of the experiment.
Seconds time_device_copies(MPI_Comm comm, DeviceQueue* queue, std::span<const LocalCopy> copies, Ends ends, int) {
  struct Told {
    int processes = 0;
    double seconds = 0;
  } mine;
  mine.processes = queue ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &mine.processes, 1, MPI_INT, MPI_SUM, comm);
  if (queue) {
    const auto& devices = EmulatedDevices::get();
    double bytes = 0;
    for (const auto& copy : copies) bytes += static_cast<double>(copy.bytes);
    const auto from = devices.device_of(copies.front().from), to = devices.device_of(copies.front().to);
    if (from && to) {
      EXPECT_EQ(ends, Ends::reached);
      EXPECT_GE(copies.size(), 2 * worth_a_kernel) << "pieces, since there is a kernel";
      mine.seconds = copy_call_s + bytes / rate_within;
    } else {
      const bool is_pinned = devices.is_pinned(from ? copies.front().to : copies.front().from);
      const auto known = truth(mine.processes, from.has_value(), is_pinned);
      mine.seconds = known.alpha_s + (takes_no_time ? 0 : known.beta_s_per_byte * bytes * mine.processes);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &mine.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return mine.seconds;
}

namespace {

class DeviceCalibration : public testing::Test {
 protected:
  DeviceCalibration() {
    options_.budget_s = 1000;
    options_.largest_bytes = Bytes{1} << 18;
    calibration_.provenance.device.emplace();
  }
  ~DeviceCalibration() override { takes_no_time = false; }

  EmulatedDevices& emulated_ = EmulatedDevices::get();  // before they are looked for
  const Layout layout_ = Layout::with_ppn(size_of(), size_of());
  CalibrationOptions options_;
  Calibration calibration_{MPI_COMM_WORLD, layout_, options_};
  const NodeDevices devices_ = find_node_devices(MPI_COMM_WORLD, layout_);
};

TEST_F(DeviceCalibration, FindsTheDevicesOfTheNodeAndSharesThemEvenly) {
  ASSERT_TRUE(devices_);
  EXPECT_EQ(devices_.count, 2);
  EXPECT_EQ(devices_.kind, "emulated");
  EXPECT_EQ(std::ssize(devices_.sharers), size_of()) << "all see all";
  EXPECT_TRUE(devices_.have_all_one);
  ASSERT_TRUE(devices_.first);
  EXPECT_EQ(devices_.first->number, 0);
  EXPECT_EQ(devices_.own->number, rank_of() * 2 / size_of());
}

TEST_F(DeviceCalibration, FindsTheLinesOfCopiesByNumberOfProcesses) {
  measure_device_copies(calibration_, devices_);
  const auto& machine = calibration_.machine;
  EXPECT_EQ(machine.devices_per_node, 2);
  for (const bool to_host : {true, false}) {
    const auto& found = to_host ? machine.device_to_host : machine.host_to_device;
    ASSERT_EQ(found.size(), size_of() > 1 ? 2U : 1U) << "1 and 2, of up to three ranks";
    for (const auto& [processes, alpha_s, beta_s_per_byte] : found) {
      const auto known = truth(processes, to_host, true);
      EXPECT_NEAR(alpha_s, known.alpha_s, 1e-5 * known.alpha_s);
      EXPECT_NEAR(beta_s_per_byte, known.beta_s_per_byte, 1e-5 * known.beta_s_per_byte);
    }
  }
  const auto& told = calibration_.provenance.device->copies;
  EXPECT_EQ(told.size(), 4 * machine.device_to_host.size()) << "pageable memory, too";
  for (const auto& [way, processes, line, error, sizes] : told) {
    const auto known = truth(processes, way.direction == CopyDirection::to_host, way.memory == HostPages::pinned);
    EXPECT_NEAR(line.alpha_s, known.alpha_s, 1e-5 * known.alpha_s);
    EXPECT_LT(error, 1e-5);
  }
}

TEST_F(DeviceCalibration, FindsWhatABatchWithinADeviceTakes) {
  measure_copies_within_device(calibration_, devices_);
  EXPECT_NEAR(calibration_.machine.device_copy_call_s.value(), copy_call_s, 1e-5 * copy_call_s);
  EXPECT_NEAR(calibration_.machine.device_copy_rate_bytes_per_s.value(), rate_within, 1e-5 * rate_within);
}

TEST_F(DeviceCalibration, TriesExchangesThatNoFitHasSeen) {
  calibration_.machine = generic_profile().machine;
  calibration_.machine.device_to_host = calibration_.machine.host_to_device = {truth(1, true, true)};
  const auto before = emulated_.alive();
  check_staged(calibration_, devices_);
  const auto& held_out = calibration_.provenance.device->held_out;
  ASSERT_EQ(held_out.size(), 2U);
  for (const auto& each : held_out) {
    EXPECT_EQ(each.strategy, "standard@staged");
    EXPECT_GT(each.predicted_s, 2e-5) << "there and back";
    EXPECT_GT(each.measured_s, 0);
  }
  EXPECT_EQ(emulated_.alive(), before);
}

TEST_F(DeviceCalibration, LeavesOutWhatItCannotTellAndSaysWhy) {
  takes_no_time = true;
  measure_device_copies(calibration_, devices_);
  EXPECT_TRUE(calibration_.machine.device_to_host.empty());
  EXPECT_THAT(calibration_.provenance.not_measured,
              testing::Contains(testing::HasSubstr("copy.device_to_host, 1 processes: bytes take no measurable time")));
  measure_device_messages(calibration_, devices_);
  EXPECT_TRUE(calibration_.machine.device.empty());
  EXPECT_THAT(calibration_.provenance.not_measured,
              testing::Contains(testing::HasSubstr("does not say that it takes emulated memory")));
  check_staged(calibration_, devices_);
  EXPECT_TRUE(calibration_.provenance.device->held_out.empty()) << "there is no price";
}

}  // namespace
}  // namespace commpass
