// Rewrites a task and its answer as other people would have written them around the same code:
// texts of docstrings and comments, text before and behind the code, names of attributes, buffers
// and forward's arguments, imports, line breaks, the order of functions. The task and the answer
// change alike. Pure: the same texts and seed give the same texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::synth {

// Lists of synth/corpus.toml.
struct Corpus {
  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::string> words;  // of all lists, each once
};
Result<Corpus> LoadCorpus(const std::filesystem::path& folder);

struct PairText {
  std::string task, sidecar, answer;
  std::string entry = "Model";
};

PairText Varied(const Corpus& corpus, PairText pair, uint64_t seed);

}  // namespace davinci::synth
