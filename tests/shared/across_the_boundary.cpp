// A program that is linked to the shared library: an exception thrown there is caught here by its own type.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "commpass/commpass.hpp"
#include "commpass/predict.hpp"

namespace {

int failures = 0;

template <class Expected, class Action>
void expect_throw(const char* what, Action action) {
  try {
    action();
  } catch (const Expected& error) {
    if (*error.what() != '\0') return;
  } catch (...) {
    std::fprintf(stderr, "%s: something else was thrown\n", what);
    ++failures;
    return;
  }
  std::fprintf(stderr, "%s: nothing was thrown\n", what);
  ++failures;
}

void run() {
  expect_throw<commpass::InputError>("read_profile", [] { commpass::read_profile("no-such-file.json"); });
  const auto machine = commpass::generic_profile().machine;
  const auto pattern = commpass::generate_pattern("random:ranks=4,bytes=8,degree=2");
  expect_throw<commpass::NotApplicable>("predict",
                                        [&] { commpass::predict(pattern, "1x4", machine, {{"tuna,radix=5"}}); });
  expect_throw<commpass::Error>("a profile that is not there",
                                [] { commpass::Communicator communicator(MPI_COMM_WORLD, "no-such-profile"); });
  expect_throw<commpass::MpiError>("a communicator that is none", [] {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    commpass::Communicator communicator(MPI_COMM_NULL, "lassen");
  });
  commpass::Communicator communicator(MPI_COMM_WORLD, machine);
  const std::vector<commpass::SendEdge> sends{{0, 0, 4}};
  const std::vector<commpass::ReceiveEdge> receives{{0, 0, 4}};
  const int out = 7;
  int in = 0;
  auto exchange = communicator.neighbor_exchange(&out, sends, &in, receives);
  exchange.start();
  exchange.wait();
  if (in != 7) ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run();
  MPI_Finalize();
  return failures;
}
