"""Builds the wheel (PEP 517): configures and builds Commpass, and packs its component `python`.

CMAKE_ARGS in the environment are further arguments of CMake, such as -DMPI_EXECUTABLE_SUFFIX=.openmpi. The setting
build (pip install --config-settings build=FOLDER) names a build folder; one that is configured stays as it is.
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

_here = pathlib.Path(__file__).resolve().parent
_source = _here.parents[1]


def _metadata():
    with open(_here / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    version = re.search(r"project\(commpass VERSION ([0-9.]+)", (_source / "CMakeLists.txt").read_text()).group(1)
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f"Requires-Dist: {name}; extra == '{extra}'" for name in names]
    return version, "\n".join(lines) + "\n"


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _cmake(build, prefix):
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        _configure(build)
    # The build's own list of targets says whether there are exchanges.
    listed = subprocess.run(["cmake", "--build", build, "--target", "help"], check=True, capture_output=True, text=True).stdout
    targets = [name for name in ("commpass_python_core", "commpass_python_mpi") if name in listed]
    if not targets:
        raise SystemExit("commpass: pybind11, numpy or Python's headers are not here; install pybind11-dev, python3-numpy, python3-dev.")
    subprocess.run(["cmake", "--build", build, "--parallel", "--target", *targets], check=True)
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", prefix], check=True)


def _configure(build):
    # pip hides what the system has from the process that builds; CMake looks for numpy and mpi4py there.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    only = ["-DCOMMPASS_TESTS=OFF", "-DCOMMPASS_EXAMPLES=OFF", "-DCOMMPASS_FORTRAN=OFF", "-DCOMMPASS_PETSC=OFF"]
    subprocess.run(["cmake", "-S", _source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *only,
                    "-DCOMMPASS_PYTHON=ON", f"-DCOMMPASS_PYTHON_EXECUTABLE={sys.executable}",
                    *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True, env=environment)


def _write(wheel, name, data, record):
    wheel.writestr(name, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}")


def pack_wheel(prefix, wheel_directory):
    """Packs the component that was installed under prefix. Returns the name of the wheel."""
    version, metadata = _metadata()
    name = f"commpass-{version}-{_tag()}.whl"
    info = f"commpass-{version}.dist-info"
    record = []
    package = next(pathlib.Path(prefix).glob("**/python/commpass"))
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted(path for path in package.rglob("*") if path.is_file()):
            _write(wheel, f"commpass/{path.relative_to(package)}", path.read_bytes(), record)
        for profile in sorted((_source / "profiles").glob("*.json")):  # where its libraries look for them
            _write(wheel, f"commpass/share/commpass/profiles/{profile.name}", profile.read_bytes(), record)
        _write(wheel, f"{info}/METADATA", metadata.encode(), record)
        _write(wheel, f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: commpass\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode(), record)
        record.append(f"{info}/RECORD,,")
        wheel.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    version, metadata = _metadata()
    info = f"commpass-{version}.dist-info"
    folder = pathlib.Path(metadata_directory, info)
    folder.mkdir()
    (folder / "METADATA").write_text(metadata)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as work:
        _cmake((config_settings or {}).get("build", os.path.join(work, "build")), os.path.join(work, "prefix"))
        return pack_wheel(os.path.join(work, "prefix"), wheel_directory)
