"""Cartesian collectives and halos: all ranks have neighbours at the same offsets of a grid."""

import numpy as np

from commpass.arguments import blocks_of, checked_array
from commpass.errors import InputError
from commpass.handles import Closed, Repeated, forwarded


def _of_each(value, count, where):
    """A list with a value for each; a single value counts for all."""
    values = [value] * count if np.ndim(value) == 0 else list(value)
    if len(values) != count:
        raise InputError(f"{where}: it has {len(values)} values; give one for each of the {count} dimensions.")
    return values


def grid_of(dims, periodic):
    """Sizes and periods of the dimensions."""
    return [int(size) for size in dims], [bool(one) for one in _of_each(periodic, len(dims), "periodic")]


def offsets_of(offsets, dimensions):
    """The numbers of all offsets in one list."""
    for offset in offsets:
        _of_each(list(offset), dimensions, f"offset {tuple(offset)}")
    return [int(number) for offset in offsets for number in offset]


def halo_of(array, depth, dimensions):
    """The array, the extent of the rank's own cells, the depths, and the bytes of a cell."""
    checked_array(array, "array", is_written=True)
    if array.ndim < dimensions:
        raise InputError(f"array: it has {array.ndim} dimensions; give one for each of the grid's {dimensions}.")
    depths = [int(one) for one in _of_each(depth, dimensions, "depth")]
    extent = [size - 2 * one for size, one in zip(array.shape, depths)]
    return array, extent, depths, array.itemsize * int(np.prod(array.shape[dimensions:], dtype=np.int64))


class CartExchange(Repeated):
    """A planned exchange of a neighbourhood (CartNeighborhood.alltoall_init, …)."""

    strategy = forwarded("strategy", "The strategy as a text.")


class HaloExchange(Repeated):
    """Fills the halo of an array (Communicator.halo_exchange). Between start() and wait() only cells that are in no
    halo of others may change."""

    strategy = forwarded("strategy", "The stages, and whether memory of a node is used: 'stages=2x1,shared'.")
    stages = forwarded("stages", "The stage of the halo of each dimension, 1 or more.")
    messages = forwarded("messages", "The number of messages that this rank sends in one exchange.")
    explanation = forwarded("explanation", "The choice, and the predictions of the alternatives: for people.")


class CartNeighborhood(Closed):
    """A grid of ranks with a neighbourhood (Communicator.cart_neighborhood).

    A rank sends block i to the rank at offset i, and receives block i from the rank at minus offset i. Beyond the edge
    of the grid there is no rank: its block is not sent, and its part of a receive array does not change. All ranks call
    the same operations in the same order, with equal sizes for each neighbour, unless counts_differ. A wrong argument
    raises on its rank alone.
    """

    rank = forwarded("rank", "This rank on the grid; reorder may change it.")
    sources = forwarded("sources", "The ranks that send block 0, 1, …; None: there is no rank.")
    targets = forwarded("targets", "The ranks that receive block 0, 1, …; None: there is no rank.")
    explanation = forwarded("explanation", "The choice for each size with its reason, for people.")

    def coordinates(self, rank):
        """The coordinates of a rank of the grid."""
        return self._open.coordinates(rank)

    def relative_rank(self, offset):
        """The rank at an offset from this one; None: there is no rank."""
        return self._open.relative_rank(list(offset))

    def alltoall(self, send, receive):
        """A block for each neighbour, all of one size: contiguous blocks in both arrays."""
        self._open.alltoallv(*self._equal(send, "send"), *self._equal(receive, "receive", send, True), False)

    def alltoallv(self, send, send_counts, receive, receive_counts, send_offsets=None, receive_offsets=None, counts_differ=False):
        """A block for each neighbour: counts and offsets in elements; without offsets the blocks are contiguous.

        counts_differ  do the sizes for one neighbour differ between ranks? Then planning is collective.
        """
        self._open.alltoallv(*self._sides(send, send_counts, send_offsets, receive, receive_counts, receive_offsets), counts_differ)

    def allgather(self, send, receive):
        """One block for all neighbours."""
        self._open.allgatherv(*self._gathered(send, receive, None, None), False)

    def allgatherv(self, send, receive, receive_counts, receive_offsets=None, counts_differ=False):
        """One block for all neighbours; with counts_differ its size may differ between ranks."""
        self._open.allgatherv(*self._gathered(send, receive, receive_counts, receive_offsets), counts_differ)

    def alltoall_init(self, send, receive):
        """alltoall as a CartExchange, which keeps the arrays."""
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
