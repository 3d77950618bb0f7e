// SHA-256 (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace commpass {

/// The digest of `text`, 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace commpass
