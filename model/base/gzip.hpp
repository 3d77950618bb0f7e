// The gzip format, piece by piece.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace commpass {

/// Unpacks a gzip file: members one after the other, and zeros behind the last, as tapes have them.
class GzipReader {
 public:
  GzipReader();

  /// The bytes that a gzip file begins with.
  static constexpr std::string_view beginning = "\x1f\x8b";

  /// @param packed  the next piece of the file
  /// @param take    gets what it unpacks to, in pieces
  /// @return a problem of the file, for people; empty: none so far
  /// @throws std::bad_alloc
  std::string unpack(std::string_view packed, const std::function<void(std::string_view)>& take);

  /// Has each member ended that has begun?
  bool is_complete() const { return at_ == At::end || at_ == At::padding; }

 private:
  struct Close {
    void operator()(z_stream_s* stream) const;
  };
  enum class At { member, end, padding };

  std::unique_ptr<z_stream_s, Close> stream_;
  At at_ = At::member;
};

/// The contents as a gzip file of one member, the same for the same contents.
std::string gzipped(std::string_view contents);

}  // namespace commpass
