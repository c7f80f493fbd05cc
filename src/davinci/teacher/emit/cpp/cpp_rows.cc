#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "davinci/teacher/emit/cpp/cpp_writer.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

constexpr int kBlock = 4096;  // elements of a full reduction that are summed on their own

}  // namespace

std::string CppWriter::Clause(ReduceKind kind) {
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

std::string CppWriter::Accumulate(ReduceKind kind, const std::string& sum,
                                  const std::string& what) {
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

void CppWriter::ElementStatements(int pass, const std::vector<Id>& reduces,
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
    text_.used.Insert(Rule::kStoredValues);
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

bool CppWriter::IsPick(Id reduce) const {
  if (!rules_.Contains(Rule::kPickClass) || !OneRow() || form_.reduced.size() != 1) return false;
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

bool CppWriter::OneRow() const { return !form_.kept.empty() && !SideBySide(); }

std::vector<Id> CppWriter::LoopReduces(int pass) const {
  auto reduces = Reduces(pass);
  std::erase_if(reduces, [&](Id reduce) { return IsPick(reduce); });
  return reduces;
}

void CppWriter::Picks(int pass) {
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
    text_.used.Insert(Rule::kPickClass);
  }
}

std::vector<std::string> CppWriter::Sums(const std::vector<Id>& reduces, const std::string& prefix,
                                         std::string* clause) {
  std::map<std::string, std::string> clauses;
  std::vector<std::string> sums;
  for (const Id reduce : reduces) {
    sums.push_back(fmt::format("{}{}", prefix, ++count_));
    const ReduceKind kind = p_[reduce].reduce;
    // One long sum of floats loses more bits than PyTorch's; lanes and blocks do not.
    const bool serial = !rules_.Contains(Rule::kPartialSums) &&
                        (kind == ReduceKind::kSum || kind == ReduceKind::kProd);
    Line(fmt::format("{} {} = {};", serial ? "double" : "float", sums.back(), Neutral(kind)));
    std::string& names = clauses[Clause(kind)];
    names += (names.empty() ? "" : ", ") + sums.back();
    if (!NanMatters(reduce)) continue;
    Line(fmt::format("int nan_{} = 0;", sums.back()));
    std::string& flags = clauses["|"];
    flags += (flags.empty() ? "nan_" : ", nan_") + sums.back();
  }
  for (const auto& [op, names] : clauses) *clause += fmt::format(" reduction({} : {})", op, names);
  return sums;
}

void CppWriter::RowPasses(bool whole) {
  RowStatements(0);
  for (int pass = 0; pass < form_.num_passes; ++pass) {
    const auto reduces = LoopReduces(pass);
    Picks(pass);
    if (!reduces.empty() || !Stores(pass).empty()) {
      std::string clause;
      const auto sums = Sums(reduces, "acc", &clause);
      const auto scans = Scans(pass);
      DeclareRuns(scans, false);
      const std::string simd =
          rules_.Contains(Rule::kPartialSums) && scans.empty() ? "#pragma omp simd" : "";
      const auto saved = known_;
      const size_t depth = form_.reduced.size();
      const LoopAxis& last = form_.axes[static_cast<size_t>(form_.reduced.back())];
      if (whole && depth == 1 && rules_.Contains(Rule::kPartialSums)) {
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
        for (size_t k = 0; k + 1 < depth; ++k) {
          if (k == 0 && whole) Line(Parallel("", clause));
          Open(Loop(form_.axes[static_cast<size_t>(form_.reduced[k])]));
        }
        const std::string pragma = whole && depth == 1 ? Parallel("", clause)
                                   : simd.empty()      ? ""
                                                       : simd + clause;
        LoopInParts(form_.reduced.back(), pragma,
                    [&] { ElementStatements(pass, reduces, sums, ""); });
        for (size_t k = 0; k + 1 < depth; ++k) Close();
      }
      known_ = saved;
      for (size_t i = 0; i < reduces.size(); ++i) {
        if (NanMatters(reduces[i])) Line(fmt::format("if (nan_{0} != 0) {0} = NAN;", sums[i]));
        known_[reduces[i]] = p_[reduces[i]].dtype == DType::kBool ? sums[i] + " != 0.0f" : sums[i];
      }
      if (!reduces.empty() && !simd.empty()) text_.used.Insert(Rule::kPartialSums);
    }
    for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
    RowStatements(pass + 1);
  }
  StoreRows();
}

void CppWriter::DeclareRuns(const std::vector<Id>& scans, bool lanes) {
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

void CppWriter::Rows() {
  Line(Parallel());
  Open(fmt::format("for (int64_t row = 0; row < {}; ++row)", Multiplied(form_.kept)));
  Decompose(form_.kept, "row");
  for (const Stored& stored : stored_)
    if (stored.tensor == nullptr)
      Line(fmt::format("const auto {} = std::make_unique_for_overwrite<float[]>({});",
                       stored.buffer, Multiplied(form_.reduced)));
  Branches(form_.kept, [&] { RowPasses(false); });
  Close();
}

void CppWriter::Whole() { RowPasses(true); }

}  // namespace davinci::teacher
