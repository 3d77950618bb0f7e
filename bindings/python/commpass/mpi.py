"""Exchanges of numpy arrays between the ranks of an mpi4py communicator. All of them are collective."""

import numpy as np
from mpi4py import MPI

from commpass.arguments import attempt, blocks_of, checked_array, edges_of, integers
from commpass.cartesian import CartExchange, CartNeighborhood, HaloExchange, grid_of, halo_of, offsets_of
from commpass.errors import InputError
from commpass.handles import Chosen, Closed, Planned, Repeated, forwarded
from commpass.native import _mpi
from commpass.pattern import Layout
from commpass.routed import RoutedExchange, paths_of
from commpass.sparse import SparseExchange, arrays_of, with_own_error

if MPI.get_vendor()[0] != _mpi.mpi_library:
    raise ImportError(f"commpass was built for {_mpi.mpi_library}, and mpi4py for {MPI.get_vendor()[0]}; "
                      "use those of one MPI library")


class Exchange(Repeated, Chosen):
    """Blocks that move between the same arrays many times (Communicator.neighbor_exchange)."""


class OfValues(Planned, Chosen):
    """An exchange of values, each of some components of one type."""

    def __init__(self, opened, dtype, components):
        super().__init__(opened)
        self._dtype, self._components = dtype, components
        self._used = ()

    def _values(self, array, where, count, is_written):
        checked_array(array, where, self._dtype, is_written)
        if array.size != count * self._components:
            raise InputError(f"{where}: it has {array.size} numbers; give {count * self._components}.")
        return array


class IndexedExchange(OfValues):
    """Values by their global indices (Communicator.indexed_exchange)."""

    def __init__(self, opened, owned, needed, dtype, components):
        super().__init__(opened, dtype, components)
        self._owned, self._needed = owned, needed

    def start_forward(self, owned_values, ghost_values):
        """Begins to copy each needed value to ghost_values, which is complete after wait()."""
        owned = self._values(owned_values, "owned_values", self._owned, False)
        ghosts = self._values(ghost_values, "ghost_values", self._needed, True)
        self._open.start_forward(owned, ghosts)
        self._used = (owned, ghosts)

    def start_reverse_add(self, ghost_values, owned_values):
        """Begins to add each ghost value to the owned value of its index; complete after wait()."""
        ghosts = self._values(ghost_values, "ghost_values", self._needed, False)
        owned = self._values(owned_values, "owned_values", self._owned, True)
        self._open.start_reverse_add(ghosts, owned)
        self._used = (ghosts, owned)

    def forward(self, owned_values, ghost_values):
        """start_forward() and wait()."""
        self.start_forward(owned_values, ghost_values)
        self.wait()

    def reverse_add(self, ghost_values, owned_values):
        """start_reverse_add() and wait()."""
        self.start_reverse_add(ghost_values, owned_values)
        self.wait()


class Reduction(OfValues):
    """Sums of values of several ranks (Communicator.neighbor_reduce_scatter and sparse_allreduce)."""

    def __init__(self, opened, given, got, dtype, components):
        super().__init__(opened, dtype, components)
        self._given, self._got = given, got

    def start(self, values, sums):
        """Begins to add values up. They may change at once; sums is complete after wait()."""
        given = self._values(values, "values", self._given, False)
        got = self._values(sums, "sums", self._got, True)
        self._open.start_reverse_add(given, got)
        self._used = (given, got)

    def run(self, values, sums):
        """start() and wait()."""
        self.start(values, sums)
        self.wait()


def value_of(call, dtype, components):
    """The type of the numbers of a value."""
    numbers = np.dtype(dtype)
    if numbers.hasobject or components < 1:
        raise InputError(f"{call}: a value is no whole number of numbers; use dtype=float, components=1.")
    return numbers


most_index = 2**63 - 1


