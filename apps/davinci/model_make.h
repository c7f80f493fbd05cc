// davinci model tokenizer, davinci model new: what a model begins with.
#pragma once

#include <CLI/CLI.hpp>

namespace davinci::app {

void AddModelMakers(CLI::App* model, int* exit_code);

}  // namespace davinci::app
