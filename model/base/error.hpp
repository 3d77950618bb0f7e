// What Commpass throws. Every message is one sentence: where, what, and the remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace commpass {

/// Base of everything that Commpass throws on its own account.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that the user gave is wrong: a file, a profile, a strategy, a rank.
class InputError : public Error {
 public:
  /// Control characters, which files and arguments may hold, are escaped in the message: "\n", "\x1b".
  /// @param where   file and place ("lassen.json, key host.node"), or the argument
  /// @param what    the error there
  /// @param remedy  what to do about it
  InputError(const std::string& where, const std::string& what, const std::string& remedy);
};

/// A strategy that is well-formed but cannot be used for this layout or profile.
class NotApplicable : public Error {
 public:
  NotApplicable(const std::string& strategy, const std::string& reason)
      : Error("strategy " + strategy + " does not apply: " + reason + "."), reason_(reason) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace commpass
