! A Fortran program that knows nothing of Commpass, with the module mpi_f08 or, if COMMPASS_TEST_MPI is defined, mpi: its
! persistent collectives are completed in each of the ways that MPI has, among messages.
#ifdef COMMPASS_TEST_MPIX
#define ALLTOALL_INIT MPIX_Alltoall_init
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#define ALLTOALLW_INIT MPIX_Alltoallw_init
#define ALLGATHER_INIT MPIX_Neighbor_allgather_init
#define ALLGATHERV_INIT MPIX_Neighbor_allgatherv_init
#else
#define ALLTOALL_INIT MPI_Alltoall_init
#define ALLTOALLV_INIT MPI_Alltoallv_init
#define ALLTOALLW_INIT MPI_Alltoallw_init
#define ALLGATHER_INIT MPI_Neighbor_allgather_init
#define ALLGATHERV_INIT MPI_Neighbor_allgatherv_init
#endif
program persistent
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
  integer, parameter :: rounds = 20, forms = 5, length = 3
  integer :: rank, ranks, failures, all_failures, form, round, i, ierr, completed, index, next, before
  integer :: indices(2), sizes(1)
  logical :: flag, are_periodic(1)
  integer, allocatable, asynchronous :: send(:), got(:)
  integer, asynchronous :: word, answer
  integer, allocatable :: counts(:), displacements(:), bytes(:)
#ifdef COMMPASS_TEST_MPI
  integer :: ring, requests(2), kept, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  integer, allocatable :: types(:)
#else
  type(MPI_Comm) :: ring
  type(MPI_Request) :: requests(2), kept
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Datatype), allocatable :: types(:)
#endif

  failures = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  sizes = ranks
  are_periodic = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, are_periodic, .false., ring, ierr)
  allocate(send(length * ranks), got(length * max(ranks, 2)), counts(max(ranks, 2)), displacements(max(ranks, 2)))
  allocate(bytes(max(ranks, 2)), types(max(ranks, 2)))
  counts = length
  types = MPI_INTEGER
  do i = 1, size(counts)
    displacements(i) = length * (i - 1)
  end do
  bytes = 4 * displacements
  do form = 1, forms
    select case (form)
    case (1)
      call ALLTOALL_INIT(send, length, MPI_INTEGER, got, length, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, kept, ierr)
    case (2)
      call ALLTOALLV_INIT(send, counts, displacements, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, &
                          MPI_COMM_WORLD, MPI_INFO_NULL, kept, ierr)
    case (3)
      call ALLTOALLW_INIT(send, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, kept, ierr)
    case (4)
      call ALLGATHER_INIT(send, length, MPI_INTEGER, got, length, MPI_INTEGER, ring, MPI_INFO_NULL, kept, ierr)
    case (5)
      call ALLGATHERV_INIT(send, length, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, ring, MPI_INFO_NULL, kept, ierr)
    end select
    do round = 1, rounds
      do i = 1, size(send)
        send(i) = value_of(rank, i)
      end do
      got = -1
      requests(1) = kept
      call MPI_Irecv(answer, 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, requests(2), ierr)
      if (mod(round, 2) == 0) call MPI_Start(requests(1), ierr)
      if (mod(round, 2) == 1) call MPI_Startall(1, requests, ierr)
      word = 1000 * round + rank
      call MPI_Send(word, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, ierr)
      select case (mod(round, 8))
      case (0)
        call MPI_Wait(requests(1), status, ierr)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      case (1)
        call MPI_Waitall(2, requests, statuses, ierr)
#ifdef COMMPASS_TEST_MPI
        call require("status", statuses(MPI_SOURCE, 2) == before)
#else
        call require("status", statuses(2)%MPI_SOURCE == before)
#endif
      case (2)
        call MPI_Waitany(2, requests, index, status, ierr)
        completed = index
        call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
        call require("indices", index + completed == 3)
#ifdef COMMPASS_TEST_MPIX
        call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)  ! whose index is another one in MPICH 4.0
        call require("no index", index == MPI_UNDEFINED)
#endif
      case (3)
        i = 0
        do while (i < 2)
          call MPI_Waitsome(2, requests, completed, indices, statuses, ierr)
          call require("indices", all(indices(1:completed) >= 1 .and. indices(1:completed) <= 2))
          i = i + completed
        end do
      case (4)
        flag = .false.
        do while (.not. flag)
          call MPI_Request_get_status(requests(1), flag, status, ierr)
        end do
        call MPI_Test(requests(1), flag, status, ierr)
        call require("flag", flag)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      case (5)
        flag = .false.
        do while (.not. flag)
          call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
        end do
      case (6)
        do i = 1, 2
          flag = .false.
          do while (.not. flag)
            call MPI_Testany(2, requests, index, flag, status, ierr)
          end do
          call require("index", index == 1 .or. index == 2)
        end do
      case (7)
        i = 0
        do while (i < 2)
          call MPI_Testsome(2, requests, completed, indices, MPI_STATUSES_IGNORE, ierr)
          i = i + completed
        end do
      end select
      call require("request", requests(1) == kept .and. requests(2) == MPI_REQUEST_NULL)
      call require("message", answer == 1000 * round + before)
      call check()
    end do
    call MPI_Request_free(kept, ierr)
    call require("freed request", kept == MPI_REQUEST_NULL)
  end do
  call MPI_Comm_free(ring, ierr)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_failures > 0) print '(i0, a)', all_failures, " comparisons failed"
  if (rank == 0 .and. all_failures == 0) print '(a)', "all comparisons hold"
  call MPI_Finalize(ierr)

contains

  pure integer function value_of(from, place)
    integer, intent(in) :: from, place
    value_of = 100000 * form + 1000 * round + 100 * from + place
  end function

  subroutine check()
    integer :: from, place
    do place = 1, length
      if (form <= 3) then
        do from = 0, ranks - 1
          call require("all-to-all", got(length * from + place) == value_of(from, length * rank + place))
        end do
      else
        if (rank > 0) call require("from before", got(place) == value_of(rank - 1, place))
        if (rank == 0) call require("nothing from before", got(place) == -1)
        if (rank + 1 < ranks) call require("from next", got(length + place) == value_of(rank + 1, place))
      end if
    end do
  end subroutine

  subroutine require(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) return
    if (failures < 5) print '(2a, 3(a, i0))', what, ": other bytes", ", form ", form, ", round ", round, ", rank ", rank
    failures = failures + 1
  end subroutine

end program
