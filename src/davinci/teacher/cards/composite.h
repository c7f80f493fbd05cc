// Composite operators: operators that exist nowhere, with a definition drawn from the patterns of
// family "composite", or one that moves elements (index_form.h), and an invented name. The
// structure behind such a name is new every time, so that a task that calls it can only be answered
// by its card. Pure: the same random numbers give the same operator and task.
//
//   F.gated_ramp(x, y, dim=1)    card: (torch.tanh(x) * y).sum(dim=dim)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/variation.h"
#include "davinci/teacher/cards/card_subject.h"

namespace davinci::teacher {

struct Composite {
  InventedOperator invented;
  // Nodes of the grammar that compute the definition; none where it moves elements (index_form.h).
  std::vector<synth::Node> nodes;
};

// The result is empty where the patterns gave nothing fit. No name is a word of `text`.
std::optional<Composite> DrawComposite(const synth::Grammar& grammar, const synth::Corpus& corpus,
                                       std::string_view text, SplitMix64* rng);

struct CompositeTask {
  synth::SampledTask task;  // points into the pattern and the operator
  std::shared_ptr<const synth::Pattern> pattern;
};

// A task that calls the operator by its name alone, among known operators or not: of the id, style,
// precision and split of `like`. The result is empty where nothing fit, or the split is another.
std::optional<CompositeTask> TaskOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                    const Composite& composite, const synth::SampledTask& like,
                                    SplitMix64* rng);

}  // namespace davinci::teacher
