"""Patterns, profiles and prices from Python, without MPI."""

import json
import os
import sys
import tempfile
import unittest

import numpy as np

import commpass


class Prediction(unittest.TestCase):
    def test_imports_no_mpi(self):
        self.assertNotIn("mpi4py", sys.modules)

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


if __name__ == "__main__":
    unittest.main()
