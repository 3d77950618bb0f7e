# A recipe for Spack: copy this folder to packages/commpass of a repository of yours (`spack repo create`).
from spack.package import *


class Commpass(CMakePackage):
    """Finds the fastest way to run an irregular MPI exchange on the machine at hand, and runs it."""

    # No release has an address yet: `spack develop --path TREE commpass@develop` says where the source is.
    license("Apache-2.0")
    version("develop")

    variant("mpi", default=True, description="Run exchanges, calibrate and measure; without it, predict alone")
    variant("shared", default=True, description="Install shared libraries in place of static ones")
    variant("fortran", default=True, when="+mpi", description="Build the Fortran module")
    variant("metis", default=True, description="Partition matrices by METIS")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", when="+fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3:", when="+fortran", type="build")
    depends_on("pkgconfig", when="+mpi", type="build")
    depends_on("fmt")
    depends_on("zlib-api")
    depends_on("nlohmann-json", type="build")
    depends_on("cli11")
    depends_on("mpi", when="+mpi")
    depends_on("eigen", when="+mpi")
    depends_on("hwloc", when="+mpi")
    depends_on("metis", when="+metis")

    def cmake_args(self):
        return [
            self.define_from_variant("COMMPASS_MPI", "mpi"),
            self.define_from_variant("COMMPASS_SHARED", "shared"),
            self.define("COMMPASS_FORTRAN", "+fortran" in self.spec),
            *([] if "+metis" in self.spec else [self.define("COMMPASS_METIS", False)]),
            self.define("COMMPASS_PETSC", False),
            self.define("COMMPASS_PYTHON", False),
            self.define("COMMPASS_TESTS", False),
            self.define("COMMPASS_EXAMPLES", False),
        ]
