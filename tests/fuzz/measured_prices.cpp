// What `measure --json` printed, and other JSON: at least one price, each above 0, which can be drawn.
#include "fuzz/fuzz.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/svg.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto prices = read_measured_prices(fuzz::text_of(data, size), "file");
    fuzz::expect(!prices.empty());
    for (const auto& price : prices) fuzz::expect(price.predicted_s > 0 && price.measured_s > 0);
    svg_document(draw_measured(prices));
  });
}
