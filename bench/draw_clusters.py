#!/usr/bin/env python3
"""Draws clusters at random, which no calibration and no model was made for, as `./scripts/bench regret --clusters DIRECTORY` takes them.

Those of a seed are the same everywhere. Numbers are spread over what machines have: 24 to 72 ranks on 3 to 9 nodes, latencies of 0.15 to
12 us, one to three protocols, processors that are busy for a little or most of a latency, NICs that one rank or all ranks fill, and for some
a rate into nodes, of the core or of the memory bus that limits.
"""
import argparse
import json
import math
import random
from pathlib import Path

SWITCHES = [300, 512, 1000, 1024, 2048, 3000, 4096, 6000, 8192, 12288, 16384, 20000, 65536]


def three_digits(x):
    return float(f"{x:.3g}")


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def spread(self, least, most):
        """Log-uniform."""
        return math.exp(self.random.uniform(math.log(least), math.log(most)))

    def shape(self):
        while True:
            nodes, sockets, cores = (self.random.choice(of) for of in ([3, 4, 5, 6, 7, 8, 9], [1, 1, 2, 2, 3, 4], [2, 3, 4, 5, 6, 8, 10]))
            if 24 <= nodes * sockets * cores <= 72:
                return nodes, sockets, cores

    def protocols(self, alpha, beta, count):
        found = []
        for end in [*sorted(self.random.sample(SWITCHES, count - 1)), None]:
            found.append({**({"max_bytes": end} if end else {}), "alpha_s": three_digits(alpha), "beta_s_per_byte": three_digits(beta)})
            alpha *= self.random.uniform(1.8, 3.5)
            beta *= self.random.uniform(0.25, 0.7)
        return found

    def locality(self, alpha, beta, count, receivers_pay):
        sending = alpha * self.random.uniform(0.1, 0.6)
        result = {"send_overhead_s": three_digits(sending)}
        if receivers_pay:
            result["receive_overhead_s"] = three_digits(min(sending, alpha - sending) * self.random.uniform(0.2, 0.9))
        result["protocols"] = self.protocols(alpha, beta, count)
        return result

    def cluster(self, name):
        nodes, sockets, cores = self.shape()
        receivers_pay = self.random.random() < 0.4
        near, far = self.spread(1.5e-7, 8e-7), self.spread(8e-7, 1.2e-5)
        near_beta, far_beta = self.spread(5e-11, 4e-10), self.spread(1e-10, 1.2e-9)
        count = self.random.choice([1, 2, 2, 3])
        result = {"name": name, "about": "drawn at random", "nodes": nodes, "sockets": sockets, "cores": cores,
                  "socket": self.locality(near, near_beta, count, receivers_pay),
                  "node": self.locality(near * self.random.uniform(1, 2.2), near_beta * self.random.uniform(1, 2), count, receivers_pay),
                  "network": self.locality(far, far_beta, self.random.choice([1, 2, 2, 3]), receivers_pay)}
        ranks = sockets * cores
        out = self.random.uniform(1, 1.1 * ranks) / result["network"]["protocols"][-1]["beta_s_per_byte"]
        result["injection_rate_bytes_per_s"] = three_digits(out)
        limit = self.random.choice(["ejection_rate_bytes_per_s", "core_rate_per_node_bytes_per_s", "bus_rate_bytes_per_s", None, None])
        if limit == "bus_rate_bytes_per_s":
            near_last = result["socket"]["protocols"][-1]["beta_s_per_byte"]
            result["node"]["protocols"][-1]["beta_s_per_byte"] = near_last  # a bus has one fastest rate
            result[limit] = three_digits(self.random.uniform(2, max(3, 0.8 * ranks)) / near_last)
        elif limit:
            result[limit] = three_digits(out * self.random.uniform(0.4, 0.9))
        result["copy_rate_bytes_per_s"] = three_digits(self.spread(4e9, 2e10))
        result["copy_block_s"] = three_digits(self.spread(5e-9, 5e-8))
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="a new one, in which the descriptions are written")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the others have the next ones")
    parser.add_argument("--count", type=int, default=4)
    options = parser.parse_args()
    try:
        options.directory.mkdir(parents=True)
    except OSError as error:
        parser.error(f"{options.directory}: {error.strerror}; give one that is not there yet, where it may be made")
    for seed in range(options.seed, options.seed + options.count):
        name = f"drawn-{seed}"
        (options.directory / f"{name}.json").write_text(json.dumps(Draw(seed).cluster(name), indent=2) + "\n")


main()
