"""Sparse exchanges: every rank knows what it sends, and nobody knows what comes."""

import contextlib

from commpass.errors import Error, InputError
from commpass.handles import Begun, Chosen


def arrays_of(received, dtype):
    """(rank, array) of messages that have come as bytes."""
    for rank, message in received:
        if message.size % dtype.itemsize != 0:
            raise InputError(f"sparse_alltoallv: a message of {message.size} bytes from rank {rank} is no whole number of {dtype}; "
                             "use arrays of one type on all ranks.")
    return [(rank, message.view(dtype)) for rank, message in received]


@contextlib.contextmanager
def told_to_this_rank(failure):
    """What is wrong with the arguments of this rank, in the place of what all ranks are told."""
    try:
        yield
    except Error as error:
        raise InputError(failure) if failure else error from None


class SparseExchange(Begun, Chosen):
    """One that is in flight (Communicator.start_sparse_alltoallv). What is sent must not change before wait()."""

    def __init__(self, opened, dtype, failure):
        super().__init__(opened)
        self._dtype, self._failure = dtype, failure

    def wait(self):
        """Completes it. Returns, once, a list of (rank, array), as sparse_alltoallv."""
        with told_to_this_rank(self._failure):
            received = self._open.wait()
        return arrays_of(received, self._dtype)
