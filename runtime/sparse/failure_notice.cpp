#include "runtime/sparse/failure_notice.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/sparse_tally.hpp"

namespace commpass {

namespace {

constexpr std::size_t most_characters = 1024;
using Letters = std::array<std::int64_t, most_characters / sizeof(std::int64_t)>;

}  // namespace

FailureNotice::FailureNotice(MPI_Comm comm, const TallyOperation& combine, std::string sentence)
    : comm_(comm), combine_(combine), rank_(rank_in(comm)), ranks_(ranks_in(comm)), sentence_(std::move(sentence)) {}

bool FailureNotice::progress(bool may_reduce) {
  if (!finding_.started()) {
    if (!may_reduce) return false;
    Tally tally;
    tally.largest_bytes = sentence_.empty() ? 0 : ranks_ - rank_;  // the largest is that of the lowest rank
    finding_.start_tally(comm_, tally.numbers(), combine_);
  }
  if (!telling_.started()) {
    if (!finding_.test()) return false;
    lowest_ = ranks_ - static_cast<Rank>(Tally::of(finding_.result()).largest_bytes);
    // A sum to which one rank contributes is a broadcast.
    Letters letters{};
    if (rank_ == lowest_) std::memcpy(letters.data(), sentence_.data(), std::min(sentence_.size(), most_characters));
    telling_.start_sum(comm_, letters);
  }
  return telling_.test();
}

std::string FailureNotice::text() const {
  const auto letters = std::as_bytes(telling_.result());
  std::string sentence(reinterpret_cast<const char*>(letters.data()), letters.size());
  sentence.resize(std::min(sentence.size(), sentence.find('\0')));
  return "rank " + std::to_string(lowest_) + ": " + sentence;
}

}  // namespace commpass
