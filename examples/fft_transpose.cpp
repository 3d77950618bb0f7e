// The Fourier transform of N = R·C numbers by two ragged transposes, each an all-to-all: once with MPI_Alltoallv, once
// with Commpass, and compared with the sum that defines it.
//   mpirun -n 4 fft_transpose [PROFILE]
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <exception>
#include <functional>
#include <numbers>
#include <vector>

#include <commpass/commpass.hpp>

namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

int rank, ranks;

/// Rows of a matrix, shared out in slabs of the same height as far as they go: the last ranks may have fewer or none.
struct Slabs {
  int rows, height;

  explicit Slabs(int all_rows) : rows(all_rows), height((all_rows + ranks - 1) / ranks) {}
  int begin(int of) const { return std::min(rows, of * height); }
  int count(int of) const { return begin(of + 1) - begin(of); }
};

using AllToAllV =
    std::function<void(const Numbers& sent, const std::vector<int>& send_counts, const std::vector<int>& send_at,
                       Numbers& received, const std::vector<int>& receive_counts, const std::vector<int>& receive_at)>;

std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places;
  int end = 0;
  for (const int count : counts) {
    places.push_back(end);
    end += count;
  }
  return places;
}

/// A rank has some rows of a matrix, and gets some of its columns, as rows.
Numbers transpose(const Numbers& mine, const Slabs& rows, const Slabs& columns, const AllToAllV& alltoallv) {
  std::vector<int> send_counts, receive_counts;
  Numbers sent, received(static_cast<std::size_t>(columns.count(rank)) * static_cast<std::size_t>(rows.rows)),
      result(received.size());
  for (int other = 0; other < ranks; ++other) {
    send_counts.push_back(rows.count(rank) * columns.count(other));
    receive_counts.push_back(rows.count(other) * columns.count(rank));
    for (int row = 0; row < rows.count(rank); ++row)
      for (int column = columns.begin(other); column < columns.begin(other + 1); ++column)
        sent.push_back(mine[static_cast<std::size_t>(row * columns.rows + column)]);
  }
  alltoallv(sent, send_counts, places_of(send_counts), received, receive_counts, places_of(receive_counts));
  auto next = received.begin();
  for (int row = 0; row < rows.rows; ++row)  // sources have them in order
    for (int column = 0; column < columns.count(rank); ++column)
      result[static_cast<std::size_t>(column * rows.rows + row)] = *next++;
  return result;
}

/// e^(−2πi·k/n)
Complex root(long long k, long long n) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

/// The transform of each row, by its sum: they are short.
void transform_rows(Numbers& matrix, int length) {
  Numbers row(static_cast<std::size_t>(length));
  for (auto begin = matrix.begin(); begin != matrix.end(); begin += length) {
    for (int k = 0; k < length; ++k) {
      row[static_cast<std::size_t>(k)] = 0;
      for (int n = 0; n < length; ++n) row[static_cast<std::size_t>(k)] += begin[n] * root(1LL * n * k, length);
    }
    std::ranges::copy(row, begin);
  }
}

Complex number(int index) {
  return {static_cast<double>(index * 7 % 23) - 11, static_cast<double>(index * 5 % 17) - 8};
}

/// With n = C·n₁ + n₂ and k = k₁ + R·k₂: transforms over n₁, factors e^(−2πi·n₂·k₁/N), transforms over n₂.
/// @return for each k₁ of this rank, all k₂
Numbers transform(const Slabs& rows, const Slabs& columns, const AllToAllV& alltoallv) {
  const int count = rows.rows * columns.rows;
  Numbers mine;
  for (int i = rows.begin(rank) * columns.rows; i < rows.begin(rank + 1) * columns.rows; ++i) mine.push_back(number(i));
  auto by_column = transpose(mine, rows, columns, alltoallv);
  transform_rows(by_column, rows.rows);
  for (int column = 0; column < columns.count(rank); ++column)
    for (int k = 0; k < rows.rows; ++k)
      by_column[static_cast<std::size_t>(column * rows.rows + k)] *=
          root(1LL * (columns.begin(rank) + column) * k, count);
  auto by_row = transpose(by_column, columns, rows, alltoallv);
  transform_rows(by_row, columns.rows);
  return by_row;
}

/// @return the largest difference to the sum that defines the transform
double error_of(const Numbers& result, const Slabs& rows, const Slabs& columns) {
  const int count = rows.rows * columns.rows;
  Numbers roots;
  for (int k = 0; k < count; ++k) roots.push_back(root(k, count));
  double error = 0;
  for (int row = 0; row < rows.count(rank); ++row)
    for (int k2 = 0; k2 < columns.rows; ++k2) {
      const long long k = rows.begin(rank) + row + 1LL * rows.rows * k2;
      Complex sum = 0;
      for (int n = 0; n < count; ++n) sum += number(n) * roots[static_cast<std::size_t>(n * k % count)];
      error = std::max(error, std::abs(sum - result[static_cast<std::size_t>(row * columns.rows + k2)]));
    }
  return error;
}

bool run(commpass::Communicator& communicator, int row_count, int column_count) {
  const Slabs rows(row_count), columns(column_count);
  const auto with_mpi = transform(rows, columns,
                                  [](const Numbers& sent, const auto& send_counts, const auto& send_at,
                                     Numbers& received, const auto& receive_counts, const auto& receive_at) {
                                    MPI_Alltoallv(sent.data(), send_counts.data(), send_at.data(),
                                                  MPI_CXX_DOUBLE_COMPLEX, received.data(), receive_counts.data(),
                                                  receive_at.data(), MPI_CXX_DOUBLE_COMPLEX, MPI_COMM_WORLD);
                                  });
  const auto with_commpass =
      transform(rows, columns,
                [&](const Numbers& sent, const auto& send_counts, const auto& send_at, Numbers& received,
                    const auto& receive_counts, const auto& receive_at) {
                  communicator.alltoallv(sent.data(), send_counts, send_at, MPI_CXX_DOUBLE_COMPLEX, received.data(),
                                         receive_counts, receive_at, MPI_CXX_DOUBLE_COMPLEX);
                });
  const int count = row_count * column_count;
  double error = error_of(with_commpass, rows, columns);
  int differs = with_mpi != with_commpass;
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const bool is_right = error < 1e-11 * count && !differs;
  if (rank == 0)
    std::printf("%d x %d = %d numbers on %d ranks with %s: largest error %.1e, %s MPI_Alltoallv gives: %s\n", row_count,
                column_count, count, ranks, communicator.last_alltoallv_strategy().c_str(), error,
                differs ? "not what" : "and what", is_right ? "right" : "WRONG");
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 1;
  try {
    commpass::Communicator communicator(MPI_COMM_WORLD, argc > 1 ? argv[1] : "");  // "" means COMMPASS_PROFILE
    // The problem sizes of the TuNA paper §VI-A: N1 leaves ranks without work, N2 gives the last one less.
    const int workers = (5 * ranks + 7) / 8, filled = (25 * ranks + 31) / 32;
    const bool first = run(communicator, workers, 8 * filled), second = run(communicator, (ranks - 1) * 32 + 8, ranks);
    code = first && second ? 0 : 1;
  } catch (const std::exception& error) {  // the same on every rank
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
