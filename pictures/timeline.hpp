// The timeline: what ranks do when in a predicted exchange.
#pragma once

#include <string>

#include "pictures/exchange_view.hpp"
#include "pictures/picture.hpp"

namespace commpass {

/// Rows of some ranks: those on the critical way, which is marked, and others spread over the machine.
Picture draw_timeline(const ExchangeView& view, const Trace& trace, const std::string& id = "timeline");

/// All of it for Perfetto and chrome://tracing (Trace Event Format, JSON object): a process for each node, a thread for
/// each rank, microseconds.
std::string chrome_trace(const ExchangeView& view, const Trace& trace);

}  // namespace commpass
