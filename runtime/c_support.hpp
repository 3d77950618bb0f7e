// What the functions of the C interface share. Private to the runtime.
#pragma once

#include <span>
#include <string>

#include "commpass/commpass.h"
#include "model/base/error.hpp"
#include "runtime/engines.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

struct commpass_comm_state {
  commpass::Engines engines;
};

namespace commpass::c {

/// More came than there is room for.
class Truncated : public InputError {
  using InputError::InputError;
};

/// The sentence about the last error of this thread.
const char* error_text();
/// Keeps it. @return the code
int keep_error(int code, std::string sentence);

/// Runs an action; what it throws becomes a code and a sentence.
template <class Action>
int guarded(Action action) {
  try {
    action();
    return COMMPASS_SUCCESS;
  } catch (const Truncated& error) {
    return keep_error(COMMPASS_ERROR_TRUNCATED, error.what());
  } catch (const MpiError& error) {
    return keep_error(COMMPASS_ERROR_MPI, error.what());
  } catch (const Error& error) {
    return keep_error(COMMPASS_ERROR_INPUT, error.what());
  } catch (const std::exception& error) {
    return keep_error(COMMPASS_ERROR_OTHER, sentence_of(error));
  }
}

/// The value of a key; empty: it has none. @throws MpiError
std::string value_of(MPI_Info info, const char* key);

/// @throws InputError
[[noreturn]] void refuse_no_communicator();
/// @throws InputError for NULL
inline Engines& require_engines(commpass_comm comm) {
  if (!comm) refuse_no_communicator();
  return comm->engines;
}
/// To be kept while a function uses it. @throws as require_engines, OneThread::use
inline OneThread::Use require_communicator(commpass_comm comm) { return require_engines(comm).caller.use(); }

/// A list of a call; empty where it is NULL: then it is too short.
template <class Item>
std::span<const Item> list(const Item* items, int size) {
  if (!items || size < 0) return {};
  return {items, static_cast<std::size_t>(size)};
}

/// The ranks of a communicator; 0 for none, which the call then refuses.
inline int ranks_of(commpass_comm comm) { return comm ? comm->engines.context->layout.ranks() : 0; }

/// @throws InputError if a list that is not empty is NULL
void require_list(const char* place, const void* list, int length, const char* what);

}  // namespace commpass::c
