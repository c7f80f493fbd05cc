// davinci synth demos: generated tasks with the kernels that the teacher writes for them.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace davinci::app {

void AddSynthDemos(CLI::App* synth, GlobalOptions& global, int* exit_code);

}  // namespace davinci::app
