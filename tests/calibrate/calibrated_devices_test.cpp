// A whole calibration on real ranks with emulated devices, whose memory this MPI library takes.
#include <gtest/gtest.h>
#include <mpi.h>

#include "calibrate/calibrate.hpp"
#include "model/base/json.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

TEST(CalibrationWithDevices, FindsEverythingThatAPathIsPricedBy) {
  const auto before = test::EmulatedDevices::get().alive();
  CalibrationOptions options{.name = "emulated", .budget_s = 2, .progress = {}};
  options.largest_bytes = Bytes{1} << 16;
  const auto result = calibrate(MPI_COMM_WORLD, Layout::with_ppn(test::size_of(), test::size_of()), options);
  const auto& machine = result.profile.machine;
  ASSERT_EQ(machine.device_to_host.size(), 2U);
  ASSERT_EQ(machine.host_to_device.size(), 2U);
  for (const auto& copies : {machine.device_to_host, machine.host_to_device})
    for (const auto& copy : copies) EXPECT_GT(copy.beta_s_per_byte, 0);
  EXPECT_EQ(machine.devices_per_node, 2);
  EXPECT_TRUE(machine.device_copy_call_s);
  EXPECT_TRUE(machine.device.has(standard_level::socket));
  const auto device = Json::parse(result.profile.provenance_json).at("device");
  EXPECT_EQ(device.at("name"), "protected pages");
  EXPECT_EQ(device.at("copies").size(), 8U) << "two directions, pinned and not, by one process and by two";
  EXPECT_FALSE(device.at("fits").empty());
  if (device.contains("held_out")) {  // the budget permits it
    EXPECT_EQ(device.at("held_out").size(), 4U) << "two exchanges, staged and not";
  }
  EXPECT_EQ(test::EmulatedDevices::get().alive(), before) << "nothing is left on a device";
}

}  // namespace
}  // namespace commpass
