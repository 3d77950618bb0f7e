// commpass.native._mpi: exchanges between ranks. commpass/mpi.py has the classes for programs, and checks arguments.
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/exchange_bindings.hpp"
#include "bindings/python/translate_errors.hpp"
#include "commpass/commpass.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/named_parameters.hpp"
#include "runtime/mpi/agreement.hpp"

namespace {

using namespace commpass;
using namespace commpass::python;

/// @param handle  from mpi4py's _handleof: a number of MPICH, an address of Open MPI
MPI_Comm communicator_of(std::uintptr_t handle) {
  MPI_Comm comm = MPI_COMM_NULL;
  static_assert(sizeof comm <= sizeof handle);
  std::memcpy(&comm, &handle, sizeof comm);
  return comm;
}

using OpenExchange = Closable<Exchange>;
using OpenIndexed = Closable<IndexedExchange>;
using OpenAllreduce = Closable<SparseAllreduce>;

std::unique_ptr<OpenCommunicator> open(std::uintptr_t handle, const std::string& profile, const std::string& layout,
                                       const std::string& limits) {
  CommunicatorOptions options;
  options.limits = parse_limits(limits);
  options.layout = layout;
  return unlocked([&] {
    return std::make_unique<OpenCommunicator>("Communicator", Communicator(communicator_of(handle), profile, options));
  });
}

void alltoallv(OpenCommunicator& communicator, const py::array& send, const Numbers& send_counts,
               const Numbers& send_offsets, const py::array& receive, const Numbers& receive_counts,
               const Numbers& receive_offsets, const std::string& strategy) {
  auto& on = communicator.get();
  const auto type = elements_of(send);
  const Buffers at(send, receive);
  unlocked([&] {
    on.alltoallv(at.send, send_counts, send_offsets, type, at.receive, receive_counts, receive_offsets, type,
                 {strategy, {}});
  });
}

/// @param failure  the error in the arguments of this rank; empty: none
std::unique_ptr<OpenExchange> neighbor_exchange(OpenCommunicator& communicator, const py::array& send,
                                                const EdgeList& sends, const py::array& receive,
                                                const EdgeList& receives, const std::string& strategy,
                                                const std::string& failure) {
  auto& on = communicator.get();
  const Buffers at(send, receive);
  auto exchange = unlocked([&] {
    agree(on.mpi(), failure);
    ExchangeOptions options;
    options.strategy = strategy;
    return on.neighbor_exchange(at.send, edges_of<SendEdge>(sends), at.receive, edges_of<ReceiveEdge>(receives),
                                options);
  });
  return std::make_unique<OpenExchange>("Exchange", std::move(exchange), std::vector<py::object>{send, receive});
}

/// @param owned  indices, or the begin and the end of a range
std::unique_ptr<OpenIndexed> indexed_exchange(OpenCommunicator& communicator, const std::vector<Index>& owned,
                                              bool is_range, const std::vector<Index>& needed, Bytes value_bytes,
                                              bool reverse, bool deterministic, bool overwrite,
                                              const std::string& strategy, const std::string& failure) {
  auto& on = communicator.get();
  auto exchange = unlocked([&] {
    agree(on.mpi(), failure);
    IndexedOptions options;
    options.strategy = strategy;
    options.reverse = reverse;
    options.deterministic = deterministic;
    options.overwrite = overwrite;
    const auto by = is_range ? OwnedBy(IndexRange{owned.at(0), owned.at(1)}) : OwnedBy(std::span<const Index>(owned));
    return on.indexed_exchange(by, needed, value_bytes, options);
  });
  return std::make_unique<OpenIndexed>("IndexedExchange", std::move(exchange));
}

/// @param contributions  a rank and a number of values each
std::unique_ptr<OpenIndexed> neighbor_reduce_scatter(OpenCommunicator& communicator,
                                                     const std::vector<std::pair<Rank, std::int64_t>>& contributions,
                                                     std::int64_t result_values, Bytes value_bytes, bool deterministic,
                                                     const std::string& strategy, const std::string& failure) {
  auto& on = communicator.get();
  auto exchange = unlocked([&] {
    agree(on.mpi(), failure);
    std::vector<Contribution> given;
    for (const auto& [destination, values] : contributions) given.push_back({destination, values});
    return on.neighbor_reduce_scatter(given, result_values, value_bytes,
                                      {.strategy = strategy, .deterministic = deterministic});
  });
  return std::make_unique<OpenIndexed>("Reduction", std::move(exchange));
}

std::unique_ptr<OpenAllreduce> sparse_allreduce(OpenCommunicator& communicator, const std::vector<Index>& indices,
                                                Bytes value_bytes, bool deterministic, const std::string& strategy,
                                                const std::string& failure) {
  auto& on = communicator.get();
  auto allreduce = unlocked([&] {
    agree(on.mpi(), failure);
    return on.sparse_allreduce(indices, value_bytes, {.strategy = strategy, .deterministic = deterministic});
  });
  return std::make_unique<OpenAllreduce>("Reduction", std::move(allreduce));
}

/// Calls start(values, sums) with numbers, if they are of this type.
template <class Number, class Start>
bool start_if(const py::array& values, const py::array& sums, Start start) {
  if (!py::isinstance<py::array_t<Number>>(values)) return false;
  const auto* const from = static_cast<const Number*>(values.data());
  auto* const to = static_cast<Number*>(writable(sums));
  unlocked([&] {
    if constexpr (std::is_arithmetic_v<Number>) {
      start(from, to);
    } else {  // the parts of complex numbers are contiguous
      using Part = typename Number::value_type;
      start(reinterpret_cast<const Part*>(from), reinterpret_cast<Part*>(to));
    }
  });
  return true;
}

template <class... Number, class Start>
void start_with_one_of(const py::array& values, const py::array& sums, Start start) {
  if (!(start_if<Number>(values, sums, start) || ...))
    throw InputError("values to add", "they are no integers, floating-point or complex numbers",
                     "use arrays of one of these");
}

template <class Start>
void start_adding(const py::array& values, const py::array& sums, Start start) {
  start_with_one_of<double, float, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t, std::uint32_t,
                    std::uint16_t, std::uint8_t, std::complex<double>, std::complex<float>>(values, sums, start);
}

void start_reverse_add(OpenIndexed& exchange, const py::array& ghosts, const py::array& owned) {
  auto& held = exchange.get();
  start_adding(ghosts, owned, [&](const auto* from, auto* to) { held.start_reverse_add(from, to); });
}

void start_allreduce(OpenAllreduce& allreduce, const py::array& values, const py::array& sums) {
  auto& held = allreduce.get();
  start_adding(values, sums, [&](const auto* from, auto* to) { held.start(from, to); });
}

/// Binds the methods of planned exchanges with one strategy.
template <class Held>
py::class_<Closable<Held>> bind_exchange(py::module_& module, const char* name) {
  return bind_planned<Held>(module, name)
      .def_property_readonly("strategy", [](Closable<Held>& of) { return of.get().strategy(); })
      .def_property_readonly("explanation", [](Closable<Held>& of) { return of.get().explanation(); });
}

}  // namespace

