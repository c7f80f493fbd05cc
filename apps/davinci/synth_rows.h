// davinci synth rows.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace davinci::app {

void AddSynthRows(CLI::App* synth, int* exit_code);

}  // namespace davinci::app
