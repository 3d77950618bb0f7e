#include "runtime/alltoall/started_alltoallv.hpp"

#include <array>
#include <exception>
#include <utility>

#include "runtime/alltoall/started_alltoallv_state.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

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

void StartedAlltoallv::State::start(const AlltoallCall& given, const AlltoallvOptions& options) {
  const MPI_Comm comm = engine->comm();
  const bool is_w = given.kind == AlltoallCall::Kind::w;
  const auto call = is_w ? packing_.emplace().begin(comm, given) : given;
  arguments_.assign(comm, call);
  const auto block_bytes = arguments_.block_bytes(call);
  const bool is_in_place = call.is_in_place();
  data_.find(call, arguments_, engine->users_stream());
  begun = engine->begin(options, block_bytes, is_in_place, data_);
  if (begun.structure) insist([&] { ours_ = std::make_unique<AlltoallExchange>(comm); });
  else
    insist([&] {
      const auto start = [this, call](MPI_Comm on, MPI_Request* request) {
        library_.start(call, buffers_.send, buffers_.receive, on, request);
      };
      by_library_ = std::make_unique<Executor>(std::make_unique<StartedByLibrary>(comm, start));
    });
  is_in_flight_ = true;
  guarded([&] {
    buffers_ = data_.begin(begun.path);
    if (by_library_) return by_library_->start();
    if (is_in_place) arguments_.send_in_place(comm, buffers_.receive, *buffers_.space);
    const auto sends =
        is_in_place ? arguments_.in_place() : arguments_.sends.blocks(static_cast<const std::byte*>(buffers_.send));
    ours_->start(*begun.structure, sends, arguments_.receives.blocks(static_cast<std::byte*>(buffers_.receive)),
                 block_bytes ? BlockSizes::equal : BlockSizes::told, begun.tag, buffers_.space);
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
  if (packing_) packing_->end();
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

}  // namespace commpass
