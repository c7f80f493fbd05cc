#include "synth_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "installation.h"

namespace davinci::app {

void AddSampleFlags(CLI::App* command, SampleFlags* flags) {
  command->add_option("--count", flags->count, "tasks (default 100)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--split", flags->split,
                      "train (default); held out by operator combination, family or style: "
                      "combination, family, style; or reinforcement: other combinations, for "
                      "training after the supervised one");
  command->add_option("--seed", flags->seed, "the same seed gives the same tasks (default 0)");
  command->add_option("--pattern", flags->pattern, "one pattern of the grammar alone");
  command
      ->add_option("--mixed", flags->mixed,
                   "share of tasks with operators in nearly any order (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--least-elements", flags->least_elements,
                   "least number of elements of all tensors of a call under the cuda sizes: of "
                   "small ones the host's pace decides the time, and 1.5e8 elements are read and "
                   "written in 0.3 ms at 4 TB/s (default 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--most-operators", flags->most_operators,
                      "most operators of a task; views do not count (default: any number)");
  command->add_option("--grammar", flags->grammar, "grammar folder (default: synth/)");
  command->add_option("--threads", flags->threads, "default: all cores");
}

Result<std::filesystem::path> GrammarFolder(const SampleFlags& flags) {
  if (!flags.grammar.empty()) return std::filesystem::path(flags.grammar);
  DAVINCI_ASSIGN_OR_RETURN(const std::filesystem::path home, FindHome());
  return home / "synth";
}

Result<teacher::RuleSet> RulesNamed(const std::vector<std::string>& names) {
  teacher::RuleSet rules;
  for (const std::string& name : names) {
    const teacher::RuleSet before = rules;
    for (const teacher::RuleInfo& rule : teacher::Rules())
      if (rule.name == name || rule.skill == name) rules.Insert(rule.rule);
    if (rules == before && !rules.Names().contains(name) && !rules.Skills().contains(name))
      return InvalidArgument(fmt::format(
          "--without {}: there is no such rule or skill; docs/synth.md lists them", name));
  }
  return rules;
}

Result<synth::SampleOptions> SampleOptionsOf(const SampleFlags& flags) {
  const auto split = synth::ParseSplit(flags.split);
  if (!split)
    return InvalidArgument(
        "--split is one of train, combination, family, style, "
        "reinforcement");
  synth::SampleOptions options;
  options.count = flags.count;
  options.split = *split;
  options.seed = flags.seed;
  options.pattern = flags.pattern;
  options.mixed = flags.mixed;
  options.least_elements = flags.least_elements;
  options.most_operators = flags.most_operators;
  options.threads = flags.threads > 0
                        ? flags.threads
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return options;
}

}  // namespace davinci::app
