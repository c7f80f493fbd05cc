#include "davinci/teacher/candidate/draft.h"

#include <fmt/format.h>

namespace davinci::teacher {

using Kind = TensorValue::Kind;

std::string Draft::Name(Id id) const {
  return program[id].kind == Kind::kLeaf ? program[id].text
         : program[id].kind == Kind::kScalar
             ? (program[id].number ? fmt::format("{}", *program[id].number) : program[id].text)
             : Variable(id);
}

const synth::Value& Draft::InputValue(size_t i) const {
  return graph.values[static_cast<size_t>(graph.inputs[i])];
}

}  // namespace davinci::teacher
