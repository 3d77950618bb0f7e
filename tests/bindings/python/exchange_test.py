"""Exchanges of numpy arrays on several ranks, against what each rank can compute alone."""

import gc
import sys
import unittest
import warnings

import numpy as np
from mpi4py import MPI

import commpass

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size


def value(source, destination, i):
    return 1000.0 * source + 10 * destination + i


def count(source, destination):
    return (source * 3 + destination * 5) % 4  # also 0


class Alltoallv(unittest.TestCase):
    def exchange(self, communicator, dtype, **options):
        send = np.array([value(rank, d, i) for d in range(ranks) for i in range(count(rank, d))]).astype(dtype)
        counts = [count(s, rank) for s in range(ranks)]
        receive = np.zeros(sum(counts), dtype)
        communicator.alltoallv(send, [count(rank, d) for d in range(ranks)], receive, counts, **options)
        np.testing.assert_array_equal(receive, np.array([value(s, rank, i) for s in range(ranks) for i in range(count(s, rank))]).astype(dtype))

    def test_moves_all_types(self):
        with commpass.Communicator(world, "lassen") as communicator:
            for dtype in (np.float64, np.int32, np.complex128, np.uint8):
                self.exchange(communicator, dtype)

    def test_runs_a_named_strategy(self):
        with commpass.Communicator(world, "lassen") as communicator:
            self.exchange(communicator, np.float64, strategy="standard")
            self.assertEqual(communicator.last_alltoallv_strategy, "standard")

    def test_takes_offsets(self):
        with commpass.Communicator(world, "lassen") as communicator:
            send = np.arange(3.0 * ranks) + 100 * rank
            receive = np.full(3 * ranks, -1.0)
            communicator.alltoallv(send, [1] * ranks, receive, [1] * ranks, send_offsets=np.arange(ranks) * 3 + 1, receive_offsets=range(2, 3 * ranks, 3))
            np.testing.assert_array_equal(receive[2::3], [100 * s + 3 * rank + 1 for s in range(ranks)])
            self.assertTrue(np.all(receive.reshape(ranks, 3)[:, :2] == -1))

    def test_refuses_arrays_with_gaps(self):
        with commpass.Communicator(world, "lassen") as communicator:
            one = np.zeros(ranks)
            counts = [1] * ranks
            readonly = np.zeros(ranks)
            readonly.flags.writeable = False
            for send, send_counts, receive, receive_counts, sentence in (
                (np.zeros((ranks, 2))[:, 0], counts, one, counts, "send: its elements do not lie one after the other" if ranks > 1 else None),
                (one, counts, np.zeros(ranks, np.float32), counts, "receive: its elements are float32, and float64 is needed"),
                (np.zeros(ranks, object), counts, one, counts, "send: its elements are Python objects"),
                ([1.0] * ranks, counts, one, counts, "send: it is a list, not a numpy array"),
                (one, counts, readonly, counts, "receive: it may not be written to"),
                (one, counts + [1], one, counts, "send counts: it has"),
                (one, [2] * ranks, one, counts, "send: its blocks end beyond its"),
                (one, [-1] * ranks, one, counts, "send counts: it has a number below 0"),
                (one, [0.5] * ranks, one, counts, "send counts: it is no list of integers"),
            ):
                if sentence:
                    with self.assertRaisesRegex(commpass.InputError, sentence):
                        communicator.alltoallv(send, send_counts, receive, receive_counts)


