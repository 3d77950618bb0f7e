"""Exchanges of numpy arrays between the ranks of an mpi4py communicator. All of them are collective."""

import numpy as np
from mpi4py import MPI

from commpass.native import _mpi
from commpass.errors import InputError

if MPI.get_vendor()[0] != _mpi.mpi_library:
    raise ImportError(f"commpass was built for {_mpi.mpi_library}, and mpi4py for {MPI.get_vendor()[0]}; "
                      "use those of one MPI library")

_most_count = 2**31 - 1


def _array(array, where, dtype=None, is_written=False):
    """An array that may be sent or received as it lies in memory."""
    if not isinstance(array, np.ndarray):
        raise InputError(f"{where}: it is a {type(array).__name__}, not a numpy array; use numpy.asarray.")
    if not array.flags.c_contiguous:
        raise InputError(f"{where}: its elements do not lie one after the other in memory; use numpy.ascontiguousarray.")
    if array.dtype.hasobject:
        raise InputError(f"{where}: its elements are Python objects; use numbers.")
    if dtype is not None and array.dtype != dtype:
        raise InputError(f"{where}: its elements are {array.dtype}, and {dtype} is needed; use the same type.")
    if is_written and not array.flags.writeable:
        raise InputError(f"{where}: it may not be written to; use a copy of it.")
    return array


def _integers(values, where, length=None, most=_most_count):
    """Numbers from 0 to most."""
    result = np.asarray(values)
    if result.size == 0:
        result = result.astype(np.int64)
    if result.ndim != 1 or result.dtype.kind not in "iu":
        raise InputError(f"{where}: it is no list of integers; use one.")
    if length is not None and len(result) != length:
        raise InputError(f"{where}: it has {len(result)} numbers; give one for each of the {length} ranks.")
    if result.size > 0 and (result.min() < 0 or result.max() > most):
        raise InputError(f"{where}: it has a number below 0 or above {most}; use others.")
    return result


def _blocks(array, counts, offsets, ranks, where):
    """Counts and offsets of blocks that lie in an array; without offsets one after the other."""
    counts = _integers(counts, f"{where} counts", ranks)
    if offsets is None:
        offsets = np.concatenate(([0], np.cumsum(counts[:-1], dtype=np.int64)))
    offsets = _integers(offsets, f"{where} offsets", ranks)
    if np.any((counts > 0) & (offsets.astype(np.int64) + counts.astype(np.int64) > array.size)):
        raise InputError(f"{where}: its blocks end beyond its {array.size} elements; use fewer or a larger array.")
    return counts.tolist(), offsets.tolist()


def _edges(array, blocks, ranks, where):
    """(rank, offset, bytes) of blocks that are given as (rank, count) or (rank, offset, count), in elements."""
    edges = []
    end = 0
    for block in blocks:
        if len(block) not in (2, 3):
            raise InputError(f"{where}: {tuple(block)} is no block; use (rank, count) or (rank, offset, count).")
        rank, count = block[0], block[-1]
        offset = block[1] if len(block) == 3 else end
        if not 0 <= rank < ranks:
            raise InputError(f"{where}: there is no rank {rank}; use one from 0 to {ranks - 1}.")
        if offset < 0 or count < 0 or offset + count > array.size:
            raise InputError(f"{where}: {tuple(block)} is not inside of its {array.size} elements; use a block that is.")
        end = offset + count
        edges.append((int(rank), int(offset) * array.itemsize, int(count) * array.itemsize))
    return edges


class _Closed:
    """What is closed by all ranks together: by close(), or at the end of a with."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees it; nothing the second time. Collective: all ranks close what they have in the same order."""
        self._open.close()


class _Planned(_Closed):
    """An exchange that is planned, and runs many times."""

    def __init__(self, opened):
        self._open = opened

    def test(self):
        """Is it complete? Moves it on."""
        return self._open.test()

    def wait(self):
        """Completes it."""
        self._open.wait()

    @property
    def strategy(self):
        """The strategy that runs, as a text."""
        return self._open.strategy

    @property
    def explanation(self):
        """Why it was chosen, for people."""
        return self._open.explanation

    @property
    def predicted_seconds(self):
        """Of one exchange; None: the strategy was named, or nothing has a price."""
        return self._open.predicted_seconds


class Exchange(_Planned):
    """Blocks that move between the same arrays many times (Communicator.neighbor_exchange)."""

    def start(self):
        """Begins one: what is sent must not change, and what is received not be used, before wait()."""
        self._open.start()

    def run(self):
        """start() and wait()."""
        self.start()
        self.wait()


class IndexedExchange(_Planned):
    """Values by their global indices (Communicator.indexed_exchange)."""

    def __init__(self, opened, owned, needed, dtype, components):
        super().__init__(opened)
        self._owned, self._needed, self._dtype, self._components = owned, needed, dtype, components
        self._used = ()

    def _values(self, array, where, count, is_written):
        _array(array, where, self._dtype, is_written)
        if array.size != count * self._components:
            raise InputError(f"{where}: it has {array.size} numbers; give {count * self._components}.")
        return array

    def start_forward(self, owned_values, ghost_values):
        """Begins to bring each needed value to its place in ghost_values, which is complete after wait()."""
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


