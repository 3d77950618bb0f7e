"""Checks of the arguments of exchanges; an error is one sentence."""

import numpy as np

from commpass.errors import InputError

most_count = 2**31 - 1


def checked_array(array, where, dtype=None, is_written=False):
    """An array that MPI may send or receive in place."""
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


def integers(values, where, length=None, most=most_count):
    """Numbers from 0 to most."""
    result = np.asarray(values)
    if result.size == 0:
        result = result.astype(np.int64)
    if result.ndim != 1 or result.dtype.kind not in "iu":
        raise InputError(f"{where}: it is no list of integers; use one.")
    if length is not None and len(result) != length:
        raise InputError(f"{where}: it has {len(result)} numbers; give {length}.")
    if result.size > 0 and (result.min() < 0 or result.max() > most):
        raise InputError(f"{where}: it has a number below 0 or above {most}; use others.")
    return result


def blocks_of(array, counts, offsets, ranks, where):
    """Counts and offsets of blocks in an array; without offsets they are contiguous."""
    counts = integers(counts, f"{where} counts", ranks)
    if offsets is None:
        offsets = np.concatenate(([0], np.cumsum(counts[:-1], dtype=np.int64)))
    offsets = integers(offsets, f"{where} offsets", ranks)
    if np.any((counts > 0) & (offsets.astype(np.int64) + counts.astype(np.int64) > array.size)):
        raise InputError(f"{where}: its blocks end beyond its {array.size} elements; use fewer or a larger array.")
    return counts.tolist(), offsets.tolist()


def edges_of(array, blocks, ranks, where):
    """(rank, offset, size) in bytes of blocks (rank, count) or (rank, offset, count) in elements."""
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


def attempt(check):
    """The result of check() or None, and the sentence of its error, which all ranks have to raise."""
    try:
        return check(), ""
    except InputError as error:
        return None, str(error)
    except (TypeError, ValueError, OverflowError) as error:
        return None, f"the arguments are not what they should be: {error}; see help(commpass.Communicator)."
