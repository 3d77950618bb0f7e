#include "selector/commands/preloaded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "selector/commands/needed_libraries.hpp"

namespace commpass {
namespace {

using Words = std::vector<std::string>;
const std::vector<std::pair<std::string, std::string>> on{{"COMMPASS_MPI", "on"}};

TEST(Preloading, LeavesTheLauncherAlone) {
  const auto open_mpi = preload({"mpirun", "-n", "2", "./a"}, MpiKind::open_mpi, "/l.so", on, {"COMMPASS_LAYOUT"});
  EXPECT_EQ(open_mpi.words, (Words{"mpirun", "-x", "LD_PRELOAD=/l.so", "-x", "COMMPASS_MPI", "-x", "COMMPASS_LAYOUT",
                                   "-n", "2", "./a"}));
  EXPECT_EQ(open_mpi.variables, on) << "which -x passes on";
  const auto mpich = preload({"env", "A=1", "/usr/bin/mpiexec.mpich", "./a"}, MpiKind::mpich, "/l.so", on, {});
  EXPECT_EQ(mpich.words, (Words{"env", "A=1", "/usr/bin/mpiexec.mpich", "-genv", "LD_PRELOAD", "/l.so", "./a"}));
  EXPECT_EQ(mpich.variables, on);
}

TEST(Preloading, ReachesAllProgramsOfALaunch) {
  const Words words{"mpirun", "-n", "1", "./a", ":", "-n", "2", "./b", "x:y"};
  EXPECT_EQ(preload(words, MpiKind::open_mpi, "/l.so", {}, {}).words,
            (Words{"mpirun", "-x", "LD_PRELOAD=/l.so", "-n", "1", "./a", ":", "-x", "LD_PRELOAD=/l.so", "-n", "2",
                   "./b", "x:y"}));
  EXPECT_EQ(preload(words, MpiKind::mpich, "/l.so", {}, {}).words,
            (Words{"mpirun", "-genv", "LD_PRELOAD", "/l.so", "-n", "1", "./a", ":", "-n", "2", "./b", "x:y"}));
}

TEST(Launchers, AreFoundBehindProgramsThatStartThem) {
  EXPECT_EQ(find_launcher({"mpirun", "mpirun"}), 0U);
  for (const auto& before : std::vector<Words>{{"env"},
                                               {"/usr/bin/env", "-u", "A", "-i", "B=1", "C="},
                                               {"time", "-f", "%e"},
                                               {"timeout", "-k", "5", "--signal=KILL", "10s"},
                                               {"nice", "-n", "19"},
                                               {"nice", "-19"},
                                               {"numactl", "--cpunodebind=0", "-m", "0"},
                                               {"taskset", "-c", "0-3"},
                                               {"nohup", "env", "A=1", "timeout", "10"}}) {
    auto words = before;
    words.insert(words.end(), {"/opt/bin/mpiexec", "-n", "2", "./a"});
    EXPECT_EQ(find_launcher(words), before.size()) << before.back();
  }
  for (const auto& words :
       std::vector<Words>{{}, {"env"}, {"timeout", "-k"}, {"srun", "mpirun"}, {"env", "./a", "mpirun"}})
    EXPECT_EQ(find_launcher(words), words.size());
}

TEST(Preloading, GoesByTheEnvironmentElsewhere) {
  for (const auto& words : {Words{"srun", "./a"}, Words{"./a", "mpirun.txt"}, Words{"./a", "mpirun"}}) {
    const auto line = preload(words, MpiKind::open_mpi, "/l.so", on, {});
    EXPECT_EQ(line.words, words);
    ASSERT_EQ(line.variables.size(), 2U);
    EXPECT_EQ(line.variables[1], (std::pair<std::string, std::string>{"LD_PRELOAD", "/l.so"}));
  }
}

TEST(NeededLibraries, AreThoseOfAProgram) {
  std::ifstream own("/proc/self/exe", std::ios::binary);
  const auto found = needed_libraries(own);
  EXPECT_TRUE(std::ranges::any_of(found, [](const auto& name) { return name.starts_with("libc.so"); }));
}

TEST(NeededLibraries, AreNoneOfOtherFiles) {
  std::ifstream own("/proc/self/exe", std::ios::binary);
  std::string contents(std::size_t{1} << 12, '\0');
  own.read(contents.data(), static_cast<std::streamsize>(contents.size()));
  for (const auto& text : {std::string(), std::string("#!/bin/sh\n"), contents.substr(0, 70), contents}) {
    std::istringstream file(text);
    EXPECT_TRUE(needed_libraries(file).empty());
  }
  EXPECT_FALSE(is_any_linked_with_abi(Words{"-n", "4", "sh", "/", "/none", "/proc/self/exe"}));
}

TEST(MpiKinds, AreToldApart) {
  EXPECT_EQ(kind_of_launcher("mpirun (Open MPI) 4.1.4"), MpiKind::open_mpi);
  EXPECT_EQ(kind_of_launcher("mpiexec (OpenRTE) 4.1.4"), MpiKind::open_mpi);
  EXPECT_EQ(kind_of_launcher("HYDRA build details:\n    Version: 4.0.2"), MpiKind::mpich);
  EXPECT_EQ(kind_of_launcher("slurm-wlm 22.05.8"), MpiKind::unknown);
  EXPECT_EQ(kind_of_library("\x7f"
                            "ELF libmpi.so.40"),
            MpiKind::open_mpi);
  EXPECT_EQ(kind_of_library("\x7f"
                            "ELF libmpich.so.12"),
            MpiKind::mpich);
  EXPECT_EQ(kind_of_library("\x7f"
                            "ELF libmpi.so.12"),
            MpiKind::mpich);
  EXPECT_EQ(kind_of_library("\x7f"
                            "ELF libc.so.6"),
            MpiKind::unknown);
}

}  // namespace
}  // namespace commpass
