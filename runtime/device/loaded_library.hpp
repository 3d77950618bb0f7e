// Functions of a shared library of the process. Private to the runtime.
#pragma once

#include <dlfcn.h>

namespace commpass {

class LoadedLibrary {
 public:
  enum class Open { if_loaded, load };

  /// @param file  as dlopen takes it
  LoadedLibrary(const char* file, Open open)
      : handle_(dlopen(file, open == Open::load ? RTLD_LAZY : RTLD_LAZY | RTLD_NOLOAD)) {}
  explicit operator bool() const { return handle_ != nullptr; }

  /// Sets a pointer to a function, or remembers that one is missing.
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    has_all_ = has_all_ && function;
  }
  bool has_all() const { return has_all_; }

 private:
  void* handle_;  ///< kept, so that its functions stay
  bool has_all_ = true;
};

}  // namespace commpass
