"""Runs routes that are written in Python (Communicator.routed_exchange)."""

from collections import Counter

import numpy as np

from commpass.arguments import checked_array
from commpass.errors import InputError


def paths_of(route, pattern, layout, send, receive, rank):
    """The blocks as (source, destination, bytes), sorted, the path of each, and this rank."""
    if pattern.ranks != layout.ranks:
        raise InputError(f"routed_exchange: the pattern has {pattern.ranks} ranks, and the communicator {layout.ranks}; "
                         "use as many.")
    sizes = Counter()
    for edge in zip(pattern.sources.tolist(), pattern.destinations.tolist(), pattern.bytes.tolist()):
        sizes[edge[:2]] += edge[2]
    blocks = [(*pair, size) for pair, size in sorted(sizes.items()) if size > 0]
    for array, end, where, is_written in ((send, 0, "send", False), (receive, 1, "receive", True)):
        checked_array(array, where, np.dtype(np.uint8), is_written)
        needed = sum(block[2] for block in blocks if block[end] == rank)
        if array.size != needed:
            raise InputError(f"{where}: it has {array.size} bytes, and the pattern {needed} for rank {rank}; "
                             "give as many.")
    paths = [[target] if source == target else route(source, target, layout) for source, target, _ in blocks]
    stages = max(map(len, paths), default=1)
    return blocks, [[*path, *[path[-1]] * (stages - len(path))] for path in paths], rank


class RoutedExchange:
    """Blocks that move along a Route, stage after stage (Communicator.routed_exchange). All ranks close it."""

    def __init__(self, communicator, blocks, paths, rank, send, receive):
        self._exchanges = []
        holders = [source for source, _, _ in blocks]
        array, places = send, self._places(blocks, holders, rank)
        for stage in range(len(paths[0]) if paths else 0):
            following = [path[stage] for path in paths]
            arrived = self._places(blocks, following, rank)
            is_last = stage + 1 == len(paths[0])
            into = receive if is_last else np.empty(sum(blocks[b][2] for b in arrived), np.uint8)
            sends = [(following[b], place, blocks[b][2]) for b, place in places.items()]
            receives = [(holders[b], place, blocks[b][2]) for b, place in arrived.items()]
            self._exchanges.append(communicator.neighbor_exchange(array, sends, into, receives, "standard"))
            array, places, holders = into, arrived, following

    @staticmethod
    def _places(blocks, holders, rank):
        """Where the blocks that a rank holds begin in its array, by their numbers."""
        held = [b for b, holder in enumerate(holders) if holder == rank]
        ends = np.cumsum([0, *(blocks[b][2] for b in held)]).tolist()
        return dict(zip(held, ends))

    def run(self):
        """Moves all blocks, and returns when this rank has its own. Collective."""
        for exchange in self._exchanges:
            exchange.run()

    def close(self):
        """Frees it. Collective."""
        for exchange in self._exchanges:
            exchange.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
