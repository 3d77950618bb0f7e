// Runs exchanges by Commpass: prices them by the parameters found so far, and times them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "model/pattern/pattern.hpp"
#include "runtime/communicator.hpp"
#include "runtime/device/device_queue.hpp"
#include "runtime/mpi/rank_data.hpp"

namespace commpass {

/// Exchanges, each by one strategy, and their buffers. All functions are collective.
class ExchangeTrials {
 public:
  using Price = std::function<Seconds(const Machine&)>;

  explicit ExchangeTrials(Calibration& calibration);
  ExchangeTrials(const ExchangeTrials&) = delete;
  ExchangeTrials& operator=(const ExchangeTrials&) = delete;

  /// A planned exchange by each strategy. @param part_of  see HeldOut
  void add_planned(const std::string& name, const Pattern& pattern, const std::vector<std::string>& strategies,
                   const std::string& part_of = {});
  /// A planned exchange of data on a device of each rank, until the device is idle.
  void add_on_device(const std::string& name, const Pattern& pattern, const std::string& strategy,
                     const Device& device);
  /// An all-to-all that is called once, with less than 2^31 bytes for a rank.
  /// @param price  called on rank 0
  void add_called_once(const std::string& name, const Pattern& pattern, const std::string& strategy, Price price);
  void add_sparse(const std::string& name, const Pattern& pattern, const std::string& strategy);

  /// Times all in turn, each from a common start to the last finish, until this share of the budget is spent.
  void time(double share);
  /// Prices all by the parameters found so far.
  void price_again();

  std::vector<HeldOut> results() const;
  /// The level whose messages take most of the time of badly predicted exchanges. On rank 0 alone.
  Level where_most_is_missed() const;

 private:
  struct Trial {
    HeldOut result;
    Price price;                                    ///< on rank 0
    std::function<void()> run;                      ///< collective
    std::span<std::byte> sent;                      ///< send buffer of this rank, in host memory
    std::array<Seconds, most_levels> seconds_of{};  ///< of the messages' senders, by level
  };
  void add(const std::string& name, const std::string& strategy, const std::string& part_of, const Pattern& pattern,
           std::span<std::byte> sent, Price price, std::function<void()> run);
  Price price_of_plan(const Pattern& pattern, const std::string& strategy) const;
  /// The mean of the repetitions.
  Seconds time_one(const Trial& trial, int repetitions);

  Calibration& calibration_;
  Communicator communicator_;
  /// The buffers of an exchange on a device, and the stream that it follows.
  struct OnDevice {
    OnDevice(const Device& its, const RankData& data);
    ~OnDevice() { device.backend->free_stream(device.number, stream); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    Device device;
    Memory::Buffer send, receive;
    DeviceBackend::Stream stream;
  };
  std::list<OnDevice> on_devices_;
  std::list<RankData> data_;  ///< a list, since exchanges keep the addresses of their buffers
  std::list<Exchange> exchanges_;
  std::vector<Trial> trials_;
};

}  // namespace commpass
