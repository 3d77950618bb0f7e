"""Patterns: the bytes that each rank owes each other rank; and layouts, which say which rank is on which node."""

import numpy as np

from commpass.errors import InputError
from commpass.native import _core


class Pattern:
    """The bytes that each rank sends to each other rank.

    ranks                         the number of ranks
    sources, destinations, bytes  a number for each edge
    Raises InputError.
    """

    def __init__(self, ranks, sources, destinations, bytes):
        self._native = _core.Pattern(ranks, sources, destinations, bytes)

    @classmethod
    def _of(cls, native):
        pattern = cls.__new__(cls)
        pattern._native = native
        return pattern

    @classmethod
    def generate(cls, text):
        """The pattern of a text, as `commpass predict --generate` takes it: "random:ranks=64,degree=8,bytes=1KiB"."""
        return cls._of(_core.Pattern.generate(text))

    @classmethod
    def read(cls, path):
        """Reads a pattern file: Matrix Market, entry (i, j) is the bytes that rank i − 1 sends to rank j − 1."""
        return cls._of(_core.Pattern.read(path))

    @classmethod
    def from_matrix(cls, matrix, ranks, owner=None, value_bytes=8, shared=False):
        """The halo exchange of a product y = A·x of a sparse matrix whose rows are distributed over ranks.

        matrix       of scipy.sparse; or a two-dimensional array; or (rows, columns, shape) with an array of row
                     numbers and one of column numbers. Stored entries count, zeros too; of a two-dimensional array
                     only others
        ranks        the number of ranks
        owner        the rank of each row, and of the entry of x with the same number; None: blocks of equal size
        value_bytes  bytes of a value of x
        shared       may a value that several ranks need travel once? Then edges with equal values are one payload
        A rank receives each value of x that its rows need and another rank owns, once.
        Raises InputError.
        """
        if isinstance(matrix, tuple) and len(matrix) == 3:
            rows, columns, shape = matrix
        elif hasattr(matrix, "tocoo"):
            entries = matrix.tocoo()
            rows, columns, shape = entries.row, entries.col, entries.shape
        elif isinstance(matrix, np.ndarray) and matrix.ndim == 2:
            (rows, columns), shape = np.nonzero(matrix), matrix.shape
        else:
            raise InputError(f"Pattern.from_matrix: matrix is a {type(matrix).__name__}; give a matrix of "
                             "scipy.sparse, a two-dimensional array, or (rows, columns, shape).")
        owners = [] if owner is None else np.asarray(owner, dtype=np.int64).tolist()
        return cls._of(_core.Pattern.of_matrix(*map(int, shape), rows, columns, ranks, owners, value_bytes, shared))

    @classmethod
    def from_dist_graph(cls, comm, bytes=None):
        """The pattern of a neighbourhood collective on a distributed graph communicator. All its ranks call this.

        comm   of mpi4py: Create_dist_graph or Create_dist_graph_adjacent
        bytes  to each destination of this rank: a number, or one for each in their order; None: the graph's weights
        Returns the same pattern on every rank. Raises InputError, the same on every rank.
        """
        _, destinations, weights = comm.Get_dist_neighbors()
        given = (weights[1] if weights else None) if bytes is None else bytes
        sizes = [given] * len(destinations) if np.ndim(given) == 0 else list(given)
        failure = ""
        if given is None:
            failure = "the graph has no weights; give bytes"
        elif len(sizes) != len(destinations):
            failure = (f"rank {comm.Get_rank()} has {len(destinations)} destinations and {len(sizes)} sizes; "
                       "give one for each")
        edges = comm.allgather((failure, list(destinations), [] if failure else [int(size) for size in sizes]))
        for failure, _, _ in edges:
            if failure:
                raise InputError(f"Pattern.from_dist_graph: {failure}.")
        return cls(len(edges), [source for source, (_, to, _) in enumerate(edges) for _ in to],
                   [rank for _, to, _ in edges for rank in to], [size for _, _, of_rank in edges for size in of_rank])

    def write(self, path):
        """Writes the pattern file that read() reads."""
        self._native.write(path)

    @property
    def ranks(self):
        """The number of ranks."""
        return self._native.ranks

    @property
    def sources(self):
        """The sender of each edge, as an array."""
        return self._native.sources

    @property
    def destinations(self):
        """The receiver of each edge, as an array."""
        return self._native.destinations

    @property
    def bytes(self):
        """The bytes of each edge, as an array."""
        return self._native.bytes

    def statistics(self):
        """A dict: messages, bytes, idle_ranks, self_bytes, symmetry, and min, mean and max over ranks of sends,
        receives, send_bytes and receive_bytes."""
        return self._native.statistics()

    def __len__(self):
        return len(self.sources)

    def __repr__(self):
        return f"<commpass.Pattern of {self.ranks} ranks, {len(self)} edges>"


class Layout:
    """The node of each rank.

    text   "NODESxRANKS", "NODESxSOCKETSxRANKS", "GROUPSxNODESxSOCKETSxRANKS", or a node for each rank ("0,0,1")
    ranks  how many ranks it must have; 0: any number
    Raises InputError.
    """

    def __init__(self, text, ranks=0):
        self.text = text
        self._node = _core.nodes_of(text, ranks)
        self._ranks_of, self._local = {}, []
        for rank, node in enumerate(self._node):
            of_node = self._ranks_of.setdefault(node, [])
            self._local.append(len(of_node))
            of_node.append(rank)

    @property
    def ranks(self):
        """The number of ranks."""
        return len(self._node)

    @property
    def nodes(self):
        """The number of nodes."""
        return len(self._ranks_of)

    def node(self, rank):
        """The node of a rank."""
        return self._node[rank]

    def local(self, rank):
        """The local rank: the position of a rank among those of its node."""
        return self._local[rank]

    def ranks_of(self, node):
        """The ranks of a node, by local rank."""
        return list(self._ranks_of[node])

    def __repr__(self):
        return f"<commpass.Layout of {self.ranks} ranks on {self.nodes} nodes>"


def pattern_of(pattern):
    """A Pattern, or that of a text."""
    return Pattern.generate(pattern) if isinstance(pattern, str) else pattern


def layout_text(ranks, ppn, layout, where):
    """The text of a layout that is given in one of two forms."""
    if (ppn is None) == (layout is None):
        raise InputError(f"{where}: give either ppn or layout; for example ppn=32 or layout=\"2x32\".")
    if layout is not None:
        return layout.text if isinstance(layout, Layout) else layout
    if ppn < 1:
        raise InputError(f"{where}: ppn is {ppn}; use 1 or more.")
    return ",".join(str(rank // ppn) for rank in range(ranks))
