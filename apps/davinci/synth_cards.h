// davinci synth cards: operator cards (teacher/cards/card.h) as a library of skills.
#pragma once

#include <CLI/CLI.hpp>

#include "commands.h"

namespace davinci::app {

void AddSynthCards(CLI::App* synth, GlobalOptions& global, int* exit_code);

}  // namespace davinci::app
