// The communication matrix: who sends how many bytes to whom, in the pattern and in each stage.
#pragma once

#include "pictures/exchange_view.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// One bitmap for the pattern, of at most 512 × 512 cells, and one for each stage, of at most 256 × 256; darker: more
/// bytes, on a logarithmic scale that all share.
Picture draw_matrices(const ExchangeView& view, const std::string& id = "matrix");

}  // namespace commpass
