// The timeline: the activities of ranks over the time of a predicted exchange.
#pragma once

#include <string>

#include "pictures/exchange_view.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// Rows of sampled ranks: those on the critical path, which is drawn in bold, and evenly spaced others.
Picture draw_timeline(const ExchangeView& view, const Trace& trace, const std::string& id = "timeline");

/// The activities of all ranks for Perfetto and chrome://tracing (Trace Event Format, JSON object): a process for each
/// node, a thread for each rank, microseconds.
std::string chrome_trace(const ExchangeView& view, const Trace& trace);

}  // namespace commpass
