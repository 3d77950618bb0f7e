// Where in the program a call was made: for reports only, since ranks may enter one collective from different lines.
#pragma once

#include <string>

namespace commpass {

/// While one lives, calls on this thread are made where the outermost one says: a function for Fortran calls that for
/// C.
class CallSite {
 public:
  /// @param return_address  of the function that the program called
  explicit CallSite(const void* return_address);
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  static const void* current();
  /// The same; where that is in a binding of the MPI library (libmpi…), as some for Fortran are, who called the
  /// binding.
  static const void* of_program();

 private:
  bool is_outermost_;
};

/// "FUNCTION (OBJECT+0x12a4)", or "OBJECT+0x12a4" where the object does not export the function's name; addr2line takes
/// the number behind the plus.
std::string describe_site(const void* return_address);

}  // namespace commpass
