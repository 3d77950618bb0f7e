// Solves A x = b by conjugate gradients, A being the Laplacian of a matrix's graph plus 1, and compares with a serial
// solve, and Aᵀ·x with b.
//   mpirun -n 4 conjugate_gradient [--partition block|metis] [--profile PROFILE] [MATRIX.mtx[.gz]]
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <commpass/commpass.hpp>
#include <commpass/predict.hpp>

namespace {

using commpass::Index;
using Vector = std::vector<double>;

/// Some rows of a sparse matrix. Columns are numbers of rows of A, or positions where a rank keeps their values.
struct Rows {
  std::vector<std::size_t> begin{0};  ///< of each row, and the end of the last
  std::vector<Index> column;
  Vector value;
};

/// The Laplacian plus 1 of the graph of A + Aᵀ: symmetric, and positive definite, whatever the values of A are.
Rows laplacian_plus_one(const commpass::CoordinateMatrix& matrix) {
  if (matrix.rows != matrix.columns) throw commpass::InputError("matrix", "it is not square", "use another one");
  std::vector<std::vector<Index>> neighbours(static_cast<std::size_t>(matrix.rows));
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    if (matrix.row[i] == matrix.column[i]) continue;
    neighbours[static_cast<std::size_t>(matrix.row[i])].push_back(matrix.column[i]);
    neighbours[static_cast<std::size_t>(matrix.column[i])].push_back(matrix.row[i]);
  }
  Rows rows;
  for (Index row = 0; row < matrix.rows; ++row) {
    auto& others = neighbours[static_cast<std::size_t>(row)];
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    rows.column.push_back(row);
    rows.value.push_back(static_cast<double>(others.size()) + 1);
    rows.column.insert(rows.column.end(), others.begin(), others.end());
    rows.value.resize(rows.column.size(), -1);
    rows.begin.push_back(rows.column.size());
  }
  return rows;
}

/// A·x for the rows that a rank has.
void multiply(const Rows& rows, const Vector& x, Vector& result) {
  for (std::size_t row = 0; row + 1 < rows.begin.size(); ++row) {
    double sum = 0;
    for (auto i = rows.begin[row]; i < rows.begin[row + 1]; ++i)
      sum += rows.value[i] * x[static_cast<std::size_t>(rows.column[i])];
    result[row] = sum;
  }
}

/// Contributions of the rows that a rank has to Aᵀ·x, by column.
void multiply_transposed(const Rows& rows, const Vector& x, Vector& result) {
  std::ranges::fill(result, 0.0);
  for (std::size_t row = 0; row + 1 < rows.begin.size(); ++row)
    for (auto i = rows.begin[row]; i < rows.begin[row + 1]; ++i)
      result[static_cast<std::size_t>(rows.column[i])] += rows.value[i] * x[row];
}

constexpr double tolerance = 1e-10;  // of the residual, relative to b

struct Solution {
  Vector x;
  int iterations = 0;
};

/// Conjugate gradients (Hestenes, Stiefel 1952).
Solution solve(const Vector& b, const std::function<void(const Vector&, Vector&)>& times_a,
               const std::function<double(const Vector&, const Vector&)>& dot) {
  constexpr int most_iterations = 1000;
  Solution solution{Vector(b.size()), 0};
  Vector residual = b, direction = b, product(b.size());
  double square = dot(residual, residual);
  const double enough = tolerance * tolerance * square;
  for (; square > enough && solution.iterations < most_iterations; ++solution.iterations) {
    times_a(direction, product);
    const double step = square / dot(direction, product);
    for (std::size_t i = 0; i < b.size(); ++i) {
      solution.x[i] += step * direction[i];
      residual[i] -= step * product[i];
    }
    const double before = square;
    square = dot(residual, residual);
    for (std::size_t i = 0; i < b.size(); ++i) direction[i] = residual[i] + square / before * direction[i];
  }
  return solution;
}

double local_dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

double right_hand_side(Index row) { return 1 + static_cast<double>(row % 17); }  // not smooth, or it would be too easy

/// The rows of a rank, with columns told by positions: its own values first, then the ghost values.
struct LocalPart {
  std::vector<Index> owned, needed;
  Rows rows;
};

LocalPart local_part(const Rows& all, const std::vector<commpass::Rank>& owner, commpass::Rank rank) {
  LocalPart part;
  std::map<Index, Index> position;
  for (std::size_t row = 0; row < owner.size(); ++row) {
    if (owner[row] != rank) continue;
    position[static_cast<Index>(row)] = std::ssize(part.owned);
    part.owned.push_back(static_cast<Index>(row));
  }
  for (const Index row : part.owned)
    for (auto i = all.begin[static_cast<std::size_t>(row)]; i < all.begin[static_cast<std::size_t>(row) + 1]; ++i)
      if (owner[static_cast<std::size_t>(all.column[i])] != rank) part.needed.push_back(all.column[i]);
  std::ranges::sort(part.needed);
  part.needed.erase(std::unique(part.needed.begin(), part.needed.end()), part.needed.end());
  for (const Index column : part.needed) position.emplace(column, std::ssize(position));
  for (const Index row : part.owned) {
    for (auto i = all.begin[static_cast<std::size_t>(row)]; i < all.begin[static_cast<std::size_t>(row) + 1]; ++i) {
      part.rows.column.push_back(position.at(all.column[i]));
      part.rows.value.push_back(all.value[i]);
    }
    part.rows.begin.push_back(part.rows.column.size());
  }
  return part;
}

