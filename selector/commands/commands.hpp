// The commands of the front door that need no MPI. Each adds itself to the application and returns what it does.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace commpass {

void add_predict(CLI::App& app, std::function<void()>& command);
void add_pattern(CLI::App& app, std::function<void()>& command);
/// run and record.
void add_run(CLI::App& app, std::function<void()>& command);
void add_advise(CLI::App& app, std::function<void()>& command);
void add_profile(CLI::App& app, std::function<void()>& command);
void add_catalogues(CLI::App& app, std::function<void()>& command);
void add_wisdom_command(CLI::App& app, std::function<void()>& command);
/// To be added last: it knows the commands that are there.
void add_completion(CLI::App& app, std::function<void()>& command);

}  // namespace commpass
