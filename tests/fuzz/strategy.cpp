// Strategy texts: an accepted one prints in a form that is read as the same strategy, and has a route or says why not.
// The same text may be that of a sparse exchange.
#include "model/route/strategy.hpp"

#include "fuzz/fuzz.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  fuzz::accept_or_refuse([&] {
    const auto strategy = parse_sparse_strategy(fuzz::text_of(data, size));
    fuzz::expect(parse_sparse_strategy(to_string(strategy)) == strategy);
  });
  return fuzz::accept_or_refuse([&] {
    const auto strategy = parse_strategy(fuzz::text_of(data, size));
    fuzz::expect(parse_strategy(to_string(strategy)) == strategy);
    static const auto layout = Layout::regular(3, 2, 2);
    make_route(strategy, layout);
  });
}
