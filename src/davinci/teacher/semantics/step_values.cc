#include "davinci/teacher/semantics/step_values.h"

#include "davinci/teacher/semantics/evaluator.h"
#include "davinci/teacher/semantics/step_lines.h"

namespace davinci::teacher {

std::map<Id, std::string> StepValues(const Program& program, const Steps& steps,
                                     const Tables& tables, const LowerOptions& options) {
  // The same operation on the same values is the value that is there, so evaluating a step finds
  // it.
  Program scratch = program;
  Names names;
  for (const auto& [id, value] : program.results) names[KeyOf(value)] = Meaning::Tensor(id);
  std::map<std::string, Id> leaves;
  for (size_t i = 0; i < program.values.size(); ++i)
    if (program.values[i].kind == TensorValue::Kind::kLeaf)
      leaves[program.values[i].text] = static_cast<Id>(i);
  for (const auto& [value, text] : steps.names)
    if (const auto leaf = leaves.find(text); leaf != leaves.end())
      names.emplace(KeyOf(value), Meaning::Tensor(leaf->second));
  std::map<Id, std::string> found;
  Evaluator evaluator(&scratch, tables, options);
  for (const auto& of_node : steps.of_nodes)
    for (const Step& step : of_node) {
      // Sizes are numbered in the table of the steps' own program.
      if (step.meant.Text().find("dimid_") != std::string::npos) continue;
      const auto meaning = evaluator.Evaluate(step.meant, names);
      if (!meaning.ok() || !meaning->IsTensor()) continue;
      names[step.key] = *meaning;
      if (meaning->id < std::ssize(program.values) &&
          program[meaning->id].kind == TensorValue::Kind::kPoint)
        found.emplace(meaning->id, step.name);
    }
  return found;
}

}  // namespace davinci::teacher
