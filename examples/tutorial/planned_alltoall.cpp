// The program of docs/tutorial.md: in each step every rank sends some numbers to every rank, planned by Commpass.
//   mpirun -n 8 planned_alltoall [STEPS]
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <commpass/commpass.hpp>

namespace {

/// The numbers that one rank sends to another in a step: 1 to 5.
int count(int from, int to) { return 1 + (7 * from + 3 * to) % 5; }

void run(int steps) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  std::vector<int> send_counts, send_at, receive_counts, receive_at;
  int sent = 0, received = 0;
  for (int other = 0; other < ranks; ++other) {
    send_counts.push_back(count(rank, other));
    send_at.push_back(sent);
    sent += send_counts.back();
    receive_counts.push_back(count(other, rank));
    receive_at.push_back(received);
    received += receive_counts.back();
  }
  std::vector<double> out(static_cast<std::size_t>(sent)), in(static_cast<std::size_t>(received));

  commpass::Communicator communicator(MPI_COMM_WORLD);
  auto exchange = communicator.alltoallv_init(out.data(), send_counts, send_at, MPI_DOUBLE, in.data(), receive_counts,
                                              receive_at, MPI_DOUBLE);
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    for (auto& value : out) value = rank + step;
    exchange.start();
    exchange.wait();
    for (const double value : in) sum += value;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, %d steps: sum %.0f\n", ranks, steps, sum);
  if (rank == 0) std::printf("strategy: %s\n", exchange.strategy().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run(argc > 1 ? std::atoi(argv[1]) : 1000);
  MPI_Finalize();
}