struct Arguments {
  std::string partition = "block", profile, matrix = COMMPASS_EXAMPLE_MATRIX;  // no profile: COMMPASS_PROFILE
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--partition" && has_value) arguments.partition = argv[++i];
    else if (word == "--profile" && has_value) arguments.profile = argv[++i];
    else if (!word.starts_with("--")) arguments.matrix = word;
    else
      throw commpass::InputError(word, "no such switch, or it has no value",
                                 "use --partition block|metis, --profile PROFILE, and a matrix");
  }
  if (arguments.partition != "block" && arguments.partition != "metis")
    throw commpass::InputError("--partition", arguments.partition + " is none", "use block or metis");
  return arguments;
}

/// @return whether the solutions agree
bool run(const Arguments& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto matrix = commpass::read_matrix(arguments.matrix);
  const auto all = laplacian_plus_one(matrix);
  const bool is_block = arguments.partition == "block";
  const auto owner = is_block ? commpass::block_partition(matrix.rows, ranks)
                              : commpass::metis_partition(matrix, ranks, arguments.matrix);
  const auto part = local_part(all, owner, rank);
  const auto owned = part.owned.size();

  commpass::Communicator communicator(MPI_COMM_WORLD, arguments.profile);
  Vector x(owned + part.needed.size());  // what a rank multiplies with: its own values, then ghost values
  commpass::IndexedOptions options;
  options.ghost_values = x.data() + owned;
  options.reverse = true;
  const commpass::IndexRange range =
      is_block && owned > 0 ? commpass::IndexRange{part.owned.front(), part.owned.back() + 1} : commpass::IndexRange{};
  auto exchange = communicator.indexed_exchange(is_block ? commpass::OwnedBy(range) : commpass::OwnedBy(part.owned),
                                                part.needed, sizeof(double), options);

  const auto times_a = [&](const Vector& direction, Vector& product) {
    exchange.start_forward(direction.data(), x.data() + owned);
    std::ranges::copy(direction, x.begin());
    exchange.wait();
    multiply(part.rows, x, product);
  };
  const auto dot = [](const Vector& a, const Vector& b) {
    double sum = local_dot(a, b);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  Vector b;
  for (const Index row : part.owned) b.push_back(right_hand_side(row));
  const auto solution = solve(b, times_a, dot);

  // Aᵀ is A, so Aᵀ·x is b, too: columns of other ranks are added to theirs.
  Vector contributions(x.size());
  multiply_transposed(part.rows, solution.x, contributions);
  exchange.reverse_add(contributions.data() + owned, contributions.data());
  Vector error(b);
  for (std::size_t i = 0; i < owned; ++i) error[i] -= contributions[i];
  const double transposed_residual = std::sqrt(dot(error, error));

  // Every rank solves alone, too, and compares its part.
  Vector whole_b;
  for (Index row = 0; row < matrix.rows; ++row) whole_b.push_back(right_hand_side(row));
  const auto serial = solve(
      whole_b, [&](const Vector& direction, Vector& product) { multiply(all, direction, product); }, local_dot);
  double difference = 0;
  for (std::size_t i = 0; i < owned; ++i)
    difference = std::max(difference, std::abs(solution.x[i] - serial.x[static_cast<std::size_t>(part.owned[i])]));
  MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  auto received = exchange.received_bytes();
  MPI_Allreduce(MPI_IN_PLACE, &received, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);

  // No eigenvalue of A is below 1, so either solution is as exact as its residual is small.
  const double enough = 2 * tolerance * std::sqrt(local_dot(whole_b, whole_b));
  const bool is_right = difference <= enough && transposed_residual <= enough;
  if (rank == 0) {
    std::printf("%d ranks, partition %s: %d iterations (%d alone), largest difference to the serial solve %.1e: %s\n",
                ranks, arguments.partition.c_str(), solution.iterations, serial.iterations, difference,
                is_right ? "right" : "WRONG");
    std::printf("strategy %s%s, %lld bytes of values in an exchange", exchange.strategy().c_str(),
                exchange.shares_values() ? " with shared values" : "", static_cast<long long>(received));
    if (const auto seconds = exchange.predicted_seconds()) std::printf(", predicted %.2f us", *seconds * 1e6);
    std::printf("\ntransposed product: residual %.1e, strategy %s, sums %s\n", transposed_residual,
                exchange.reverse_strategy().c_str(), exchange.adds_on_the_way() ? "on the way" : "by owners");
  }
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    code = run(parse(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {  // the same on every rank
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
