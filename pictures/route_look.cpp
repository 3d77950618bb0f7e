#include "pictures/route_look.hpp"

#include <algorithm>
#include <iterator>

namespace commpass {

namespace {

struct RouteLook {
  const char* route;
  Look look;
};

// Relatives share a colour. A route that is not here is purple with dots.
constexpr RouteLook looks[] = {
    {"standard", {0, 0}},        {"mpi", {0, 1}},   {"two-step", {1, 0}},  {"two-step-socket", {1, 1}},
    {"three-step", {2, 0}},      {"split", {2, 1}}, {"stfw", {5, 0}},      {"cartesian", {5, 1}},
    {"local-then-node", {3, 0}}, {"tuna", {4, 0}},  {"tuna-node", {7, 0}}, {"multi-leader", {6, 0}},
};

}  // namespace

Look look_of_route(const std::string& route) {
  const auto name = route.substr(0, route.find_first_of(",@"));
  const auto* found = std::ranges::find(looks, name, [](const RouteLook& known) { return std::string(known.route); });
  return found != std::end(looks) ? found->look : Look{6, 3};
}

}  // namespace commpass
