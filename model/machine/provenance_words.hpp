// Words of provenances that earlier versions wrote.
#pragma once

#include "model/base/json_fwd.hpp"

namespace commpass {

/// Puts the words of schema 3 in the place of those before it, in `fits` and `sharing`: `locality` is called `level`,
/// and rates by their parameters, such as `injection` by `levels.node.up_rate_bytes_per_s`. Leaves what it does not
/// know.
void rename_provenance(Json& provenance);

}  // namespace commpass
