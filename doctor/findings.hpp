// What the facts of a machine mean for measuring on it: one line for each, with its remedy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/host.hpp"
#include "model/machine/late_messages.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/pace.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/profile_origin.hpp"
#include "selector/choose/unnamed_profile.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// What one rank tells.
struct RankFacts {
  std::vector<int> cpus;  ///< on which it may run; empty: not told
  Noise noise;
  double others = 0;         ///< processors that other programs kept busy on its host meanwhile
  bool saves_power = false;  ///< the frequency is not held high
};

/// May a rank read the memory of another one on its host?
enum class SingleCopies { not_tried, allowed, refused };

struct MpiFacts {
  std::string library;                                        ///< name and version
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the library's transport, as it tells them
  int thread_level = 0;                                       ///< MPI_THREAD_…, in the order that MPI gives them
  int launched_ranks = 0;                                     ///< that the launcher's environment tells; 0: none
  std::string launcher;                                       ///< the variable that tells it
  int launched_rank = 0;                                      ///< of this process, as the launcher counts
  std::optional<bool> takes_device_memory;                    ///< nothing: the library cannot be asked
  SingleCopies single_copies = SingleCopies::not_tried;
};

/// What rank 0 sees of devices.
struct DeviceFacts {
  std::string kind;                ///< "CUDA", "HIP"; empty: there are none
  std::vector<std::string> names;  ///< of their models
  std::string trouble;             ///< why many pieces are not copied by one kernel, in a sentence; empty: they are
};

struct ProfileFacts {
  ProfileChoice choice = ProfileChoice::named;  ///< by COMMPASS_PROFILE, or else by the search
  std::string name;
  std::string json{};     ///< itself; empty: it cannot be read
  std::string problem{};  ///< why it cannot be read
  std::optional<double> age_days;
  std::string verdict;       ///< in a word or two; empty: none
  std::string warning;       ///< it does not belong here, or is not to be trusted
  std::vector<Pace> pace{};  ///< of small messages when it was measured
};

/// Messages in flight to other nodes that were tried.
struct FlightFacts {
  int messages = 0;                    ///< of each rank at most; 0: there is one node
  std::optional<LateMessages> late{};  ///< nothing: all came in time
};

struct Facts {
  Host host;  ///< of rank 0
  Layout layout;
  std::vector<RankFacts> ranks;  ///< of the layout
  MpiFacts mpi;
  DeviceFacts devices;
  ProfileFacts profile;
  Seconds clock_resolution = 0;
  std::vector<Pace> paces{};  ///< of lone messages of rank 0; empty: it is alone
  FlightFacts flight{};
  std::optional<LargeBlocks> large_blocks{};  ///< nothing: not timed
};

enum class State { good, attention, stop };

struct Finding {
  std::string subject;
  State state = State::good;
  std::string text;
  std::string remedy;  ///< empty where nothing is wrong
};

std::vector<Finding> judge(const Facts& facts);

/// Nothing says stop.
bool may_measure(const std::vector<Finding>& findings);

/// Nodes, sockets and ranks: a line for each node, like nodes together.
std::string picture(const Layout& layout);

Document document_of(const std::vector<Finding>& findings, const Layout& layout);

/// @param here  this machine
/// @param runs  with the names of the hosts
ProfileFacts examine_profile(const Fingerprint& here, const Layout& layout, const Surroundings& runs);

}  // namespace commpass
