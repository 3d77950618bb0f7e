"""Patterns, profiles and prices from Python, without MPI."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from unittest import mock
from xml.etree import ElementTree

import numpy as np

import commpass


def is_here(package):
    return importlib.util.find_spec(package) is not None


class Prediction(unittest.TestCase):
    def test_imports_neither_mpi_nor_optional_packages(self):
        script = "import sys, commpass; commpass.predict('random:ranks=4,degree=1,bytes=8', 'lassen', ppn=2); " \
                 "assert not {'mpi4py', 'pandas', 'matplotlib', 'scipy'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", script], check=True)

    def test_finds_the_profiles_that_come_with_commpass(self):
        self.assertIn("lassen", commpass.profiles())

    def test_ranks_strategies_by_their_seconds(self):
        ranking = commpass.predict("random:ranks=64,degree=16,bytes=64", profile="lassen", ppn=16)
        self.assertGreater(len(ranking), 5)
        order = [("it exceeds the limit" in one.explanation, one.seconds) for one in ranking]
        self.assertEqual(order, sorted(order), "strategies that exceed a limit come last")
        self.assertIn("standard", [one.strategy for one in ranking])
        self.assertIn(ranking[0].strategy, ranking[0].explanation)
        self.assertGreater(ranking[0].stages[0].messages_max, 0)

    def test_prices_an_edge_as_the_profile_says(self):
        # One message between nodes of Lassen by the postal model: its alpha and beta, by hand from profiles/lassen.json.
        one = commpass.Pattern(2, [0], [1], [1 << 20])
        two = commpass.Pattern(2, [0], [1], [1 << 21])
        price = [commpass.predict(p, profile="lassen", layout="2x1", strategies=["standard"], model="postal")[0].seconds for p in (one, two)]
        network = self.protocols()[-1]
        for seconds, size in zip(price, (1 << 20, 1 << 21)):
            self.assertAlmostEqual(seconds, network["alpha_s"] + size * network["beta_s_per_byte"], delta=1e-6 * seconds)

    @staticmethod
    def protocols():
        path = next(p for p in commpass.profile_paths() if os.path.basename(p) == "lassen.json")
        with open(path) as file:
            return json.load(file)["levels"][-1]["host"]["protocols"]

    def test_makes_a_table_for_plots(self):
        sizes = [f"alltoallv:ranks=16,bytes={size}" for size in (8, 1024, 65536)]
        table = commpass.price_table(sizes, ["standard", "tuna,radix=2", "stfw,n=9"], profile="lassen", ppn=4)
        self.assertEqual(table.shape, (3, 3))
        self.assertTrue(np.all(np.diff(table[:, 0]) > 0))
        self.assertTrue(np.all(np.isnan(table[:, 2])), "16 ranks have no nine dimensions")
        self.assertTrue(np.all(np.isfinite(table[:, :2])))

    def test_refuses_in_one_sentence(self):
        with self.assertRaisesRegex(commpass.InputError, "give either ppn or layout"):
            commpass.predict("random:ranks=4,degree=1,bytes=8", profile="lassen")
        with self.assertRaisesRegex(commpass.InputError, "no-profile"):
            commpass.predict("random:ranks=4,degree=1,bytes=8", profile="no-profile", ppn=2)
        with self.assertRaisesRegex(commpass.InputError, "nonsense"):
            commpass.predict("nonsense:ranks=4", profile="lassen", ppn=2)
        with self.assertRaisesRegex(commpass.NotApplicable, "stfw"):
            commpass.predict("random:ranks=4,degree=1,bytes=8", profile="lassen", ppn=2, strategies=["stfw,n=9"])
        self.assertTrue(issubclass(commpass.InputError, ValueError) and issubclass(commpass.InputError, commpass.Error))


class Patterns(unittest.TestCase):
    def test_are_arrays(self):
        pattern = commpass.Pattern(3, np.array([0, 1]), [2, 0], np.array([5, 7], dtype=np.int32))
        np.testing.assert_array_equal(pattern.sources, [0, 1])
        np.testing.assert_array_equal(pattern.destinations, [2, 0])
        np.testing.assert_array_equal(pattern.bytes, [5, 7])
        self.assertEqual((pattern.ranks, len(pattern)), (3, 2))

    def test_have_numbers(self):
        numbers = commpass.Pattern(3, [0, 1, 1], [2, 0, 1], [5, 7, 9]).statistics()
        self.assertEqual((numbers["messages"], numbers["bytes"], numbers["self_bytes"]), (2, 12, 9))
        self.assertEqual(numbers["send_bytes"]["max"], 7)

    def test_are_written_and_read(self):
        pattern = commpass.Pattern.generate("random:ranks=8,degree=3,bytes=100")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pattern.mtx")
            pattern.write(path)
            again = commpass.Pattern.read(path)
        key = lambda p: sorted(zip(p.sources, p.destinations, p.bytes))
        self.assertEqual(key(again), key(pattern))

    def test_refuse_invalid_patterns(self):
        for sources, destinations, sizes in (([0], [3], [1]), ([-1], [0], [1]), ([0], [1], [-1]), ([0, 1], [1], [1])):
            with self.assertRaises(commpass.InputError):
                commpass.Pattern(3, sources, destinations, sizes)
        with self.assertRaisesRegex(commpass.InputError, "not/there"):
            commpass.Pattern.read("not/there.mtx")

    @unittest.skipUnless(is_here("scipy"), "scipy is not installed")
    def test_come_from_matrices(self):
        from scipy import sparse
        matrix = sparse.random(40, 40, 0.1, random_state=3, format="csr")
        of_scipy = commpass.Pattern.from_matrix(matrix, 7, value_bytes=4)
        first = [i * 40 // 7 for i in range(8)]
        for receiver in range(7):
            for sender in range(7):
                block = matrix[first[receiver]:first[receiver + 1], first[sender]:first[sender + 1]]
                expected = 0 if sender == receiver else 4 * len(set(block.tocoo().col))
                edge = (of_scipy.sources == sender) & (of_scipy.destinations == receiver)
                self.assertEqual(of_scipy.bytes[edge].sum(), expected)
        entries = matrix.tocoo()
        for same in (matrix.toarray(), (entries.row, entries.col, entries.shape)):
            of_arrays = commpass.Pattern.from_matrix(same, 7, value_bytes=4)
            np.testing.assert_array_equal(of_arrays.bytes, of_scipy.bytes)
            np.testing.assert_array_equal(of_arrays.sources, of_scipy.sources)

    def test_come_from_matrices_with_owners(self):
        row_2_needs_0 = (np.array([2, 2]), np.array([0, 1]), (3, 3))
        pattern = commpass.Pattern.from_matrix(row_2_needs_0, 2, owner=[1, 0, 0])
        self.assertEqual((pattern.sources.tolist(), pattern.destinations.tolist(), pattern.bytes.tolist()), ([1], [0], [8]))
        with self.assertRaisesRegex(commpass.InputError, "an entry has the column 3; use 0 to 2"):
            commpass.Pattern.from_matrix((np.array([0]), np.array([3]), (3, 3)), 2)
        with self.assertRaisesRegex(commpass.InputError, "matrix is a list"):
            commpass.Pattern.from_matrix([[1]], 2)


class Frames(unittest.TestCase):
    ranking = commpass.predict("random:ranks=16,degree=4,bytes=64", "lassen", ppn=4, strategies=["standard", "two-step"])

    def test_are_lists_of_dicts(self):
        records = self.ranking.records()
        self.assertEqual([one["seconds"] for one in records], [one.seconds for one in self.ranking])
        stages = self.ranking.records("stage")
        for one in records:
            mine = [stage for stage in stages if stage["strategy"] == one["strategy"]]
            self.assertEqual(len(mine), one["stages"])
            self.assertAlmostEqual(sum(stage["seconds"] for stage in mine), one["seconds"], delta=1e-12)
            self.assertEqual(sum(stage["bytes_max"] for stage in mine), one["bytes_max"])
        with self.assertRaisesRegex(ValueError, "by is 'node'"):
            self.ranking.records("node")

    @unittest.skipUnless(is_here("pandas"), "pandas is not installed")
    def test_are_data_frames(self):
        frame = self.ranking.to_frame("stage")
        self.assertEqual(frame.groupby("strategy").size()["two-step"], 2)
        self.assertEqual(self.ranking.to_frame().seconds.tolist(), [one.seconds for one in self.ranking])

    def test_say_which_package_is_missing(self):
        with mock.patch.dict(sys.modules, {"pandas": None, "matplotlib": None}):
            with self.assertRaisesRegex(ImportError, "pandas is not installed; install python3-pandas, or use records"):
                self.ranking.to_frame()
            with self.assertRaisesRegex(ImportError, "matplotlib is not installed; install python3-matplotlib"):
                commpass.plot_predictions(self.ranking)


@commpass.Route
def node_first(source, target, layout):
    return [layout.ranks_of(layout.node(target))[layout.local(source)], target]


class Routes(unittest.TestCase):
    def test_cost_what_the_same_strategy_costs(self):
        for pattern in ("random:ranks=32,degree=9,bytes=700", "alltoall:ranks=32,bytes=5000"):
            for model in ("burst", "max-rate", "postal"):
                ranking = commpass.predict(pattern, "lassen", ppn=8, strategies=["standard", "two-step", node_first], model=model)
                ours, theirs = ({one.strategy: one for one in ranking}[name] for name in ("node-first", "two-step"))
                self.assertAlmostEqual(ours.seconds, theirs.seconds, delta=1e-8 * ours.seconds)
                self.assertEqual([stage.bytes_max for stage in ours.stages], [stage.bytes_max for stage in theirs.stages])
                self.assertIn("stage 2: a rank sends at most", ours.explanation)
                self.assertEqual([one.seconds for one in ranking], sorted(one.seconds for one in ranking))

    def test_take_their_place_among_all_strategies(self):
        direct = commpass.Route(lambda source, target, layout: [target], "direct", labels=["all at once"])
        one = direct.predict("random:ranks=16,degree=4,bytes=64", "lassen", ppn=4)
        same = commpass.predict("random:ranks=16,degree=4,bytes=64", "lassen", ppn=4, strategies="standard")[0]
        self.assertAlmostEqual(one.seconds, same.seconds, delta=1e-8 * one.seconds)
        self.assertEqual((one.strategy, one.stages[0].label), ("direct", "all at once"))

    def test_are_checked(self):
        layout = commpass.Layout("3x2")
        self.assertEqual(node_first.check(layout), 2)
        for path, sentence in ((lambda s, t, l: [s], "route x: path from 0 to 1: it ends at 0; end it at 1"),
                               (lambda s, t, l: [], "it ends at 0; end it at 1"),
                               (lambda s, t, l: [6, t], "6 is no rank; use 0 to 5"),
                               (lambda s, t, l: [0.5, t], "0.5 is no rank"),
                               (lambda s, t, l: t, "it is a int; return a list of ranks")):
            with self.assertRaisesRegex(commpass.InputError, sentence):
                commpass.Route(path, "x").check(layout)
            with self.assertRaisesRegex(commpass.InputError, sentence):
                commpass.Route(path, "x").predict("alltoall:ranks=6,bytes=8", "lassen", layout="3x2")

    def test_are_drawn_as_the_same_strategy_is(self):
        pictures = [commpass.draw_paths("alltoall:ranks=8,bytes=64", one, ppn=4) for one in (node_first, "two-step")]
        self.assertEqual(pictures[0].csv, pictures[1].csv)
        lines = [len(ElementTree.fromstring(one.svg).findall(".//{*}line")) for one in pictures]
        self.assertEqual(*lines)
        with tempfile.TemporaryDirectory() as folder:
            pictures[0].save(os.path.join(folder, "paths.svg"))
            with open(os.path.join(folder, "paths.svg"), encoding="utf-8") as file:
                self.assertIn("node-first", file.read())
        with self.assertRaisesRegex(commpass.InputError, "65 ranks are too many to draw"):
            node_first.draw("alltoall:ranks=65,bytes=8", ppn=5)


class Layouts(unittest.TestCase):
    def test_place_ranks(self):
        layout = commpass.Layout("0,1,0")
        self.assertEqual((layout.ranks, layout.nodes, layout.ranks_of(0), layout.node(1), layout.local(2)), (3, 2, [0, 2], 1, 1))
        with self.assertRaises(commpass.InputError):
            commpass.Layout("2x2", ranks=5)


@unittest.skipUnless(is_here("matplotlib"), "matplotlib is not installed")
class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import matplotlib
        matplotlib.use("Agg")

    def test_have_a_bar_for_each_stage(self):
        ranking = commpass.predict("random:ranks=16,degree=4,bytes=64", "lassen", ppn=4, strategies=["standard", "two-step"])
        axes = commpass.plot_predictions(ranking)
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], [one.strategy for one in ranking])
        widths = [bar.get_width() for bar in axes.patches]
        self.assertEqual(widths, [stage.seconds for one in ranking for stage in one.stages])

    def test_have_a_line_for_each_strategy(self):
        sizes = [8, 512]
        axes = commpass.plot_sweep(sizes, [f"alltoall:ranks=8,bytes={size}" for size in sizes], ["standard", node_first], "lassen", ppn=4)
        self.assertEqual([line.get_label() for line in axes.lines], ["standard", "node-first"])
        self.assertGreater(axes.lines[1].get_ydata()[1], axes.lines[1].get_ydata()[0])


class Document(unittest.TestCase):
    def test_has_code_that_runs_without_mpi(self):
        page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text().split("\n## Predictions\n")[1], re.M | re.S)
        self.assertEqual(len(blocks), 2)
        names = {"commpass": commpass}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as output:
            for block in blocks:
                exec(block, names)
            self.assertTrue(os.path.exists("node-first.svg"))
        self.assertEqual(len(output.getvalue().splitlines()), 3)
        self.assertIn("node-first", [one.strategy for one in names["compared"]])


if __name__ == "__main__":
    unittest.main()
