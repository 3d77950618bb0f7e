#include "runtime/mpi/transport.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <array>
#include <cstdlib>

#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

namespace {

constexpr const char* settings_of_openmpi[] = {"pml", "btl", "mtl", "btl_vader_single_copy_mechanism"};
constexpr const char* variables[] = {"UCX_TLS", "FI_PROVIDER"};  // of UCX and libfabric

/// The tools interface, from now until it goes out of scope.
struct ToolsInterface {
  int level = MPI_THREAD_SINGLE;
  bool is_on = MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS;
  ToolsInterface() = default;
  ToolsInterface(const ToolsInterface&) = delete;
  ToolsInterface& operator=(const ToolsInterface&) = delete;
  ~ToolsInterface() {
    if (is_on) MPI_T_finalize();
  }
};

std::string name_of_item(MPI_T_enum kinds, int value) {
  int count = 0, length = 0;
  if (MPI_T_enum_get_info(kinds, &count, nullptr, &length) != MPI_SUCCESS) return {};
  for (int i = 0; i < count; ++i) {
    std::array<char, 128> name{};
    int item = 0;
    length = name.size();
    if (MPI_T_enum_get_item(kinds, i, &item, name.data(), &length) == MPI_SUCCESS && item == value) return name.data();
  }
  return std::to_string(value);
}

/// The value of a variable of text or of an enumeration; empty for others, and where it cannot be read.
std::string value_of(int index, MPI_Datatype type, MPI_T_enum kinds) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return {};
  std::string value;
  if (type == MPI_CHAR) {
    std::vector<char> text(static_cast<std::size_t>(count) + 1);
    if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS) value = text.data();
  } else if (type == MPI_INT && count == 1 && kinds != MPI_T_ENUM_NULL) {
    int number = 0;
    if (MPI_T_cvar_read(handle, &number) == MPI_SUCCESS) value = name_of_item(kinds, number);
  }
  MPI_T_cvar_handle_free(&handle);
  return value;
}

/// The device of MPICH, from the text of its version: "MPICH Device: ch4:ofi".
std::string device_of_mpich() {
  const auto text = mpi_library_text();
  constexpr const char* key = "MPICH Device:";
  const auto begin = text.find(key);
  if (begin == std::string::npos) return {};
  const auto word = text.find_first_not_of(" \t", begin + std::char_traits<char>::length(key));
  return word == std::string::npos ? std::string() : text.substr(word, text.find_first_of(" \t\n", word) - word);
}

std::vector<std::pair<std::string, std::string>> settings_without_tools() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto* variable : variables)
    if (const char* value = std::getenv(variable)) settings.emplace_back(variable, value);
  if (const auto device = device_of_mpich(); !device.empty()) settings.emplace_back("device", device);
  return settings;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> transport_settings() {
  auto settings = settings_without_tools();
  const ToolsInterface tools;
  if (!tools.is_on) return settings;
  for (const auto* wanted : settings_of_openmpi) {
    int index = 0;
    if (MPI_T_cvar_get_index(wanted, &index) != MPI_SUCCESS) continue;
    int name_length = 0, text_length = 0, verbosity = 0, bind = 0, scope = 0;
    auto type = MPI_DATATYPE_NULL;
    auto kinds = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &kinds, nullptr, &text_length, &bind,
                            &scope) == MPI_SUCCESS)
      if (const auto value = value_of(index, type, kinds); !value.empty()) settings.emplace_back(wanted, value);
  }
  return settings;
}

std::string transport_text() {
  auto settings = settings_without_tools();
  for (const auto* wanted : settings_of_openmpi)
    if (const char* value = std::getenv(fmt::format("OMPI_MCA_{}", wanted).c_str()))
      settings.emplace_back(wanted, value);
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace commpass
