#include "selector/commands/needed_libraries.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "model/base/text.hpp"

namespace commpass {

namespace {

template <class Item>
bool read_at(std::istream& file, std::uint64_t offset, Item& item) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&item), sizeof item));  // NOLINT: its bytes
}

/// At most as many characters as paths have. @return empty where the file ends before
std::string read_name(std::istream& file, std::uint64_t offset) {
  std::array<char, 4096> text{};
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.getline(text.data(), text.size(), '\0');
  return file.good() ? std::string(text.data()) : std::string();
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const auto& folder : split(path ? path : "", ':')) {
    std::error_code ignored;
    auto program = (folder.empty() ? "." : folder) + "/" + name;
    if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

std::vector<std::string> needed_libraries(std::istream& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!read_at(file, header.e_phoff + i * sizeof(Elf64_Phdr), segments[i])) return {};
  const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return {};
  std::vector<std::uint64_t> names;
  Elf64_Addr strings = 0;
  Elf64_Dyn entry{};
  for (std::uint64_t at = 0; at < dynamic->p_filesz; at += sizeof entry) {
    if (!read_at(file, dynamic->p_offset + at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
  }
  const auto holds_strings = [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && strings >= segment.p_vaddr && strings - segment.p_vaddr < segment.p_filesz;
  };
  const auto loaded = std::ranges::find_if(segments, holds_strings);
  if (loaded == segments.end()) return {};
  std::vector<std::string> found;
  for (const auto name : names)
    if (auto text = read_name(file, loaded->p_offset + (strings - loaded->p_vaddr) + name); !text.empty())
      found.push_back(std::move(text));
  return found;
}

}  // namespace commpass
