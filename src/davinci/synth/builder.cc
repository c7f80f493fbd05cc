#include "davinci/synth/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/graph_builder.h"

namespace davinci::synth {

BuildOutcome Builder::Run(const Pattern& pattern) {
  graph_.pattern = &pattern;
  graph_.precision = options_.precision;
  graph_.mode = pattern.mode;
  graph_.scopes.push_back({pattern.name, -1, {}, {}, {}, {}});
  if (options_.precision != Precision::kFp32 && !pattern.half) return {std::nullopt, "half"};
  Environment environment;
  for (const InputSpec& spec : pattern.inputs) {
    const auto value = NewInput(spec, &environment.dims, nullptr);
    if (!value) return Rejected();
    environment.values[spec.name] = *value;
  }
  std::vector<ValueId> outputs;
  if (!Block(pattern.body, &environment, &outputs)) return Rejected();
  graph_.outputs = outputs;
  graph_.scopes[0].formals = environment.dims;
  if (outputs.empty() && Reject("grammar: nothing returned")) return Rejected();
  if (!Final()) return Rejected();
  return {std::move(graph_), ""};
}

BuildOutcome Builder::Rejected() { return {std::nullopt, why_.empty() ? "shape" : why_}; }

bool Builder::Reject(std::string why) {
  if (why_.empty() || !why_.starts_with("grammar")) why_ = std::move(why);
  return true;
}

// One result under two names: the same operator on the same values.
bool Builder::ReturnsTwice() const {
  std::vector<const Node*> nodes;
  for (const ValueId output : graph_.outputs) {
    const Value& value = graph_.values[static_cast<size_t>(output)];
    if (value.origin == Value::Origin::kNode && value.output == 0)
      nodes.push_back(&graph_.nodes[static_cast<size_t>(value.node)]);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (nodes[i]->op == nodes[j]->op && nodes[i]->inputs == nodes[j]->inputs &&
          nodes[i]->attrs == nodes[j]->attrs && nodes[i]->weights.empty())
        return true;
  return false;
}

bool Builder::Final() {
  // Results that nothing uses are not computed; a graph that has them is a pattern's mistake
  // only where a whole node is unused.
  const auto uses = graph_.UsesOfValues();
  for (const Node& node : graph_.nodes) {
    bool used = false;
    for (const ValueId output : node.outputs) used = used || uses[static_cast<size_t>(output)] > 0;
    if (!used) return !Reject("unused");
  }
  if (ReturnsTwice()) return !Reject("same output");
  for (const ValueId input : graph_.inputs)
    if (uses[static_cast<size_t>(input)] == 0) return !Reject("unused");
  for (size_t i = 0; i < kNumBindings; ++i) {
    const Budget& budget = grammar_.budgets[i];
    if (graph_.Elements(static_cast<Binding>(i)) > budget.elements ||
        graph_.Flops(static_cast<Binding>(i)) > budget.flops)
      return !Reject(i == 0 ? "budget_cuda" : i == 1 ? "budget_cpu" : "budget_variant");
  }
  return true;
}

BuildOutcome BuildGraph(const Grammar& grammar, const Pattern& pattern,
                        const BuildOptions& options) {
  return Builder(grammar, options).Run(pattern);
}

}  // namespace davinci::synth
