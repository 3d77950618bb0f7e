#include "preload/record_file.hpp"

#include <cstdio>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "preload/gathered_record.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "selector/report/place_report.hpp"

namespace commpass {

namespace {

/// Collective. Failures are told on rank 0, since all ranks have the same to say.
template <class Write>
void write_together(MPI_Comm world, const char* what, Write write) noexcept {
  try {
    write(OwnCommunicator::split(world, 0));  // a duplicate would run the program's callbacks
  } catch (const std::exception& error) {
    int rank = 0;
    PMPI_Comm_rank(world, &rank);
    if (rank == 0) std::fprintf(stderr, "commpass: the %s is lost: %s\n", what, sentence_of(error).c_str());
  }
}

}  // namespace

void write_record_file(MPI_Comm world, const std::string& path) noexcept {
  write_together(world, "record", [&](const OwnCommunicator& own) {
    const auto gathered = gather_record(own);
    if (own.rank() == 0) write_file(path, to_json(gathered.record));
  });
}

void write_place_report(MPI_Comm world, const std::string& target) noexcept {
  write_together(world, "report by places", [&](const OwnCommunicator& own) {
    int is_table = target == "-" ? 1 : 0;
    PMPI_Bcast(&is_table, 1, MPI_INT, 0, own.get());
    if (is_table && !has_record(own)) return;  // an empty table is not printed, and a context reads a profile
    const auto context = make_context(own.get(), "", nullptr);
    const auto gathered = gather_record(own);
    if (own.rank() != 0) return;
    const auto& record = gathered.record;
    const auto* const machine = context->unpriced.empty() ? &context->machine : nullptr;
    auto report = report_places(record, gathered.ran, context->layout, machine, context->unpriced);
    report.calls_overlap = gathered.calls_overlap;
    report.are_sampled = gathered.are_sampled;
    const auto document = document_of(record, report);
    if (is_table) std::fputs(document.write(Form::text).c_str(), stderr);
    else write_file(target, document.write(Form::json));
  });
}

}  // namespace commpass
