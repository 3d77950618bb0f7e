// The findings of a report in at most five lines, for the box on top of its page.
#pragma once

#include <string>

#include "model/machine/machine.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/document.hpp"
#include "selector/report/report.hpp"

namespace commpass {

/// The exchange; the choice, and its predicted time beside that of MPI's own call; the uncertainty; the largest parts
/// of the critical path; the next command.
/// @param measure  the command that times the exchange, without strategies
Document::Summary summarize(const Report& report, const Machine& machine, const std::string& measure);

/// The run; its predicted savings on the first machine; the call with the largest savings; the next command.
/// @param advice  with calls and a machine
Document::Summary summarize(const Advice& advice);

}  // namespace commpass
