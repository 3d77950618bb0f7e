// HIP's compiler at run time, hipRTC, as this process finds it. Private to the runtime.
#pragma once

#include <cstddef>
#include <string>

namespace commpass {

/// Names and arguments of hip/hiprtc.h, from ROCm 5.0 on. Those that return int return a code, 0 for success.
struct HipCompilerFunctions {
  int (*create)(void** program, const char* source, const char* name, int headers, const char** texts,
                const char** names) = nullptr;
  int (*compile)(void* program, int options, const char** texts) = nullptr;
  int (*code_size)(void* program, std::size_t* bytes) = nullptr;
  int (*code)(void* program, char* code) = nullptr;
  int (*destroy)(void** program) = nullptr;
  const char* (*error_text)(int code) = nullptr;
};

/// What it makes of a source for the device of the calling thread, as hipModuleLoadData takes it. It takes up to some
/// seconds.
/// @throws DeviceError where there is no such compiler, or it fails
std::string compile_for_hip(const char* source);

}  // namespace commpass
