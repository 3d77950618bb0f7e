#include "runtime/c_support.hpp"

#include <fmt/core.h>

#include <array>
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

std::string value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return {};
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  COMMPASS_MPI_CALL(MPI_Info_get, info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found ? value.data() : "";
}

void require_list(const char* place, const void* list, int length, const char* what) {
  if (length > 0 && !list) throw InputError(place, fmt::format("{} is NULL", what), "give it");
}

}  // namespace commpass::c
