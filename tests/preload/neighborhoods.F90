! A Fortran program that knows nothing of Commpass, with the module mpi_f08 or, if COMMPASS_TEST_MPI is defined, mpi: on
! a grid with more neighbours than ranks. A rank is its own neighbour in all dimensions but one.
program neighborhoods
#ifdef COMMPASS_TEST_MPI
  use mpi
#ifdef COMMPASS_TEST_MPIX
  use mpi_ext
#endif
#else
  use mpi_f08
#ifdef COMMPASS_TEST_MPIX
  use mpi_f08_ext
#endif
#endif
  implicit none
  integer, parameter :: dimensions = 8, places = 2 * dimensions
  integer :: rank, ranks, failures, all_failures, i, ierr, sizes(dimensions)
  logical :: are_periodic(dimensions)
  integer, asynchronous :: send(2 * places), got(2 * places)
  integer :: counts(places), displacements(places)
  integer(MPI_ADDRESS_KIND) :: bytes(places)
#ifdef COMMPASS_TEST_MPI
  integer :: grid, request, pair, types(places)
#else
  type(MPI_Comm) :: grid
  type(MPI_Request) :: request
  type(MPI_Datatype) :: pair, types(places)
#endif

  failures = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  sizes = 1
  sizes(1) = ranks
  are_periodic = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, are_periodic, .false., grid, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
  call MPI_Type_commit(pair, ierr)
  counts = 1
  types = pair
  do i = 1, places
    displacements(i) = i - 1
    bytes(i) = 8 * (i - 1)
    send(2 * i - 1) = 100 * rank + i
    send(2 * i) = -i
  end do
  got = 0

  call MPI_Neighbor_alltoall(send, 1, pair, got, 1, pair, grid, ierr)
  call check("alltoall")
  call MPI_Neighbor_alltoallv(send, counts, displacements, pair, got, counts, displacements, pair, grid, ierr)
  call check("alltoallv")
  call MPI_Neighbor_alltoallw(send, counts, bytes, types, got, counts, bytes, types, grid, ierr)
  call check("alltoallw")
  call MPI_Ineighbor_alltoall(send, 1, pair, got, 1, pair, grid, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoall")
  call MPI_Ineighbor_alltoallv(send, counts, displacements, pair, got, counts, displacements, pair, grid, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoallv")
  call MPI_Ineighbor_alltoallw(send, counts, bytes, types, got, counts, bytes, types, grid, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check("ialltoallw")
#ifdef COMMPASS_TEST_MPIX
  call MPIX_Neighbor_alltoall_init(send, 1, pair, got, 1, pair, grid, MPI_INFO_NULL, request, ierr)
  call run("alltoall_init")
  call MPIX_Neighbor_alltoallv_init(send, counts, displacements, pair, got, counts, displacements, pair, grid, &
                                    MPI_INFO_NULL, request, ierr)
  call run("alltoallv_init")
  call MPIX_Neighbor_alltoallw_init(send, counts, bytes, types, got, counts, bytes, types, grid, MPI_INFO_NULL, &
                                    request, ierr)
  call run("alltoallw_init")
#endif

  call MPI_Type_free(pair, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_failures > 0) print '(i0, a)', all_failures, " comparisons failed"
  if (rank == 0 .and. all_failures == 0) print '(a)', "all comparisons hold"
  call MPI_Finalize(ierr)

contains

  subroutine check(what)
    character(*), intent(in) :: what
    integer :: from(2), place
    from(1) = mod(rank + ranks - 1, ranks)
    from(2) = mod(rank + 1, ranks)
    do place = 1, places
      ! The block that went down in a dimension comes from above.
      call compare(what, got(2 * place - 1), 100 * merge(from(2 - mod(place, 2)), rank, place <= 2) + &
                   place + merge(1, -1, mod(place, 2) == 1))
    end do
    got = 0
  end subroutine

  subroutine compare(what, found, expected)
    character(*), intent(in) :: what
    integer, intent(in) :: found, expected
    if (found == expected) return
    if (failures < 5) print '(2a, 2(a, i0))', what, ": other bytes", " ", found, ", not ", expected
    failures = failures + 1
  end subroutine

#ifdef COMMPASS_TEST_MPIX
  subroutine run(what)
    character(*), intent(in) :: what
    integer :: start
    do start = 1, 2
      call MPI_Start(request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call check(what)
    end do
    call MPI_Request_free(request, ierr)
  end subroutine
#endif

end program
