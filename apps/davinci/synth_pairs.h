// davinci synth pairs: rows of fine-tuning in any number, from all cores.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace davinci::app {

void AddSynthPairs(CLI::App* synth, GlobalOptions& global, int* exit_code);

}  // namespace davinci::app
