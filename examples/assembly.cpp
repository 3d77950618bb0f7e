// Assembles a vector of a finite-element mesh: each edge of the mesh is an element that adds to the values of its two
// vertices. Elements lie on ranks in the order of the file, vertices on their owners. Compares with a serial sum, and
// tells the bytes between nodes with contributions added by owners, and where they meet.
//   mpirun -n 8 assembly [--layout 2x4] [MATRIX.mtx[.gz]]
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <commpass/commpass.hpp>
#include <commpass/predict.hpp>

namespace {

using commpass::Index;
using Vector = std::vector<double>;

/// Whole numbers, so that sums are the same in any order.
double element_value(Index vertex, Index other) { return static_cast<double>((3 * vertex + 7 * other) % 64); }

/// Vertices that some elements touch, each once, and what the elements add to them.
struct Contributions {
  std::vector<Index> vertices;
  Vector values;
};

/// @param begin, end  of the elements
Contributions contributions_of(const commpass::CoordinateMatrix& mesh, std::size_t begin, std::size_t end) {
  std::map<Index, double> sums;
  for (auto element = begin; element < end; ++element) {
    const auto a = mesh.row[element], b = mesh.column[element];
    if (a == b) continue;
    sums[a] += element_value(a, b);
    sums[b] += element_value(b, a);
  }
  Contributions result;
  for (const auto& [vertex, sum] : sums) {
    result.vertices.push_back(vertex);
    result.values.push_back(sum);
  }
  return result;
}

/// @return whether all sums are right
bool run(const std::string& file, const std::string& layout) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto mesh = commpass::read_matrix(file);
  if (mesh.rows != mesh.columns) throw commpass::InputError("matrix", "it is not square", "use another one");
  const auto part = [&](auto count, int r) {
    return count * static_cast<decltype(count)>(r) / static_cast<decltype(count)>(ranks);
  };
  const commpass::IndexRange owned{part(mesh.rows, rank), part(mesh.rows, rank + 1)};
  const auto mine = contributions_of(mesh, part(mesh.row.size(), rank), part(mesh.row.size(), rank + 1));
  const auto all = contributions_of(mesh, 0, mesh.row.size());
  Vector wanted(static_cast<std::size_t>(owned.end - owned.begin));
  for (std::size_t i = 0; i < all.vertices.size(); ++i)
    if (all.vertices[i] >= owned.begin && all.vertices[i] < owned.end)
      wanted[static_cast<std::size_t>(all.vertices[i] - owned.begin)] = all.values[i];

  commpass::Communicator communicator(MPI_COMM_WORLD, std::string(), {.layout = layout});
  bool is_right = true;
  for (const bool on_the_way : {false, true}) {
    const commpass::IndexedOptions options{
        .strategy = "two-step", .forward = false, .reverse = true, .share = on_the_way};
    auto assembly = communicator.indexed_exchange(owned, mine.vertices, sizeof(double), options);
    Vector sums(wanted.size());
    assembly.reverse_add(mine.values.data(), sums.data());
    int is_wrong = sums != wanted;
    auto bytes = assembly.reverse_bytes_to_other_nodes();
    MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf("%s, added %s: %lld bytes between nodes, %s\n", assembly.strategy().c_str(),
                  on_the_way ? "where they meet" : "by owners", static_cast<long long>(bytes),
                  is_wrong ? "WRONG" : "right");
    is_right = is_right && !is_wrong;
  }
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    std::string file = COMMPASS_EXAMPLE_MATRIX, layout;
    for (int i = 1; i < argc; ++i) {
      if (argv[i] == std::string("--layout") && i + 1 < argc) layout = argv[++i];
      else file = argv[i];
    }
    code = run(file, layout) ? 0 : 1;
  } catch (const std::exception& error) {  // the same on every rank
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
