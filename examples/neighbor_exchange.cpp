// A ring in which every rank sends to the next and to the one after that: planned once, run ten times.
//   mpirun -n 4 neighbor_exchange [PROFILE]
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <commpass/commpass.hpp>

namespace {

void run(const char* profile) {
  commpass::Communicator communicator(MPI_COMM_WORLD, profile);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // Offsets and sizes are in bytes. 100 numbers go to the next rank, 10 to the one after that.
  const commpass::Bytes many = 100 * sizeof(double), few = 10 * sizeof(double);
  const std::vector<commpass::SendEdge> sends{{(rank + 1) % ranks, 0, many}, {(rank + 2) % ranks, many, few}};
  const std::vector<commpass::ReceiveEdge> receives{{(rank + ranks - 1) % ranks, 0, many},
                                                    {(rank + 2 * ranks - 2) % ranks, many, few}};
  std::vector<double> out(110), in(110);

  auto exchange = communicator.neighbor_exchange(out.data(), sends, in.data(), receives);
  for (int step = 0; step < 10; ++step) {
    out.assign(out.size(), 1000.0 * step + rank);
    exchange.start();
    // Work that needs neither buffer goes here.
    exchange.wait();
    if (in.front() != 1000.0 * step + receives[0].source || in.back() != 1000.0 * step + receives[1].source) {
      std::fprintf(stderr, "rank %d: wrong data in step %d\n", rank, step);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  if (rank == 0) std::printf("%s", exchange.explanation().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    run(argc > 1 ? argv[1] : "");          // "" means COMMPASS_PROFILE
  } catch (const std::exception& error) {  // the same on every rank
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
