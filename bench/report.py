#!/usr/bin/env python3
"""What the page of `commpass report` takes: to make, against the prediction that it shows; in bytes; to open in a browser.

Making is the time of the processor, the least of some runs: other work on the machine does not count. Opening is what headless
Chromium takes for the page with a screenshot of it beyond what it takes for an empty page, and, of that, the page's own clock
when all is loaded and its script has run. The results are printed as a table, or with --json.
"""
import argparse
import html
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LASSEN = ["--profile", "lassen"]
CASES = {
    "all-to-all, 4096 ranks": [*LASSEN, "--generate", "alltoall:ranks=4096,bytes=1KiB", "--ppn", "32"],
    "random, 12 messages of 4096 ranks": [*LASSEN, "--generate", "random:ranks=4096,bytes=1KiB,degree=12", "--ppn", "32"],
    "random, 100 messages of 4096 ranks": [*LASSEN, "--generate", "random:ranks=4096,bytes=1KiB,degree=100", "--ppn", "32"],
    "stencil of 4096 ranks": [*LASSEN, "--generate", "stencil:dims=16x16x16,bytes=1KiB,points=box", "--ppn", "32"],
    "copter2, 640 ranks": [*LASSEN, "--matrix", "examples/matrices/copter2.mtx.gz", "--ranks", "640", "--ppn", "40"],
}
MOST_BYTES, MOST_SECONDS_TO_OPEN, MOST_TIMES_THE_PREDICTION = 2 << 20, 2, 2
# Behind all that the page itself waits for.
CLOCK = """<script>addEventListener("load", () => { document.documentElement.dataset.opened = performance.now() / 1000 });</script>"""


def processor_seconds(words):
    """Of all threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"report: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Browser:
    def __init__(self, program, scratch):
        self.words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={scratch}/user"]
        self.scratch = scratch

    def open(self, page, width, *switches):
        """@return seconds, and what it printed"""
        begin = time.monotonic()
        done = subprocess.run([*self.words, f"--window-size={width},1200", *switches, f"file://{page}"], capture_output=True, text=True, timeout=300)
        return time.monotonic() - begin, done.stdout

    def draw(self, page, width):
        return self.open(page, width, f"--screenshot={self.scratch}/screenshot.png")[0]

    def loaded_seconds(self, page, width):
        watched = self.scratch / "watched.html"
        watched.write_text(page.read_text() + CLOCK)
        return float(html.unescape(re.search('data-opened="([^"]*)"', self.open(watched, width, "--dump-dom")[1]).group(1)))


def judge(options, name, browser, scratch):
    arguments, page, empty = CASES[name], scratch / "report.html", scratch / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>")
    predicting, making = [], []
    for _ in range(options.repetitions):  # in turn, so that changes of the machine meet both
        predicting.append(processor_seconds([options.commpass, "predict", *arguments, "--json"]))
        making.append(processor_seconds([options.commpass, "report", *arguments, "-o", str(page)]))
    result = {"case": name, "prediction_s": min(predicting), "report_s": min(making), "bytes": page.stat().st_size, "opening": []}
    for width in (390, 1600) if browser else ():
        browser.draw(empty, width)  # the first one of a width makes the browser's own files
        beyond = statistics.median(browser.draw(page, width) - browser.draw(empty, width) for _ in range(options.repetitions))
        loaded = statistics.median(browser.loaded_seconds(page, width) for _ in range(options.repetitions))
        result["opening"].append({"width": width, "drawn_s": beyond, "loaded_s": loaded})
    result["times_the_prediction"] = result["report_s"] / result["prediction_s"]
    return result


def summary_of(results):
    opened = [each["drawn_s"] for result in results for each in result["opening"]]
    summary = {"bytes_max": max(result["bytes"] for result in results),
               "times_the_prediction_max": max(result["times_the_prediction"] for result in results),
               "seconds_to_open_max": max(opened, default=None)}
    summary["holds"] = (summary["bytes_max"] <= MOST_BYTES and summary["times_the_prediction_max"] <= MOST_TIMES_THE_PREDICTION
                        and all(seconds <= MOST_SECONDS_TO_OPEN for seconds in opened))
    return summary


def print_table(results, summary):
    print(f"{'case':<36} {'predict':>9} {'report':>9} {'ratio':>6} {'bytes':>9}  opens at 390 pixels, at 1600 (loaded, drawn)")
    for result in results:
        opening = "  ".join(f"{each['loaded_s']:.2f} s {each['drawn_s']:.2f} s" for each in result["opening"])
        print(f"{result['case']:<36} {result['prediction_s'] * 1e3:>6.0f} ms {result['report_s'] * 1e3:>6.0f} ms {result['times_the_prediction']:>6.2f} "
              f"{result['bytes']:>9}  {opening or 'no Chromium'}")
    print("At most 2 MiB, twice the prediction and 2 s to open: " + ("held" if summary["holds"] else "NOT HELD"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commpass", required=True, help="the program")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two repetitions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.repetitions = 2
    for name in [name for name in os.environ if name.startswith("COMMPASS_")]:
        del os.environ[name]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(chromium, Path(folder)) if chromium else None
        results = [judge(options, name, browser, Path(folder)) for name in CASES]
    summary = summary_of(results)
    if options.json:
        print(json.dumps({"schema_version": 1, "results": results, "summary": summary}, indent=2))
    else:
        print_table(results, summary)


main()
