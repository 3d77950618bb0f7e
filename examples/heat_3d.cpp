// A 27-point stencil on a grid of ranks: heat spreads in a block, which is periodic, from two hot spots. The halo, with
// its edges and corners, is exchanged in three ways: by Commpass's halo exchange (corners move with the faces), by its
// Cartesian alltoallw, and by MPI's neighbourhood collective; all three must give the same numbers. A picture of the
// central plane is written, as PGM.
//
//   mpirun -n N heat_3d [--cells 48] [--steps 200] [--profile NAME] [--picture heat.pgm]
#include <mpi.h>

#include <algorithm>
#include <array>
#include <commpass/commpass.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int dimensions = 3;
using Cell = std::array<int, dimensions>;

/// The part of the block that a rank has, with a halo of one cell.
struct Field {
  Cell extent{};
  std::vector<double> cells;

  explicit Field(const Cell& its_extent)
      : extent(its_extent), cells(static_cast<std::size_t>((extent[0] + 2) * (extent[1] + 2) * (extent[2] + 2))) {}
  std::size_t index(int i, int j, int k) const {
    return static_cast<std::size_t>((i * (extent[1] + 2) + j) * (extent[2] + 2) + k);
  }
  double& at(int i, int j, int k) { return cells[index(i, j, k)]; }
  double at(int i, int j, int k) const { return cells[index(i, j, k)]; }
};

/// One step: each cell moves towards the mean of its 26 neighbours, faces counting more than edges and corners.
void step(const Field& from, Field& to) {
  constexpr std::array<double, 4> weight{0, 4, 2, 1};  // by the coordinates in which a neighbour differs
  constexpr double sum = 6 * 4 + 12 * 2 + 8 * 1, rate = 0.5;
  const auto& [a, b, c] = from.extent;
  for (int i = 1; i <= a; ++i)
    for (int j = 1; j <= b; ++j)
      for (int k = 1; k <= c; ++k) {
        double mean = 0;
        for (int di = -1; di <= 1; ++di)
          for (int dj = -1; dj <= 1; ++dj)
            for (int dk = -1; dk <= 1; ++dk)
              mean += weight[static_cast<std::size_t>(di * di + dj * dj + dk * dk)] * from.at(i + di, j + dj, k + dk);
        to.at(i, j, k) = from.at(i, j, k) + rate * (mean / sum - from.at(i, j, k));
      }
}

/// The parts of the array for each neighbour, and the places of the parts from the opposite one, as datatypes.
class HaloTypes {
 public:
  HaloTypes(const Cell& extent, const std::vector<int>& offsets) {
    const Cell size{extent[0] + 2, extent[1] + 2, extent[2] + 2};
    for (std::size_t n = 0; n < offsets.size(); n += dimensions) {
      Cell shape{}, from{}, to{};
      for (std::size_t k = 0; k < dimensions; ++k) {
        const int direction = offsets[n + k];
        shape[k] = direction == 0 ? extent[k] : 1;
        from[k] = direction > 0 ? extent[k] : 1;
        to[k] = direction > 0 ? 0 : direction < 0 ? extent[k] + 1 : 1;
      }
      sent.push_back(make(size, shape, from));
      received.push_back(make(size, shape, to));
    }
  }
  ~HaloTypes() {
    for (auto* types : {&sent, &received})
      for (auto& type : *types) MPI_Type_free(&type);
  }
  HaloTypes(const HaloTypes&) = delete;
  HaloTypes& operator=(const HaloTypes&) = delete;

  std::vector<MPI_Datatype> sent, received;

 private:
  static MPI_Datatype make(const Cell& size, const Cell& shape, const Cell& begin) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(dimensions, size.data(), shape.data(), begin.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }
};

