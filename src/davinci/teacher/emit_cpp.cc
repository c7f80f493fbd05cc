#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/emitter.h"
#include "davinci/teacher/region_reader.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

constexpr int kLanes = 64;             // columns that one task reduces side by side
constexpr int kLeastParallel = 16384;  // elements below which one thread computes all
constexpr int kBlock = 4096;           // elements of a full reduction that are summed on their own

std::string CppType(DType type) {
  return type == DType::kFloat ? "float" : type == DType::kBool ? "bool" : "int64_t";
}
// In memory; computed with as float.
std::string StoredType(DType type, synth::Precision precision) {
  if (type != DType::kFloat || precision == synth::Precision::kFp32) return CppType(type);
  return precision == synth::Precision::kBf16 ? "Bf16" : "Fp16";
}

class CppWriter : private RegionReader {
 public:
  CppWriter(Program* program, const Region& region, const KernelForm& form, const EmitRules& rules)
      : RegionReader(program, region, form), rules_(rules) {}

  KernelText Write() {
    if (rules_.stored_values) PlanStored();
    if (form_.reduced.empty())
      Pointwise();
    else if (form_.kept.empty())
      HasScan() ? RowPasses(false) : Whole();
    else if (form_.axes.back().reduced || !rules_.columns)
      Rows();
    else
      Columns();
    Finish();
    return std::move(text_);
  }

 private:
  void Line(const std::string& line) { body_ += std::string(indent_, ' ') + line + "\n"; }
  void Open(const std::string& line) {
    Line(line + " {");
    indent_ += 2;
  }
  void Close() {
    indent_ -= 2;
    Line("}");
  }

  std::string Scalar(Id id) const {
    const TensorValue& value = p_[id];
    if (value.number) {
      if (std::isnan(*value.number)) return "NAN";
      if (std::isinf(*value.number)) return *value.number > 0 ? "INFINITY" : "-INFINITY";
      if (value.dtype == DType::kIndex) return fmt::format("{:.0f}", *value.number);
      return synth::FloatText(*value.number) + "f";
    }
    return ScalarName(id);
  }

  std::string IndexText(int axis) const {
    if (axis == picked_axis_) return picked_index_;
    if (axis == lane_axis_)
      return fmt::format("({} + l)", form_.axes[static_cast<size_t>(axis)].index);
    return form_.axes[static_cast<size_t>(axis)].index;
  }

  std::string Element(const KernelTensor& tensor) const {
    return fmt::format("{}[{}]", tensor.name,
                       form_.Offset(tensor, [&](int axis) { return IndexText(axis); }));
  }

  const std::string& NameOf(Id id) const {
    for (const KernelTensor& tensor : form_.inputs)
      if (tensor.value == id) return tensor.name;
    return form_.name;
  }

  std::string Text(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kScalar) return Scalar(id);
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (value.kind == Kind::kIota) return IotaText(id, [&](int axis) { return IndexText(axis); });
    if (value.kind == Kind::kLoad && IsMember(id)) {
      std::vector<std::string> operands;
      for (size_t k = 1; k < value.operands.size(); ++k)
        operands.push_back(Text(value.operands[k]));
      return Assign(id, fmt::format("{}[{}]", NameOf(value.operands[0]), LoadOffset(operands)));
    }
    for (const KernelTensor& tensor : form_.inputs) {
      // Loaded in a statement of its own: a load within a selection would be conditional.
      if (tensor.value == id) return Assign(id, Element(tensor));
    }
    if (value.kind == Kind::kReshape) return known_[id] = Text(value.operands[0]);
    if (value.kind == Kind::kReduce) return "?";
    if (value.kind == Kind::kScan) {
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
    std::vector<std::string> operands;
    const bool library = !value.primitive->cpp_library.empty() && !Allows(*value.primitive);
    const std::string& primitive = library ? value.primitive->cpp_library : value.primitive->cpp;
    for (size_t k = 0; k < value.operands.size(); ++k) {
      std::string operand = Text(value.operands[k]);
      const std::string slot = fmt::format("{{{}}}", k);
      const size_t first = primitive.find(slot);
      const bool twice = primitive.find(slot, first + 1) != std::string::npos;
      if (twice && operand.find('(') != std::string::npos)
        operand = Assign(value.operands[k], operand);
      else if (twice && !IsSimple(operand))
        operand = Assign(value.operands[k], operand);
      operands.push_back(operand);
    }
    const std::string text = Substituted(primitive, operands);
    if (!library) {
      if (!value.primitive->cpp_rule.empty()) text_.used.insert(value.primitive->cpp_rule);
      text_.helpers.insert(value.primitive->helpers.begin(), value.primitive->helpers.end());
    }
    if ((Uses(id) == 1 || value.virtual_) && text.size() < 70 && !IsOutput(id))
      return known_[id] = text;
    return Assign(id, text);
  }

