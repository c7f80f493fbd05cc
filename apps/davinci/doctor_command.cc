#include "commands.h"

namespace davinci::app {
void AddDoctorCommand(CLI::App&, GlobalOptions&, int*) {}
}  // namespace davinci::app
