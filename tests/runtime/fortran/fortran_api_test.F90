! The Fortran module: each kind of exchange, with mpi_f08, and once more with mpi (COMMPASS_TEST_MPI).
#ifdef COMMPASS_TEST_MPI
#define HANDLE(kind) integer
#else
#define HANDLE(kind) type(kind)
#endif
program fortran_api_test
#ifdef COMMPASS_TEST_MPI
  use mpi
#else
  use mpi_f08
#endif
  use commpass
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, ranks, code, next, previous, failures = 0, all_failures
  type(commpass_comm) :: comm
  character(64) :: argument

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call check(commpass_version() == COMMPASS_TEST_VERSION, "version")
  call commpass_comm_create(MPI_COMM_WORLD, "no-such-profile", comm, code)
  call check(code == COMMPASS_ERROR_INPUT .and. index(commpass_error_text(), "no-such-profile") > 0, "error text")
  call check(.not. c_associated(comm%handle), "no communicator")
  call get_command_argument(1, argument)
  if (argument == "unasked") call commpass_comm_create(MPI_COMM_WORLD, "no-such-profile", comm)
  call commpass_comm_create(MPI_COMM_WORLD, "lassen ", comm, code)
  call check(code == COMMPASS_SUCCESS, "communicator")
  if (argument == "section") call section_that_is_not_contiguous()
  call hints()
  call all_to_all()
  call neighbours()
  call indices()
  call reductions()
  call sparse()
  call grid()
  call commpass_comm_free(comm)
  call check(.not. c_associated(comm%handle), "freed")
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
  if (all_failures /= 0) error stop 1

