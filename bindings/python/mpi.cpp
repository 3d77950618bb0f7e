// commpass.native._mpi: exchanges between ranks. commpass/mpi.py has the classes for programs, and checks arguments.
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
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
                                              bool reverse, bool deterministic, const std::string& strategy,
                                              const std::string& failure) {
  auto& on = communicator.get();
  auto exchange = unlocked([&] {
    agree(on.mpi(), failure);
    IndexedOptions options;
    options.strategy = strategy;
    options.reverse = reverse;
    options.deterministic = deterministic;
    const auto by = is_range ? OwnedBy(IndexRange{owned.at(0), owned.at(1)}) : OwnedBy(std::span<const Index>(owned));
    return on.indexed_exchange(by, needed, value_bytes, options);
  });
  return std::make_unique<OpenIndexed>("IndexedExchange", std::move(exchange));
}

template <class Number>
bool add_if(IndexedExchange& exchange, const py::array& ghosts, const py::array& owned) {
  if (!py::isinstance<py::array_t<Number>>(ghosts)) return false;
  const auto* const from = static_cast<const Number*>(ghosts.data());
  auto* const to = static_cast<Number*>(writable(owned));
  unlocked([&] {
    if constexpr (std::is_arithmetic_v<Number>) {
      exchange.start_reverse_add(from, to);
    } else {  // the parts of complex numbers are contiguous
      using Part = typename Number::value_type;
      exchange.start_reverse_add(reinterpret_cast<const Part*>(from), reinterpret_cast<Part*>(to));
    }
  });
  return true;
}

/// Adds if the type is one of `Number`.
template <class... Number>
void add_one_of(IndexedExchange& exchange, const py::array& ghosts, const py::array& owned) {
  if (!(add_if<Number>(exchange, ghosts, owned) || ...))
    throw InputError("IndexedExchange.start_reverse_add", "values are no integers, floating-point or complex numbers",
                     "use arrays of one of these");
}

void start_reverse_add(OpenIndexed& exchange, const py::array& ghosts, const py::array& owned) {
  add_one_of<double, float, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t, std::uint32_t,
             std::uint16_t, std::uint8_t, std::complex<double>, std::complex<float>>(exchange.get(), ghosts, owned);
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
  bind_sparse(module, communicator);
  bind_cartesian(module, communicator);
  module.attr("mpi_library") = COMMPASS_MPI_LIBRARY;
}
