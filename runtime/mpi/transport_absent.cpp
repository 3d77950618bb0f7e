// A simulated MPI library has neither settings of a transport nor a tools interface.
#include "runtime/mpi/transport.hpp"

namespace commpass {

std::vector<std::pair<std::string, std::string>> transport_settings() { return {}; }

std::string transport_text() { return {}; }

}  // namespace commpass