contains

  !> Hints in an info.
  subroutine hints()
    HANDLE(MPI_Info) :: info
    type(commpass_comm) :: hinted
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, "commpass_profile", "no-such-profile", code)
    call commpass_comm_create_with_info(MPI_COMM_WORLD, info, hinted, code)
    call check(code == COMMPASS_ERROR_INPUT .and. index(commpass_error_text(), "no-such-profile") > 0, "hint")
    call MPI_Info_free(info, code)
  end subroutine

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print "(a, i0, 4a)", "rank ", rank, ": ", what, " is wrong; ", commpass_error_text()
  end subroutine

  ! Rank i sends i + j + 1 numbers to rank j.
  subroutine all_to_all()
    integer :: counts(ranks), displs(ranks), bytes(ranks), i, n
    HANDLE(MPI_Datatype) :: types(ranks)
    integer, allocatable, asynchronous :: sent(:), received(:)
    integer, allocatable :: expected(:)
    type(commpass_exchange) :: exchange
    logical :: complete
    counts = [(rank + i + 1, i = 0, ranks - 1)]
    displs = [(sum(counts(:i - 1)), i = 1, ranks)]
    bytes = 4 * displs
    types = MPI_INTEGER
    n = sum(counts)
    sent = [(1000 * rank + i, i = 1, n)]
    allocate (received(n))
    allocate (expected(n))
    call MPI_Alltoallv(sent, counts, displs, MPI_INTEGER, expected, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, code)
    received = -1
    call commpass_alltoallv(sent, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "", comm)
    call check(all(received == expected), "alltoallv")
    call commpass_alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "two-step", comm)
    call check(all(received == sent), "alltoallv in place")
    call commpass_alltoallw(sent, counts, bytes, types, received, counts, bytes, types, "", comm, code)
    call check(all(received == expected), "alltoallw")
    call commpass_alltoallv(sent, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "no-such", comm, code)
    call check(code == COMMPASS_ERROR_INPUT .and. index(commpass_error_text(), "no-such") > 0, "strategy")
    received = -1
    call commpass_alltoallw_init(sent, counts, bytes, types, received, counts, bytes, types, MPI_INFO_NULL, comm, exchange)
    call commpass_start(exchange)
    complete = .false.
    do while (.not. complete)
      call commpass_test(exchange, complete)
    end do
    call check(all(received == expected), "alltoallw_init")
    call commpass_exchange_free(exchange)
    received(:ranks) = -1
    call commpass_alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, "", comm)
    call check(all(received(:ranks) == [(1000 * i + rank + 1, i = 0, ranks - 1)]), "alltoall")
    call check(.not. c_associated(exchange%handle), "exchange freed")
    received = -1
    call commpass_ialltoallv(sent, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "", comm, exchange)
    call commpass_wait(exchange)
    call check(all(received == expected), "ialltoallv")
    call commpass_exchange_free(exchange)
    received = -1
    call commpass_ialltoallw(sent, counts, bytes, types, received, counts, bytes, types, "standard", comm, exchange)
    call commpass_exchange_free(exchange)
    call check(all(received == expected), "ialltoallw")
    call commpass_ialltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, "", &
                             comm, exchange)
    call commpass_wait(exchange)
    call commpass_exchange_free(exchange)
    call check(all(received == sent), "ialltoallv in place")
    received(:ranks) = -1
    call commpass_ialltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, "mpi", comm, exchange)
    call commpass_wait(exchange)
    call commpass_exchange_free(exchange)
    call check(all(received(:ranks) == [(1000 * i + rank + 1, i = 0, ranks - 1)]), "ialltoall")
  end subroutine

  ! A ring, with an info and other buffers than those it was planned with.
  subroutine neighbours()
    double precision, asynchronous :: out(3), in(3), other_out(3), other_in(3), from_all(3)
    HANDLE(MPI_Info) :: info
    type(commpass_exchange) :: exchange
    out = [100 * rank + 1, 100 * rank + 2, 100 * rank + 3]
    in = 0
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, "commpass_strategy", "standard", code)
    call MPI_Info_set(info, "commpass_any_buffers", "true", code)
    call commpass_neighbor_alltoallv_init(out, 1, [next], [3], [0], MPI_DOUBLE_PRECISION, in, 1, [previous], [3], [0], &
                                          MPI_DOUBLE_PRECISION, info, comm, exchange)
    call MPI_Info_free(info, code)
    call check(commpass_exchange_strategy(exchange) == "standard", "strategy of the exchange")
    call check(len(commpass_exchange_explanation(exchange)) > 0, "explanation")
    call check(commpass_exchange_predicted_seconds(exchange) < 0, "no prediction of a strategy that was named")
    call commpass_start(exchange)
    call commpass_wait(exchange)
    call check(all(in == 100 * previous + [1, 2, 3]), "ring")
    other_out = -out
    call commpass_start_buffers(other_out, other_in, exchange)
    call commpass_wait(exchange)
    call check(all(other_in == -in), "ring with other buffers")
    call commpass_exchange_free(exchange)
    call commpass_neighbor_alltoallw_init(out, 1, [next], [1], [16_MPI_ADDRESS_KIND], [MPI_DOUBLE_PRECISION], in, 1, &
                                          [previous], [1], [0_MPI_ADDRESS_KIND], [MPI_DOUBLE_PRECISION], MPI_INFO_NULL, &
                                          comm, exchange)
    call commpass_start(exchange)
    call commpass_wait(exchange)
    call check(in(1) == 100 * previous + 3, "ring of bytes")
    call commpass_exchange_free(exchange)
    call commpass_neighbor_allgatherv_init(out, 1, [next], 3, MPI_DOUBLE_PRECISION, from_all, 1, [previous], [3], [0], &
                                           MPI_DOUBLE_PRECISION, MPI_INFO_NULL, comm, exchange)
    call commpass_start(exchange)
    call commpass_wait(exchange)
    call check(all(from_all == 100 * previous + [1, 2, 3]), "allgather")
    call commpass_exchange_free(exchange)
  end subroutine

  ! Each rank owns two indices, and needs the first of the next rank.
  subroutine indices()
    double precision, asynchronous :: owned(2), ghosts(1)
    type(commpass_exchange) :: exchange
    integer(c_int64_t) :: begin
    begin = 2 * rank
    owned = [dble(rank), -1d0]
    call commpass_indexed_range_init(begin, begin + 2, [2_c_int64_t * next], 1_c_int64_t, 8, .true., MPI_INFO_NULL, comm, exchange)
    call commpass_start_forward(owned, ghosts, exchange)
    call commpass_wait(exchange)
    call check(ghosts(1) == next, "values by indices")
    call commpass_start_reverse(ghosts, owned, MPI_DOUBLE_PRECISION, MPI_SUM, exchange)
    call commpass_wait(exchange)
    call check(all(owned == [2d0 * rank, -1d0]), "sums by indices")
    call commpass_exchange_free(exchange)
    call commpass_indexed_init([begin, begin + 1], 2_c_int64_t, [2_c_int64_t * next + 1], 1_c_int64_t, 8, .false., &
                               MPI_INFO_NULL, comm, exchange)
    call commpass_start_forward(owned, ghosts, exchange)
    call commpass_wait(exchange)
    call check(ghosts(1) == -1, "values by lists of indices")
    call commpass_exchange_free(exchange)
  end subroutine

  ! Each rank contributes two values to the next rank; and all have index 7, and one of their own.
  subroutine reductions()
    double precision, asynchronous :: given(2), got(2)
    type(commpass_exchange) :: exchange
    given = 10 * rank + [1, 2]
    call commpass_neighbor_reduce_scatter_init(1, [next], [2], 2, 8, MPI_INFO_NULL, comm, exchange)
    call commpass_start_reverse(given, got, MPI_DOUBLE_PRECISION, MPI_SUM, exchange)
    call commpass_wait(exchange)
    call check(all(got == 10 * previous + [1, 2]), "sums of neighbours")
    call commpass_exchange_free(exchange)
    call commpass_sparse_allreduce_init([7_c_int64_t, 100_c_int64_t + rank], 2_c_int64_t, 8, MPI_INFO_NULL, comm, exchange)
    given = [1d0, dble(rank)]
    call commpass_start_allreduce(given, got, MPI_DOUBLE_PRECISION, MPI_SUM, exchange)
    call commpass_wait(exchange)
    call check(got(1) == ranks .and. got(2) == rank, "sums of sparse vectors")
    call commpass_exchange_free(exchange)
  end subroutine

  ! Receivers do not know their senders.
  subroutine sparse()
    type(commpass_received) :: got
    type(commpass_exchange) :: exchange
    double precision, asynchronous :: sent(3)
    integer :: messages, elements, src(1), counts(1), displs(1)
    double precision :: into(3)
    sent = 10 * rank + [1, 2, 3]
    call commpass_alltoallv_crs_alloc(1, [next], [3], [0], MPI_DOUBLE_PRECISION, sent, MPI_DOUBLE_PRECISION, got, "", comm)
    call check_received(got)
    call commpass_ialltoallv_crs(1, [next], [3], [0], MPI_DOUBLE_PRECISION, sent, MPI_DOUBLE_PRECISION, "", comm, exchange)
    call commpass_exchange_received(exchange, got)
    call check_received(got)
    call commpass_exchange_free(exchange)
    messages = 1
    elements = 3
    call commpass_alltoallv_crs(1, [next], [3], [0], MPI_DOUBLE_PRECISION, sent, messages, elements, src, counts, displs, &
                                MPI_DOUBLE_PRECISION, into, "direct+nbx", comm)
    call check(messages == 1 .and. elements == 3 .and. src(1) == previous .and. counts(1) == 3 .and. displs(1) == 0 .and. &
               all(into == 10 * previous + [1, 2, 3]), "sparse exchange into memory of the program")
    elements = 1
    call commpass_alltoallv_crs(1, [next], [3], [0], MPI_DOUBLE_PRECISION, sent, messages, elements, src, counts, displs, &
                                MPI_DOUBLE_PRECISION, into, "", comm, code)
    call check(code == COMMPASS_ERROR_TRUNCATED .and. elements == 3, "too little room")
  end subroutine

  subroutine check_received(got)
    type(commpass_received), intent(inout) :: got
    double precision, pointer :: values(:)
    call check(got%nnz == 1 .and. got%size == 3, "numbers of received messages")
    call c_f_pointer(got%values, values, [got%size])
    call check(got%src(1) == previous .and. got%counts(1) == 3 .and. got%displs(1) == 0 .and. &
               all(values == 10 * previous + [1, 2, 3]), "received messages")
    call commpass_received_free(got)
    call check(.not. c_associated(got%values) .and. got%nnz == 0, "freed received messages")
  end subroutine

  ! A periodic line of all ranks.
  subroutine grid()
    type(commpass_cart) :: cart
    type(commpass_cart_exchange) :: exchange
    integer, asynchronous :: out(2), in(2), cells(4)
    integer :: count, found, before, after, sources(2), targets(2), weights(2)
    logical :: complete
    call commpass_cart_neighborhood_create(comm, 1, [ranks], [.true.], 2, [1, -1], [integer ::], MPI_INFO_NULL, .false., cart)
    call commpass_cart_neighbor_count(cart, count)
    call commpass_cart_rank(cart, found)
    call commpass_cart_relative_shift(cart, [1], before, after)
    call check(count == 2 .and. found == rank .and. before == previous .and. after == next, "places on the grid")
    call commpass_cart_neighbor_get(cart, 2, sources, weights, 2, targets, weights)
    call check(all(targets == [next, previous]) .and. all(sources == [previous, next]) .and. all(weights == 1), "neighbours")
    out = 10 * rank + [1, 2]
    call commpass_cart_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, cart)
    call check(all(in == [10 * previous + 1, 10 * next + 2]), "Cartesian alltoall")
    call commpass_cart_alltoallw_init(out, [1, 1], [4_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], &
                                      in, [1, 1], [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], cart, exchange)
    call commpass_cart_start(exchange)
    complete = .false.
    do while (.not. complete)
      call commpass_cart_test(exchange, complete)
    end do
    call check(all(in == [10 * previous + 2, 10 * next + 1]), "persistent Cartesian alltoallw")
    call commpass_cart_exchange_free(exchange)
    call commpass_cart_free(cart)
    cells = [-1, 10 * rank, 10 * rank + 1, -1]
    call commpass_halo_init(comm, 1, [ranks], [.false.], [2], [1], 4, cells, exchange)
    call commpass_cart_start(exchange)
    call commpass_cart_wait(exchange)
    call check(all(cells == [merge(-1, 10 * rank - 9, rank == 0), 10 * rank, 10 * rank + 1, &
                             merge(-1, 10 * rank + 10, rank == ranks - 1)]), "halo")
    call commpass_cart_exchange_free(exchange)
  end subroutine

  ! The program ends here.
  subroutine section_that_is_not_contiguous()
    integer :: many(2 * ranks)
    many = 0
    call commpass_alltoall(many(1:2 * ranks:2), 1, MPI_INTEGER, many, 1, MPI_INTEGER, "", comm, code)
  end subroutine
end program