def _attempt(check):
    """What check() returns, or nothing, and the sentence of what went wrong: all ranks shall hear of it."""
    try:
        return check(), ""
    except InputError as error:
        return None, str(error)
    except (TypeError, ValueError, OverflowError) as error:
        return None, f"the arguments are not what they should be: {error}; see help(commpass.Communicator)."


class Communicator(_Closed):
    """A communicator of Commpass beside one of mpi4py, with a machine profile. It belongs to one thread at a time.

    comm     an intracommunicator of mpi4py
    profile  name or file of a machine profile, read by rank 0; "": COMMPASS_PROFILE, else the one that was measured on this
             machine, else a built-in one, of which rank 0 says so once on stderr
    layout   where ranks sit: "NODESxRANKS", …; "": COMMPASS_LAYOUT, else what MPI and hwloc say

    Close it, and the exchanges that were made with it, on all ranks: by close() or with. What is not closed stays.
    Raises Error, the same on every rank.
    """

    def __init__(self, comm, profile="", layout=""):
        if not isinstance(comm, MPI.Intracomm):
            raise InputError(f"Communicator: comm is a {type(comm).__name__}; give an intracommunicator of mpi4py.")
        self._open = _mpi.Communicator(MPI._handleof(comm), profile, layout)

    @property
    def ranks(self):
        """How many there are."""
        return self._open.ranks

    @property
    def layout(self):
        """Where they sit, for people."""
        return self._open.layout

    @property
    def last_alltoallv_strategy(self):
        """What ran the last alltoallv, as a text; "": there was none."""
        return self._open.last_alltoallv_strategy

    def alltoallv(self, send, send_counts, receive, receive_counts, send_offsets=None, receive_offsets=None, strategy=""):
        """As MPI's: every rank has a block for every rank, perhaps an empty one. Chosen by what all sent before.

        send, receive  arrays of one type
        …_counts       elements for, and from, each rank
        …_offsets      where each block begins, in elements; None: one after the other
        strategy       "": COMMPASS_ALLTOALLV_STRATEGY, else what is cheapest; the same on every rank
        Raises InputError on a rank whose arguments are wrong; the others then wait for it, as with MPI.
        """
        _array(send, "send")
        _array(receive, "receive", send.dtype, is_written=True)
        ranks = self.ranks
        self._open.alltoallv(send, *_blocks(send, send_counts, send_offsets, ranks, "send"),
                             receive, *_blocks(receive, receive_counts, receive_offsets, ranks, "receive"), strategy)

    def neighbor_exchange(self, send, sends, receive, receives, strategy=""):
        """Plans an exchange that runs many times with the same blocks.

        send, receive    arrays of one type; the exchange keeps them
        sends, receives  blocks as (rank, count), one after the other, or (rank, offset, count), in elements. The k-th block
                         from rank i to rank j at i is the k-th from i at j
        strategy         "": COMMPASS_STRATEGY, else what is cheapest; the same on every rank
        Returns an Exchange. Raises Error, the same on every rank.
        """
        ranks = self.ranks

        def check():
            _array(send, "send")
            _array(receive, "receive", send.dtype, is_written=True)
            return send, _edges(send, sends, ranks, "send"), receive, _edges(receive, receives, ranks, "receive")

        none = np.empty(0)
        checked, failure = _attempt(check)
        return Exchange(self._open.neighbor_exchange(*(checked or (none, [], none, [])), strategy, failure))

    def indexed_exchange(self, owned, needed, dtype, components=1, reverse=False, strategy=""):
        """Plans an exchange of values by their global indices, from 0 up; who owns what is needed is found out.

        owned       what this rank owns, in the order of its values: indices, or a range of Python
        needed      what it needs, in the order of its ghost values: in any order, also several times, also own ones
        dtype       of the numbers
        components  how many numbers a value has; arrays are then of shape (values, components), or flat
        reverse     will start_reverse_add be called?
        Returns an IndexedExchange. Raises Error, the same on every rank.
        """

        def check():
            numbers = np.dtype(dtype)
            if numbers.hasobject or components < 1:
                raise InputError("indexed_exchange: a value is no whole number of numbers; use dtype=float, components=1.")
            most = 2**63 - 1
            is_range = isinstance(owned, range) and owned.step == 1 and len(owned) > 0
            mine = [owned.start, owned.stop] if is_range else _integers(owned, "owned", most=most).tolist()
            return (mine, is_range, _integers(needed, "needed", most=most).tolist(), numbers.itemsize * components), numbers

        checked, failure = _attempt(check)
        arguments, numbers = checked or (([], False, [], 1), None)
        opened = self._open.indexed_exchange(*arguments, reverse, strategy, failure)
        return IndexedExchange(opened, len(owned), len(needed), numbers, components)
