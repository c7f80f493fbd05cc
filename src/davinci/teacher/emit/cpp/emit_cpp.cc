#include <fmt/format.h>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/emit/cpp/cpp_writer.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

constexpr int kLeastParallel = 16384;  // elements below which one thread computes all
constexpr int64_t kLongLoop = 1024;    // steps from which a loop gains nothing by a known length

}  // namespace

void CppWriter::HoldSizes() {
  if (!rules_.Contains(Rule::kConstantSizes)) return;
  // The outermost size bounds a loop and divides nothing: kernels of several batches stay one.
  for (size_t i = 1; i < form_.axes.size(); ++i) {
    const LoopAxis& axis = form_.axes[i];
    const std::optional<int64_t> number = Number(axis);
    if (!number || (i + 1 == form_.axes.size() && *number >= kLongLoop)) continue;
    held_[axis.size] = *number;
    Line(fmt::format("constexpr int64_t {} = {};", axis.size, *number));
    text_.used.Insert(Rule::kConstantSizes);
  }
}

std::optional<int64_t> CppWriter::Number(const LoopAxis& axis) const {
  const std::string size = program_->SizeText(axis.dim);
  if (size.empty() || size.size() > 12 || size.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(size);
}

std::optional<int64_t> CppWriter::Held(const LoopAxis& axis) const {
  const auto found = held_.find(axis.size);
  return found == held_.end() ? std::nullopt : std::optional(found->second);
}

KernelText CppWriter::Write() {
  HoldSizes();
  if (rules_.Contains(Rule::kStoredValues)) PlanStored();
  if (form_.reduced.empty())
    Pointwise();
  else if (form_.kept.empty())
    HasScan() ? RowPasses(false) : Whole();
  else if (SideBySide())
    Columns();
  else
    Rows();
  const Signature signature = MakeSignature();
  const std::string symbol = synth::CamelCase(form_.name);
  text_.source = fmt::format("extern \"C\" void {}({}) {{\n{}}}\n", symbol,
                             synth::Join(signature.parameters, ", "), body_);
  Bind(symbol, signature);
  text_.call.push_back(fmt::format("{}({})", form_.name, synth::Join(signature.arguments, ", ")));
  return std::move(text_);
}

std::string CppWriter::StoredType(DType type) {
  // A loop that reads or writes bool is not vectorised; its bytes are 0 and 1.
  if (type == DType::kBool) return "uint8_t";
  if (type != DType::kFloat || p_.graph.precision == synth::Precision::kFp32) return Type(type);
  const std::string half = p_.graph.precision == synth::Precision::kBf16 ? "Bf16" : "Fp16";
  text_.helpers.insert(half);
  return half;
}

std::string CppWriter::PrimitiveForm(const TensorValue& value) {
  const Primitive& primitive = *value.primitive;
  if (primitive.cpp_rule) {
    if (!primitive.cpp_library.empty() && !rules_.Contains(*primitive.cpp_rule))
      return primitive.cpp_library;
    text_.used.Insert(*primitive.cpp_rule);
  }
  text_.helpers.insert(primitive.helpers.begin(), primitive.helpers.end());
  return primitive.cpp;
}

std::string CppWriter::IndexText(int axis) const {
  if (axis == picked_axis_) return picked_index_;
  if (axis == lane_axis_)
    return fmt::format("({} + l)", form_.axes[static_cast<size_t>(axis)].index);
  return form_.axes[static_cast<size_t>(axis)].index;
}

std::string CppWriter::Scan(Id id) {
  const TensorValue& value = p_[id];
  const auto run = runs_.find(id);
  if (run == runs_.end()) return "?";
  const std::string element = Assign(value.operands[0], Text(value.operands[0]));
  if (value.reduce == ReduceKind::kMax || value.reduce == ReduceKind::kMin) {
    const std::string pick = value.reduce == ReduceKind::kMax ? "Maximum" : "Minimum";
    text_.helpers.insert(pick);
    Line(fmt::format("{0} = {1}({0}, {2});", run->second, pick, element));
  } else if (value.reduce == ReduceKind::kLogSum) {
    text_.helpers.insert("LogAdd");
    Line(fmt::format("{0} = LogAdd({0}, {1});", run->second, element));
  } else {
    Line(Accumulate(value.reduce, run->second, element));
  }
  return Assign(id, value.reduce == ReduceKind::kSum || value.reduce == ReduceKind::kProd
                        ? fmt::format("static_cast<float>({})", run->second)
                        : run->second);
}

std::string CppWriter::Parallel(const std::string& kind, const std::string& clause) const {
  std::string work;
  for (const LoopAxis& axis : form_.axes) work += (work.empty() ? "" : " * ") + axis.size;
  return fmt::format("#pragma omp parallel for{} schedule(static){} if (parallel : {} > {})", kind,
                     clause, work, static_cast<int64_t>(kLeastParallel * launch_.parallel));
}

std::string CppWriter::Loop(const LoopAxis& axis) {
  return fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", axis.index, axis.size);
}

void CppWriter::Pointwise() {
  if (form_.kept.empty()) {
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
    return;
  }
  const auto store = [&] {
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
  };
  const int last = form_.kept.back();
  if (form_.kept.size() == 1) return LoopInParts(last, Parallel(" simd"), store);
  Line(Parallel());
  const std::vector<int> outer(form_.kept.begin(), form_.kept.end() - 1);
  Open(fmt::format("for (int64_t row = 0; row < {}; ++row)", Multiplied(outer)));
  Decompose(outer, "row");
  Branches(outer, [&] { LoopInParts(last, "#pragma omp simd", store); });
  Close();
}

KernelText EmitCpp(Program* program, const Region& region, const KernelForm& form,
                   const EmitOptions& options) {
  return CppWriter(program, region, form, options).Write();
}

}  // namespace davinci::teacher
