// Which generated tasks a subcommand of davinci synth works on.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::app {

struct SampleFlags {
  size_t count = 100;
  std::string split = "train";
  uint64_t seed = 0;
  std::string pattern;
  double mixed = 0;
  double least_elements = 0;
  size_t most_operators = 0;
  std::string grammar;
  int threads = 0;  // 0: all cores
};

// --count, --split, --seed, --pattern, --mixed, --least-elements, --most-operators, --grammar,
// --threads.
void AddSampleFlags(CLI::App* command, SampleFlags* flags);
// --grammar, else synth/ of the installation.
Result<std::filesystem::path> GrammarFolder(const SampleFlags& flags);
Result<synth::SampleOptions> SampleOptionsOf(const SampleFlags& flags);
// The rules of --without, by their names or those of their skills. InvalidArgument: no rule has a
// name.
Result<teacher::RuleSet> RulesNamed(const std::vector<std::string>& names);

}  // namespace davinci::app
