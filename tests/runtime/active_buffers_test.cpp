// What a rank does to memory that its requests use ends the program: `shared`, `written` or `read` says what.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const wrong = argc > 1 ? argv[1] : "";
  std::array<int, 6> memory{1, 2, 3};
  auto* const receives = memory.data() + (std::strcmp(wrong, "shared") == 0 ? 2 : 3);
  std::array<MPI_Request, 2> requests{};
  MPI_Recv_init(receives, 3, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Send_init(memory.data(), 3, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Start(&requests[0]);
  const bool is_overwritten = receives[0] != 0;
  MPI_Start(&requests[1]);
  if (std::strcmp(wrong, "written") == 0) memory[1] = 7;
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  const bool is_right = memory[3] == 1 && memory[4] == 2 && memory[5] == 3;
  for (auto& request : requests) MPI_Request_free(&request);
  if (is_overwritten && is_right)
    std::puts("read while it was received: not the earlier contents; all is right at the end");
  MPI_Finalize();
}
