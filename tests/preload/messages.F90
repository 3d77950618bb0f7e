! Messages that are known, from Fortran: by mpi_f08, or by mpi with COMMPASS_TEST_MPI.
program messages
#ifdef COMMPASS_TEST_MPI
  use mpi
#else
  use mpi_f08
#endif
  implicit none
  integer, parameter :: phases = 6
  integer :: rank, size, code, next, before, i, at
  logical :: is_done
  double precision :: out(3), in(3)
#ifdef COMMPASS_TEST_MPI
  integer :: requests(2), status(MPI_STATUS_SIZE)
#else
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
#endif
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  next = modulo(rank + 1, size)
  before = modulo(rank - 1, size)
  out = rank
  do i = 1, phases
    call MPI_Irecv(in, 3, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, requests(1), code)
    call MPI_Isend(out, 3, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, requests(2), code)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
    call check(nint(in(3)) == before)
  end do
  do i = 1, phases
    call MPI_Sendrecv(out, 2, MPI_DOUBLE_PRECISION, next, 2, in, 2, MPI_DOUBLE_PRECISION, before, 2, MPI_COMM_WORLD, &
                      status, code)
#ifdef COMMPASS_TEST_MPI
    call check(status(MPI_SOURCE) == before)
#else
    call check(status%MPI_SOURCE == before)
#endif
  end do
  call MPI_Recv_init(in, 1, MPI_DOUBLE_PRECISION, before, 3, MPI_COMM_WORLD, requests(1), code)
  call MPI_Send_init(out, 1, MPI_DOUBLE_PRECISION, next, 3, MPI_COMM_WORLD, requests(2), code)
  do i = 1, phases
    call MPI_Startall(2, requests, code)
    call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, code)
    call check(at == 1 .or. at == 2)
    is_done = .false.
    do while (.not. is_done)
      call MPI_Test(requests(3 - at), is_done, MPI_STATUS_IGNORE, code)
    end do
  end do
  call MPI_Request_free(requests(1), code)
  call MPI_Request_free(requests(2), code)
#ifndef COMMPASS_TEST_MPI
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 4, MPI_COMM_WORLD)
#endif
  call MPI_Finalize(code)

contains

  subroutine check(is_right)
    logical, intent(in) :: is_right
    if (.not. is_right) call MPI_Abort(MPI_COMM_WORLD, 7, code)
  end subroutine check
end program messages
