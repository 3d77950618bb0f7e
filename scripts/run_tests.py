"""Builds and runs the tests that scripts/test was asked for."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "logs"
CORES = os.cpu_count() or 1
FUZZ_SECONDS = {"all": 10, "preset": 60, "long": 600}  # for each target
ALL = ["form", "test", "mpich", "sanitize", "fuzz", "bench"]
PRESETS = {
    "form": "formatting, and clang-tidy on model and selector",
    "test": "Open MPI, clang, cold code not optimised: every test",
    "openmpi": "Release, Open MPI, g++: every test",
    "mpich": "MPICH: tests under MPI on 1, 2, 3 and 5 ranks",
    "sanitize": "clang, AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer",
    "fuzz": "libFuzzer on every parser",
    "bench": "quick simulated benchmarks, held to tests/simulation/bounds.json",
    "clang": "clang, each source compiled alone: tests without MPI",
    "no-mpi": "the preset `model`: all that builds without MPI",
}
ROOMS = ["bindings", "calibrate", "commands", "doctor", "measure", "model", "parsers", "pictures", "preload", "runtime", "selector"]
CMAKE_PRESETS = {"no-mpi": "model"}
# Rooms of tests that are no GoogleTest program of that room, by their names.
OTHER_ROOMS = [("python|petsc|fortran", "bindings"), ("unmodified|hostile|disagreeing|last_calls|session|twice|preloaded|recorded|Rivalry", "preload"), ("pictures_", "pictures"),
               ("corpus[.]", "parsers"), ("Calibrate[.]", "calibrate"), ("Measure|Output[.]", "measure"), ("Doctor|Launcher", "doctor"),
               ("c_|random_|active_|in_flight_threads|heat|neighbor_exchange|conjugate|fft|transitive|uneven_|planned_", "runtime")]
OTHER_PROGRAMS = {"runtime": ["random_exchanges", "active_buffers_test", "c_api_test", "c_exchange_test", "c_cartesian_test"],
                  "parsers": ["replay_corpus"], "calibrate": ["mpi_command_test"], "measure": ["mpi_command_test"], "doctor": ["mpi_command_test"],
                  "preload": ["recorded_test", "unmodified", "hostile", "disagreeing", "last_calls", "session", "twice", "commpass_mpi"], "pictures": ["commpass"]}


class Progress:
    """One line on a terminal about the progress; elsewhere nothing."""

    def __init__(self):
        self.shown = sys.stderr.isatty()
        self.last = 0.0

    def tell(self, text):
        if self.shown and time.monotonic() - self.last > 0.2:
            self.last = time.monotonic()
            print("\r\x1b[K" + text[:100], end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


progress = Progress()


class Failed(Exception):
    pass


def follow(what, command, log, environment=None):
    """Runs a command with its output in a log. @return (exit code, its lines)"""
    lines = []
    with open(log, "a", buffering=1) as file:
        file.write(f"$ {' '.join(map(str, command))}\n")
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                   errors="replace", env={**os.environ, **(environment or {})})
        for line in process.stdout:
            file.write(line)
            lines.append(line.rstrip("\n"))
            if counted := re.match(r"\s*\[?(\d+)/(\d+)\]? *(?:Test +#\d+: (\S+))?", line):
                progress.tell(f"{what}: {counted[1]} of {counted[2]} {counted[3] or ''}")
    progress.clear()
    return process.wait(), lines


def must(what, command, log, environment=None):
    code, lines = follow(what, command, log, environment)
    if code != 0:
        first = next((i for i, line in enumerate(lines) if line.startswith(("FAILED:", "CMake Error"))), max(0, len(lines) - 40))
        print("\n".join(lines[first:first + 60]), file=sys.stderr)
        raise Failed(f"{what} FAILED, see {log.relative_to(ROOT)}")
    return lines


def exclusions(run):
    """@return patterns of tests, and of cases within programs that run all of their cases at once, that a run leaves out"""
    tests, cases = [], []
    for number, line in enumerate((ROOT / "tests" / "exclusions.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 4 or fields[1] not in ("test", "case") or not fields[3]:
            sys.exit(f"test: tests/exclusions.txt, line {number}: it is not RUN | test or case | PATTERN | REASON; complete it")
        if fields[0] == run:
            (tests if fields[1] == "test" else cases).append(fields[2])
    return tests, cases


class Preset:
    """A build directory and its tests."""

    def __init__(self, name, run=None):
        self.name, self.run = name, run or name
        self.cmake = CMAKE_PRESETS.get(name, name)
        self.directory = ROOT / "build" / self.cmake
        self.log = LOGS / f"{name}.log"
        self.log.write_text("")

    def build(self, targets=(), switches=()):
        begin = time.monotonic()
        # Without tests and examples where quickstart or a user configured it last.
        must(f"{self.name}: configuring", ["cmake", "--preset", self.cmake, *switches], self.log)
        command = ["cmake", "--build", "--preset", self.cmake]
        must(f"{self.name}: building", command + (["--target", *targets] if targets else []), self.log)
        return time.monotonic() - begin

    def listed(self):
        """All tests, in the order of their numbers."""
        listing = subprocess.run(["ctest", "--test-dir", self.directory, "--show-only=json-v1"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return json.loads(listing[listing.index("{"):])["tests"]

    def programs(self):
        """Program -> sources of its tests, as CMake wrote them."""
        result = {}
        for line in (self.directory / "tests" / "programs.txt").read_text().split("\n"):
            if line:
                program, source = line.split(" ", 1)
                result.setdefault(program, []).append(source)
        return result

    def test(self, wanted=lambda test: True):
        """Runs tests that are wanted and not excluded. @return (passed, failed, seconds)"""
        patterns, cases = exclusions(self.run)
        tests = self.listed()
        chosen = [i for i, test in enumerate(tests, 1) if wanted(test) and not any(re.search(p, test["name"]) for p in patterns)]
        if not chosen:
            raise Failed(f"{self.name}: no test is chosen")
        numbers = LOGS / f"{self.name}.chosen"
        numbers.write_text(f"0,0,0,{','.join(map(str, chosen))}\n")
        environment = {"GTEST_FILTER": "-" + ":".join(cases)} if cases else {}
        begin = time.monotonic()
        _, lines = follow(f"{self.name}: testing", ["ctest", "--preset", self.cmake, "-j", str(CORES), "-I", str(numbers)], self.log, environment)
        seconds = time.monotonic() - begin
        summary = next((m for line in lines if (m := re.match(r"\d+% tests passed, (\d+) tests? failed out of (\d+)", line))), None)
        if not summary:
            print("\n".join(lines[-40:]), file=sys.stderr)
            raise Failed(f"{self.name}: the tests did not run, see {self.log.relative_to(ROOT)}")
        failed, total = int(summary[1]), int(summary[2])
        if failed:
            show_failures(lines)
        return total - failed, failed, seconds


def show_failures(lines):
    """The end of what each failed test printed, and the list of these tests."""
    output = []
    for line in lines:
        output.append(line)
        if re.search(r"Test +#\d+: ", line):
            output = [line] if "Passed" not in line else []
        elif re.match(r"\s+Start +\d+: |\d+% tests passed", line):
            if len(output) > 1:
                print("\n".join(output[:1] + output[1:-1][-40:]), file=sys.stderr)
            output = []
    for line in lines[next((i for i, line in enumerate(lines) if line.startswith("The following tests FAILED")), len(lines)):]:
        print(line, file=sys.stderr)


def clock(seconds):
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s" if seconds >= 60 else f"{seconds:.0f} s"


class Report:
    def __init__(self):
        self.rows, self.passed, self.failed = [], 0, 0
        self.begin = time.monotonic()

    def add(self, name, result, seconds):
        self.rows.append((name, result, seconds))
        print(f"{name:28} {clock(seconds):>12}  {result}", file=sys.stderr, flush=True)

    def attempt(self, name, action):
        """An action that fails is told, and others go on."""
        begin = time.monotonic()
        try:
            result = action() or "passed"
        except Failed as failure:
            self.failed += 1
            result = str(failure)
        self.add(name, result, time.monotonic() - begin)

    def count(self, passed, failed):
        self.passed += passed
        self.failed += failed
        return f"{passed} passed, {failed} FAILED" if failed else f"{passed} passed"

    def end(self, besides=""):
        print(f"\nIn {clock(time.monotonic() - self.begin)}; logs are in build/logs.{besides}", file=sys.stderr, flush=True)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


report = Report()


def check_format():
    must("form: formatting", ["scripts/format", "--check"], LOGS / "format.log")


def run_preset(name, run=None, fuzz_seconds=FUZZ_SECONDS["preset"]):
    if name == "form":
        report.attempt("format", check_format)
        report.attempt("clang-tidy", lambda: (must("form: configuring", ["cmake", "--preset", "lint"], LOGS / "lint.log"),
                                              must("form: clang-tidy", ["scripts/lint"], LOGS / "lint.log")) and None)
        return
    preset = Preset(name, run)

    def build():
        if name == "bench":
            Preset("smpi").build()
        preset.build(switches=[f"-DCOMMPASS_FUZZ_SECONDS={fuzz_seconds}"] if name == "fuzz" else ["-DCOMMPASS_TESTS=ON", "-DCOMMPASS_EXAMPLES=ON"] if name == "openmpi" else [])
        build.done = True
    build.done = False
    report.attempt(f"{name}: build", build)
    labelled = {"mpich": lambda test: "mpi" in labels(test), "clang": lambda test: "mpi" not in labels(test)}
    if build.done:
        report.attempt(f"{name}: tests", lambda: report.count(*preset.test(labelled.get(name, lambda test: True))[:2]))


def room_of_source(source):
    """selector/commands/run.cpp -> commands; tests/model/x_test.cpp -> model"""
    parts = pathlib.PurePosixPath(source).parts
    parts = parts[1:] if parts and parts[0] == "tests" else parts
    if parts[-1:] == ("mpi_command_test.cpp",):  # of calibrate, measure and doctor: OTHER_ROOMS tells by test
        return ""
    if parts[:2] == ("selector", "commands") or parts[:1] == ("command",):
        return "commands"
    return "parsers" if parts[:1] == ("fuzz",) else parts[0] if parts else ""


def program_of(test):
    return next((pathlib.Path(word).name for word in test.get("command", []) if word.startswith(str(ROOT / "build")) and "/bin/" in word), "")


def run_rooms(rooms):
    preset = Preset("test", "room")
    must("test: configuring", ["cmake", "--preset", "test"], preset.log)
    programs = preset.programs()
    room_of = {program: {room_of_source(source) for source in sources} for program, sources in programs.items()}
    targets = [program for program, its in room_of.items() if its & rooms] + [p for room in rooms for p in OTHER_PROGRAMS.get(room, [])]

    def wanted(test):
        its = room_of.get(program_of(test), set())
        return bool(its & rooms) or any(room in rooms and re.match(pattern, test["name"]) for pattern, room in OTHER_ROOMS) and program_of(test) in targets
    name = " ".join(sorted(rooms))
    built = []
    report.attempt(f"{name}: build", lambda: built.append(preset.build(targets)))
    if built:
        report.attempt(f"{name}: tests", lambda: report.count(*preset.test(wanted)[:2]))


def run_named(names):
    """Tests by their names: Suite, Suite.Test, or the name that ctest knows."""
    preset = Preset("test", "named")
    must("test: configuring", ["cmake", "--preset", "test"], preset.log)
    programs = preset.programs()
    for name in names:
        suite, _, case = name.partition(".")
        declares = re.compile(rf"^TEST(_F|_P)?\({re.escape(suite)}, *{re.escape(case) if case else ''}", re.M)
        of_suite = [p for p, sources in programs.items() if any(declares.search((ROOT / "tests" / s).read_text()) for s in sources if (ROOT / "tests" / s).exists())]
        registered = [t for t in preset.listed() if re.search(name, t["name"])]
        targets = of_suite or sorted({p for t in registered if (p := program_of(t))})
        if not targets and not registered:
            near = sorted({m[1] for s in sum(programs.values(), []) if (ROOT / "tests" / s).exists()
                           for m in re.finditer(r"^TEST(?:_F|_P)?\((\w+),", (ROOT / "tests" / s).read_text(), re.M) if suite.lower() in m[1].lower()})
            sys.exit(f"test: {name} is no run, room, source or test; " + (f"did you mean {', '.join(near[:5])}?" if near else "'./scripts/test --help' lists runs and rooms"))
        built = []
        report.attempt(f"{name}: build", lambda: built.append(preset.build(targets)))
        if not built:
            continue

        def run():
            tests = preset.listed()
            # Programs that run their tests at once, under MPI on each number of ranks.
            starts = {n if re.search(r"[.]n[123]$", n) else p: t for t in tests if (p := program_of(t)) in of_suite and "mpi" in labels(t)
                      for n in [t["name"]] if re.search(r"[.]n[123]$", n) or n.startswith(p + ".")}
            if not starts:
                return report.count(*preset.test(lambda t: re.search(rf"(^|/){re.escape(name)}|{name}", t["name"]))[:2])
            failed = 0
            for test in starts.values():  # a program under MPI runs its suites at once, so that one suite is asked for directly
                words = [w for w in test["command"] if not w.startswith("--gtest_filter")] + [f"--gtest_filter={suite}.{case or '*'}*:*/{suite}.{case or '*'}*"]
                environment = dict(e.split("=", 1) for p in test.get("properties", []) if p["name"] == "ENVIRONMENT" for e in p["value"])
                code, lines = follow(test["name"], words, preset.log, environment)
                if code != 0:
                    failed += 1
                    print("\n".join(lines[-60:]), file=sys.stderr)
            return report.count(len(starts) - failed, failed)
        report.attempt(f"{name}: tests", run)


def labels(test):
    return [label for p in test.get("properties", []) if p["name"] == "LABELS" for label in p["value"]]


def run_long():
    """Hours: everything without exclusions, and long runs. One page tells the results."""
    page = ["# Long tests", "", f"Commit {subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, capture_output=True, text=True).stdout.strip()}, "
            + time.strftime("%Y-%m-%d"), ""]

    def step(name, command):
        log = LOGS / f"long-{re.sub('[^a-z0-9]+', '-', name.lower())}.log"
        log.write_text("")
        begin = time.monotonic()
        code, lines = follow(name, command, log)
        report.count(code == 0, code != 0)
        report.add(name, "passed" if code == 0 else f"FAILED, see {log.relative_to(ROOT)}", time.monotonic() - begin)
        page.extend([f"## {name}", "", f"{report.rows[-1][1]}, {clock(report.rows[-1][2])}", "", "```", *lines[-25:], "```", ""])
        (ROOT / "build" / "long.md").write_text("\n".join(page))
    for name in ["openmpi" if name == "test" else name for name in ALL] + ["clang"]:
        if name != "fuzz":
            run_preset(name, run="long")
    run_preset("fuzz", run="long", fuzz_seconds=FUZZ_SECONDS["long"])
    page.extend(["| run | time | result |", "|---|---|---|", *(f"| {n} | {clock(s)} | {r} |" for n, r, s in report.rows), ""])
    mpirun = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
              "--mca", "btl_vader_single_copy_mechanism", "none", "-n"]
    for ranks, cases in ((1, 40000), (2, 40000), (3, 15000), (4, 5000)):
        step(f"Random exchanges, {ranks} ranks", mpirun + [str(ranks), "build/openmpi/bin/random_exchanges", "--seed", time.strftime("%Y%m%d"), "--cases", str(cases)])
    for recipe in ("lammps", "quantum-espresso", "mpi4py", "dolfinx", "petsc"):
        step(f"Recipe {recipe}", ["env", "RANKS=3", f"examples/recipes/{recipe}"])
    for name in ("openmpi", "mpich"):
        step(f"Hangs of preloaded programs, {name}", ["tests/preload/find_hangs", f"build/{name}", "--runs", "5000"])
    step("Mutants", ["scripts/mutate", "--seed", time.strftime("%Y%m%d"), "--count", "100"])
    names = re.search(r"\^\(([a-z|-]+)\)\$", (ROOT / "scripts" / "bench").read_text())[1].split("|")
    for name in names:
        step(f"Benchmark {name}", ["scripts/bench", name])
    return report.end(" The page is build/long.md.")


def usage():
    print("usage: ./scripts/test [all | long | NAME …]\n\nrooms:   " + ", ".join(ROOMS) + "\npresets: " +
          "\n         ".join(f"{name:9} {what}" for name, what in PRESETS.items()) +
          "\nA source (model/schedule/schedule.cpp) stands for its room; a test has a name such as Alltoallv or Profile.SurvivesDamage.")


def main(arguments):
    os.chdir(ROOT)
    if arguments in (["--help"], ["-h"]):
        usage()
        return 0
    if not arguments:
        report.attempt("format", check_format)
        run_preset("test", run="quick")
        return report.end(" './scripts/test all' runs besides: clang-tidy; tests on 4 and on 6 to 16 ranks, packages and consumers;\n"
                          "MPICH; sanitizers; fuzz targets; simulated benchmarks with their bounds.")
    if arguments == ["long"]:
        return run_long()
    if arguments == ["all"]:
        for name in ALL:
            run_preset(name, fuzz_seconds=FUZZ_SECONDS["all"])
        return report.end(" './scripts/test long' runs besides, for hours: long fuzzing, 10^5 random exchanges, mutants, all benchmarks.")
    rooms, names = set(), []
    for argument in arguments:
        if argument in PRESETS:
            run_preset(argument)
        elif argument in ROOMS:
            rooms.add(argument)
        elif (ROOT / argument).is_file():
            room = room_of_source(os.path.relpath(ROOT / argument, ROOT))
            if room not in ROOMS:
                sys.exit(f"test: {argument} is in no room that has tests; rooms are {', '.join(ROOMS)}")
            rooms.add(room)
        else:
            names.append(argument)
    if rooms:
        run_rooms(rooms)
    if names:
        run_named(names)
    return report.end()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as failure:
        sys.exit(f"test: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
