// Translates exceptions of Commpass to those of the module commpass.errors.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

#include "model/base/error.hpp"

namespace commpass::python {

/// @param name  of a class of commpass.errors
inline void raise(const char* name, const std::exception& error) {
  PyErr_SetString(pybind11::module_::import("commpass.errors").attr(name).ptr(), error.what());
}

/// To be called while the module is being made.
inline void translate_errors() {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 wants a function with this argument
  pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      raise("InputError", error);
    } catch (const NotApplicable& error) {
      raise("NotApplicable", error);
    } catch (const Error& error) {
      raise("Error", error);
    }
  });
}

}  // namespace commpass::python
