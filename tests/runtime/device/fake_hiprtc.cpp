// A stand-in for HIP's compiler at run time, which takes what it gets for code.
#include <cstddef>
#include <cstring>
#include <string>

// HIP's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

bool fake_hiprtc_fails = false;
int fake_hiprtc_programs = 0;  // that were made and not destroyed

int hiprtcCreateProgram(void** program, const char* source, const char*, int, const char**, const char**) {
  ++fake_hiprtc_programs;
  *program = new std::string(source);
  return 0;
}
int hiprtcCompileProgram(void* program, int, const char**) {
  constexpr int compilation = 6;
  auto& text = *static_cast<std::string*>(program);
  if (fake_hiprtc_fails || text.find("__global__") == std::string::npos) return compilation;
  text.insert(0, "code of ");
  return 0;
}
int hiprtcGetCodeSize(void* program, std::size_t* bytes) {
  *bytes = static_cast<std::string*>(program)->size();
  return 0;
}
int hiprtcGetCode(void* program, char* code) {
  const auto& text = *static_cast<std::string*>(program);
  std::memcpy(code, text.data(), text.size());
  return 0;
}
int hiprtcDestroyProgram(void** program) {
  --fake_hiprtc_programs;
  delete static_cast<std::string*>(*program);
  return 0;
}
const char* hiprtcGetErrorString(int) { return "HIPRTC_ERROR_COMPILATION"; }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
