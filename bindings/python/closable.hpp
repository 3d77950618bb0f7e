// What frees MPI's objects together with other ranks, and so not when Python happens to collect garbage.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"

namespace commpass::python {

/// Holds one until close(). If nobody closes it, it stays until the process ends, and Python warns of it.
template <class Held>
class Closable {
 public:
  /// @param what  for people
  /// @param kept  arrays that must live as long
  Closable(const char* what, Held held, std::vector<pybind11::object> kept = {})
      : what_(what), held_(new Held(std::move(held))), kept_(std::move(kept)) {}
  Closable(const Closable&) = delete;
  Closable& operator=(const Closable&) = delete;
  ~Closable() {
    if (!held_) return;
    for (auto& array : kept_) array.release();
    const auto sentence =
        std::string("a ") + what_ + " of Commpass was never closed, so it stays; call close() on all ranks or use with";
    pybind11::error_scope pending;
    if (PyErr_WarnEx(PyExc_ResourceWarning, sentence.c_str(), 1) != 0) PyErr_Clear();
  }

  /// @throws InputError if it is closed
  Held& get() {
    if (!held_) throw InputError(what_, "it is closed", "make another one");
    return *held_;
  }
  bool is_closed() const { return held_ == nullptr; }
  /// The second time nothing happens.
  void close() {
    const std::unique_ptr<Held> last(std::exchange(held_, nullptr));
    kept_.clear();
  }

 private:
  const char* what_;
  Held* held_;
  std::vector<pybind11::object> kept_;
};

}  // namespace commpass::python
