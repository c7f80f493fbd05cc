// Functions of elements that no formula of the tables can state.
#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

Result<Meaning> PowerOf(const Call& call) {
  return call.b.Power(call.arguments[0], call.Argument(1, "exponent"));
}

// x.to(torch.float32)
Result<Meaning> To(const Call& call) {
  Builder& b = call.b;
  if (!Says(call.Argument(1, "dtype"), "torch.float32") ||
      b.p.graph.precision != synth::Precision::kFp32)
    return call.NotKnown();
  const DType type = b.p[call.x()].dtype;
  if (type == DType::kBool) return b.Point("float", {call.arguments[0]});
  return type == DType::kFloat ? Result<Meaning>(call.arguments[0]) : call.NotKnown();
}

}  // namespace

void AddElementwise(FunctionRegistry* registry) {
  registry->Add({"pow"}, PowerOf);
  registry->Add({"to"}, To);
}

}  // namespace davinci::teacher
