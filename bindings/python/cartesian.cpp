// Cartesian collectives and halos for commpass.native._mpi.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/exchange_bindings.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass::python {

namespace {

using OpenNeighborhood = Closable<CartNeighborhood>;
using OpenCart = Closable<CartExchange>;
using OpenHalo = Closable<HaloExchange>;

/// @param failure  the error in the arguments of this rank; empty: none
std::unique_ptr<OpenNeighborhood> cart_neighborhood(OpenCommunicator& communicator, const Numbers& dims,
                                                    const std::vector<bool>& periodic, const Numbers& offsets,
                                                    const Numbers& weights, const std::string& strategy, bool reorder,
                                                    const std::string& failure) {
  auto& on = communicator.get();
  auto made = unlocked([&] {
    agree(on.mpi(), failure);
    CartOptions options;
    options.strategy = strategy;
    options.reorder = reorder;
    return on.cart_neighborhood({{dims, periodic}, offsets, weights}, options);
  });
  return std::make_unique<OpenNeighborhood>("CartNeighborhood", std::move(made));
}

std::unique_ptr<OpenHalo> halo_exchange(OpenCommunicator& communicator, const Numbers& dims,
                                        const std::vector<bool>& periodic, const py::array& cells,
                                        const Numbers& extent, const Numbers& depth, Bytes cell_bytes,
                                        const Numbers& stages, std::optional<bool> shared, const std::string& failure) {
  auto& on = communicator.get();
  auto* const array = writable(cells);
  auto exchange = unlocked([&] {
    agree(on.mpi(), failure);
    HaloOptions options;
    options.stages = stages;
    options.shared = shared;
    return on.halo_exchange({dims, periodic}, {extent, depth, cell_bytes}, array, options);
  });
  return std::make_unique<OpenHalo>("HaloExchange", std::move(exchange), std::vector<py::object>{cells});
}

void alltoallv(OpenNeighborhood& of, const py::array& send, const Numbers& send_counts, const Numbers& send_offsets,
               const py::array& receive, const Numbers& receive_counts, const Numbers& receive_offsets, bool differ) {
  auto& on = of.get();
  const auto type = elements_of(send);
  const Buffers at(send, receive);
  unlocked([&] {
    on.alltoallv(at.send, send_counts, send_offsets, type, at.receive, receive_counts, receive_offsets, type, {differ});
  });
}

std::unique_ptr<OpenCart> alltoallv_init(OpenNeighborhood& of, const py::array& send, const Numbers& send_counts,
                                         const Numbers& send_offsets, const py::array& receive,
                                         const Numbers& receive_counts, const Numbers& receive_offsets, bool differ) {
  auto& on = of.get();
  const auto type = elements_of(send);
  const Buffers at(send, receive);
  auto exchange = unlocked([&] {
    return on.alltoallv_init(at.send, send_counts, send_offsets, type, at.receive, receive_counts, receive_offsets,
                             type, {differ});
  });
  return std::make_unique<OpenCart>("CartExchange", std::move(exchange), std::vector<py::object>{send, receive});
}

void allgatherv(OpenNeighborhood& of, const py::array& send, const py::array& receive, const Numbers& counts,
                const Numbers& offsets, bool differ) {
  auto& on = of.get();
  const auto type = elements_of(send);
  const Buffers at(send, receive);
  const auto count = static_cast<int>(send.size());
  unlocked([&] { on.allgatherv(at.send, count, type, at.receive, counts, offsets, type, {differ}); });
}

std::unique_ptr<OpenCart> allgatherv_init(OpenNeighborhood& of, const py::array& send, const py::array& receive,
                                          const Numbers& counts, const Numbers& offsets, bool differ) {
  auto& on = of.get();
  const auto type = elements_of(send);
  const Buffers at(send, receive);
  const auto count = static_cast<int>(send.size());
  auto exchange =
      unlocked([&] { return on.allgatherv_init(at.send, count, type, at.receive, counts, offsets, type, {differ}); });
  return std::make_unique<OpenCart>("CartExchange", std::move(exchange), std::vector<py::object>{send, receive});
}

/// None for MPI_PROC_NULL.
std::vector<std::optional<Rank>> ranks_or_none(const std::vector<Rank>& ranks) {
  std::vector<std::optional<Rank>> result;
  for (const Rank rank : ranks) result.push_back(rank == MPI_PROC_NULL ? std::nullopt : std::optional(rank));
  return result;
}

void bind_neighborhood(py::module_& module) {
  py::class_<OpenNeighborhood>(module, "CartNeighborhood")
      .def("alltoallv", &alltoallv)
      .def("alltoallv_init", &alltoallv_init)
      .def("allgatherv", &allgatherv)
      .def("allgatherv_init", &allgatherv_init)
      .def("relative_rank", [](OpenNeighborhood& of, const Numbers& offset) { return of.get().relative_rank(offset); })
      .def("coordinates", [](OpenNeighborhood& of, Rank rank) { return of.get().coordinates(rank); })
      .def_property_readonly("rank", [](OpenNeighborhood& of) { return of.get().rank(); })
      .def_property_readonly("sources", [](OpenNeighborhood& of) { return ranks_or_none(of.get().sources()); })
      .def_property_readonly("targets", [](OpenNeighborhood& of) { return ranks_or_none(of.get().targets()); })
      .def_property_readonly("explanation", [](OpenNeighborhood& of) { return of.get().explanation(); })
      .def("close", [](OpenNeighborhood& of) { unlocked([&] { of.close(); }); });
}

}  // namespace

void bind_cartesian(py::module_& module, BoundCommunicator& communicator) {
  communicator.def("cart_neighborhood", &cart_neighborhood).def("halo_exchange", &halo_exchange);
  bind_neighborhood(module);
  bind_planned<CartExchange>(module, "CartExchange")
      .def("start", without_lock<CartExchange>(&CartExchange::start))
      .def_property_readonly("strategy", [](OpenCart& of) { return of.get().strategy(); });
  bind_planned<HaloExchange>(module, "HaloExchange")
      .def("start", without_lock<HaloExchange>(&HaloExchange::start))
      .def_property_readonly("strategy", [](OpenHalo& of) { return of.get().strategy(); })
      .def_property_readonly("stages", [](OpenHalo& of) { return of.get().stages(); })
      .def_property_readonly("messages", [](OpenHalo& of) { return of.get().messages(); })
      .def_property_readonly("explanation", [](OpenHalo& of) { return of.get().explanation(); });
}

}  // namespace commpass::python
