#include "runtime/c_support.hpp"

#include <utility>

namespace commpass::c {

namespace {

thread_local std::string text;

}  // namespace

const char* error_text() { return text.c_str(); }

int keep_error(int code, std::string sentence) {
  text = std::move(sentence);
  return code;
}

}  // namespace commpass::c
