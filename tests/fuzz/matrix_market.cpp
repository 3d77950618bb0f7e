// Matrix Market text, and the pattern of a matrix that is accepted.
#include "fuzz/fuzz.hpp"
#include "model/pattern/matrix_file.hpp"
#include "model/pattern/matrix_pattern.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto matrix = parse_matrix(fuzz::text_of(data, size), "fuzz.mtx");
    constexpr std::int64_t few_rows = 1000;  // a forged size line may promise millions, which is legal and slow
    if (matrix.rows > few_rows) return;
    constexpr int ranks = 3;
    constexpr Bytes value_bytes = 8;
    matrix_pattern(matrix, block_partition(matrix.rows, ranks), ranks, value_bytes, "fuzz.mtx").validate("fuzz.mtx");
  });
}
