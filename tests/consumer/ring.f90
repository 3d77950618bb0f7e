! The Fortran module, used from outside with mpi_f08: a ring, and blocks between all ranks.
program ring
  use mpi_f08
  use commpass
  implicit none
  type(commpass_comm) :: comm
  type(commpass_exchange) :: exchange
  integer, asynchronous :: out, in
  integer :: rank, ranks, next, previous, i, code
  integer, allocatable :: counts(:), displs(:), sent(:), received(:)
  character(1024) :: profile
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, profile)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call commpass_comm_create(MPI_COMM_WORLD, profile, comm)

  out = rank
  in = -1
  call commpass_neighbor_alltoallv_init(out, 1, [next], [1], [0], MPI_INTEGER, &
                                        in, 1, [previous], [1], [0], MPI_INTEGER, MPI_INFO_NULL, comm, exchange)
  call commpass_start(exchange)
  call commpass_wait(exchange)
  if (rank == 0) print "(4a)", "Commpass ", commpass_version(), ": ", commpass_exchange_explanation(exchange)
  call commpass_exchange_free(exchange)
  if (in /= previous) error stop "the ring is wrong"

  counts = [(rank + i + 1, i = 0, ranks - 1)]
  displs = [(sum(counts(:i - 1)), i = 1, ranks)]
  allocate (sent(sum(counts)), received(sum(counts)))
  sent = rank
  call commpass_alltoallv(sent, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "", comm)
  do i = 1, ranks
    if (any(received(displs(i) + 1:displs(i) + counts(i)) /= i - 1)) error stop "a block is wrong"
  end do
  call commpass_comm_free(comm)
  call MPI_Finalize(code)
end program
