// Which cards a row of training shows, and what its task and answer are then. What is drawn
// depends on the task's id alone.
//
//   right      cards of the task's operators or pattern; task, answer and cards vary together
//              (veil.h, kernel_words.h, other rules and launches), so the answer follows the cards
//   composite   the card of an operator that exists nowhere (composite.h), and a task that calls it
//   block       a card of the task's own structure under an invented name, with other names of
//               values and some other activations: the answer follows it
//   right and others   further cards of operators that the task does not have
//   others     such cards alone; task and answer are the usual ones
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/skill/skill.h"
#include "davinci/synth/variation.h"
#include "davinci/teacher/cards/card.h"
#include "davinci/teacher/cards/composite.h"
#include "davinci/teacher/cards/kernel_words.h"

namespace davinci::teacher {

struct RowCards {
  std::vector<skill::Skill> cards;  // as the prompt shows them
  std::set<std::string> right;      // names of those of the task's operators
  std::optional<Composite> composite;
  std::shared_ptr<const synth::Pattern> pattern;  // of its task
  synth::SampledTask task;                        // what the answer is written for
  RuleSet rules;                                  // of the answer
  RuleSet shown;  // what the kernels of right cards follow: the answer does, too
  LaunchSettings launch;
  KernelWords words;
  std::vector<std::pair<const CardSubject*, Veil>> veils;

  // The operators that cards alone explain, by the names that steps call them.
  NamedOperators Named() const;
  // The answer that the teacher wrote, in the words of the cards.
  std::string Answer(const std::string& written) const;
};

struct RowCardSettings {
  double share = 0;                       // of tasks whose prompt shows cards
  size_t most = 2;                        // cards of a prompt
  double right = 0.7, others_too = 0.35;  // shares of these; the latter of the former
};

// The operators of a generated graph that compute something, each once; an imported one has none.
std::vector<std::string> OperatorsOf(const synth::Graph& graph);

// The result is empty where the task's prompt shows no card.
std::optional<RowCards> CardsOfRow(const CardDeck& deck, const synth::Corpus& corpus,
                                   const synth::SampledTask& task, const RowCardSettings& settings);

}  // namespace davinci::teacher
