#!/usr/bin/env python3
"""What profiles of this machine are worth in launches that they have not seen, on a quiet machine and under load.

For each condition some profiles are calibrated, each over several launches. Then exchanges that no calibration ran are timed
in launches of their own, and every profile predicts them. The results are printed as a table, or with --json.
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Exchanges of two ranks or more with sizes between those that calibrations and their held-out exchanges use.
FRESH = [f"alltoall:ranks={{ranks}},bytes={size}" for size in (40, 700, 3000, 11000, 50000, 190000, 1500000)]


def run(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        sys.exit(f"launches: {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


@contextlib.contextmanager
def load(condition):
    """One processor is busy with other work while this lasts, or none."""
    if condition == "quiet":
        yield
        return
    busy = subprocess.Popen(["stress-ng", "--cpu", "1", "--quiet"])
    try:
        yield
    finally:
        busy.terminate()
        busy.wait()


def calibrate(options, file):
    if options.calibration_launches > 1:
        run([options.commpass, "calibrate", "--launches", str(options.calibration_launches), "--budget", options.budget,
             "-o", file, "--", *options.launcher])
    else:
        run([*options.launcher, options.commpass, "calibrate", "--budget", options.budget, "-o", file])
    profile = json.loads(file.read_text())
    profile["host"] = {level["name"]: level["host"] for level in profile["levels"] if "host" in level}
    return profile


def fresh_exchanges(options, profile):
    """Times of the exchanges in launches of their own, the least, the middle and the most."""
    found = []
    for pattern in FRESH:
        pattern = pattern.format(ranks=options.ranks)
        out = json.loads(run([options.commpass, "measure", "--json", "--launches", str(options.launches), "--profile", profile,
                              "--generate", pattern, "--strategy", "standard", "--", *options.launcher]))
        row = next(row for row in out["ranking"] if row["strategy"] == "standard")
        least, most = row["measured_interval_s"]
        found.append({"pattern": pattern, "least": least, "middle": row["measured_s"], "most": most})
    return found


def predict(options, profile, pattern):
    out = json.loads(run([options.commpass, "predict", "--json", "--profile", profile, "--generate", pattern, "--ppn",
                          str(options.ranks), "--strategy", "standard"]))
    return next(row for row in out["ranking"] if row["strategy"] == "standard")["predicted_s"]


def lone_message(profile, level, size):
    protocols = profile["host"][level]["protocols"]
    protocol = next(p for p in protocols if size <= p.get("max_bytes", size))
    return protocol["alpha_s"] + size * protocol["beta_s_per_byte"]


def line_over(profile, level, least, most):
    """α and β of the line through the times at both ends of a range of sizes, whatever the profile's own protocols are. Where
    the range has parts of two protocols the line may begin below 0, as no α does: then α is 0."""
    beta = (lone_message(profile, level, most) - lone_message(profile, level, least)) / (most - least)
    return max(0, lone_message(profile, level, least) - beta * least), beta


def ranges(profile, level):
    """The sizes of each protocol; of the last one, which has no end, some."""
    least = 0
    for protocol in profile["host"][level]["protocols"]:
        most = protocol.get("max_bytes", 16 * max(1, least))
        yield protocol["name"], least, max(most, least + 1)
        least = most + 1


def held_by_intervals(profiles):
    """Of α and β of other profiles, over the sizes of each protocol, how many lie in the interval that a profile gives, and of
    how many."""
    held = asked = 0
    for mine in profiles:
        fits = {(fit["locality"], fit["protocol"]): fit for fit in mine["provenance"].get("fits", [])}
        for level in mine["host"]:
            for name, least, most in ranges(mine, level):
                fit = fits.get((level, name))
                for other in profiles:
                    if other is mine or fit is None or level not in other["host"]:
                        continue
                    values = line_over(other, level, least, most)
                    for value, key in zip(values, ("alpha_interval_s", "beta_interval_s_per_byte")):
                        asked += 1
                        held += fit[key][0] <= value <= fit[key][1]
    return held, asked


def judge(options, condition, directory):
    files = [directory / f"{condition}-{i + 1}.json" for i in range(options.profiles)]
    with load(condition):
        profiles = [calibrate(options, file) for file in files]
        fresh = fresh_exchanges(options, files[0])
    rows = []
    for file, profile in zip(files, profiles):
        errors, spreads = [], []
        for each in fresh:
            error = predict(options, file, each["pattern"]) / each["middle"] - 1
            errors.append({"pattern": each["pattern"], "error": error})
            spreads.append((each["most"] - each["least"]) / 2 / each["middle"])
        verdict = profile["verdict"]
        rows.append({"condition": condition, "profile": file.name, "trust": verdict["trust"], "uncertainty": verdict["uncertainty"],
                     "why": verdict["why"], "protocols": {name: len(at["protocols"]) for name, at in profile["host"].items()},
                     "median_error": statistics.median(abs(e["error"]) for e in errors), "errors": errors,
                     "spread_of_launches": statistics.median(spreads)})
    held, asked = held_by_intervals(profiles)
    return {"condition": condition, "held_by_intervals": held, "asked_of_intervals": asked, "fresh": fresh, "profiles": rows}


def print_table(results):
    for result in results:
        print(f"{result['condition']}: of α and β of the other profiles {result['held_by_intervals']} of "
              f"{result['asked_of_intervals']} lie in a profile's intervals")
        print(f"  {'profile':<16} {'trust':<14} {'uncertainty':>11} {'median error':>13} {'launches spread':>16}  errors by size")
        for row in result["profiles"]:
            errors = " ".join(f"{e['error']:+.0%}" for e in row["errors"])
            print(f"  {row['profile']:<16} {row['trust']:<14} {row['uncertainty']:>11.1%} {row['median_error']:>13.1%} "
                  f"{row['spread_of_launches']:>16.1%}  {errors}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commpass", required=True, help="the program; behind -- stands the launcher, as mpirun -n 2")
    parser.add_argument("--ranks", type=int, default=2, help="that the launcher starts, all on this machine")
    parser.add_argument("--profiles", type=int, default=3, help="calibrated under each condition")
    parser.add_argument("--calibration-launches", type=int, default=3, help="of each calibration")
    parser.add_argument("--launches", type=int, default=5, help="of each fresh exchange")
    parser.add_argument("--budget", default="20s", help="of each launch of a calibration")
    parser.add_argument("--conditions", nargs="+", choices=["quiet", "loaded"], default=["quiet", "loaded"])
    parser.add_argument("--quick", action="store_true", help="two profiles, two launches")
    parser.add_argument("--keep", type=Path, help="directory for the profiles")
    parser.add_argument("--json", action="store_true")
    words = sys.argv[1:]
    options = parser.parse_args(words[:words.index("--")] if "--" in words else words)
    options.launcher = words[words.index("--") + 1:] if "--" in words else ["mpirun", "-n", str(options.ranks)]
    if "loaded" in options.conditions and not shutil.which("stress-ng"):
        sys.exit("launches: there is no stress-ng; install it, or use --conditions quiet")
    if options.quick:
        options.profiles = options.launches = options.calibration_launches = 2
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.keep or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        results = [judge(options, condition, directory) for condition in options.conditions]
    if options.json:
        print(json.dumps({"schema_version": 1, "results": results}, indent=2))
    else:
        print_table(results)


main()