class Communicator(Closed):
    """A communicator of Commpass beside one of mpi4py, with a machine profile. It belongs to one thread at a time.

    comm     an intracommunicator of mpi4py
    profile  name or file of a machine profile, read by rank 0; "": COMMPASS_PROFILE, else the one that was measured on this
             machine, else a built-in one, which rank 0 reports once on stderr
    layout   of the ranks: "NODESxRANKS", …; "": COMMPASS_LAYOUT, else that of MPI and hwloc
    limits   "messages_off_node=32,partners=100"; they override COMMPASS_LIMITS, which overrides those of the profile

    All ranks close it and its exchanges: by close() or with. Handles that are not closed stay.
    Raises Error, the same on every rank.
    """

    def __init__(self, comm, profile="", layout="", limits=""):
        if not isinstance(comm, MPI.Intracomm):
            raise InputError(f"Communicator: comm is a {type(comm).__name__}; give an intracommunicator of mpi4py.")
        self._open = _mpi.Communicator(MPI._handleof(comm), profile, layout, limits)
        self._comm = comm

    ranks = forwarded("ranks", "The number of ranks.")
    layout = forwarded("layout", "The layout of the ranks, for people.")
    last_alltoallv_strategy = forwarded("last_alltoallv_strategy", 'The strategy of the last alltoallv; "": none.')
    last_sparse_strategy = forwarded("last_sparse_strategy", 'The strategy of the last sparse_alltoallv; "": none.')

    def alltoallv(self, send, send_counts, receive, receive_counts, send_offsets=None, receive_offsets=None, strategy=""):
        """MPI_Alltoallv: every rank has a block for every rank. The sizes of earlier calls decide the strategy.

        send, receive  arrays of one type
        …_counts       elements for, and from, each rank
        …_offsets      of each block, in elements; None: contiguous blocks
        strategy       "": COMMPASS_ALLTOALLV_STRATEGY, else the cheapest; the same on every rank
        Raises InputError on a rank with wrong arguments; the other ranks then wait for it, as with MPI.
        """
        checked_array(send, "send")
        checked_array(receive, "receive", send.dtype, is_written=True)
        ranks = self.ranks
        self._open.alltoallv(send, *blocks_of(send, send_counts, send_offsets, ranks, "send"),
                             receive, *blocks_of(receive, receive_counts, receive_offsets, ranks, "receive"), strategy)

    def neighbor_exchange(self, send, sends, receive, receives, strategy=""):
        """Plans an exchange that repeats with the same blocks.

        send, receive    arrays of one type; the exchange keeps them
        sends, receives  contiguous blocks (rank, count), or blocks (rank, offset, count), in elements. The k-th block
                         from rank i to rank j at i is the k-th from i at j
        strategy         "": COMMPASS_STRATEGY, else the cheapest; the same on every rank
        Returns an Exchange. Raises Error, the same on every rank.
        """
        ranks = self.ranks

        def check():
            checked_array(send, "send")
            checked_array(receive, "receive", send.dtype, is_written=True)
            return send, edges_of(send, sends, ranks, "send"), receive, edges_of(receive, receives, ranks, "receive")

        none = np.empty(0)
        checked, failure = attempt(check)
        return Exchange(self._open.neighbor_exchange(*(checked or (none, [], none, [])), strategy, failure))

    def routed_exchange(self, route, pattern, send, receive):
        """Plans an exchange along a Route: one neighbour exchange for each of its stages.

        route    the same on every rank
        pattern  the same Pattern on every rank; several edges of a pair are one block
        send     of bytes (uint8): the blocks of this rank by destination, those to itself among them
        receive  of bytes: the blocks for this rank by source; the exchange keeps both arrays
        Returns a RoutedExchange. Raises Error, the same on every rank.
        """
        rank = self._comm.Get_rank()
        layout = Layout(self._open.places)
        checked, failure = attempt(lambda: paths_of(route, pattern, layout, send, receive, rank))
        for sentence in self._comm.allgather(failure):
            if sentence:
                raise InputError(sentence)
        return RoutedExchange(self, *checked, send, receive)

    def indexed_exchange(self, owned, needed, dtype, components=1, reverse=False, strategy="", deterministic=False, overwrite=False):
        """Plans an exchange of values by their global indices, from 0 up. It finds the owners of needed values.

        owned       the indices of this rank's values in their order, or a range of Python
        needed      the indices of its ghost values in their order; they may repeat, and may be owned
        dtype       of the numbers
        components  of a value: arrays have the shape (values, components), or are flat
        reverse     is start_reverse_add needed?
        deterministic  does the owner add all ghost values, in the order of ranks? Otherwise they may be added where
                    they meet on their way, in an order that the strategy determines
        overwrite   do sums of ghost values replace owned values that are needed?
        Returns an IndexedExchange. Raises Error, the same on every rank.
        """

        def check():
            numbers = value_of("indexed_exchange", dtype, components)
            is_range = isinstance(owned, range) and owned.step == 1 and len(owned) > 0
            mine = [owned.start, owned.stop] if is_range else integers(owned, "owned", most=most_index).tolist()
            return (mine, is_range, integers(needed, "needed", most=most_index).tolist(), numbers.itemsize * components), numbers

        checked, failure = attempt(check)
        arguments, numbers = checked or (([], False, [], 1), None)
        opened = self._open.indexed_exchange(*arguments, reverse, deterministic, overwrite, strategy, failure)
        return IndexedExchange(opened, len(owned), len(needed), numbers, components)

    def neighbor_reduce_scatter(self, contributions, result_values, dtype, components=1, strategy="", deterministic=False):
        """Plans sums of contributions to neighbours: this rank adds to their results, and others to its own.

        contributions  (rank, count) of each, in values, in their order in the array: to a rank also several, and to this
                       rank itself; `count` is result_values of that rank
        result_values  of this rank. A result without contributions stays as it is
        dtype, components, strategy, deterministic  as of indexed_exchange
        Returns a Reduction: run(contributions, result). Raises Error, the same on every rank.
        """

        def check():
            numbers = value_of("neighbor_reduce_scatter", dtype, components)
            given = [(int(target), int(count)) for target, count in contributions]
            return (given, int(result_values), numbers.itemsize * components), numbers

        checked, failure = attempt(check)
        arguments, numbers = checked or (([], 0, 1), None)
        opened = self._open.neighbor_reduce_scatter(*arguments, deterministic, strategy, failure)
        return Reduction(opened, sum(count for _, count in arguments[0]), result_values, numbers, components)

    def sparse_allreduce(self, indices, dtype, components=1, strategy="", deterministic=False):
        """Plans sums of sparse vectors: each rank gives values at some indices, from 0 up, and gets the sums there.

        indices  in any order, also several times: their values are added
        dtype, components, strategy, deterministic  as of indexed_exchange
        Returns a Reduction: run(values, sums), which may be one array. Raises Error, the same on every rank.
        """

        def check():
            numbers = value_of("sparse_allreduce", dtype, components)
            return (integers(indices, "indices", most=most_index).tolist(), numbers.itemsize * components), numbers

        checked, failure = attempt(check)
        arguments, numbers = checked or (([], 1), None)
        opened = self._open.sparse_allreduce(*arguments, deterministic, strategy, failure)
        return Reduction(opened, len(indices), len(indices), numbers, components)

    def sparse_alltoallv(self, send, sends, strategy="", messages=None, bytes=64):
        """Every rank sends blocks to targets, and gets the blocks for it. All ranks call it, also without blocks.

        send      an array of the same type on every rank
        sends     contiguous blocks (rank, count), or blocks (rank, offset, count), in elements
        strategy  "": COMMPASS_SPARSE_STRATEGY, else the cheapest; the same on every rank, as both hints
        messages  a hint: the mean number of messages of a rank; None: that of earlier calls
        bytes     a hint: the size of a message
        Returns a list of (rank, array) by rank, then in the order of `sends`. The arrays are read-only, and share
        memory. Raises Error, the same on every rank.
        """
        send, sends, failure = self._sparse(send, sends)
        with with_own_error(failure):
            received = self._open.sparse_alltoallv(send, sends, strategy, messages, bytes)
        return arrays_of(received, send.dtype)

    def start_sparse_alltoallv(self, send, sends, strategy="", messages=None, bytes=64):
        """sparse_alltoallv without waiting: a SparseExchange, whose wait() gives the list. Several may be in flight."""
        send, sends, failure = self._sparse(send, sends)
        with with_own_error(failure):
            return SparseExchange(self._open.start_sparse_alltoallv(send, sends, strategy, messages, bytes), send.dtype, failure)

    def _sparse(self, send, sends):
        """Wrong arguments become a block for rank -1, so that all ranks fail and none waits for this one."""
        ranks = self.ranks
        checked, failure = attempt(lambda: (checked_array(send, "send"), edges_of(send, sends, ranks, "send")))
        return *(checked or (np.empty(0), [(-1, 0, 0)])), failure

    def cart_neighborhood(self, dims, offsets, periodic=True, weights=(), strategy="", reorder=False):
        """A grid of all ranks with neighbours at the same offsets. All arguments are the same on every rank.

        dims      sizes of the grid; their product is the number of ranks
        offsets   of the neighbours: a list of numbers for each, one for every dimension
        periodic  is the grid periodic? A value for all dimensions, or a list
        weights   relative sizes for the neighbours; (): equal
        strategy  "trivial", "cartesian" or any other; "": the cheapest for each size
        reorder   may ranks move on the grid, so that fewer bytes cross nodes?
        Returns a CartNeighborhood. Raises Error, the same on every rank.
        """
        checked, failure = attempt(lambda: (*grid_of(dims, periodic), offsets_of(offsets, len(dims)), [int(w) for w in weights]))
        return CartNeighborhood(self._open.cart_neighborhood(*(checked or ([], [], [], [])), strategy, reorder, failure))

    def halo_exchange(self, dims, array, depth, periodic=True, stages=(), shared=None):
        """Plans to fill the halo of an array with the cells of the neighbours on a grid of all ranks, corners among them.

        dims      sizes of the grid; their product is the number of ranks
        array     with its halo: in each dimension of the grid `depth` cells before and after the rank's own. Further
                  dimensions are parts of a cell. The exchange keeps the array
        depth     a number for all dimensions, or a list; 0: no halo in this dimension
        periodic  is the grid periodic? A value for all dimensions, or a list
        stages    by dimension, the stage of its halo, 1 or more; (): the cheapest
        shared    do messages within a node go through memory that its ranks share? None: where that is predicted to be
                  faster, and not where stages are named
        Returns a HaloExchange. Raises Error, the same on every rank.
        """
        checked, failure = attempt(lambda: (*grid_of(dims, periodic), *halo_of(array, depth, len(dims)), [int(s) for s in stages]))
        return HaloExchange(self._open.halo_exchange(*(checked or ([], [], np.empty(0), [], [], 0, [])), shared, failure))
