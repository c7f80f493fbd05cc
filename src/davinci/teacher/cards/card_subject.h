// Subjects of operator cards: an operator of the grammar, or a pattern of several operators, on
// a minimal module. Pure: the same grammar gives the same subjects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// An operator that is not the grammar's (composite.h).
struct InventedOperator {
  std::shared_ptr<const synth::Operator> op;  // spelled by its name: "F.soft_ramp({x}{kw:scale})"
  std::string definition;                     // with its placeholders: "torch.tanh({x} * {scale})"
  std::string means;                          // in words, where the definition is no Python
  std::vector<std::string> calls;             // "F.soft_ramp"
  std::vector<std::string> signatures;        // of each: "F.soft_ramp(x, scale=0.5)"

  // The definition in the place of the calls: what kernels are written for.
  void Define(synth::SampledTask* task) const;
};

struct CardSubject {
  std::string name;  // of the operator or pattern
  std::string title;
  const synth::Operator* op = nullptr;  // null: a pattern
  std::vector<std::string> calls;       // PyTorch's names for it: "F.gelu", "nn.GELU"
  std::vector<std::string> call_forms;  // a spelling for each: "F.gelu({x})"
  // A spelling by other functions, with placeholders {x}; "": there is none.
  std::string form;
  bool form_is_python = false;  // it runs in PyTorch as it is
  std::string means;            // for people, where no form says it
  synth::SampledTask task;      // the minimal module; points into `pattern`
  std::shared_ptr<const synth::Pattern> pattern;
  std::shared_ptr<const synth::Operator> invented;  // `op`, where it is not the grammar's
};

// The names by which a spelling that is nothing but one call calls: "F.gelu({x})" -> "F.gelu".
// "": it is more than a call.
std::string CallOfForm(std::string_view form);

// The result is empty where the operator's operands cannot be drawn. `attempt` chooses sizes and
// spellings.
std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const Tables& tables, const synth::Operator& op,
                                     uint64_t attempt);
// The result is empty where fewer than two operators compute, or nothing was drawn.
std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const synth::Pattern& pattern, uint64_t attempt);
std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const InventedOperator& invented, uint64_t attempt);
// The module of a generated task as a block under another name: the same structure in the cards'
// style, with other activations in some places, of the task's split. The result is empty where
// fewer than two operators compute, or the style writes more than one class.
std::optional<CardSubject> BlockOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                   const synth::SampledTask& task, std::string name,
                                   SplitMix64* rng);

}  // namespace davinci::teacher
