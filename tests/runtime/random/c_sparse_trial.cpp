// Sparse exchanges of C: with room for received messages, or memory of Commpass; elements of any type.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/random/c_place.hpp"
#include "runtime/random/sparse_problem.hpp"
#include "runtime/random/strategies.hpp"
#include "runtime/random/trial.hpp"

namespace commpass::random_test {

namespace {

class CSparseTrial : public Trial {
 public:
  CSparseTrial(Place& its_place, Kind its_kind, std::uint64_t its_key)
      : Trial(its_place, its_kind, Manner::blocking, its_key) {}

  void plan() override { c_.create(place); }

  void prepare(int repetition) override {
    Draw draw(key_of(key, repetition));
    const bool constant = kind == Kind::c_alltoall_crs;
    strategy = draw_sparse_strategy(draw, *place.switches, *place.layout, constant, true);
    problem_.emplace(draw, place, constant, strategy.ends_with("+rma"), true);
    // Memory of Commpass begins with the first element: types whose data begin before it are refused there, on all
    // ranks if one gives such a type.
    allocates_ = draw.one_in(2) &&
                 std::ranges::none_of(problem_->received, [](const Element& type) { return type.least_offset() < 0; });
  }

  void begin(int repetition) override {
    const auto& problem = *problem_;
    const auto r = static_cast<std::size_t>(place.rank);
    buffer_ = filled(sent_key(place.rank, repetition), problem.sent_bytes[r]);
    const auto sent_before = buffer_;
    const auto& type = problem.received[r];
    lower_ = std::max<Bytes>(0, -type.least_offset()) + guard_bytes;

    // The expected bytes: message after message, by the extent of the receiver's type.
    const auto expected = problem.to(place.rank);
    std::vector<int> sources, counts, displacements;
    int elements = 0;
    for (const auto& message : expected) {
      sources.push_back(message.source);
      counts.push_back(message.count / problem.sent[static_cast<std::size_t>(message.source)].in_unit * type.in_unit);
      displacements.push_back(elements);
      elements += counts.back();
    }
    call(problem, allocates_, repetition, {sources, counts, displacements, elements});

    Bytes element = 0;
    for (const auto& message : expected) {
      const auto data = problem.data(message, sent_key(message.source, repetition));
      for (std::size_t i = 0; i < data.size(); ++i) {
        const auto in_element = static_cast<Bytes>(i) % std::ssize(type.offsets);
        if (i > 0 && in_element == 0) ++element;
        expected_[static_cast<std::size_t>(lower_ + element * type.extent +
                                           type.offsets[static_cast<std::size_t>(in_element)])] = data[i];
      }
      element += data.empty() ? 0 : 1;
    }
    require_equal("the received messages", received_, expected_);
    require_equal("the send buffer", buffer_, sent_before);
  }

 private:
  struct Coming {
    std::vector<int> sources, counts, displacements;
    int elements = 0;
  };

  void call(const SparseProblem& problem, bool allocates, int repetition, const Coming& coming) {
    const auto r = static_cast<std::size_t>(place.rank);
    const auto &from = problem.sent[r], &to = problem.received[r];
    std::vector<int> destinations, counts, displacements;
    for (const auto& message : problem.from(place.rank)) {
      destinations.push_back(message.destination);
      counts.push_back(message.count);
      displacements.push_back(message.displacement);
    }
    const int messages = static_cast<int>(destinations.size()), constant = problem.constant_units * from.in_unit;
    const char* const name = strategy.empty() ? nullptr : strategy.c_str();
    const void* const values = buffer_.data() + problem.origins[r];
    const Bytes bytes = lower_ + coming.elements * to.extent + std::max<Bytes>(0, to.end_offset()) + guard_bytes;
    received_ = filled(received_key(place.rank, repetition), bytes);
    expected_ = received_;
    if (!allocates) {
      const int spare = static_cast<int>(key % 3);  // more room than is needed
      int count = static_cast<int>(coming.sources.size()) + spare, size = coming.elements + spare;
      std::vector<int> sources(static_cast<std::size_t>(count), -1), its_counts = sources, its_displacements = sources;
      if (problem.constant) {
        CPlace::require(commpass_alltoall_crs(messages, destinations.data(), constant, *from.type, values, &count,
                                              sources.data(), problem.constant_units * to.in_unit, *to.type,
                                              received_.data() + lower_, name, c_.comm()));
        its_counts = coming.counts;
        its_displacements = coming.displacements;
        size = coming.elements;
      } else {
        CPlace::require(commpass_alltoallv_crs(messages, destinations.data(), counts.data(), displacements.data(),
                                               *from.type, values, &count, &size, sources.data(), its_counts.data(),
                                               its_displacements.data(), *to.type, received_.data() + lower_, name,
                                               c_.comm()));
      }
      for (auto* numbers : {&sources, &its_counts, &its_displacements}) numbers->resize(coming.sources.size(), -1);
      require_same({sources, its_counts, its_displacements, size}, count, coming);
      return;
    }
    commpass_received got{};
    CPlace::require(problem.constant ? commpass_alltoall_crs_alloc(messages, destinations.data(), constant, *from.type,
                                                                   values, *to.type, &got, name, c_.comm())
                                     : commpass_alltoallv_crs_alloc(messages, destinations.data(), counts.data(),
                                                                    displacements.data(), *from.type, values, *to.type,
                                                                    &got, name, c_.comm()));
    require_same({{got.src, got.src + got.nnz},
                  {got.counts, got.counts + got.nnz},
                  {got.displs, got.displs + got.nnz},
                  got.size},
                 got.nnz, coming);
    // Its memory has no bytes around the elements, and rubbish between.
    const auto* const elements = static_cast<const std::byte*>(got.values);
    for (Bytes element = 0; element < got.size; ++element)
      for (const auto offset : to.offsets)
        received_[static_cast<std::size_t>(lower_ + element * to.extent + offset)] =
            elements[element * to.extent + offset];
    commpass_received_free(&got);
  }

  static void require_same(const Coming& found, int count, const Coming& expected) {
    if (count != static_cast<int>(expected.sources.size()))
      throw Failure(fmt::format("{} messages have come, and must be {}", count, expected.sources.size()));
    if (found.sources != expected.sources) throw Failure("the sources are wrong");
    if (found.counts != expected.counts || found.displacements != expected.displacements ||
        found.elements != expected.elements)
      throw Failure("the counts or displacements are wrong");
  }

  std::optional<SparseProblem> problem_;
  bool allocates_ = false;
  CPlace c_;
  Buffer buffer_, received_, expected_;
  Bytes lower_ = 0;
};

}  // namespace

std::unique_ptr<Trial> make_c_sparse_trial(Place& place, Kind kind, std::uint64_t key) {
  return std::make_unique<CSparseTrial>(place, kind, key);
}

}  // namespace commpass::random_test