struct Arguments {
  int cells = 48;
  int steps = 200;
  std::string profile, picture;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--cells") arguments.cells = std::stoi(value);
    else if (key == "--steps") arguments.steps = std::stoi(value);
    else if (key == "--profile") arguments.profile = value;
    else if (key == "--picture") arguments.picture = value;
    else throw commpass::InputError(key, "it is not understood", "use --cells, --steps, --profile or --picture");
  }
  if (arguments.cells < 8 || arguments.steps < 1)
    throw commpass::InputError("heat_3d", "there are too few cells or steps", "use 8 cells and 1 step, or more");
  return arguments;
}

/// Cells first … end − 1 of `cells`, for rank `place` of `ranks` in a line.
std::pair<int, int> share(int cells, int place, int ranks) {
  const auto begin = [&](int p) { return static_cast<int>(static_cast<long long>(cells) * p / ranks); };
  return {begin(place), begin(place + 1)};
}

/// Two fields, of which each step fills the other one.
struct Fields {
  Field fields[2];
  explicit Fields(const Field& start) : fields{start, start} {}

  /// @param exchange  fills the halo of field 0 or 1
  /// @return seconds of all exchanges, on the slowest rank
  double run(int steps, const std::function<void(int)>& exchange) {
    double seconds = 0;
    for (int s = 0; s < steps; ++s) {
      const double begin = MPI_Wtime();
      exchange(s % 2);
      seconds += MPI_Wtime() - begin;
      step(fields[s % 2], fields[1 - s % 2]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    std::swap(fields[0], fields[steps % 2]);
    return seconds;
  }
};

/// Two hot spots, of which one lies across an edge of the block.
Field start_of(const Cell& begin, const Cell& extent, int cells) {
  Field field(extent);
  const auto is_near = [&](int x, int centre) {
    const int distance = std::abs(x - centre) % cells;
    return std::min(distance, cells - distance) < cells / 8;  // NOLINT: an eighth of the block
  };
  for (int i = 0; i < extent[0]; ++i)
    for (int j = 0; j < extent[1]; ++j)
      for (int k = 0; k < extent[2]; ++k) {
        const int x = begin[0] + i, y = begin[1] + j, z = begin[2] + k;
        if (is_near(x, cells / 2) && is_near(y, cells / 3) && is_near(z, cells / 3)) field.at(i + 1, j + 1, k + 1) = 1;
        if (is_near(x, cells / 2) && is_near(y, 0) && is_near(z, cells - 1)) field.at(i + 1, j + 1, k + 1) = 2;
      }
  return field;
}

/// Rank 0 writes the central plane of the first dimension: white is hot.
void write_picture(const std::string& path, const Field& field, const Cell& begin, int cells) {
  std::vector<double> own(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells)), all(own.size());
  const int i = cells / 2 - begin[0];
  if (i >= 0 && i < field.extent[0])
    for (int j = 0; j < field.extent[1]; ++j)
      for (int k = 0; k < field.extent[2]; ++k)
        own[static_cast<std::size_t>((begin[1] + j) * cells + begin[2] + k)] = field.at(i + 1, j + 1, k + 1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw commpass::InputError(path, "it cannot be written", "name another file");
  const double hottest = std::max(1e-9, *std::ranges::max_element(all));
  constexpr double white = 255;
  std::fprintf(file, "P5\n%d %d\n255\n", cells, cells);
  for (const double value : all) std::fputc(static_cast<int>(white * value / hottest), file);
  std::fclose(file);
}

void run(const Arguments& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  commpass::Communicator communicator(MPI_COMM_WORLD, arguments.profile);
  Cell dims{};
  MPI_Dims_create(ranks, dimensions, dims.data());
  const commpass::Grid grid{{dims.begin(), dims.end()}, {true, true, true}};
  const auto place = grid.coordinates(rank);
  Cell begin{}, extent{};
  for (std::size_t k = 0; k < dimensions; ++k) {
    const auto [first, end] = share(arguments.cells, place[k], dims[k]);
    begin[k] = first;
    extent[k] = end - first;
  }
  const auto start = start_of(begin, extent, arguments.cells);

  // The halo exchange: one plan for each of the two fields.
  Fields by_halo(start);
  const commpass::HaloArray array{{extent.begin(), extent.end()}, {1, 1, 1}, sizeof(double)};
  commpass::HaloExchange halos[2] = {communicator.halo_exchange(grid, array, by_halo.fields[0].cells.data()),
                                     communicator.halo_exchange(grid, array, by_halo.fields[1].cells.data())};
  const double halo_s = by_halo.run(arguments.steps, [&](int f) {
    halos[f].start();
    halos[f].wait();
  });

  // Cartesian alltoallw: a datatype for each of the 26 neighbours. Extents may differ from rank to rank, but not the
  // bytes for a neighbour and from its opposite, if the cells can be shared out evenly.
  const commpass::Neighborhood neighborhood{grid, commpass::box_offsets(dimensions, 1), {}};
  const bool is_even = std::ranges::all_of(dims, [&](int size) { return arguments.cells % size == 0; });
  auto cart = communicator.cart_neighborhood(neighborhood);
  const HaloTypes types(extent, neighborhood.offsets);
  const auto neighbors = static_cast<std::size_t>(neighborhood.size());
  const std::vector<int> ones(neighbors, 1);
  const std::vector<MPI_Aint> zeros(neighbors, 0);
  Fields by_cartesian(start);
  const auto plan = [&](int f) {
    auto* const cells = by_cartesian.fields[f].cells.data();
    return cart.alltoallw_init(cells, ones, zeros, types.sent, cells, ones, zeros, types.received, {!is_even});
  };
  commpass::CartExchange exchanges[2] = {plan(0), plan(1)};
  const double cartesian_s = by_cartesian.run(arguments.steps, [&](int f) {
    exchanges[f].start();
    exchanges[f].wait();
  });

  // MPI's neighbourhood collective, on a distributed graph of the same neighbours.
  const auto sources = cart.sources(), targets = cart.targets();
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(neighbors), sources.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(neighbors), targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  Fields by_mpi(start);
  const double mpi_s = by_mpi.run(arguments.steps, [&](int f) {
    auto* const cells = by_mpi.fields[f].cells.data();
    MPI_Neighbor_alltoallw(cells, ones.data(), zeros.data(), types.sent.data(), cells, ones.data(), zeros.data(),
                           types.received.data(), graph);
  });
  MPI_Comm_free(&graph);

  bool is_same = true;
  double heat = 0;
  for (int i = 1; i <= extent[0]; ++i)
    for (int j = 1; j <= extent[1]; ++j)
      for (int k = 1; k <= extent[2]; ++k) {
        const double value = by_halo.fields[0].at(i, j, k);
        heat += value;
        is_same = is_same && value == by_cartesian.fields[0].at(i, j, k) && value == by_mpi.fields[0].at(i, j, k);
      }
  MPI_Allreduce(MPI_IN_PLACE, &is_same, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!arguments.picture.empty()) write_picture(arguments.picture, by_halo.fields[0], begin, arguments.cells);
  if (rank == 0) {
    const double per_step = 1e6 / arguments.steps;
    std::printf("grid %s, %d steps, heat %.6f\n", commpass::describe(grid).c_str(), arguments.steps, heat);
    std::printf("halo exchange          %8.1f us a step, %d messages a rank\n", per_step * halo_s, halos[0].messages());
    std::printf("Cartesian alltoallw    %8.1f us a step, %s\n", per_step * cartesian_s,
                exchanges[0].strategy().c_str());
    std::printf("MPI_Neighbor_alltoallw %8.1f us a step\n", per_step * mpi_s);
    std::printf("%s\n", is_same ? "All three give the same numbers." : "The numbers differ.");
  }
  if (!is_same) throw commpass::Error("heat_3d: the three exchanges give different numbers.");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
