# Poisson's equation on an unstructured mesh that dolfinx partitions; its ghosts travel by neighbourhood collectives.
import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI
from petsc4py import PETSc

comm = MPI.COMM_WORLD
square = mesh.create_unit_square(comm, 24, 24, ghost_mode=mesh.GhostMode.shared_facet)
space = fem.FunctionSpace(square, ("Lagrange", 2))
facets = mesh.locate_entities_boundary(square, 1, lambda x: np.isclose(x[0], 0.0))
fixed = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(space, 1, facets), space)
u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(square)
problem = LinearProblem(ufl.dot(ufl.grad(u), ufl.grad(v)) * ufl.dx, ufl.sin(5 * x[0]) * x[1] * v * ufl.dx, bcs=[fixed],
                        petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-12})
solution = problem.solve()
place = fem.Function(space)  # of each value, for the owner and for those that have it as a ghost
owned = space.dofmap.index_map.size_local
for step in range(40):
    place.interpolate(lambda x: 1 + step + x[0] + 10 * x[1])
    wanted = place.x.array.copy()
    place.x.array[owned:] = -1
    place.x.scatter_forward()
    assert np.allclose(place.x.array, wanted, rtol=1e-14), "wrong ghosts"
norm = np.sqrt(comm.allreduce(fem.assemble_scalar(fem.form(solution * solution * ufl.dx))))
if comm.rank == 0:
    print(f"{norm:.9e} {problem.solver.getIterationNumber()} iterations")
# PETSc does not destroy objects that Python collects at its end, and -sf_commpass_view prints destroyed ones.
matrix = problem.A
problem.solver.destroy()
matrix.destroy()
