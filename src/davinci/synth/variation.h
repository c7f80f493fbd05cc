// Rewrites a task and its answer as other people would have written them around the same code:
// texts of docstrings and comments, text before and behind the code, names of attributes, buffers
// and forward's arguments, imports, line breaks, the order of functions. The task and the answer
// change alike. Pure: the same texts and seed give the same texts.
#pragma once

#include <cstdint>
#include <string>

#include "davinci/synth/wording.h"

namespace davinci::synth {

struct PairText {
  std::string task, sidecar, answer;
  std::string entry = "Model";
  std::string steps = {};  // what forward computes, with its arguments and attributes; may be ""
};

PairText Varied(const Corpus& corpus, PairText pair, uint64_t seed);

// The same for a task whose answer is yet to be written.
PairText VariedTask(const Corpus& corpus, PairText task, uint64_t seed);

}  // namespace davinci::synth
