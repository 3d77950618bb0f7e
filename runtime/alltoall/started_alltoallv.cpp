#include "runtime/alltoall/started_alltoallv.hpp"

#include <array>
#include <exception>
#include <functional>
#include <utility>

#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// Nothing of a rank's own that is wrong leaves it in flight.
struct StartedAlltoallv::State {
  explicit State(std::shared_ptr<AlltoallvEngine> its_engine) : engine(std::move(its_engine)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// @throws as AlltoallvEngine::begin, AlltoallData::assign
  void start(const AlltoallCall& call, const AlltoallvOptions& options);
  bool test();
  void wait();

  std::shared_ptr<AlltoallvEngine> engine;
  AlltoallvEngine::Begun begun;

 private:
  template <class Action>
  void guarded(Action action);
  void conclude(const std::optional<AlltoallDamage>& damage);

  AlltoallData data_;
  LibraryAlltoall library_;
  std::unique_ptr<AlltoallExchange> ours_;  ///< one of these two
  std::unique_ptr<Executor> by_library_;
  bool is_in_flight_ = false;
};

namespace {

/// One call of the MPI library that does not wait.
class StartedByLibrary final : public BatchRequests {
 public:
  using Start = std::function<void(MPI_Comm, MPI_Request*)>;
  StartedByLibrary(MPI_Comm comm, Start start) : comm_(comm), start_(std::move(start)) {}
  std::size_t batches() const override { return 1; }
  void begin(std::size_t) override { start_(comm_, request_.data()); }
  std::span<MPI_Request> requests() override { return request_; }
  void end(std::size_t) override {}
  void abandon() noexcept override { request_[0] = MPI_REQUEST_NULL; }

 private:
  MPI_Comm comm_;
  Start start_;
  std::array<MPI_Request, 1> request_{MPI_REQUEST_NULL};
};

}  // namespace

StartedAlltoallv::StartedAlltoallv(std::unique_ptr<State> state) : state_(std::move(state)) {}
const std::string& StartedAlltoallv::strategy() const { return *state_->begun.strategy; }
std::optional<Seconds> StartedAlltoallv::predicted_seconds() const { return state_->begun.predicted_s; }
std::string StartedAlltoallv::explanation() const { return strategy() + ": " + state_->begun.reason + ".\n"; }
bool StartedAlltoallv::test() { return state_->test(); }
void StartedAlltoallv::wait() { state_->wait(); }

StartedAlltoallv::State::~State() {
  if (!mpi_is_usable()) return;
  try {
    wait();
  } catch (...) {  // NOLINT: a destructor cannot throw
  }
}

void StartedAlltoallv::State::start(const AlltoallCall& call, const AlltoallvOptions& options) {
  const MPI_Comm comm = engine->comm();
  data_.assign(call, comm, engine->users_stream());
  begun = engine->begin(options, data_);
  if (begun.structure) insist([&] { ours_ = std::make_unique<AlltoallExchange>(comm); });
  else
    insist([&] {
      const auto start = [this](MPI_Comm on, MPI_Request* request) {
        library_.start(data_.library_call(), on, request);
      };
      by_library_ = std::make_unique<Executor>(std::make_unique<StartedByLibrary>(comm, start));
    });
  is_in_flight_ = true;
  guarded([&] {
    data_.begin(begun.path);
    if (by_library_) by_library_->start();
    else ours_->start(*begun.structure, data_, begun.tag);
  });
}

template <class Action>
void StartedAlltoallv::State::guarded(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    is_in_flight_ = false;
    engine->fail(error);
  }
}

void StartedAlltoallv::State::conclude(const std::optional<AlltoallDamage>& damage) {
  is_in_flight_ = false;
  engine->require_undamaged(damage);
  data_.end();
}

bool StartedAlltoallv::State::test() {
  bool is_complete = !is_in_flight_;
  if (!is_complete) guarded([&] { is_complete = ours_ ? ours_->test() : by_library_->test(); });
  if (is_complete) wait();
  return is_complete;
}

void StartedAlltoallv::State::wait() {
  if (!is_in_flight_) return;
  std::optional<AlltoallDamage> damage;
  guarded([&] {
    if (ours_) damage = ours_->finish();
    else by_library_->wait();
  });
  conclude(damage);
}

StartedAlltoallv start_alltoall(const std::shared_ptr<AlltoallvEngine>& engine, const AlltoallCall& call,
                                const AlltoallvOptions& options) {
  auto state = insist([&] { return std::make_unique<StartedAlltoallv::State>(engine); });
  state->start(call, options);
  return StartedAlltoallv(std::move(state));
}

}  // namespace commpass
