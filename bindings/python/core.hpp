// What the sources of commpass.native._core share.
#pragma once

#include <pybind11/pybind11.h>

namespace commpass::python {

void bind_routes(pybind11::module_& module);

}  // namespace commpass::python