  bool Allows(const Primitive& primitive) const {
    return primitive.cpp_rule == "inline_erf" ? rules_.inline_erf : rules_.fast_exp;
  }

  // Counts and positions that reductions give are kept as float.
  bool IsFloatIndex(Id id) const {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kPoint) return !value.primitive->integer;
    return value.kind == Kind::kReduce;
  }

  std::string Assign(Id id, const std::string& text) {
    const std::string name = fmt::format("v{}", ++count_);
    Line(fmt::format(
        "const {} {} = {};",
        CppType(p_[id].dtype == DType::kIndex && IsFloatIndex(id) ? DType::kFloat : p_[id].dtype),
        name, text));
    return known_[id] = name;
  }

  void Store(const KernelTensor& tensor) {
    const std::string value = Text(tensor.value);
    const DType type = p_[tensor.value].dtype;
    Line(fmt::format(
        "{} = {};", Element(tensor),
        type == DType::kIndex ? fmt::format("static_cast<int64_t>({})", value) : value));
  }

  std::string Sizes(const std::vector<int>& axes, size_t count) const {
    std::string product;
    for (size_t i = 0; i < count; ++i) {
      const std::string& size = form_.axes[static_cast<size_t>(axes[i])].size;
      product += product.empty() ? size : " * " + size;
    }
    return product.empty() ? "1" : product;
  }

  // Indices of the first `count` axes from one flat index.
  void Decompose(const std::vector<int>& axes, size_t count, const std::string& flat) {
    std::string rest = flat;
    for (size_t i = count; i-- > 0;) {
      const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
      if (i == 0) {
        if (axis.index != flat) Line(fmt::format("const int64_t {} = {};", axis.index, rest));
      } else {
        Line(fmt::format("const int64_t {} = {} % {};", axis.index, rest, axis.size));
        rest = fmt::format("{} / {}", rest, axis.size);
      }
    }
  }

  // Threads cost more than they bring below some tens of microseconds of work.
  std::string Parallel(const std::string& kind = "", const std::string& clause = "") const {
    std::string work;
    for (const LoopAxis& axis : form_.axes) work += (work.empty() ? "" : " * ") + axis.size;
    return fmt::format("#pragma omp parallel for{} schedule(static){} if (parallel : {} > {})",
                       kind, clause, work, kLeastParallel);
  }
  static std::string Loop(const LoopAxis& axis) {
    return fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", axis.index, axis.size);
  }

  void Pointwise() {
    indent_ = 2;
    if (form_.kept.empty()) {
      for (const KernelTensor& tensor : form_.outputs) Store(tensor);
      return;
    }
    const LoopAxis& last = form_.axes.back();
    if (form_.kept.size() == 1) {
      Line(Parallel(" simd"));
      Open(Loop(last));
    } else {
      Line(Parallel());
      Open(fmt::format("for (int64_t row = 0; row < {}; ++row)",
                       Sizes(form_.kept, form_.kept.size() - 1)));
      Decompose(form_.kept, form_.kept.size() - 1, "row");
      Line("#pragma omp simd");
      Open(Loop(last));
    }
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
    Close();
    if (form_.kept.size() > 1) Close();
  }

  static std::string Neutral(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kMax:
      case ReduceKind::kLogSum:
        return "-INFINITY";
      case ReduceKind::kMin:
        return "INFINITY";
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        return "1.0f";
      default:
        return "0.0f";
    }
  }
  static std::string Clause(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kMax:
      case ReduceKind::kAny:
        return "max";
      case ReduceKind::kMin:
      case ReduceKind::kAll:
        return "min";
      case ReduceKind::kProd:
        return "*";
      default:
        return "+";
    }
  }
  static std::string Accumulate(ReduceKind kind, const std::string& sum, const std::string& what) {
    switch (kind) {
      case ReduceKind::kSum:
        return fmt::format("{} += {};", sum, what);
      case ReduceKind::kProd:
        return fmt::format("{} *= {};", sum, what);
      case ReduceKind::kMax:
      case ReduceKind::kAny:
        return fmt::format("{0} = {1} > {0} ? {1} : {0};", sum, Bracketed(what));
      default:
        return fmt::format("{0} = {1} < {0} ? {1} : {0};", sum, Bracketed(what));
    }
  }

  // A value per element that is costly and that several passes need stays in an output's memory,
  // or in a buffer for one row, between the first and the last of them: softmax computes its
  // exponentials once.
  struct Stored {
    Id value = -1;
    const KernelTensor* tensor = nullptr;  // null: the buffer
    std::string buffer;
    std::set<int> passes;  // that need it
    int First() const { return *passes.begin(); }
    int Last() const { return *passes.rbegin(); }
  };

  std::string StoredElement(const Stored& stored) const {
    if (stored.tensor != nullptr) return Element(*stored.tensor);
    KernelTensor row;
    row.axes = form_.reduced;
    return fmt::format("{}[{}]", stored.buffer,
                       form_.Offset(row, [&](int axis) { return IndexText(axis); }));
  }

  bool IsCostly(Id id) const {
    const TensorValue& value = p_[id];
    if (std::find(region_.members.begin(), region_.members.end(), id) == region_.members.end() ||
        !region_.IsPerElement(id) || value.kind == Kind::kReduce)
      return false;
    if (value.kind == Kind::kPoint && !value.primitive->cpp_rule.empty()) return true;
    return std::any_of(value.operands.begin(), value.operands.end(),
                       [&](Id operand) { return IsCostly(operand); });
  }

  void Needed(Id id, int pass, std::map<Id, std::set<int>>* needed) const {
    if (!form_.pass.contains(id) || !region_.IsPerElement(id) || p_[id].kind == Kind::kReduce)
      return;
    if (!(*needed)[id].insert(pass).second) return;
    for (const Stored& stored : stored_)
      if (stored.value == id && pass > stored.First()) return;  // loaded
    for (const Id operand : p_[id].operands) Needed(operand, pass, needed);
  }

  void PlanStored() {
    const bool one_row = OneRow();
    for (size_t i = region_.members.size(); i-- > 0;) {
      const Id id = region_.members[i];
      std::map<Id, std::set<int>> needed;
      for (int pass = 0; pass < form_.num_passes; ++pass) {
        for (const Id reduce : LoopReduces(pass)) Needed(p_[reduce].operands[0], pass, &needed);
        for (const KernelTensor* tensor : Stores(pass)) Needed(tensor->value, pass, &needed);
      }
      const auto found = needed.find(id);
      if (found == needed.end() || found->second.size() < 2 || p_[id].kind != Kind::kPoint ||
          p_[id].dtype != DType::kFloat || !IsCostly(id))
        continue;
      Stored fresh{id, nullptr, "", found->second};
      // Part of a stored value: needed where that one is computed alone.
      if (std::any_of(stored_.begin(), stored_.end(), [&](const Stored& other) {
            return other.First() <= fresh.First() && fresh.Last() <= other.Last() &&
                   Reads(other.value, id);
          }))
        continue;
      for (const KernelTensor& tensor : form_.outputs) {
        const bool own = tensor.value == id;
        bool fits = tensor.axes.size() == form_.axes.size() &&
                    p_[tensor.value].dtype == DType::kFloat &&
                    p_.graph.precision == synth::Precision::kFp32 &&
                    (own || (!IsOutput(id) && form_.pass.at(tensor.value) >= fresh.Last()));
        for (const Stored& other : stored_)
          fits = fits && (other.tensor != &tensor || fresh.Last() <= other.First() ||
                          other.Last() <= fresh.First());
        if (fits) fresh.tensor = &tensor;
      }
      if (fresh.tensor == nullptr && (!one_row || IsOutput(id))) continue;
      if (fresh.tensor == nullptr) fresh.buffer = fmt::format("kept{}", ++count_);
      stored_.push_back(std::move(fresh));
    }
  }

  bool Reads(Id value, Id operand) const {
    if (value == operand) return true;
    if (!form_.pass.contains(value)) return false;
    return std::any_of(p_[value].operands.begin(), p_[value].operands.end(),
                       [&](Id own) { return Reads(own, operand); });
  }

  void RowStatements(int after) {
    for (const Id member : region_.members)
      if (!region_.IsPerElement(member) && p_[member].kind == Kind::kPoint &&
          form_.pass.at(member) == after)
        if (!known_.contains(member)) Assign(member, Text(member));
  }

  // What a pass computes from one element.
  void ElementStatements(int pass, const std::vector<Id>& reduces,
                         const std::vector<std::string>& sums, const std::string& lane) {
    // Loads come first: a value of the next passes may overwrite what is loaded here.
    for (const Stored& stored : stored_)
      if (stored.passes.contains(pass) && pass > stored.First())
        Assign(stored.value, StoredElement(stored));
    for (const Stored& stored : stored_) {
      if (stored.First() != pass) continue;
      std::string text = Text(stored.value);
      if (!IsSimple(text) || text.find('(') != std::string::npos) text = Assign(stored.value, text);
      if (!IsOutput(stored.value)) Line(fmt::format("{} = {};", StoredElement(stored), text));
      text_.used.insert("stored_values");
    }
    for (size_t i = 0; i < reduces.size(); ++i) {
      std::string what = Text(p_[reduces[i]].operands[0]);
      const ReduceKind kind = p_[reduces[i]].reduce;
      if (kind != ReduceKind::kSum && kind != ReduceKind::kProd &&
          (what.find('(') != std::string::npos || !IsSimple(what)))
        what = Assign(p_[reduces[i]].operands[0], what);
      if (!NanMatters(reduces[i])) {
        Line(Accumulate(kind, sums[i] + lane, what));
      } else if (lane.empty()) {
        what = Assign(p_[reduces[i]].operands[0], what);
        Line(Accumulate(kind, sums[i], what));
        Line(fmt::format("nan_{} |= {} != {};", sums[i], what, what));
      } else {
        const std::string pick = kind == ReduceKind::kMax ? "Maximum" : "Minimum";
        text_.helpers.insert(pick);
        Line(fmt::format("{0} = {1}({0}, {2});", sums[i] + lane, pick, what));
      }
    }
    for (const KernelTensor* tensor : Stores(pass)) Store(*tensor);
  }

  // Where one row is computed at a time, a sum of what stands at one index is that element.
  bool IsPick(Id reduce) const {
    if (!rules_.pick_class || !OneRow() || form_.reduced.size() != 1) return false;
    const TensorValue& value = p_[reduce];
    const TensorValue& kept = p_[value.operands[0]];
    if (value.reduce != ReduceKind::kSum || kept.kind != Kind::kPoint ||
        kept.primitive->name != "where" || p_[kept.operands[2]].number != 0.0)
      return false;
    const TensorValue& same = p_[kept.operands[0]];
    return same.kind == Kind::kPoint && same.primitive->name == "eq" &&
           p_[same.operands[0]].kind == Kind::kIota && !region_.IsPerElement(same.operands[1]) &&
           p_[same.operands[1]].dtype == DType::kIndex;
  }
  bool OneRow() const {
    return !form_.kept.empty() && (form_.axes.back().reduced || !rules_.columns);
  }
  // Of a pass: reductions that need its loop.
  std::vector<Id> LoopReduces(int pass) const {
    auto reduces = Reduces(pass);
    std::erase_if(reduces, [&](Id reduce) { return IsPick(reduce); });
    return reduces;
  }
  void Picks(int pass) {
    for (const Id reduce : Reduces(pass)) {
      if (!IsPick(reduce)) continue;
      const TensorValue& kept = p_[p_[reduce].operands[0]];
      const std::string index = Text(p_[kept.operands[0]].operands[1]);
      const auto saved = known_;
      picked_axis_ = form_.reduced[0];
      picked_index_ = index;
      const std::string element = Text(kept.operands[1]);
      picked_axis_ = -1;
      known_ = saved;
      known_[reduce] = element;
      text_.used.insert("pick_class");
    }
  }

  // Sums of a pass, set to their neutral values; `clause` gets them for OpenMP.
  std::vector<std::string> Sums(const std::vector<Id>& reduces, const std::string& prefix,
                                std::string* clause) {
    std::map<std::string, std::string> clauses;
    std::vector<std::string> sums;
    for (const Id reduce : reduces) {
      sums.push_back(fmt::format("{}{}", prefix, ++count_));
      const ReduceKind kind = p_[reduce].reduce;
      // One long sum of floats loses more bits than PyTorch's; lanes and blocks do not.
      const bool serial =
          !rules_.partial_sums && (kind == ReduceKind::kSum || kind == ReduceKind::kProd);
      Line(fmt::format("{} {} = {};", serial ? "double" : "float", sums.back(), Neutral(kind)));
      std::string& names = clauses[Clause(kind)];
      names += (names.empty() ? "" : ", ") + sums.back();
      if (!NanMatters(reduce)) continue;
      Line(fmt::format("int nan_{} = 0;", sums.back()));
      std::string& flags = clauses["|"];
      flags += (flags.empty() ? "nan_" : ", nan_") + sums.back();
    }
    for (const auto& [op, names] : clauses)
      *clause += fmt::format(" reduction({} : {})", op, names);
    return sums;
  }

  void RowPasses(bool whole) {
    RowStatements(0);
    for (int pass = 0; pass < form_.num_passes; ++pass) {
      const auto reduces = LoopReduces(pass);
      Picks(pass);
      if (!reduces.empty() || !Stores(pass).empty()) {
        std::string clause;
        const auto sums = Sums(reduces, "acc", &clause);
        const auto scans = Scans(pass);
        DeclareRuns(scans, false);
        const std::string simd = rules_.partial_sums && scans.empty() ? "#pragma omp simd" : "";
        const auto saved = known_;
        const size_t depth = form_.reduced.size();
        const LoopAxis& last = form_.axes[static_cast<size_t>(form_.reduced.back())];
        if (whole && depth == 1 && rules_.partial_sums) {
          // Blocks: short sums of their own lose fewer bits than one long sum.
          Line(Parallel("", clause));
          Open(fmt::format("for (int64_t start = 0; start < {}; start += {})", last.size, kBlock));
          Line(fmt::format("const int64_t end = start + {0} < {1} ? start + {0} : {1};", kBlock,
                           last.size));
          std::string inner;
          const auto parts = Sums(reduces, "part", &inner);
          Line(simd + inner);
          Open(fmt::format("for (int64_t {0} = start; {0} < end; ++{0})", last.index));
          ElementStatements(pass, reduces, parts, "");
          Close();
          for (size_t i = 0; i < reduces.size(); ++i) {
            Line(Accumulate(p_[reduces[i]].reduce, sums[i], parts[i]));
            if (NanMatters(reduces[i])) Line(fmt::format("nan_{} |= nan_{};", sums[i], parts[i]));
          }
          Close();
        } else {
          for (size_t k = 0; k < depth; ++k) {
            if (k == 0 && whole) Line(Parallel("", clause));
            if (k + 1 == depth && !simd.empty() && !(whole && depth == 1)) Line(simd + clause);
            Open(Loop(form_.axes[static_cast<size_t>(form_.reduced[k])]));
          }
          ElementStatements(pass, reduces, sums, "");
          for (size_t k = 0; k < depth; ++k) Close();
        }
        known_ = saved;
        for (size_t i = 0; i < reduces.size(); ++i) {
          if (NanMatters(reduces[i])) Line(fmt::format("if (nan_{0} != 0) {0} = NAN;", sums[i]));
          known_[reduces[i]] =
              p_[reduces[i]].dtype == DType::kBool ? sums[i] + " != 0.0f" : sums[i];
        }
        if (!reduces.empty() && !simd.empty()) text_.used.insert("partial_sums");
      }
      for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
      RowStatements(pass + 1);
    }
    for (const KernelTensor& tensor : form_.outputs)
      if (!region_.IsPerElement(tensor.value)) Store(tensor);
  }

  // What scans of a pass have gathered so far. Sums and products in double: PyTorch does so.
  void DeclareRuns(const std::vector<Id>& scans, bool lanes) {
    runs_.clear();
    for (const Id scan : scans) {
      const ReduceKind kind = p_[scan].reduce;
      const std::string type =
          kind == ReduceKind::kSum || kind == ReduceKind::kProd ? "double" : "float";
      const std::string name = fmt::format("run{}", ++count_);
      if (lanes) {
        Line(fmt::format("{} {}[{}];", type, name, kLanes));
        Line(fmt::format("for (int64_t l = 0; l < lanes; ++l) {}[l] = {};", name, Neutral(kind)));
      } else {
        Line(fmt::format("{} {} = {};", type, name, Neutral(kind)));
      }
      runs_[scan] = name + (lanes ? "[l]" : "");
    }
  }

  // One row at a time; the innermost loop runs along the row.
  void Rows() {
    indent_ = 2;
    Line(Parallel());
    Open(fmt::format("for (int64_t row = 0; row < {}; ++row)",
                     Sizes(form_.kept, form_.kept.size())));
    Decompose(form_.kept, form_.kept.size(), "row");
    for (const Stored& stored : stored_)
      if (stored.tensor == nullptr)
        Line(fmt::format("const auto {} = std::make_unique_for_overwrite<float[]>({});",
                         stored.buffer, Sizes(form_.reduced, form_.reduced.size())));
    RowPasses(false);
    Close();
  }

  void Whole() {
    indent_ = 2;
    RowPasses(true);
  }

  void LaneStatements(int after) {
    std::vector<Id> members;
    for (const Id member : region_.members)
      if (!region_.IsPerElement(member) && p_[member].kind == Kind::kPoint &&
          form_.pass.at(member) == after)
        members.push_back(member);
    if (members.empty()) return;
    std::vector<std::string> arrays;
    for (const Id member : members) {
      arrays.push_back(fmt::format("w{}", ++count_));
      Line(fmt::format("{} {}[{}];",
                       CppType(p_[member].dtype == DType::kBool ? DType::kBool : DType::kFloat),
                       arrays.back(), kLanes));
    }
    const auto saved = known_;
    Open("for (int64_t l = 0; l < lanes; ++l)");
    for (size_t i = 0; i < members.size(); ++i) {
      const std::string value = Text(members[i]);
      Line(fmt::format("{}[l] = {};", arrays[i], value));
    }
    Close();
    known_ = saved;
    for (size_t i = 0; i < members.size(); ++i) known_[members[i]] = arrays[i] + "[l]";
  }

  // Many columns side by side: the innermost loop runs along the contiguous kept axis.
  void Columns() {
    text_.used.insert("columns");
    indent_ = 2;
    const size_t outer = form_.kept.size() - 1;
    const LoopAxis& lanes = form_.axes[static_cast<size_t>(form_.kept.back())];
    Line(fmt::format("const int64_t blocks = ({} + {}) / {};", lanes.size, kLanes - 1, kLanes));
    Line(Parallel());
    Open(fmt::format("for (int64_t task = 0; task < {} * blocks; ++task)",
                     Sizes(form_.kept, outer)));
    Line(fmt::format("const int64_t {} = task % blocks * {};", lanes.index, kLanes));
    Line(fmt::format("const int64_t lanes = {0} - {1} < {2} ? {0} - {1} : {2};", lanes.size,
                     lanes.index, kLanes));
    if (outer > 0) {
      Line("const int64_t group = task / blocks;");
      Decompose(form_.kept, outer, "group");
    }
    lane_axis_ = form_.kept.back();
    LaneStatements(0);
    for (int pass = 0; pass < form_.num_passes; ++pass) {
      const auto reduces = Reduces(pass);
      if (!reduces.empty() || !Stores(pass).empty()) {
        std::vector<std::string> sums;
        for (const Id reduce : reduces) {
          sums.push_back(fmt::format("acc{}", ++count_));
          Line(fmt::format("float {}[{}];", sums.back(), kLanes));
          Line(fmt::format("for (int64_t l = 0; l < lanes; ++l) {}[l] = {};", sums.back(),
                           Neutral(p_[reduce].reduce)));
        }
        DeclareRuns(Scans(pass), true);
        const auto saved = known_;
        for (const int a : form_.reduced) {
          const LoopAxis& axis = form_.axes[static_cast<size_t>(a)];
          Open(Loop(axis));
        }
        Line("#pragma omp simd");
        Open("for (int64_t l = 0; l < lanes; ++l)");
        ElementStatements(pass, reduces, sums, "[l]");
        Close();
        for (size_t k = 0; k < form_.reduced.size(); ++k) Close();
        known_ = saved;
        for (size_t i = 0; i < reduces.size(); ++i)
          known_[reduces[i]] =
              p_[reduces[i]].dtype == DType::kBool ? sums[i] + "[l] != 0.0f" : sums[i] + "[l]";
        for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
      }
      LaneStatements(pass + 1);
    }
    bool rows = false;
    for (const KernelTensor& tensor : form_.outputs)
      rows = rows || !region_.IsPerElement(tensor.value);
    if (rows) {
      Open("for (int64_t l = 0; l < lanes; ++l)");
      for (const KernelTensor& tensor : form_.outputs)
        if (!region_.IsPerElement(tensor.value)) Store(tensor);
      Close();
    }
    Close();
  }

  std::string ElementType(Id id) {
    std::string type = StoredType(p_[id].dtype, p_.graph.precision);
    if (type == "Bf16" || type == "Fp16") text_.helpers.insert(type);
    return type;
  }

  void Finish() {
    std::vector<std::string> parameters, arguments, types;
    for (const KernelTensor& tensor : form_.inputs) {
      parameters.push_back(fmt::format("const {}* {}", ElementType(tensor.value), tensor.name));
      arguments.push_back(tensor.host);
      types.emplace_back("ptr");
    }
    for (const KernelTensor& tensor : form_.outputs) {
      parameters.push_back(fmt::format("{}* {}", ElementType(tensor.value), tensor.name));
      arguments.push_back(tensor.host);
      types.emplace_back("ptr");
    }
    for (const auto& [name, id] : form_.scalars) {
      if (form_.IsSize(name)) continue;
      const bool size = p_[id].dtype == DType::kIndex;
      parameters.push_back((size ? "int64_t " : "float ") + name);
      arguments.push_back(p_[id].text);
      types.emplace_back(size ? "i64" : "f32");
    }
    for (const LoopAxis& axis : form_.axes) {
      parameters.push_back("int64_t " + axis.size);
      arguments.push_back(form_.axes.size() == 1 && form_.reduced.empty()
                              ? form_.outputs[0].host + ".numel()"
                              : program_->SizeText(axis.dim));
      types.emplace_back("i64");
    }
    const std::string symbol = synth::CamelCase(form_.name);
    text_.source = fmt::format("extern \"C\" void {}({}) {{\n{}}}\n", symbol,
                               synth::Join(parameters, ", "), body_);
    text_.binding = fmt::format("{} = kernels.get(\"{}\", \"{}\")", form_.name, symbol,
                                synth::Join(types, " "));
    text_.call.push_back(fmt::format("{}({})", form_.name, synth::Join(arguments, ", ")));
  }

  const EmitRules& rules_;
  KernelText text_;
  std::string body_;
  size_t indent_ = 2;
  std::map<Id, std::string> known_;
  int count_ = 0;
  int lane_axis_ = -1;
  int picked_axis_ = -1;  // whose index is `picked_index_`
  std::string picked_index_;
  std::vector<Stored> stored_;
  std::map<Id, std::string> runs_;  // of the scans of the pass
};

}  // namespace

KernelText EmitCpp(Program* program, const Region& region, const KernelForm& form,
                   const EmitRules& rules) {
  return CppWriter(program, region, form, rules).Write();
}

}  // namespace davinci::teacher
