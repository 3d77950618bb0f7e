// The errors of calls, besides those of model/base/error.hpp.
#pragma once

#include <string>

#include "model/base/error.hpp"

namespace commpass {

/// An MPI call failed. Only calls on communicators of our own return errors; the user's keep their handler.
class MpiError : public Error {
 public:
  MpiError(const char* call, int code);
  int error_class() const { return class_; }

 private:
  int class_;
};

/// An argument of a call is wrong, or a message does not match it. Has the class that MPI gives such an error.
class CallError : public InputError {
 public:
  CallError(int error_class, const std::string& where, const std::string& what, const std::string& remedy)
      : InputError(where, what, remedy), class_(error_class) {}
  int error_class() const { return class_; }

 private:
  int class_;
};

}  // namespace commpass
