#include "runtime/device/staged_bytes.hpp"

namespace commpass {

void StagedBytes::assign(const StagedRanges& ranges, DeviceQueue& queue) {
  queue_ = &queue;
  queue_->wait();  // which may still copy from there
  ranges_ = ranges;
  copies_.reserve(ranges_.ranges().size());
  host_.reserve(ranges_.bytes(), [&](Bytes wanted) { return pinned_buffer(queue.device(), wanted); });
}

void StagedBytes::copy_out(const void* users, Ends ends) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back({static_cast<const std::byte*>(users) + offset, host() + place, static_cast<std::size_t>(bytes)});
  queue_->copy(copies_, ends);
}

void StagedBytes::copy_in(void* users, Ends ends) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back({host() + place, static_cast<std::byte*>(users) + offset, static_cast<std::size_t>(bytes)});
  queue_->copy(copies_, ends);
}

void StagedBytes::read(const void* users, Ends ends) {
  queue_->follow_user();
  copy_out(users, ends);
  queue_->wait();
}

void StagedBytes::write(void* users, Ends ends) {
  queue_->follow_user();
  copy_in(users, ends);
  queue_->let_user_follow();
}

}  // namespace commpass
