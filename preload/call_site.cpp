#include "preload/call_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

namespace commpass {

namespace {

thread_local const void* current_site = nullptr;

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

bool is_in_mpi(const void* address) {
  Dl_info of{};
  return dladdr(address, &of) != 0 && of.dli_fname &&
         std::filesystem::path(of.dli_fname).filename().string().starts_with("libmpi");
}

}  // namespace

CallSite::CallSite(const void* return_address) : is_outermost_(current_site == nullptr) {
  if (is_outermost_) current_site = return_address;
}

CallSite::~CallSite() {
  if (is_outermost_) current_site = nullptr;
}

const void* CallSite::current() { return current_site; }

const void* CallSite::of_program() {
  thread_local const void* looked_at = nullptr;  // most calls come from where the last one did
  thread_local bool is_binding = false;
  if (std::exchange(looked_at, current_site) != current_site) is_binding = is_in_mpi(current_site);
  if (!is_binding) return current_site;
  constexpr std::size_t most_frames = 16;
  std::array<void*, most_frames> frames{};
  const auto end = frames.begin() + backtrace(frames.data(), most_frames);
  const auto binding = std::find(frames.begin(), end, current_site);
  const auto program = std::find_if(binding, end, [](const void* frame) { return !is_in_mpi(frame); });
  return program == end ? current_site : *program;
}

std::string describe_site(const void* return_address) {
  // The call itself, since a call at the end of a function returns behind it.
  const auto* const call = static_cast<const char*>(return_address) - 1;
  Dl_info of{};
  if (!return_address || dladdr(call, &of) == 0 || !of.dli_fname) return "unknown";
  const auto place = fmt::format("{}+0x{:x}", std::filesystem::path(of.dli_fname).filename().string(),
                                 call - static_cast<const char*>(of.dli_fbase));
  return of.dli_sname ? fmt::format("{} ({})", demangled(of.dli_sname), place) : place;
}

}  // namespace commpass
