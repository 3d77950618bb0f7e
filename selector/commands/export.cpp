// commpass export: files that MPI libraries read, made of a profile.
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_origin.hpp"
#include "selector/choose/tuning.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/prediction.hpp"
#include "selector/report/tuning_files.hpp"

namespace commpass {

namespace {

struct ExportArguments {
  std::string open_mpi, mpich, mpich_library;
  int ranks = 0;
  SelectionArguments selection;

  /// The layout of --ranks and --ppn, of --layout, or of the environment.
  /// @throws InputError
  Layout find_layout(const Environment& environment) const {
    const auto& text = selection.layout.layout.empty() ? environment.layout.value_or("") : selection.layout.layout;
    if (ranks > 0) return required_layout(selection.layout, ranks, environment);
    if (selection.layout.ppn == 0 && !text.empty())
      return required_layout(selection.layout, ranks_of_layout(text), environment);
    throw InputError("export", "it is not known how many ranks there are", "add --layout, or --ranks and --ppn");
  }
};

/// The library whose rules are written: the profile's, if it is of this kind.
std::string library_of(const Machine& machine, const std::string& kind) {
  const auto rules = describe_rules_of(machine.mpi_library);
  return has_known_rules(machine.mpi_library) && rules.starts_with(kind) ? machine.mpi_library : kind;
}

void print(const Tuning& tuning, const ReportContext& context, const std::string& file, const std::string& use,
           const OutputFormat& format) {
  auto document = document_of(tuning, context);
  document.fact("file", file);
  document.paragraph(fmt::format("\n{} is written. Use it with\n", file));
  document.text(fmt::format("  {}\n", use));
  format.print(document);
}

void run_export(const ExportArguments& arguments) {
  const auto& selection = arguments.selection;
  for (const auto& output : {arguments.open_mpi, arguments.mpich}) {
    if (output.empty()) continue;
    refuse_standard_output(output);
    check_writable(output);
  }
  check_apart({selection.profile, arguments.mpich_library}, {arguments.open_mpi, arguments.mpich});
  const auto environment = read_environment();
  const auto profile = selection.load_profile(environment);
  const auto& machine = profile.machine;
  const auto layout = arguments.find_layout(environment);
  selection.layout.warn_uneven(layout.ranks());
  if (const auto warning = use_warning(profile, {.ranks_per_node = layout.max_ppn()}); !warning.empty())
    std::fputs(wrap_lines("commpass: " + warning + "\n").c_str(), stderr);
  ReportContext context{{"profile", machine.name}, {"layout", layout.describe()}};
  if (!machine.mpi_library.empty()) context.emplace_back("measured with", machine.mpi_library);
  selection.add_settings(context);
  if (!arguments.open_mpi.empty()) {
    const auto tuning = find_tuning(library_of(machine, "Open MPI"), layout, machine);
    write_file(arguments.open_mpi, open_mpi_rules(tuning, context));
    print(tuning, context, arguments.open_mpi,
          "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename " + arguments.open_mpi,
          selection.format);
  } else {
    const auto own = mpich_own_rules(read_file(arguments.mpich_library), arguments.mpich_library);
    const auto tuning = find_tuning(library_of(machine, "MPICH"), layout, machine);
    write_file(arguments.mpich, mpich_rules(tuning, own, context));
    print(tuning, context, arguments.mpich, "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + arguments.mpich,
          selection.format);
  }
}

}  // namespace

Command export_command() {
  auto arguments = std::make_shared<ExportArguments>();
  auto& selection = arguments->selection;
  Command command{"export", "write the choice of algorithms of a profile as a file that an MPI library reads"};
  command.groups.push_back({"FILE",
                            "the file to write: one of",
                            1,
                            1,
                            {{"--openmpi", &arguments->open_mpi,
                              "dynamic rules of Open MPI's coll/tuned, for MPI_Alltoall and MPI_Alltoallv"},
                             {"--mpich",
                              &arguments->mpich,
                              "MPICH's selection of collectives, with rules of MPI_Alltoall",
                              {.needs = {"--mpich-library"}}}}});
  command.add({{"--mpich-library",
                &arguments->mpich_library,
                "libmpich.so, or its rules in JSON: those of other collectives are taken from it",
                {.needs = {"--mpich"}}},
               profile_switch(&selection.profile, " (default: the one that was measured on this machine)"),
               {"--set", &selection.settings,
                "KEY=VALUE or KEY*FACTOR: another value of a parameter of 'commpass profile parameters'; may be "
                "repeated"},
               {"--ranks", &arguments->ranks, "ranks of the largest communicator", {.checks = {positive()}}}});
  selection.layout.add_to(command);
  selection.format.add_to(command);
  command.run = [arguments] { run_export(*arguments); };
  return command;
}

}  // namespace commpass