class NeighborExchange(unittest.TestCase):
    right, left = (rank + 1) % ranks, (rank - 1) % ranks

    def test_runs_many_times(self):
        with commpass.Communicator(world, "lassen") as communicator:
            out, into = np.zeros(5), np.zeros(5)
            with communicator.neighbor_exchange(out, [(self.right, 2), (self.left, 3)], into, [(self.left, 2), (self.right, 3)]
                                                if ranks != 2 else [(self.left, 0, 2), (self.right, 2, 3)]) as exchange:
                for step in range(3):
                    out[:] = 100 * step + 10 * rank + np.arange(5)
                    exchange.start()
                    exchange.wait()
                    np.testing.assert_array_equal(into[:2], 100 * step + 10 * self.left + np.arange(2))
                    np.testing.assert_array_equal(into[2:], 100 * step + 10 * self.right + np.arange(2, 5))
                self.assertIn(exchange.strategy, exchange.explanation)

    def test_keeps_its_arrays(self):
        with commpass.Communicator(world, "lassen") as communicator:
            into = np.zeros(1000, np.int64)
            exchange = communicator.neighbor_exchange(np.full(1000, rank), [(self.right, 1000)], into, [(self.left, 1000)], strategy="standard")
            gc.collect()
            exchange.run()
            self.assertTrue(np.all(into == self.left))
            exchange.close()
            exchange.close()
            with self.assertRaisesRegex(commpass.InputError, "it is closed"):
                exchange.start()

    def test_fails_on_all_ranks_where_one_is_wrong(self):
        with commpass.Communicator(world, "lassen") as communicator:
            target = ranks if rank == ranks - 1 else self.right  # of the last rank: no rank
            with self.assertRaisesRegex(commpass.Error, f"there is no rank {ranks}"):
                communicator.neighbor_exchange(np.zeros(1), [(target, 1)], np.zeros(1), [(self.left, 1)])
            send = [1.0] if rank == 0 else np.zeros(1)
            with self.assertRaisesRegex(commpass.Error, "send: it is a list"):
                communicator.neighbor_exchange(send, [(self.right, 1)], np.zeros(1), [(self.left, 1)])
            with self.assertRaisesRegex(commpass.Error, "is not inside of its 1 elements"):
                communicator.neighbor_exchange(np.zeros(1), [(self.right, 1, 1)], np.zeros(1), [(self.left, 1)])


