// Communication matrices: bytes by sender and receiver, of the pattern and of each stage.
#pragma once

#include "pictures/exchange_view.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// A bitmap of at most 512 × 512 cells for the pattern, and one of at most 256 × 256 for each stage. Darker cells have
/// more bytes; all bitmaps share a logarithmic scale.
Picture draw_matrices(const ExchangeView& view, const std::string& id = "matrix");

}  // namespace commpass
