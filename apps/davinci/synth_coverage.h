// davinci synth coverage: the share of generated tasks for which the teacher writes kernels.
#pragma once

#include <CLI/CLI.hpp>

namespace davinci::app {

void AddSynthCoverage(CLI::App* synth, int* exit_code);

}  // namespace davinci::app