class IndexedExchange(unittest.TestCase):
    each = 4

    def check(self, owned, components, dtype):
        needed = [(rank * self.each + i * 3) % (ranks * self.each) for i in range(6)]
        shape = (len(owned), components)
        owned_values = (np.array(owned)[:, None] * 10 + np.arange(components)).astype(dtype).reshape(shape)
        ghosts = np.zeros((6, components), dtype)
        with commpass.Communicator(world, "lassen") as communicator:
            for deterministic in (False, True):
                with communicator.indexed_exchange(owned, needed, dtype, components, reverse=True, deterministic=deterministic) as exchange:
                    exchange.forward(owned_values, ghosts)
                    np.testing.assert_array_equal(ghosts, np.array(needed)[:, None] * 10 + np.arange(components))
                    sums = np.zeros(shape, dtype)
                    exchange.reverse_add(np.ones((6, components), dtype), sums)
                    wanted = [sum((r * self.each + i * 3) % (ranks * self.each) == index for r in range(ranks) for i in range(6)) for index in owned]
                    np.testing.assert_array_equal(sums, np.repeat(wanted, components).reshape(shape))
                    with self.assertRaisesRegex(commpass.InputError, "ghost_values: it has 1 numbers; give"):
                        exchange.start_forward(owned_values, np.zeros(1, dtype))
                    with self.assertRaisesRegex(commpass.InputError, "owned_values: its elements are"):
                        exchange.start_forward(np.zeros(shape, np.float16), ghosts)

    def test_moves_values_of_ranges(self):
        self.check(range(rank * self.each, (rank + 1) * self.each), 1, np.float64)

    def test_moves_values_of_lists(self):
        self.check([rank * self.each + i for i in (2, 0, 3, 1)], 3, np.int32)

    def test_adds_complex_values(self):
        self.check(range(rank * self.each, (rank + 1) * self.each), 2, np.complex64)

    def test_fails_on_all_ranks_where_no_rank_owns_an_index(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with self.assertRaises(commpass.Error):
                communicator.indexed_exchange(range(rank * 2, rank * 2 + 2), [2 * ranks + 5] if rank == 0 else [], float)
            with self.assertRaisesRegex(commpass.Error, "needed: it has a number below 0"):
                communicator.indexed_exchange(range(rank * 2, rank * 2 + 2), [-1] if rank == 0 else [], float)


class Reduction(unittest.TestCase):
    """Rank r contributes to rank r + 1 twice, to itself, and to no rank if it is rank 0; results have r + 1 values."""

    def contributions(self, source):
        next = (source + 1) % ranks
        return [] if source == 0 else [(next, next + 1), (source, source + 1), (next, next + 1)]

    def numbers(self, source, components):
        count = sum(count for _, count in self.contributions(source))
        return source * 100 + np.arange(count * components).reshape(count, components)

    def check(self, dtype, components, deterministic):
        wanted = np.full((rank + 1, components), -1)
        is_first = True
        for source in range(ranks):
            numbers = self.numbers(source, components)
            for target, count in self.contributions(source):
                part, numbers = numbers[:count], numbers[count:]
                if target == rank:
                    wanted = part if is_first else wanted + part
                    is_first = False
        with commpass.Communicator(world, "lassen") as communicator:
            with communicator.neighbor_reduce_scatter(self.contributions(rank), rank + 1, dtype, components, deterministic=deterministic) as reduction:
                self.assertTrue(reduction.strategy)
                for _ in range(2):
                    result = np.full((rank + 1, components), -1, dtype)
                    reduction.run(self.numbers(rank, components).astype(dtype), result)
                    np.testing.assert_array_equal(result, wanted.astype(dtype))

    def test_adds_contributions_to_neighbours(self):
        for dtype in (np.float64, np.int16, np.complex128):
            for deterministic in (False, True):
                self.check(dtype, 2, deterministic)

    def test_fails_on_all_ranks_where_a_contribution_has_the_wrong_size(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with self.assertRaisesRegex(commpass.Error, "contributes 2 values to a result of 3"):
                communicator.neighbor_reduce_scatter([(rank, 2 if rank == 0 else 3)], 3, float)

    def test_adds_sparse_vectors(self):
        indices = [rank, rank + 1, rank, 1000]
        with commpass.Communicator(world, "lassen") as communicator:
            with communicator.sparse_allreduce(indices, float, 2) as reduction:
                values = np.repeat([1.0 + rank, 10.0, 2.0, 1.0], 2).reshape(4, 2)
                reduction.start(values, values)
                while not reduction.test():
                    pass
                here = 3 + rank + (10 if rank > 0 else 0)
                following = 10 + (rank + 4 if rank + 1 < ranks else 0)
                np.testing.assert_array_equal(values, np.repeat([here, following, here, ranks], 2).reshape(4, 2))
                with self.assertRaisesRegex(commpass.InputError, "values: it has 1 numbers; give 8"):
                    reduction.run(np.zeros(1), values)
            with self.assertRaisesRegex(commpass.Error, "indices: it has a number below 0"):
                communicator.sparse_allreduce([-1] if rank == 0 else [], float)

    def test_replaces_owned_values_by_sums(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with communicator.indexed_exchange(range(rank * 2, rank * 2 + 2), [0], float, reverse=True, overwrite=True) as exchange:
                owned = np.full(2, 5.0)
                exchange.reverse_add(np.ones(1), owned)
                np.testing.assert_array_equal(owned, [ranks if rank == 0 else 5, 5])


class Sparse(unittest.TestCase):
    """Rank r sends r + d + 1 elements to d = r + 1 and to itself, and nothing, but a message, to rank 0."""

    targets = [(rank + 1) % ranks, rank, 0]

    def send(self, dtype):
        counts = [rank + self.targets[0] + 1, 2 * rank + 1, 0]
        return np.array([value(rank, target, i) for target, count in zip(self.targets, counts) for i in range(count)]).astype(dtype), list(zip(self.targets, counts))

    def check(self, received, dtype):
        wanted = []
        for source in range(ranks):
            for target, count in [((source + 1) % ranks, source + (source + 1) % ranks + 1), (source, 2 * source + 1), (0, 0)]:
                if target == rank:
                    wanted.append((source, np.array([value(source, rank, i) for i in range(count)]).astype(dtype)))
        self.assertEqual([source for source, _ in received], [source for source, _ in wanted])
        for (_, array), (_, expected) in zip(received, wanted):
            np.testing.assert_array_equal(array, expected)
            self.assertEqual(array.dtype, expected.dtype)

    def test_receives_messages_of_others(self):
        with commpass.Communicator(world, "lassen") as communicator:
            for dtype in (np.float64, np.int32):
                self.check(communicator.sparse_alltoallv(*self.send(dtype)), dtype)
            self.check(communicator.sparse_alltoallv(*self.send(float), strategy="direct+reduce"), float)
            self.assertEqual(communicator.last_sparse_strategy, "direct+reduce")
            received = communicator.sparse_alltoallv(np.empty(0, np.int8), [], messages=0)
            self.assertEqual(received, [])

    def test_keeps_received_messages_read_only(self):
        communicator = commpass.Communicator(world, "lassen")
        received = communicator.sparse_alltoallv(*self.send(float))
        communicator.close()
        gc.collect()
        self.check(received, float)
        with self.assertRaises(ValueError):
            received[0][1][...] = 0

    def test_has_several_in_flight(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with communicator.start_sparse_alltoallv(*self.send(float)) as first, communicator.start_sparse_alltoallv(*self.send(np.int16)) as second:
                gc.collect()
                self.check(second.wait(), np.int16)
                while not first.test():
                    pass
                self.check(first.wait(), float)
                self.assertIn(first.strategy, first.explanation)

    def test_fails_on_all_ranks_where_one_is_wrong(self):
        with commpass.Communicator(world, "lassen") as communicator:
            send = [1.0] if rank == 0 else np.zeros(1)
            with self.assertRaisesRegex(commpass.Error, "send: it is a list" if rank == 0 else "."):
                communicator.sparse_alltoallv(send, [(rank, 1)])
            exchange = communicator.start_sparse_alltoallv(np.zeros(1), [(ranks if rank == 0 else 0, 1)])
            with self.assertRaisesRegex(commpass.Error, f"there is no rank {ranks}" if rank == 0 else "."):
                exchange.wait()
            exchange.close()
            self.check(communicator.sparse_alltoallv(*self.send(float)), float)


class Cartesian(unittest.TestCase):
    offsets = [(1,), (-1,), (0,)]

    def test_moves_blocks_of_neighbors(self):
        with commpass.Communicator(world, "lassen") as communicator:
            for strategy in ("", "trivial", "cartesian"):
                with communicator.cart_neighborhood([ranks], self.offsets, strategy=strategy) as grid:
                    self.assertEqual(grid.targets, [(rank + 1) % ranks, (rank - 1) % ranks, rank])
                    self.assertEqual(grid.coordinates(grid.rank), [rank])
                    send, receive = np.array([100 * rank + i for i in range(6)]), np.zeros(6, int)
                    wanted = [100 * source + i for source, first in zip(grid.sources, (0, 2, 4)) for i in (first, first + 1)]
                    grid.alltoall(send, receive)
                    np.testing.assert_array_equal(receive, wanted)
                    with grid.alltoall_init(send, receive) as exchange:
                        for step in range(2):
                            send += 1
                            exchange.run()
                            np.testing.assert_array_equal(receive, np.array(wanted) + step + 1)
                    gathered = np.zeros((3, 2))
                    grid.allgather(np.array([rank, -1.0]), gathered)
                    np.testing.assert_array_equal(gathered, [[source, -1] for source in grid.sources])

    def test_moves_blocks_of_any_size(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with communicator.cart_neighborhood([ranks, 1], [(1, 0), (-1, 0)], periodic=[False, True]) as grid:
                before, after = grid.sources
                self.assertEqual((before, after), (rank - 1 if rank > 0 else None, rank + 1 if rank + 1 < ranks else None))
                self.assertEqual(grid.relative_rank([1, 5]), after)
                send, receive = 10.0 * rank + np.arange(3), np.full(4, -1.0)

                def planned(*blocks):
                    with grid.alltoallv_init(*blocks) as exchange:
                        exchange.run()

                for run in (grid.alltoallv, planned):
                    receive[:] = -1
                    run(send, [1, 2], receive, [1, 2], None, [3, 0])
                    np.testing.assert_array_equal(receive[3:], [-1 if before is None else 10 * before])
                    np.testing.assert_array_equal(receive[:2], [-1, -1] if after is None else [10 * after + 1, 10 * after + 2])
                counts = [0 if source is None else source + 1 for source in grid.sources]
                into = np.zeros(sum(counts))
                grid.allgatherv(np.full(rank + 1, float(rank)), into, counts, counts_differ=True)
                np.testing.assert_array_equal(into, [source for source, count in zip(grid.sources, counts) for _ in range(count)])

    def test_refuses_wrong_shapes(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with self.assertRaisesRegex(commpass.Error, "give one for each of the 1 dimensions"):
                communicator.cart_neighborhood([ranks], [(1, 2)] if rank == 0 else [(1,)])
            with self.assertRaises(commpass.Error):
                communicator.cart_neighborhood([ranks + 1], [(1,)])
            with communicator.cart_neighborhood([ranks], self.offsets) as grid:
                with self.assertRaisesRegex(commpass.InputError, "are not as many for each of the 3 neighbours"):
                    grid.alltoall(np.zeros(4), np.zeros(3))
                with self.assertRaisesRegex(commpass.InputError, "receive: its elements are"):
                    grid.allgather(np.zeros(1), np.zeros(3, np.int32))


class Halo(unittest.TestCase):
    def test_has_the_cells_of_neighbors_and_corners(self):
        with commpass.Communicator(world, "lassen") as communicator:
            extent, depth = (3, 4), (2, 1)
            place = np.indices(extent).transpose(1, 2, 0) + (extent[0] * rank, 0)
            cells = np.full((3 + 2 * 2, 4 + 2 * 1, 2), -1)
            cells[2:-2, 1:-1] = place
            for stages, shared in (((), None), ((), True), ((1, 2), True), ((1, 1), None)):
                cells[:2] = cells[-2:] = cells[:, :1] = cells[:, -1:] = -1
                with communicator.halo_exchange([ranks, 1], cells, depth, stages=stages, shared=shared) as halo:
                    halo.run()
                    self.assertEqual(halo.strategy.endswith(",shared"), bool(shared))
                    self.assertEqual(len(halo.stages), 2)
                wanted = np.stack(np.meshgrid((np.arange(-2, 5) + 3 * rank) % (3 * ranks), np.arange(-1, 5) % 4, indexing="ij"), axis=2)
                np.testing.assert_array_equal(cells, wanted)

    def test_refuses_an_array_that_does_not_fit(self):
        with commpass.Communicator(world, "lassen") as communicator:
            cells = np.zeros(3) if rank == 0 else np.zeros((3, 3))
            with self.assertRaisesRegex(commpass.Error, "array: it has 1 dimensions; give one for each of the grid's 2"):
                communicator.halo_exchange([ranks, 1], cells, 1)
            with self.assertRaises(commpass.Error):
                communicator.halo_exchange([ranks, 1], np.zeros((3, 3)), 2)


class Routes(unittest.TestCase):
    """Every rank sends to every rank; a byte tells its source, its destination and its position."""

    @staticmethod
    def block(source, destination):
        return np.array([(50 * source + 7 * destination + i) % 256 for i in range(1 + count(source, destination))], np.uint8)

    def exchange(self, communicator, path):
        pattern = commpass.Pattern(ranks, [s for s in range(ranks) for _ in range(ranks)], [*range(ranks)] * ranks,
                                   [len(self.block(s, d)) for s in range(ranks) for d in range(ranks)])
        send = np.concatenate([self.block(rank, d) for d in range(ranks)])
        receive = np.zeros(sum(len(self.block(s, rank)) for s in range(ranks)), np.uint8)
        with communicator.routed_exchange(commpass.Route(path, "tested"), pattern, send, receive) as exchange:
            for _ in range(2):
                receive[:] = 0
                exchange.run()
                np.testing.assert_array_equal(receive, np.concatenate([self.block(s, rank) for s in range(ranks)]))

    def test_run_as_they_say(self):
        with commpass.Communicator(world, "lassen", layout=f"{ranks}x1") as communicator:
            self.exchange(communicator, lambda source, target, layout: [target])
            self.exchange(communicator, lambda source, target, layout: [0, target])
            self.exchange(communicator, lambda source, target, layout: [source, (source + 1) % ranks, target] if source < target else [target])

    def test_fail_on_all_ranks(self):
        with commpass.Communicator(world, "lassen") as communicator:
            with self.assertRaisesRegex(commpass.InputError, "send: it has 0 bytes, and the pattern 1 for rank 0"):
                pattern = commpass.Pattern(ranks, [0], [ranks - 1], [1])
                receive = np.zeros(1 if rank == ranks - 1 else 0, np.uint8)
                communicator.routed_exchange(commpass.Route(lambda s, t, layout: [t], "x"), pattern, np.empty(0, np.uint8), receive)


class Graphs(unittest.TestCase):
    def test_become_patterns(self):
        following = (rank + 1) % ranks
        graph = world.Create_dist_graph([rank], [2], [following, rank], weights=[10 + rank, 3])
        with_weights = commpass.Pattern.from_dist_graph(graph)
        self.assertEqual(sorted(zip(with_weights.sources, with_weights.destinations, with_weights.bytes)),
                         sorted([(r, (r + 1) % ranks, 10 + r) for r in range(ranks)] + [(r, r, 3) for r in range(ranks)]))
        self.assertEqual(set(commpass.Pattern.from_dist_graph(graph, bytes=64).bytes), {64})
        # MPI may give the neighbours in another order, so sizes go by it.
        sizes = [100 * rank + to for to in graph.Get_dist_neighbors()[1]]
        by_order = commpass.Pattern.from_dist_graph(graph, bytes=sizes)
        self.assertTrue(np.all(by_order.bytes == 100 * by_order.sources + by_order.destinations))
        with self.assertRaisesRegex(commpass.InputError, "rank 0 has 2 destinations and 1 sizes"):
            commpass.Pattern.from_dist_graph(graph, bytes=[1] if rank == 0 else [1, 2])
        graph.Free()
        unweighted = world.Create_dist_graph_adjacent([following], [following])
        with self.assertRaisesRegex(commpass.InputError, "the graph has no weights; give bytes"):
            commpass.Pattern.from_dist_graph(unweighted)
        unweighted.Free()


class Communicator(unittest.TestCase):
    def test_has_its_layout(self):
        with commpass.Communicator(world, "lassen", layout=f"{ranks}x1") as communicator:
            self.assertEqual(communicator.ranks, ranks)
            self.assertIn(f"{ranks} node", communicator.layout)

    def test_refuses_other_objects(self):
        with self.assertRaisesRegex(commpass.InputError, "give an intracommunicator of mpi4py"):
            commpass.Communicator(3)
        with self.assertRaisesRegex(commpass.Error, "no-profile"):
            commpass.Communicator(world, "no-profile")

    def test_warns_if_it_is_not_closed(self):
        communicator = commpass.Communicator(world, "lassen")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            del communicator
            gc.collect()
        self.assertTrue(any("never closed" in str(one.message) for one in seen))

    def test_is_closed_once(self):
        communicator = commpass.Communicator(world, "lassen")
        communicator.close()
        communicator.close()
        with self.assertRaisesRegex(commpass.InputError, "it is closed"):
            communicator.ranks


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = world.allreduce(0 if result.wasSuccessful() else 1)
    if rank == 0 and failed == 0:
        print(f"all {result.testsRun} tests hold on {ranks} ranks")
    sys.exit(1 if failed else 0)
