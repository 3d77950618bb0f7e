// Hands the inputs of a corpus to its fuzz target, without libFuzzer: replay_corpus TARGET DIRECTORY.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include "fuzz/fuzz.hpp"

using Target = int(const std::uint8_t* data, std::size_t size);
#define COMMPASS_FUZZ_TARGET(name) extern "C" Target commpass_fuzz_##name;
#include "fuzz_targets.inc"
#undef COMMPASS_FUZZ_TARGET

namespace {

const std::map<std::string, Target*> targets{
#define COMMPASS_FUZZ_TARGET(name) {#name, commpass_fuzz_##name},
#include "fuzz_targets.inc"
#undef COMMPASS_FUZZ_TARGET
};

std::string input_now;

/// Names the input that broke its target; the signal then ends the program.
void name_input(int signal) {
  const char text[] = "replay_corpus: the target broke on ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, text, sizeof text - 1);
  written = write(STDERR_FILENO, input_now.c_str(), input_now.size());
  written = write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = targets.find(argc == 3 ? argv[1] : "");
  if (target == targets.end()) {
    std::fputs("usage: replay_corpus TARGET DIRECTORY\n", stderr);
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, name_input);
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    input_now = entry.path().string();
    std::ifstream file(input_now, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::uint8_t> data(bytes.size() + 1);  // never a null pointer
    if (!bytes.empty()) std::memcpy(data.data(), bytes.data(), bytes.size());
    target->second(data.data(), bytes.size());
    ++inputs;
  }
  std::printf("%d inputs of %s\n", inputs, argv[1]);
  return inputs > 0 ? 0 : 1;
}