PYBIND11_MODULE(_mpi, module) {
  commpass::python::translate_errors();
  BoundCommunicator communicator(module, "Communicator");
  communicator.def(py::init(&open))
      .def("alltoallv", &alltoallv)
      .def("neighbor_exchange", &neighbor_exchange)
      .def("indexed_exchange", &indexed_exchange)
      .def("neighbor_reduce_scatter", &neighbor_reduce_scatter)
      .def("sparse_allreduce", &sparse_allreduce)
      .def_property_readonly("ranks", [](OpenCommunicator& of) { return of.get().layout().ranks(); })
      .def_property_readonly("layout", [](OpenCommunicator& of) { return of.get().layout().describe(); })
      .def_property_readonly("places", [](OpenCommunicator& of) { return places_text(of.get().layout()); })
      .def_property_readonly("last_alltoallv_strategy",
                             [](OpenCommunicator& of) { return of.get().last_alltoallv_strategy(); })
      .def_property_readonly("last_sparse_strategy",
                             [](OpenCommunicator& of) { return of.get().last_sparse_strategy(); })
      .def("close", [](OpenCommunicator& of) { unlocked([&] { of.close(); }); });
  bind_exchange<Exchange>(module, "Exchange").def("start", without_lock<Exchange>(&Exchange::start));
  bind_exchange<IndexedExchange>(module, "IndexedExchange")
      .def("start_forward",
           [](OpenIndexed& of, const py::array& owned, const py::array& ghosts) {
             auto& exchange = of.get();
             const Buffers at(owned, ghosts);
             unlocked([&] { exchange.start_forward(at.send, at.receive); });
           })
      .def("start_reverse_add", &start_reverse_add);
  bind_exchange<SparseAllreduce>(module, "SparseAllreduce").def("start_reverse_add", &start_allreduce);
  bind_sparse(module, communicator);
  bind_cartesian(module, communicator);
  module.attr("mpi_library") = COMMPASS_MPI_LIBRARY;
}
