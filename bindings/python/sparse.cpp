// Sparse exchanges for commpass.native._mpi.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bindings/python/exchange_bindings.hpp"

namespace commpass::python {

namespace {

using OpenSparse = Closable<SparseExchange>;

/// Sources and bytes. The arrays own the memory of the messages.
py::list list_of(ReceivedMessages messages) {
  py::list list;
  for (auto& message : messages) {
    auto memory = std::make_unique<std::shared_ptr<const std::byte[]>>(std::move(message.memory));
    const py::capsule owner(memory.get(),
                            [](void* held) { delete static_cast<std::shared_ptr<const std::byte[]>*>(held); });
    memory.release();
    py::array_t<std::uint8_t> bytes(static_cast<py::ssize_t>(message.bytes.size()),
                                    reinterpret_cast<const std::uint8_t*>(message.bytes.data()), owner);
    bytes.attr("flags").attr("writeable") = false;
    list.append(py::make_tuple(message.source, std::move(bytes)));
  }
  return list;
}

py::list sparse_alltoallv(OpenCommunicator& communicator, const py::array& send, const EdgeList& sends,
                          const std::string& strategy, std::optional<double> messages, double bytes) {
  auto& on = communicator.get();
  const auto* const from = send.data();
  return list_of(unlocked([&] {
    return on.sparse_alltoallv(from, edges_of<SendEdge>(sends), {strategy, messages, bytes});
  }));
}

std::unique_ptr<OpenSparse> start_sparse_alltoallv(OpenCommunicator& communicator, const py::array& send,
                                                   const EdgeList& sends, const std::string& strategy,
                                                   std::optional<double> messages, double bytes) {
  auto& on = communicator.get();
  const auto* const from = send.data();
  auto exchange = unlocked([&] {
    return on.start_sparse_alltoallv(from, edges_of<SendEdge>(sends), {strategy, messages, bytes});
  });
  return std::make_unique<OpenSparse>("SparseExchange", std::move(exchange), std::vector<py::object>{send});
}

}  // namespace

void bind_sparse(py::module_& module, BoundCommunicator& communicator) {
  communicator.def("sparse_alltoallv", &sparse_alltoallv).def("start_sparse_alltoallv", &start_sparse_alltoallv);
  bind_begun<SparseExchange>(module, "SparseExchange")
      .def("wait", [](OpenSparse& of) { return list_of(without_lock<SparseExchange>(&SparseExchange::wait)(of)); })
      .def_property_readonly("strategy", [](OpenSparse& of) { return of.get().strategy(); })
      .def_property_readonly("explanation", [](OpenSparse& of) { return of.get().explanation(); });
}

}  // namespace commpass::python
