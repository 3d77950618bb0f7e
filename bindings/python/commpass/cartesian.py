"""Cartesian collectives and halos: all ranks have neighbours at the same offsets of a grid."""

import numpy as np

from commpass.arguments import blocks_of, checked_array
from commpass.errors import InputError
from commpass.handles import Closed, Repeated


def _of_each(value, count, where):
    """A list of so many numbers, or one for all."""
    values = [value] * count if np.ndim(value) == 0 else list(value)
    if len(values) != count:
        raise InputError(f"{where}: it has {len(values)} values; give one for each of the {count} dimensions.")
    return values


def grid_of(dims, periodic):
    """Sizes and periods."""
    return [int(size) for size in dims], [bool(one) for one in _of_each(periodic, len(dims), "periodic")]


def offsets_of(offsets, dimensions):
    """One after another."""
    for offset in offsets:
        _of_each(list(offset), dimensions, f"offset {tuple(offset)}")
    return [int(number) for offset in offsets for number in offset]


def halo_of(array, depth, dimensions):
    """The array, the cells of the rank itself, the depths, and the bytes of a cell."""
    checked_array(array, "array", is_written=True)
    if array.ndim < dimensions:
        raise InputError(f"array: it has {array.ndim} dimensions; give one for each of the grid's {dimensions}.")
    depths = [int(one) for one in _of_each(depth, dimensions, "depth")]
    extent = [size - 2 * one for size, one in zip(array.shape, depths)]
    return array, extent, depths, array.itemsize * int(np.prod(array.shape[dimensions:], dtype=np.int64))


class CartExchange(Repeated):
    """One that moves the same arrays many times (CartNeighborhood.alltoall_init, …)."""

    @property
    def strategy(self):
        """The strategy that runs, as a text."""
        return self._open.strategy


class HaloExchange(Repeated):
    """Fills the halo of an array (Communicator.halo_exchange). Between start() and wait() the array must not change but for
    the cells that are in no halo of others."""

    @property
    def stages(self):
        """By dimension, the stage of its halo, 1 or more."""
        return self._open.stages

    @property
    def messages(self):
        """That this rank sends in one exchange."""
        return self._open.messages

    @property
    def explanation(self):
        """What was chosen, and what the others would take: for people."""
        return self._open.explanation


class CartNeighborhood(Closed):
    """A grid of ranks with a neighbourhood (Communicator.cart_neighborhood).

    Block i of a rank goes to the rank at offset i from it, and block i of what it receives comes from the rank at minus that
    offset. Where there is nobody, nothing moves, and that part of an array is left alone. All ranks call the same operations
    in the same order, with as much for each neighbour, unless counts_differ. An error in arguments is that of its rank.
    """

    def __init__(self, opened):
        self._open = opened

    @property
    def rank(self):
        """On the grid; with reorder perhaps another one than before."""
        return self._open.rank

    @property
    def sources(self):
        """The ranks that block 0, 1, … comes from; None: nobody."""
        return self._open.sources

    @property
    def targets(self):
        """The ranks that block 0, 1, … goes to; None: nobody."""
        return self._open.targets

    @property
    def explanation(self):
        """What was chosen for which sizes and why, for people."""
        return self._open.explanation

    def coordinates(self, rank):
        """Those of a rank of the grid."""
        return self._open.coordinates(rank)

    def relative_rank(self, offset):
        """The rank at an offset from this one; None: nobody."""
        return self._open.relative_rank(list(offset))

    def alltoall(self, send, receive):
        """A block for each neighbour, all of one size: arrays of as many elements, one block after the other."""
        self._open.alltoallv(*self._equal(send, "send"), *self._equal(receive, "receive", send, True), False)

    def alltoallv(self, send, send_counts, receive, receive_counts, send_offsets=None, receive_offsets=None, counts_differ=False):
        """A block for each neighbour: elements and places in the arrays; without offsets one after the other.

        counts_differ  do blocks for the same neighbour have other sizes on other ranks? Then planning is collective.
        """
        self._open.alltoallv(*self._sides(send, send_counts, send_offsets, receive, receive_counts, receive_offsets), counts_differ)

    def allgather(self, send, receive):
        """One block for all neighbours."""
        self._open.allgatherv(*self._gathered(send, receive, None, None), False)

    def allgatherv(self, send, receive, receive_counts, receive_offsets=None, counts_differ=False):
        """One block for all neighbours, of other sizes on other ranks if counts_differ."""
        self._open.allgatherv(*self._gathered(send, receive, receive_counts, receive_offsets), counts_differ)

    def alltoall_init(self, send, receive):
        """alltoall as a CartExchange, which keeps the arrays and runs many times."""
        return CartExchange(self._open.alltoallv_init(*self._equal(send, "send"), *self._equal(receive, "receive", send, True), False))

    def alltoallv_init(self, send, send_counts, receive, receive_counts, send_offsets=None, receive_offsets=None, counts_differ=False):
        """alltoallv as a CartExchange."""
        sides = self._sides(send, send_counts, send_offsets, receive, receive_counts, receive_offsets)
        return CartExchange(self._open.alltoallv_init(*sides, counts_differ))

    def allgather_init(self, send, receive):
        """allgather as a CartExchange."""
        return CartExchange(self._open.allgatherv_init(*self._gathered(send, receive, None, None), False))

    def allgatherv_init(self, send, receive, receive_counts, receive_offsets=None, counts_differ=False):
        """allgatherv as a CartExchange."""
        return CartExchange(self._open.allgatherv_init(*self._gathered(send, receive, receive_counts, receive_offsets), counts_differ))

    def _equal(self, array, where, other=None, is_written=False):
        checked_array(array, where, None if other is None else other.dtype, is_written)
        neighbors = len(self.targets)
        if neighbors == 0 or array.size % neighbors != 0:
            raise InputError(f"{where}: its {array.size} elements are not as many for each of the {neighbors} neighbours; use others.")
        return array, *blocks_of(array, [array.size // neighbors] * neighbors, None, neighbors, where)

    def _sides(self, send, send_counts, send_offsets, receive, receive_counts, receive_offsets):
        checked_array(send, "send")
        checked_array(receive, "receive", send.dtype, is_written=True)
        neighbors = len(self.targets)
        return (send, *blocks_of(send, send_counts, send_offsets, neighbors, "send"),
                receive, *blocks_of(receive, receive_counts, receive_offsets, neighbors, "receive"))

    def _gathered(self, send, receive, counts, offsets):
        checked_array(send, "send")
        if counts is None:
            return (send, *self._equal(receive, "receive", send, True))
        checked_array(receive, "receive", send.dtype, is_written=True)
        return (send, receive, *blocks_of(receive, counts, offsets, len(self.targets), "receive"))
