// By what looks routes are told apart, the same in every picture.
#pragma once

#include <string>

#include "pictures/svg.hpp"

namespace commpass {

Look look_of_route(const std::string& route);

}  // namespace commpass
