! A Fortran program that knows nothing of Commpass, with the module mpi_f08 or, if COMMPASS_TEST_MPI is defined, mpi.
program unmodified
#ifdef COMMPASS_TEST_MPI
  use mpi
#else
  use mpi_f08
#endif
  implicit none
  integer, parameter :: most = 5, calls = 12
  integer :: rank, ranks, failures, all_failures, call_number, i, ierr, provided
  integer(MPI_ADDRESS_KIND) :: from_start(1)
  integer, allocatable, asynchronous :: send(:), got(:), counts(:), displacements(:)
  integer, allocatable :: bytes(:)
  integer, asynchronous :: zero(1), one(1), two(1)
#ifdef COMMPASS_TEST_MPI
  integer :: copy, ring, request
  integer, allocatable :: types(:)
#else
  type(MPI_Comm) :: copy, ring
  type(MPI_Request) :: request
  type(MPI_Datatype), allocatable :: types(:)
#endif

  failures = 0
#ifdef COMMPASS_TEST_MPI
  call MPI_Init(ierr)
#else
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)  ! without the last argument, as mpi_f08 allows
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  allocate(send(most * ranks), got(most * ranks), counts(ranks), displacements(ranks), bytes(ranks), types(ranks))
  provided = 0
  do call_number = 1, calls
    ! To each rank as many as both ranks say, each with its source and its destination.
    do i = 0, ranks - 1
      counts(i + 1) = mod(rank + i, most)
      displacements(i + 1) = most * i
      send(most * i + 1 : most * (i + 1)) = 1000 * rank + i
      types(i + 1) = MPI_INTEGER
    end do
    bytes = 4 * displacements
    got = -1
    call MPI_Alltoall(send, most, MPI_INTEGER, got, most, MPI_INTEGER, copy, ierr)
    call check("alltoall", .true.)
    got = -1
    call MPI_Alltoallv(send, counts, displacements, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, copy, ierr)
    call check("alltoallv", .false.)
    got = -1
    call MPI_Alltoallw(send, counts, bytes, types, got, counts, bytes, types, copy, ierr)
    call check("alltoallw", .false.)
    got = send
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, got, most, MPI_INTEGER, copy, ierr)
    call check("alltoall in place", .true.)
  end do
  ! The same, begun and completed; then a call that blocks, in which ranks tell each other of these.
  got = -1
  call MPI_Ialltoall(send, most, MPI_INTEGER, got, most, MPI_INTEGER, copy, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoall", .true.)
  got = send
  call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INTEGER, got, most, MPI_INTEGER, copy, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoall in place", .true.)
  got = -1
  call MPI_Ialltoallv(send, counts, displacements, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, copy, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoallv", .false.)
  do call_number = 1, 8
    call MPI_Alltoall(send, most, MPI_INTEGER, got, most, MPI_INTEGER, copy, ierr)
  end do
  call MPI_Comm_free(copy, ierr)

  ! Around a ring, numbers from the second on.
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [modulo(rank - 1, ranks)], [1], 1, [modulo(rank + 1, ranks)], [1], &
                                      MPI_INFO_NULL, .false., ring, ierr)
  from_start = 4
  do call_number = 1, calls
    send(1:4) = [0, call_number, rank, 7]
    got(1:4) = -1
    call MPI_Neighbor_alltoallw(send, [2], from_start, types(1:1), got, [2], from_start, types(1:1), ring, ierr)
    if (any(got(1:4) /= [-1, call_number, modulo(rank - 1, ranks), -1])) then
      failures = failures + 1
      print "(a)", "neighbor_alltoallw: other bytes"
    end if
  end do
  one = 1
  zero = 0
  two = 2
  send(1:4) = [rank, 8, rank + 1, 7]
  got(1:2) = -1
  call MPI_Ineighbor_alltoall(send, 2, MPI_INTEGER, got, 2, MPI_INTEGER, ring, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check_ring("ineighbor_alltoall", [modulo(rank - 1, ranks), 8])
  call MPI_Ineighbor_alltoallv(send, one, one, MPI_INTEGER, got, one, zero, MPI_INTEGER, ring, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check_ring("ineighbor_alltoallv", [8, 8])
  call MPI_Ineighbor_allgather(send(3:3), 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check_ring("ineighbor_allgather", [modulo(rank - 1, ranks) + 1, 8])
  call MPI_Ineighbor_allgatherv(send, 2, MPI_INTEGER, got, two, zero, MPI_INTEGER, ring, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check_ring("ineighbor_allgatherv", [modulo(rank - 1, ranks), 8])
  do call_number = 1, 8
    call MPI_Neighbor_alltoallw(send, [2], from_start, types(1:1), got, [2], from_start, types(1:1), ring, ierr)
  end do
  call MPI_Comm_free(ring, ierr)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_failures == 0) print "(a)", "all comparisons hold"
  if (rank == 0 .and. all_failures > 0) print "(i0, a)", all_failures, " comparisons failed"
  call MPI_Finalize(ierr)
  if (all_failures > 0) error stop 1

contains

  subroutine check(what, is_full)
    character(*), intent(in) :: what
    logical, intent(in) :: is_full
    integer :: from, there
    do from = 0, ranks - 1
      there = merge(most, counts(from + 1), is_full)
      if (any(got(most * from + 1 : most * from + there) /= 1000 * from + rank) .or. &
          (.not. is_full .and. any(got(most * from + there + 1 : most * (from + 1)) /= -1))) then
        failures = failures + 1
        print "(a, a)", what, ": other bytes"
      end if
    end do
  end subroutine check

  subroutine check_ring(what, expected)
    character(*), intent(in) :: what
    integer, intent(in) :: expected(2)
    if (any(got(1:2) /= expected)) then
      failures = failures + 1
      print "(a, a)", what, ": other bytes"
    end if
  end subroutine check_ring
end program unmodified
