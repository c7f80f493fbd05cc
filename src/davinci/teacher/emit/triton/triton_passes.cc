#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/emit/triton/triton_rows.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

// Returns the names of each lane's sums in brief kernels.
std::string LaneSums(const std::string& n) { return fmt::format("f{0}, n{0}, d{0}, q{0}", n); }

}  // namespace

std::string TritonRows::Accumulate(ReduceKind kind, const std::string& sum, const std::string& what,
                                   bool nan) {
  if (nan) {
    const std::string helper = kind == ReduceKind::kMax ? "larger" : "smaller";
    text_.helpers.insert(helper);
    return fmt::format("{}({}, {})", helper, sum, what);
  }
  switch (kind) {
    case ReduceKind::kSum:
      return sum + " + " + what;
    case ReduceKind::kMax:
    case ReduceKind::kAny:
      return fmt::format("tl.maximum({}, {})", sum, what);
    case ReduceKind::kMin:
    case ReduceKind::kAll:
      return fmt::format("tl.minimum({}, {})", sum, what);
    case ReduceKind::kProd:
      return fmt::format("{} * {}", sum, Bracketed(what));
    case ReduceKind::kLogSum:
      break;
  }
  return "";
}

// The reductions of a pass are known behind it, or, with `partial`, stored as parts of that name.
void TritonRows::Pass(int pass, const std::string& cols_text, const std::string& range,
                      const std::vector<std::string>* partial) {
  const auto reduces = Reduces(pass);
  const auto stores = Stores(pass);
  if (reduces.empty() && stores.empty()) return;
  // Row values that the pass reads, before its loop.
  for (const Id member : region_.members)
    if (!region_.IsPerElement(member) && p_[member].kind != Kind::kReduce &&
        form_.pass.at(member) <= pass && ReadBy(member))
      Text(member);
  for (const KernelTensor& tensor : form_.inputs)
    if (!form_.Has(tensor, true) && !known_.contains(tensor.value) &&
        region_.placements.contains(tensor.value) &&
        (partial == nullptr || PassNeeds(pass, tensor.value)))
      Text(tensor.value);
  std::vector<std::string> sums;
  for (const Id reduce : reduces) {
    sums.push_back(fmt::format("acc{}", ++count_));
    if (form_.variance_of.contains(reduce)) {
      if (brief_) {
        text_.helpers.insert("lanes");
        Line(fmt::format("{} = lanes(ROWS, BLOCK)", LaneSums(fmt::format("{}", count_))));
        continue;
      }
      for (const char* part : {"first", "count", "shift", "square"})
        Line(fmt::format("{}{} = tl.zeros((ROWS, BLOCK), tl.float32)", part, count_));
      continue;
    }
    Line(fmt::format("{} = tl.full((ROWS, BLOCK), {}, tl.float32)", sums.back(),
                     Neutral(p_[reduce].reduce)));
  }
  runs_.clear();
  for (const Id scan : Scans(pass)) {
    runs_[scan] = fmt::format("run{}", ++count_);
    Line(fmt::format("{} = tl.full((ROWS, 1), {}, tl.float32)", runs_[scan],
                     Neutral(p_[scan].reduce)));
  }
  Line(fmt::format("for {} in {}:", windows_ ? "col" : "start", range));
  indent_ += 4;
  const auto saved = known_;
  if (planes_) {
    const LoopAxis& last = form_.axes.back();
    Columns(last.index, last.size,
            fmt::format("((start % {}) * BLOCK + tl.arange(0, BLOCK))[None, :]", BlocksText()));
    Line(fmt::format("plane = start // {}", BlocksText()));
    const std::vector<int> outer(form_.reduced.begin(), form_.reduced.end() - 1);
    if (outer.size() == 1)
      Line(fmt::format("{} = plane", form_.axes[static_cast<size_t>(outer[0])].index));
    Decompose(outer, "plane");
  } else {
    if (windows_) {
      flat_columns_ = true;
      Line("inside = in_row");
    } else {
      Columns("col", cols_text,
              brief_ ? "start + cols(BLOCK)" : "(start + tl.arange(0, BLOCK))[None, :]");
    }
    Decompose(form_.reduced, "col");
  }
  for (size_t i = 0; i < reduces.size(); ++i) {
    if (form_.variance_of.contains(reduces[i])) {
      Squares(sums[i].substr(3), Element(reduces[i]));
      continue;
    }
    Line(fmt::format(
        "{0} = {1}", sums[i],
        Accumulate(p_[reduces[i]].reduce, sums[i], Masked(reduces[i]), NanMatters(reduces[i]))));
  }
  for (const KernelTensor* tensor : stores) Store(*tensor);
  known_ = saved;
  indent_ -= 4;
  if (partial != nullptr) {
    StoreParts(reduces, sums, *partial);
    return;
  }
  for (size_t i = 0; i < reduces.size(); ++i)
    if (windows_)
      known_[reduces[i]] = Bracketed(Truth(reduces[i], sums[i]));
    else if (const auto of = form_.variance_of.find(reduces[i]); of != form_.variance_of.end())
      Assign(reduces[i], AboutMean(sums[i].substr(3), known_.at(FirstAlike(of->second))));
    else
      Assign(reduces[i],
             Truth(reduces[i], Combine(p_[reduces[i]].reduce, sums[i], NanMatters(reduces[i]))));
  for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
}

