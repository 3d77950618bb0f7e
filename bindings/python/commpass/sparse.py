"""Sparse exchanges: ranks know their targets, but not their sources."""

import contextlib

from commpass.errors import Error, InputError
from commpass.handles import Begun, Chosen


def arrays_of(received, dtype):
    """(rank, array) of received bytes."""
    for rank, message in received:
        if message.size % dtype.itemsize != 0:
            raise InputError(f"sparse_alltoallv: a message of {message.size} bytes from rank {rank} is no whole number of {dtype}; "
                             "use arrays of one type on all ranks.")
    return [(rank, message.view(dtype)) for rank, message in received]


@contextlib.contextmanager
def with_own_error(failure):
    """Raises the error in the arguments of this rank in place of the common error of all ranks."""
    try:
        yield
    except Error as error:
        raise InputError(failure) if failure else error from None


class SparseExchange(Begun, Chosen):
    """An exchange in flight (Communicator.start_sparse_alltoallv). The sent array must not change before wait()."""

    def __init__(self, opened, dtype, failure):
        super().__init__(opened)
        self._dtype, self._failure = dtype, failure

    def wait(self):
        """Completes it. Returns, once, a list of (rank, array), as sparse_alltoallv."""
        with with_own_error(self._failure):
            received = self._open.wait()
        return arrays_of(received, self._dtype)
