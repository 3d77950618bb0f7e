// The shared parts of commpass.native._mpi: handles that ranks close together, arrays as buffers of MPI, and methods of
// all exchanges.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commpass/commpass.hpp"
#include "model/base/error.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass::python {

namespace py = pybind11;

using Numbers = std::vector<int>;
/// Rank, offset and size in bytes.
using EdgeList = std::vector<std::tuple<Rank, Bytes, Bytes>>;

/// Runs an action without the global lock of Python.
template <class Action>
auto unlocked(Action action) {
  const py::gil_scoped_release release;
  return action();
}

/// An object that frees its part of MPI with other ranks, and so not by garbage collection. It stays until close() or
/// the end of the process; Python warns of an object that was never closed.
template <class Held>
class Closable {
 public:
  /// @param what  for people
  /// @param kept  arrays that must live as long
  Closable(const char* what, Held held, std::vector<py::object> kept = {})
      : what_(what), held_(new Held(std::move(held))), kept_(std::move(kept)) {}
  Closable(const Closable&) = delete;
  Closable& operator=(const Closable&) = delete;
  ~Closable() {
    if (!held_) return;
    for (auto& array : kept_) array.release();
    const auto sentence =
        std::string("a ") + what_ + " of Commpass was never closed, so it stays; call close() on all ranks or use with";
    py::error_scope pending;
    if (PyErr_WarnEx(PyExc_ResourceWarning, sentence.c_str(), 1) != 0) PyErr_Clear();
  }

  /// @throws InputError if it is closed
  Held& get() {
    if (!held_) throw InputError(what_, "it is closed", "make another one");
    return *held_;
  }
  /// Further calls do nothing.
  void close() {
    const std::unique_ptr<Held> last(std::exchange(held_, nullptr));
    kept_.clear();
  }

 private:
  const char* what_;
  Held* held_;
  std::vector<py::object> kept_;
};

using OpenCommunicator = Closable<Communicator>;
using BoundCommunicator = py::class_<OpenCommunicator>;

/// The type of elements of a size. Types live until the end of MPI; programs have few sizes.
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

/// The package has checked that the array is writable.
inline void* writable(const py::array& array) { return const_cast<void*>(array.data()); }

/// The arrays of a call, read before the lock of Python is released.
struct Buffers {
  const void* send;
  void* receive;

  Buffers(const py::array& from, const py::array& to) : send(from.data()), receive(writable(to)) {}
};

/// A method without arguments that runs without the lock of Python.
template <class Held, class Result, class Base>
auto without_lock(Result (Base::*method)()) {
  return [method](Closable<Held>& of) {
    auto& held = of.get();
    return unlocked([&] { return (held.*method)(); });
  };
}

/// Binds the methods of exchanges that are begun and completed later.
template <class Held>
py::class_<Closable<Held>> bind_begun(py::module_& module, const char* name) {
  return py::class_<Closable<Held>>(module, name)
      .def("test", without_lock<Held>(&Held::test))
      .def("close", &Closable<Held>::close)
      .def_property_readonly("predicted_seconds", [](Closable<Held>& of) { return of.get().predicted_seconds(); });
}

/// Binds the methods of exchanges that run many times.
template <class Held>
py::class_<Closable<Held>> bind_planned(py::module_& module, const char* name) {
  return bind_begun<Held>(module, name).def("wait", without_lock<Held>(&Held::wait));
}

/// @param communicator  gets the functions that return the bound classes
void bind_sparse(py::module_& module, BoundCommunicator& communicator);
void bind_cartesian(py::module_& module, BoundCommunicator& communicator);

}  // namespace commpass::python
