#include "davinci/teacher/semantics/exact_divisions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

constexpr std::array<std::string_view, 4> kRoundings = {"floor", "ceil", "round", "trunc_index"};
constexpr std::string_view kDivision = "div", kChoice = "where";

class Marks {
 public:
  explicit Marks(Program* program)
      : program_(*program), exact_(program->values.size(), false), decides_(exact_) {}

  void Replace(const Primitive& exact) {
    for (const Id output : program_.outputs) Read(output, nullptr);
    for (const auto& [value, buffer] : program_.updates) Read(value, nullptr);
    // Consumers stand behind what they read.
    for (auto id = static_cast<Id>(program_.values.size()); id-- > 0;) {
      TensorValue& value = program_.values[static_cast<size_t>(id)];
      if (value.kind == Kind::kPoint && decides_[static_cast<size_t>(id)])
        exact_[static_cast<size_t>(id)] = true;
      for (size_t i = 0; i < value.operands.size(); ++i) Read(value.operands[i], &value);
      if (!exact_[static_cast<size_t>(id)] || value.kind == Kind::kOpaque) continue;
      for (const Id operand : value.operands) exact_[static_cast<size_t>(operand)] = true;
      if (value.kind == Kind::kPoint && value.primitive->name == kDivision && OfFloats(value))
        value.primitive = &exact;
    }
  }

 private:
  bool OfFloats(const TensorValue& value) const {
    return std::all_of(value.operands.begin(), value.operands.end(),
                       [&](Id operand) { return program_[operand].dtype == DType::kFloat; });
  }

  bool IsChoiceOfComputed(const TensorValue& reader, Id condition) const {
    return reader.kind == Kind::kPoint && reader.primitive->name == kChoice &&
           reader.operands[0] == condition &&
           !(program_[reader.operands[1]].kind == Kind::kScalar &&
             program_[reader.operands[2]].kind == Kind::kScalar);
  }

  // `reader`: null where the value leaves the program.
  void Read(Id id, const TensorValue* reader) {
    const TensorValue& value = program_[id];
    if (value.kind != Kind::kPoint) return;
    const bool rounds =
        std::find(kRoundings.begin(), kRoundings.end(), value.primitive->name) != kRoundings.end();
    const bool tells =
        value.primitive->gives_bool && (reader == nullptr || !IsChoiceOfComputed(*reader, id));
    if (rounds || tells) decides_[static_cast<size_t>(id)] = true;
  }

  Program& program_;
  std::vector<bool> exact_, decides_;  // by value
};

}  // namespace

void MakeDecidingDivisionsExact(const Primitive& exact, Program* program) {
  Marks(program).Replace(exact);
}

}  // namespace davinci::teacher
