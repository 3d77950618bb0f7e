#include "runtime/random/watch.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace commpass::random_test {

namespace {

/// A text that a signal handler may read at any time.
class Text {
 public:
  void set(const std::string& text) {
    const int other = 1 - current_.load();
    auto& buffer = buffers_[static_cast<std::size_t>(other)];
    const auto length = std::min(text.size(), buffer.size() - 1);
    std::copy_n(text.begin(), length, buffer.begin());
    buffer[length] = 0;
    current_ = other;
  }
  const char* get() const { return buffers_[static_cast<std::size_t>(current_.load())].data(); }

 private:
  std::array<std::array<char, 2000>, 2> buffers_{};
  std::atomic<int> current_ = 0;
};

Text beginning_text, step_text, repeat_text;

constexpr int exit_code = 3;

void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(exit_code);
}

// mpirun ends the others when one rank exits without having finalized.
void hang(int) {
  std::array<char, 8000> line{};
  auto* end = line.data();
  for (const char* part :
       {beginning_text.get(), ", ", step_text.get(), ": it hangs; repeat: ", repeat_text.get(), "\n"}) {
    const auto length = strlen(part);
    memcpy(end, part, length);
    end += length;
  }
  say(line.data());
  sleep(1);  // so that the others can say where they hang
  _exit(exit_code);
}

}  // namespace

void watch_case(const std::string& beginning, const std::string& repeat, unsigned seconds) {
  beginning_text.set(beginning);
  repeat_text.set(repeat);
  step_text.set("at the beginning");
  signal(SIGALRM, hang);
  alarm(seconds);
}

void watch_step(const std::string& step) { step_text.set(step); }

void fail(const std::string& what) {
  alarm(0);
  // Where all ranks fail alike, one line will do.
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr unsigned microseconds_a_rank = 100000;
  usleep(static_cast<unsigned>(rank) * microseconds_a_rank);
  const std::string line = std::string(beginning_text.get()) + ", " + step_text.get() + ": " + what +
                           "; repeat: " + repeat_text.get() + "\n";
  say(line.c_str());
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  _exit(exit_code);
}

}  // namespace commpass::random_test
