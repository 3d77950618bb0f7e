#include "runtime/device/hip_compiler.hpp"

#include <fmt/core.h>

#include <optional>

#include "runtime/device/device_backend.hpp"
#include "runtime/device/loaded_library.hpp"

namespace commpass {

namespace {

/// A library of its own; up to ROCm 5.2 in that of the runtime.
std::optional<HipCompilerFunctions> find_compiler() {
  for (const char* file :
       {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so", "libamdhip64.so.5"}) {
    LoadedLibrary library(file, LoadedLibrary::Open::load);
    if (!library) continue;
    HipCompilerFunctions functions;
    library.find(functions.create, "hiprtcCreateProgram");
    library.find(functions.compile, "hiprtcCompileProgram");
    library.find(functions.code_size, "hiprtcGetCodeSize");
    library.find(functions.code, "hiprtcGetCode");
    library.find(functions.destroy, "hiprtcDestroyProgram");
    library.find(functions.error_text, "hiprtcGetErrorString");
    if (library.has_all()) return functions;
  }
  return {};
}

/// A source that it has been given.
class Program {
 public:
  Program(const HipCompilerFunctions& functions, const char* source) : functions_(functions) {
    check("take", functions_.create(&handle_, source, "commpass", 0, nullptr, nullptr));
  }
  ~Program() { functions_.destroy(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string compile() {
    check("compile", functions_.compile(handle_, 0, nullptr));
    std::size_t bytes = 0;
    check("hand out", functions_.code_size(handle_, &bytes));
    std::string code(bytes, '\0');
    check("hand out", functions_.code(handle_, code.data()));
    return code;
  }

 private:
  void check(const char* what, int code) const {
    if (code != 0)
      throw DeviceError(
          fmt::format("HIP: its compiler hipRTC could not {} the kernel that copies pieces: {} (code {}).", what,
                      functions_.error_text(code), code));
  }

  const HipCompilerFunctions& functions_;
  void* handle_ = nullptr;
};

}  // namespace

std::string compile_for_hip(const char* source) {
  static const auto functions = find_compiler();
  if (!functions)
    throw DeviceError("HIP: there is no libhiprtc.so, which would compile the kernel that copies pieces.");
  return Program(*functions, source).compile();
}

}  // namespace commpass
