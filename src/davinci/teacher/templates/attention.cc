#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

class AttentionFinder {
 public:
  explicit AttentionFinder(Program* program) : p_(*program) {
    uses_.assign(p_.values.size(), 0);
    for (const TensorValue& value : p_.values)
      for (const Id operand : value.operands) ++uses_[static_cast<size_t>(operand)];
    for (const auto* ends : {&p_.outputs, &p_.effects})
      for (const Id end : *ends) uses_[static_cast<size_t>(end)] += 2;
  }

  void Run() {
    for (size_t i = 0; i < p_.values.size(); ++i) Try(static_cast<Id>(i));
  }

 private:
  bool IsPoint(Id id, std::string_view name) const {
    return p_[id].kind == Kind::kPoint && p_[id].primitive->name == name;
  }
  bool IsProduct(Id id) const {
    return p_[id].kind == Kind::kOpaque && p_[id].text == "torch.matmul({0}, {1})";
  }
  bool IsReduce(Id id, ReduceKind kind, Id of) const {
    const TensorValue& value = p_[id];
    return value.kind == Kind::kReduce && value.reduce == kind && value.operands[0] == of &&
           value.keepdim && value.axes.size() == 1 &&
           value.axes[0] == static_cast<int>(p_[of].shape.size()) - 1;
  }
  bool IsNumber(Id id) const {
    return p_[id].kind == Kind::kScalar && p_[id].dtype == DType::kFloat;
  }

  // The scores of a softmax along the last axis; -1: it is none.
  Id ScoresOf(Id weights) const {
    if (!IsPoint(weights, "div") || uses_[static_cast<size_t>(weights)] != 1) return -1;
    const Id e = p_[weights].operands[0];
    if (!IsPoint(e, "exp") || !IsReduce(p_[weights].operands[1], ReduceKind::kSum, e)) return -1;
    const Id difference = p_[e].operands[0];
    if (!IsPoint(difference, "sub")) return -1;
    const Id scores = p_[difference].operands[0];
    return IsReduce(p_[difference].operands[1], ReduceKind::kMax, scores) ? scores : -1;
  }

  // Position along the keys, and along the queries.
  bool IsPosition(Id id, size_t from_end) const {
    const TensorValue& value = p_[id];
    return value.kind == Kind::kIota && value.shape.size() >= 2 &&
           value.axes[0] == static_cast<int>(value.shape.size() - 1 - from_end);
  }
  bool IsNext(Id id) const {  // position + 1
    return IsPoint(id, "iadd") && IsPosition(p_[id].operands[0], 1) &&
           p_[p_[id].operands[1]].number == 1.0;
  }
  // True where a key lies behind the query.
  bool IsFuture(Id id) const {
    return IsPoint(id, "ge") && IsPosition(p_[id].operands[0], 0) && IsNext(p_[id].operands[1]);
  }
  static bool IsMinusInfinity(const TensorValue& value) {
    return value.number && std::isinf(*value.number) && *value.number < 0;
  }
  // A tensor of the shape of scores, some axes of which may have size 1.
  bool Exists(Id id) const {
    const Kind kind = p_[id].kind;
    return (kind == Kind::kLeaf || kind == Kind::kOpaque || kind == Kind::kItem) &&
           p_[id].shape.size() == 4;
  }

  void Try(Id id) {
    if (!IsProduct(id)) return;
    TensorValue made = p_[id];
    const Id weights = made.operands[0], v = made.operands[1];
    Id scores = ScoresOf(weights);
    if (scores < 0) return;
    made.options.clear();
    std::vector<Id> mask;
    std::string scale;
    // From the outside: mask, bias, then factors.
    for (bool more = true; more;) {
      more = false;
      const TensorValue& value = p_[scores];
      if (value.kind != Kind::kPoint) break;
      const auto& operands = value.operands;
      if (value.primitive->name == "where" && scale.empty() && mask.empty()) {
        Id keep = operands[0];
        bool kept = true;
        if (IsPoint(keep, "not")) {
          keep = p_[keep].operands[0];
          kept = false;
        }
        if (IsFuture(keep) && kept && IsMinusInfinity(p_[operands[1]]) &&
            !made.options.contains("causal")) {
          made.options["causal"] = "1";
          scores = operands[2];
          more = true;
        } else if (Exists(keep) && p_[keep].dtype == DType::kBool) {
          const bool inner_first = IsNumber(operands[2]);
          const Id fill = operands[inner_first ? 2 : 1];
          if (!IsNumber(fill) || !p_[fill].number) return;
          made.options["keep"] = inner_first == kept ? "1" : "0";
          made.options["fill"] =
              IsMinusInfinity(p_[fill]) ? "-inf" : fmt::format("{}", p_[fill].number.value());
          mask = {keep};
          scores = operands[inner_first ? 1 : 2];
          more = true;
        }
      } else if (value.primitive->name == "add" && scale.empty() && mask.empty()) {
        const Id bias = operands[1];
        if (IsPoint(bias, "where") && p_[bias].virtual_ && IsFuture(p_[bias].operands[0]) &&
            IsMinusInfinity(p_[p_[bias].operands[1]]) && p_[p_[bias].operands[2]].number == 0.0) {
          made.options["causal"] = "1";
          scores = operands[0];
          more = true;
        } else if (Exists(bias) && p_[bias].dtype == DType::kFloat && !IsProduct(bias)) {
          mask = {bias};
          scores = operands[0];
          more = true;
        }
      } else if ((value.primitive->name == "mul" || value.primitive->name == "div") &&
                 IsNumber(operands[1])) {
        const TensorValue& factor = p_[operands[1]];
        const std::string text = factor.number ? fmt::format("{}", *factor.number) : factor.text;
        scale += (scale.empty()                    ? value.primitive->name == "mul" ? "" : "1.0 / "
                  : value.primitive->name == "mul" ? " * "
                                                   : " / ") +
                 text;
        scores = operands[0];
        more = true;
      }
      if (more && uses_[static_cast<size_t>(scores)] > 3) return;
    }
    if (!IsProduct(scores) || uses_[static_cast<size_t>(scores)] > 2) return;
    const Id q = p_[scores].operands[0], turned = p_[scores].operands[1];
    const TensorValue& view = p_[turned];
    const size_t rank = p_[q].shape.size();
    if (rank < 3 || rank > 4 || (rank == 3 && !mask.empty()) || view.kind != Kind::kOpaque ||
        view.text != fmt::format("{{0}}.transpose({}, {})", rank - 2, rank - 1))
      return;
    const Id k = view.operands[0];
    if (p_[k].shape.size() != rank || p_[v].shape.size() != rank ||
        !p_.Same(p_[v].shape.back(), p_[q].shape.back()))
      return;
    made.options["scale"] = scale.empty() ? "1.0" : scale;
    made.operands = {q, k, v};
    made.operands.insert(made.operands.end(), mask.begin(), mask.end());
    made.kernel = "attention";
    made.what = "attention";
    made.contiguous = false;
    made.product.reset();
    if (!Fits(made)) return;
    p_.values[static_cast<size_t>(id)] = made;
  }

  // Rows of a head that registers hold; wider ones stay products.
  bool Fits(const TensorValue& made) const {
    return p_.At(p_[made.operands[0]].shape.back(), synth::Binding::kCuda) <= kMostHead;
  }

  static constexpr double kMostHead = 128;
  Program& p_;
  std::vector<int> uses_;
};

}  // namespace

void RecognizeAttention(Program* program) { AttentionFinder(program).Run(); }

}  // namespace davinci::teacher