// Stores what a program found of its part of a row, for the next kernel.
void TritonRows::StoreParts(const std::vector<Id>& reduces, const std::vector<std::string>& sums,
                            const std::vector<std::string>& names) {
  std::map<Id, std::string> own;  // the sums of this program
  for (size_t i = 0; i < reduces.size(); ++i) {
    const std::string& to = names[i];
    const auto store = [&](const std::string& where, const std::string& what) {
      StoreAt(where + "_ptr + row * SPLITS + split", what, "in_row");
    };
    if (const auto of = form_.variance_of.find(reduces[i]); of != form_.variance_of.end()) {
      const std::string n = sums[i].substr(3);
      store(to, AboutMean(n, own.at(FirstAlike(of->second))));
      store(to + "_count", fmt::format("total{}", n));
      continue;
    }
    std::string sum = Combine(p_[reduces[i]].reduce, sums[i], NanMatters(reduces[i]));
    if (!form_.variance_of.empty()) {
      Line(fmt::format("own{} = {}", sums[i].substr(3), sum));
      sum = own[reduces[i]] = "own" + sums[i].substr(3);
    }
    store(to, sum);
  }
}

// The element whose squares about the mean are summed.
Id TritonRows::Element(Id squares) const {
  return p_[FirstAlike(form_.variance_of.at(squares))].operands[0];
}

// Sums about the first element of each lane: its distance from the lane's mean is no larger than
// the sum of squares, so little cancels.
void TritonRows::Squares(const std::string& n, Id element) {
  const std::string x = Text(element);
  if (brief_) {
    text_.helpers.insert("spread");
    Line(fmt::format("{0} = spread({1}, inside, {0})", LaneSums(n), x));
    return;
  }
  Line(fmt::format("first{0} = tl.where((count{0} == 0.0) & inside, {1}, first{0})", n, x));
  Line(fmt::format("away{0} = tl.where(inside, {1} - first{0}, 0.0)", n, Bracketed(x)));
  Line(fmt::format("count{0} += tl.where(inside, 1.0, 0.0)", n));
  Line(fmt::format("shift{0} += away{0}", n));
  Line(fmt::format("square{0} += away{0} * away{0}", n));
}

// The sum of squares about the mean of all lanes, whose elements have the sum `sum`.
std::string TritonRows::AboutMean(const std::string& n, const std::string& sum) {
  if (brief_) {
    text_.helpers.insert("squares_of");
    Line(fmt::format("squares{0}, total{0} = squares_of({1}, {2})", n, sum, LaneSums(n)));
    return "squares" + n;
  }
  Line(fmt::format("total{0} = tl.sum(count{0}, axis=1)[:, None]", n));
  Line(fmt::format("shift{0} = shift{0} / tl.maximum(count{0}, 1.0)", n));
  Line(fmt::format("apart{0} = first{0} + shift{0} - {1} / tl.maximum(total{0}, 1.0)", n,
                   Bracketed(sum)));
  return fmt::format(
      "tl.sum(square{0} + count{0} * (apart{0} * apart{0} - shift{0} * shift{0}), axis=1)[:, "
      "None]",
      n);
}

bool TritonRows::PassNeeds(int pass, Id value) const {
  for (const Id reduce : Reduces(pass))
    if (Needs(form_.variance_of.contains(reduce) ? Element(reduce) : p_[reduce].operands[0], value))
      return true;
  for (const KernelTensor* tensor : Stores(pass))
    if (Needs(tensor->value, value)) return true;
  return false;
}

bool TritonRows::ReadBy(Id member) const {
  for (const Id other : region_.members)
    if (region_.IsPerElement(other) &&
        std::find(p_[other].operands.begin(), p_[other].operands.end(), member) !=
            p_[other].operands.end())
      return true;
  return false;
}

}  // namespace davinci::teacher
