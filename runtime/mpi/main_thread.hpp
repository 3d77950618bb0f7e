// Which thread may call MPI where only one may.
#pragma once

namespace commpass {

/// Did this thread initialise MPI? @throws MpiError
bool is_main_thread();

}  // namespace commpass
