// A schedule run backwards.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/grouping.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

namespace {

/// The sender gathers its own contributions where the receiver delivered; the receiver adds where bytes had left
/// before.
Message message_back(Message message, int last_batch) {
  const std::uint32_t gathered = message.unpacked_pieces, scattered = message.packed_pieces;
  const bool was_from_sender = message.is_all_from_sender;
  std::swap(message.from, message.to);
  message.batch = last_batch - message.batch;
  message.packed_pieces = gathered & most_pieces;
  message.unpacked_pieces = std::max(scattered, message.is_sent_again ? 1U : 0U) & most_pieces;
  message.unpacked_bytes = message.unpacked_pieces > 0 ? message.bytes : 0;
  message.is_all_from_sender = message.is_all_for_receiver;
  message.is_all_for_receiver = was_from_sender && !message.is_sent_again;
  message.is_added = true;
  return message;
}

Stage stage_back(const Stage& stage, int ranks) {
  Stage back{stage.info, {}};
  int last_batch = 0;
  for (const auto& message : stage.messages) last_batch = std::max(last_batch, message.batch);
  back.messages.reserve(stage.messages.size());
  for (const auto& message : stage.messages) back.messages.push_back(message_back(message, last_batch));
  std::ranges::stable_sort(back.messages, {}, &Message::batch);
  stable_counting_sort(back.messages, ranks, &Message::from);
  return back;
}

}  // namespace

Schedule transposed(const Schedule& schedule) {
  auto back = Schedule{.ranks = schedule.ranks,
                       .stages = {},
                       .self_bytes = schedule.self_bytes,
                       .send_bytes = schedule.receive_bytes,
                       .receive_bytes = schedule.send_bytes,
                       .buffered_blocks_max = schedule.buffered_blocks_max,
                       .buffered_bytes_max = schedule.buffered_bytes_max};
  for (auto stage = schedule.stages.rbegin(); stage != schedule.stages.rend(); ++stage)
    back.stages.push_back(stage_back(*stage, schedule.ranks));
  return back;
}

}  // namespace commpass
