// Losses over classes: cross entropy and negative log likelihood.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

// Targets that are probabilities: sum of y * (lse - x).
Result<Meaning> EntropyOfProbabilities(const Call& call, const Meaning& target,
                                       const Meaning& total) {
  Builder& b = call.b;
  const Meaning axis = Meaning::Number(1);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning products, b.Binary("*", call.arguments[0], target));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mass, Reduce(b, ReduceKind::kSum, target.id, axis, false));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning part,
                           Reduce(b, ReduceKind::kSum, products.id, axis, false));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled, b.Binary("*", mass, total));
  return b.Binary("-", scaled, part);
}

// The loss of the target's class, and by `smoothing` the mean over all.
Result<Meaning> PickedClass(const Call& call, const Meaning& target, double smoothing) {
  Builder& b = call.b;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning picked, PickClass(b, call.x(), target.id, 1, false));
  if (smoothing <= 0) return picked;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning average, Mean(b, call.x(), Meaning::Number(1), false));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning near,
                           b.Binary("*", picked, Meaning::Number(1 - smoothing)));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning far, b.Binary("*", average, Meaning::Number(smoothing)));
  return b.Binary("+", near, far);
}

// What each row's loss counts: its class' weight, nothing where the class is ignored.
Result<Meaning> WeightOfRows(const Call& call, const Meaning& target, const Meaning& weight,
                             const Meaning& ignored) {
  Builder& b = call.b;
  Meaning share = Meaning::Number(1);
  if (weight.IsTensor()) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, b.Load(weight.id, {b.Position(call.Shape(), 1)}));
    DAVINCI_ASSIGN_OR_RETURN(share, PickClass(b, wide.id, target.id, 1, false));
  }
  if (ignored.IsNone()) return share;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning counts, b.Binary("!=", target, ignored));
  return b.Point("where", {counts, share, Meaning::Number(0)});
}

Result<Meaning> ClassLoss(const Call& call) {
  Builder& b = call.b;
  const Meaning target = call.Argument(1, "target");
  if (!target.IsTensor() || call.Rank() < 2) return call.NotKnown();
  Meaning reduction = call.Argument(9, "reduction");
  if (reduction.IsNone()) reduction = Meaning::Text("mean");
  const double smoothing = call.Keyword("label_smoothing").number.value_or(0);
  const Meaning weight = call.Argument(2, "weight"), ignored = call.Keyword("ignore_index");
  const bool classes = b.p[target.id].dtype == DType::kIndex;
  const bool weighted = weight.IsTensor() || !ignored.IsNone();
  if (weighted && (!classes || smoothing > 0)) return call.NotKnown();
  const bool entropy = call.name == "cross_entropy";
  if (!classes && (!entropy || smoothing > 0)) return call.NotKnown();
  Meaning total = Meaning::Number(0);
  if (entropy) {
    DAVINCI_ASSIGN_OR_RETURN(
        total, call.defined.Apply("log_total", {call.arguments[0], Meaning::Number(1)}));
  }
  Meaning rows;
  if (!classes) {
    DAVINCI_ASSIGN_OR_RETURN(rows, EntropyOfProbabilities(call, target, total));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning picked, PickedClass(call, target, smoothing));
    DAVINCI_ASSIGN_OR_RETURN(rows,
                             entropy ? b.Binary("-", total, picked) : b.Point("neg", {picked}));
  }
  if (weighted) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning share, WeightOfRows(call, target, weight, ignored));
    return call.defined.Apply("weighted_mean_or_sum", {rows, share, reduction});
  }
  return call.defined.Apply("mean_or_sum", {rows, reduction});
}

// The constructor's arguments are the class weights; the options are keywords.
Result<Meaning> ClassLossModule(const ModuleCall& call) {
  const char* function = call.name == "nn.NLLLoss" ? "nll_loss" : "cross_entropy";
  return ClassLoss({call.b, call.defined, function, call.inputs, call.keywords});
}

}  // namespace

void AddLosses(FunctionRegistry* registry) {
  registry->Add({"cross_entropy", "nll_loss"}, ClassLoss);
  registry->AddModules({"nn.CrossEntropyLoss", "nn.NLLLoss"}, ClassLossModule);
}

}  // namespace davinci::teacher
