// Declares Json, for headers that only name it.
#pragma once

namespace commpass {

class Json;

}  // namespace commpass
