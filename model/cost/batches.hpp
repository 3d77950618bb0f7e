// The messages of a stage, batch by batch. Private to the burst model.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "model/cost/models.hpp"

namespace commpass {

/// Those of a batch stay in their order.
class Batches {
 public:
  explicit Batches(const FoldedOf& stage) {
    std::vector<std::size_t> end(static_cast<std::size_t>(last_batch(stage.messages)) + 2, 0);
    if (end.size() == 2) {  // one batch
      batches_.push_back(stage);
      return;
    }
    for (const auto& message : stage.messages) ++end[static_cast<std::size_t>(message.batch) + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    // Copies, because that is faster than to look up every message of a large stage out of order.
    messages_.resize(stage.messages.size());
    folded_.resize(stage.given.size());
    for (const auto& message : stage.messages) {
      const auto place = end[static_cast<std::size_t>(message.batch)]++;
      messages_[place] = message;
      if (!folded_.empty()) folded_[place] = stage(message);
    }
    for (std::size_t b = 0, begin = 0; b + 1 < end.size(); begin = end[b++]) {
      const auto count = end[b] - begin;
      const auto folded =
          std::span<const Folded>(folded_).subspan(folded_.empty() ? 0 : begin, folded_.empty() ? 0 : count);
      batches_.push_back({stage.layout, std::span(messages_).subspan(begin, count), folded});
    }
  }

  auto begin() const { return batches_.begin(); }
  auto end() const { return batches_.end(); }

 private:
  static int last_batch(std::span<const Message> messages) {
    int last = 0;
    for (const auto& message : messages) last = std::max(last, message.batch);
    return last;
  }

  std::vector<Message> messages_;
  std::vector<Folded> folded_;
  std::vector<FoldedOf> batches_;
};

}  // namespace commpass
