// Solves systems twice, with star forests of type basic and of type commpass: all norms of residuals must be the same
// bits, or, with algebraic multigrid, which PETSc adds up in the order in which messages come, the same but for
// rounding. The forests are PETSc's own: products with matrices, multigrid, ghosts, vectors that are brought together.
#include <petscdmda.h>
#include <petscksp.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

using Norms = std::vector<PetscReal>;

/// What a solver says, in order.
PetscErrorCode keep_norm(KSP, PetscInt, PetscReal norm, void* norms) {
  static_cast<Norms*>(norms)->push_back(norm);
  return 0;
}

/// -Δu on a grid, with `fields` values at a point that depend on each other.
PetscErrorCode assemble(DM grid, PetscInt fields, Mat& matrix) {
  PetscCall(DMCreateMatrix(grid, &matrix));
  DMDALocalInfo info;
  PetscCall(DMDAGetLocalInfo(grid, &info));
  for (PetscInt y = info.ys; y < info.ys + info.ym; ++y)
    for (PetscInt x = info.xs; x < info.xs + info.xm; ++x)
      for (PetscInt field = 0; field < fields; ++field) {
        MatStencil row{}, columns[6]{};
        row.i = x, row.j = y, row.c = field;
        PetscScalar values[6];
        PetscInt count = 0;
        const auto add = [&](PetscInt i, PetscInt j, PetscInt c, PetscReal value) {
          if (i < 0 || j < 0 || i >= info.mx || j >= info.my) return;
          columns[count].i = i, columns[count].j = j, columns[count].c = c;
          values[count++] = value;
        };
        add(x, y, field, 4.5);
        add(x - 1, y, field, -1), add(x + 1, y, field, -1), add(x, y - 1, field, -1), add(x, y + 1, field, -1);
        if (fields > 1) add(x, y, (field + 1) % fields, 0.25);
        PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return 0;
}

PetscErrorCode solve(PetscInt fields, MatType type, KSPType solver, PCType preconditioner, Norms& norms) {
  DM grid = nullptr;
  constexpr PetscInt points = 23;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, points, points,
                         PETSC_DECIDE, PETSC_DECIDE, fields, 1, nullptr, nullptr, &grid));
  PetscCall(DMSetMatType(grid, type));
  PetscCall(DMSetUp(grid));
  Mat matrix = nullptr;
  PetscCall(assemble(grid, fields, matrix));
  Vec solution = nullptr, right = nullptr, local = nullptr, all = nullptr;
  PetscCall(MatCreateVecs(matrix, &solution, &right));
  PetscCall(VecSet(right, 1.0));
  KSP ksp = nullptr;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPSetType(ksp, solver));
  PC pc = nullptr;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPMonitorSet(ksp, keep_norm, &norms, nullptr));
  PetscCall(KSPSolve(ksp, right, solution));

  // Ghosts there and back, and everything on every rank.
  PetscCall(DMGetLocalVector(grid, &local));
  PetscReal norm = 0;
  for (int i = 0; i < 4; ++i) {
    PetscCall(DMGlobalToLocal(grid, solution, INSERT_VALUES, local));
    PetscCall(VecNorm(local, NORM_2, &norm));
    norms.push_back(norm);
    PetscCall(DMLocalToGlobal(grid, local, ADD_VALUES, solution));
    PetscCall(VecNorm(solution, NORM_2, &norm));
    norms.push_back(norm);
    PetscCall(MatMultTranspose(matrix, solution, right));
    PetscCall(VecNorm(right, NORM_2, &norm));
    norms.push_back(norm);
  }
  PetscCall(DMRestoreLocalVector(grid, &local));
  VecScatter scatter = nullptr;
  PetscCall(VecScatterCreateToAll(right, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, right, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, right, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecNorm(all, NORM_2, &norm));
  norms.push_back(norm);
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&solution));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&matrix));
  PetscCall(DMDestroy(&grid));
  return 0;
}

struct System {
  PetscInt fields;
  MatType matrix;
  KSPType solver;
  PCType preconditioner;
  PetscReal tolerance;  ///< of norms, relative to the first one
};

PetscErrorCode is_same(const System& system, bool& result) {
  Norms basic, ours;
  PetscCall(PetscOptionsSetValue(nullptr, "-sf_type", "basic"));
  PetscCall(solve(system.fields, system.matrix, system.solver, system.preconditioner, basic));
  PetscCall(PetscOptionsSetValue(nullptr, "-sf_type", "commpass"));
  PetscCall(solve(system.fields, system.matrix, system.solver, system.preconditioner, ours));
  const auto is_near = [&](PetscReal a, PetscReal b) {
    return PetscAbsReal(a - b) <= system.tolerance * basic.front();
  };
  const auto first = std::mismatch(basic.begin(), basic.end(), ours.begin(), ours.end(), is_near);
  result = first.first == basic.end() && first.second == ours.end();
  if (!result)
    std::printf("comparisons failed: %s, norm %d\n", system.preconditioner,
                static_cast<int>(first.first - basic.begin()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  bool all = true;
  constexpr PetscReal but_for_rounding = 1e-9;
  for (const auto& system : {System{1, MATAIJ, KSPCG, PCGAMG, but_for_rounding}, System{1, MATAIJ, KSPCG, PCBJACOBI, 0},
                             System{4, MATBAIJ, KSPBICG, PCNONE, 0}, System{3, MATAIJ, KSPGMRES, PCASM, 0}}) {
    bool one = false;
    PetscCall(is_same(system, one));
    all = all && one;
  }
  PetscMPIInt rank = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0 && all) std::printf("all comparisons hold\n");
  PetscCall(PetscFinalize());
  return all ? 0 : 1;
}
