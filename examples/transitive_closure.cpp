// Which vertices of a graph can be reached from some others: the same exchange again and again, with other sizes each
// time, once with MPI's all-to-alls, once with Commpass, and compared with a search on one rank.
//   mpirun -n 4 transitive_closure [PROFILE [MATRIX.mtx[.gz]]]
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <commpass/commpass.hpp>
#include <commpass/predict.hpp>

namespace {

using Vertex = std::int64_t;

/// `to` can be reached from `from`.
struct Path {
  Vertex from, to;
  auto operator<=>(const Path&) const = default;
};
constexpr int numbers_of_path = 2;

int rank, ranks;

/// The vertices that an edge leads to, of each vertex.
using Graph = std::vector<std::vector<Vertex>>;

/// An entry (i, j) is an edge from i to j; of symmetric matrices those in the file count, below the diagonal.
Graph read_graph(const std::string& file) {
  const auto matrix = commpass::read_matrix(file);
  if (matrix.rows != matrix.columns) throw commpass::InputError(file, "it is not square", "use another one");
  Graph graph(static_cast<std::size_t>(matrix.rows));
  for (std::size_t i = 0; i < matrix.row.size(); ++i)
    graph[static_cast<std::size_t>(matrix.row[i])].push_back(matrix.column[i]);
  return graph;
}

/// Vertices are dealt out; a rank extends the paths that end at its own.
int owner(Vertex vertex) { return static_cast<int>(vertex % ranks); }

/// Distance between the vertices from which paths begin.
constexpr Vertex step = 400;

struct Exchanges {
  std::function<void(const std::vector<int>& sent, std::vector<int>& received)> alltoall;
  std::function<void(const std::vector<Path>& sent, const std::vector<int>& send_counts,
                     const std::vector<int>& send_at, std::vector<Path>& received,
                     const std::vector<int>& receive_counts, const std::vector<int>& receive_at)>
      alltoallv;
};

/// Where each rank's numbers begin, and the end of all.
std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places{0};
  for (const int count : counts) places.push_back(places.back() + count);
  return places;
}

/// Each rank gets the paths that end at its vertices.
std::vector<Path> hand_out(const std::vector<Path>& paths, const Exchanges& exchanges) {
  std::vector<std::vector<Path>> by_rank(static_cast<std::size_t>(ranks));
  for (const auto& path : paths) by_rank[static_cast<std::size_t>(owner(path.to))].push_back(path);
  std::vector<Path> sent;
  std::vector<int> send_counts, receive_counts(by_rank.size());
  for (const auto& own : by_rank) {
    sent.insert(sent.end(), own.begin(), own.end());
    send_counts.push_back(numbers_of_path * static_cast<int>(own.size()));
  }
  exchanges.alltoall(send_counts, receive_counts);
  auto send_at = places_of(send_counts), receive_at = places_of(receive_counts);
  std::vector<Path> received(static_cast<std::size_t>(receive_at.back() / numbers_of_path));
  send_at.pop_back();
  receive_at.pop_back();
  exchanges.alltoallv(sent, send_counts, send_at, received, receive_counts, receive_at);
  return received;
}

struct Closure {
  std::set<Path> paths;  ///< that end at vertices of this rank
  int rounds = 0;
};

/// Extends the paths that were new in the round before by one edge, until there are none.
Closure close(const Graph& graph, const Exchanges& exchanges) {
  Closure closure;
  std::vector<Path> fresh;
  for (Vertex from = 0; from < std::ssize(graph); from += step)
    if (owner(from) == rank) fresh.push_back({from, from});
  for (int any = 1; any; ++closure.rounds) {
    std::set<Path> extended;
    for (const auto& path : fresh)
      for (const Vertex to : graph[static_cast<std::size_t>(path.to)]) extended.insert({path.from, to});
    fresh.clear();
    for (const auto& path : hand_out({extended.begin(), extended.end()}, exchanges))
      if (closure.paths.insert(path).second) fresh.push_back(path);
    any = !fresh.empty();
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  return closure;
}

/// The paths that end at vertices of this rank, by a search of the whole graph.
std::set<Path> search(const Graph& graph) {
  std::set<Path> paths;
  for (Vertex from = 0; from < std::ssize(graph); from += step) {
    std::vector<bool> seen(graph.size());
    std::vector<Vertex> open{from};
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (const Vertex to : graph[static_cast<std::size_t>(at)]) {
        if (seen[static_cast<std::size_t>(to)]) continue;
        seen[static_cast<std::size_t>(to)] = true;
        open.push_back(to);
        if (owner(to) == rank) paths.insert({from, to});
      }
    }
  }
  return paths;
}

bool run(const std::string& profile, const std::string& file) {
  commpass::Communicator communicator(MPI_COMM_WORLD, profile);
  const auto graph = read_graph(file);
  const auto with_mpi =
      close(graph, {[](const auto& sent, auto& received) {
                      MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD);
                    },
                    [](const auto& sent, const auto& send_counts, const auto& send_at, auto& received,
                       const auto& receive_counts, const auto& receive_at) {
                      MPI_Alltoallv(sent.data(), send_counts.data(), send_at.data(), MPI_INT64_T, received.data(),
                                    receive_counts.data(), receive_at.data(), MPI_INT64_T, MPI_COMM_WORLD);
                    }});
  const auto with_commpass =
      close(graph, {[&](const auto& sent, auto& received) {
                      communicator.alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT);
                    },
                    [&](const auto& sent, const auto& send_counts, const auto& send_at, auto& received,
                        const auto& receive_counts, const auto& receive_at) {
                      communicator.alltoallv(sent.data(), send_counts, send_at, MPI_INT64_T, received.data(),
                                             receive_counts, receive_at, MPI_INT64_T);
                    }});
  int is_right = with_commpass.paths == with_mpi.paths && with_commpass.paths == search(graph);
  std::int64_t paths = std::ssize(with_commpass.paths);
  MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &paths, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d ranks: %lld paths in %d rounds, the last with %s: %s\n", ranks, static_cast<long long>(paths),
                with_commpass.rounds, communicator.last_alltoallv_strategy().c_str(), is_right ? "right" : "WRONG");
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 1;
  try {
    code = run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : COMMPASS_EXAMPLE_MATRIX) ? 0
                                                                                      : 1;  // "" means COMMPASS_PROFILE
  } catch (const std::exception& error) {                                                   // the same on every rank
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
