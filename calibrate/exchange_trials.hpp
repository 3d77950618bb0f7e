// Exchanges that Commpass runs itself: priced by what was found, and timed.
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

/// One exchange by one strategy.
struct ExchangeTrial {
  HeldOut result;
  std::array<Seconds, most_levels> seconds_of{};  ///< what its messages cost their senders, by level; on rank 0
  std::function<Seconds(const Machine&)> price;   ///< on rank 0
  std::function<void()> run;                      ///< collective
  std::span<std::byte> sent;                      ///< what this rank sends, in memory of the host
};

/// Some of them. What they send lives as long as this. Everything is collective.
class ExchangeTrials {
 public:
  explicit ExchangeTrials(Calibration& calibration);
  ExchangeTrials(const ExchangeTrials&) = delete;
  ExchangeTrials& operator=(const ExchangeTrials&) = delete;

  /// A planned exchange by each of some strategies. @param part_of  another one, of whose messages these are some
  void add_planned(const std::string& name, const Pattern& pattern, const std::vector<std::string>& strategies,
                   const std::string& part_of = {});
  /// A planned exchange of data that lie on a device of each rank, until it has done all.
  void add_on_device(const std::string& name, const Pattern& pattern, const std::string& strategy,
                     const Device& device);
  /// An all-to-all that is called once, of blocks of less than 2^31 bytes for a rank.
  /// @param price  as of ExchangeTrial
  void add_called_once(const std::string& name, const Pattern& pattern, const std::string& strategy,
                       std::function<Seconds(const Machine&)> price);
  void add_sparse(const std::string& name, const Pattern& pattern, const std::string& strategy);

  /// Times those in turn, each from a common start to the last finish, until this share of the budget is spent.
  void time(double share);
  /// Prices them by what was found since.
  void price_again();

  std::vector<HeldOut> results() const;
  /// The level whose messages take most of the time of what is predicted badly. On rank 0 alone.
  Level where_most_is_missed() const;

 private:
  /// The mean of the repetitions.
  Seconds time_one(const ExchangeTrial& trial, int repetitions);
  /// @param sent  see ExchangeTrial
  void add(HeldOut result, const Pattern& pattern, std::span<std::byte> sent,
           std::function<Seconds(const Machine&)> price, std::function<void()> run);

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
  std::list<RankData> data_;  ///< a list: exchanges know where their buffers are
  std::list<Exchange> exchanges_;
  std::vector<ExchangeTrial> trials_;
};

}  // namespace commpass
