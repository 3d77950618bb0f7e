// Counts the calls of MPI by which ranks tell each other something. Link collectives.cpp into one test program.
#pragma once

namespace commpass::test {

struct Calls {
  int small = 0;          ///< collectives that wait for all ranks and carry little
  int counting = 0;       ///< those with a number for each rank
  int communicators = 0;  ///< that were made
  int messages = 0;       ///< not those of persistent requests
  int collectives() const { return small + counting + communicators; }
  bool operator==(const Calls&) const = default;
  Calls since(const Calls& before) const {
    return {small - before.small, counting - before.counting, communicators - before.communicators,
            messages - before.messages};
  }
  void add(const Calls& more) {
    small += more.small;
    counting += more.counting;
    communicators += more.communicators;
    messages += more.messages;
  }
};

/// Those of this process since it was set.
extern Calls counted;

}  // namespace commpass::test
