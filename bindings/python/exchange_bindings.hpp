// What the parts of commpass.native._mpi share: arrays as buffers of MPI, and what all exchanges have.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <tuple>
#include <vector>

#include "bindings/python/closable.hpp"
#include "commpass/commpass.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass::python {

namespace py = pybind11;

using Unlocked = py::gil_scoped_release;
using Numbers = std::vector<int>;
/// Rank, offset and size in bytes.
using EdgeList = std::vector<std::tuple<Rank, Bytes, Bytes>>;

using OpenCommunicator = Closable<Communicator>;
using BoundCommunicator = py::class_<OpenCommunicator>;

/// Elements of so many bytes. Kept until MPI ends: there are few sizes.
inline MPI_Datatype elements_of(const py::array& array) {
  static auto& types = *new std::map<int, MPI_Datatype>;
  const auto bytes = static_cast<int>(array.itemsize());
  auto [found, is_new] = types.try_emplace(bytes, MPI_DATATYPE_NULL);
  if (is_new) {
    COMMPASS_MPI_CALL(MPI_Type_contiguous, bytes, MPI_BYTE, &found->second);
    COMMPASS_MPI_CALL(MPI_Type_commit, &found->second);
  }
  return found->second;
}

template <class Edge>
std::vector<Edge> edges_of(const EdgeList& list) {
  std::vector<Edge> edges;
  for (const auto& [rank, offset, bytes] : list) edges.push_back({rank, offset, bytes});
  return edges;
}

/// The package has checked that it may be written.
inline void* writable(const py::array& array) { return const_cast<void*>(array.data()); }

/// What all exchanges have that are begun and completed later.
template <class Open>
py::class_<Open> bind_begun(py::module_& module, const char* name) {
  return py::class_<Open>(module, name)
      .def("test",
           [](Open& of) {
             auto& exchange = of.get();
             const Unlocked unlocked;
             return exchange.test();
           })
      .def("close", [](Open& of) { of.close(); })
      .def_property_readonly("predicted_seconds", [](Open& of) { return of.get().predicted_seconds(); });
}

/// And those that run many times.
template <class Open>
py::class_<Open> bind_planned(py::module_& module, const char* name) {
  return bind_begun<Open>(module, name).def("wait", [](Open& of) {
    auto& exchange = of.get();
    const Unlocked unlocked;
    exchange.wait();
  });
}

template <class Open>
void start(Open& of) {
  auto& exchange = of.get();
  const Unlocked unlocked;
  exchange.start();
}

/// @param communicator  gets the functions that make what is bound
void bind_sparse(py::module_& module, BoundCommunicator& communicator);
void bind_cartesian(py::module_& module, BoundCommunicator& communicator);

}  // namespace commpass::python
