#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/emit/triton/triton_rows.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

constexpr double kMostSplits = 256;  // of a row over programs

}  // namespace

double TritonRows::SplitsOf(double programs, double blocks) {
  double splits = 1;
  while (programs * splits < 4 * kPrograms && splits < kMostSplits && 2 * splits <= blocks)
    splits *= 2;
  return splits < 4 ? 1 : splits;
}

void TritonRows::SplitRows(const std::vector<std::string>& parameters,
                           const std::vector<std::string>& arguments, const Split& split) {
  std::vector<std::string> own_parameters = parameters, own_arguments = arguments;
  const auto splits = static_cast<int64_t>(split.splits);
  const std::string base = form_.name;
  std::vector<std::pair<Id, std::string>> partial;  // of the passes before
  const auto begin = [&] {
    body_.clear();
    known_.clear();
    Row(split.rows_text);
    if (!partial.empty()) {
      Line("part = tl.arange(0, SPLITS)[None, :]");
      Line(one_row_ ? "in_part = part < SPLITS" : "in_part = in_row & (part < SPLITS)");
    }
    for (const auto& [reduce, name] : partial) {
      if (form_.variance_of.contains(reduce)) {
        CombineSquares(reduce, name);
        continue;
      }
      Line(fmt::format("{0} = tl.load({0}_ptr + row * SPLITS + part, mask=in_part, other={1})",
                       name, Neutral(p_[reduce].reduce)));
      parts_[reduce] = name;
      Assign(reduce, Truth(reduce, Combine(p_[reduce].reduce, name, NanMatters(reduce))));
    }
    for (const Id member : region_.members)
      if (p_[member].kind == Kind::kReduce)
        if (const auto first = known_.find(FirstAlike(member)); first != known_.end())
          known_[member] = first->second;
  };
  const auto finish = [&](const std::string& name, bool spread) {
    std::vector<std::string> used_parameters, used_arguments;
    for (size_t i = 0; i < own_parameters.size(); ++i) {
      const std::string word = own_parameters[i].substr(0, own_parameters[i].find(':'));
      if (!synth::HasWord(body_, word)) continue;
      used_parameters.push_back(own_parameters[i]);
      if (i < own_arguments.size()) used_arguments.push_back(own_arguments[i]);
    }
    if (synth::HasWord(body_, "SPLITS")) used_parameters.push_back("SPLITS: tl.constexpr");
    std::string constants =
        Constants(split.rows_per, fmt::format("{}", static_cast<int64_t>(split.width)));
    if (!synth::HasWord(body_, "BLOCK")) constants = fmt::format(", ROWS={}", split.rows_per);
    if (synth::HasWord(body_, "SPLITS")) constants += fmt::format(", SPLITS={}", splits);
    Add(name, used_parameters, used_arguments,
        spread ? fmt::format("({}, {})", split.grid, splits) : fmt::format("({},)", split.grid),
        constants);
  };
  const std::string range =
      planes_
          ? "range(split * span, tl.minimum(split * span + span, " + StepsText() + "))"
          : "range(split * span, tl.minimum(split * span + span, " + split.cols_text + "), BLOCK)";
  bool stored = false;
  int stage = 0;
  for (int pass = 0; pass < form_.num_passes; ++pass) {
    const auto reduces = Reduces(pass);
    if (reduces.empty() && Stores(pass).empty()) continue;
    begin();
    const bool last = reduces.empty() && Reduced(pass + 1).empty();
    Line("split = tl.program_id(1)");
    Line(planes_
             ? fmt::format("span = tl.cdiv({}, SPLITS)", StepsText())
             : fmt::format("span = tl.cdiv(tl.cdiv({}, SPLITS), BLOCK) * BLOCK", split.cols_text));
    std::vector<std::string> names;
    for (const Id reduce : reduces) {
      names.push_back(fmt::format("part{}", ++count_));
      partial.emplace_back(reduce, names.back());
      text_.call.push_back(fmt::format("{} = {}.new_empty(({}, {}), dtype=torch.float32)",
                                       names.back(), form_.inputs[0].host, HostSize(form_.kept),
                                       splits));
      // Pointers come first, as everywhere.
      own_parameters.insert(own_parameters.begin(), names.back() + "_ptr");
      own_arguments.insert(own_arguments.begin(), names.back());
      if (!form_.variance_of.contains(reduce)) continue;
      const std::string counts = names.back() + "_count";
      text_.call.push_back(fmt::format("{} = torch.empty_like({})", counts, names.back()));
      own_parameters.insert(own_parameters.begin(), counts + "_ptr");
      own_arguments.insert(own_arguments.begin(), counts);
    }
    Pass(pass, split.cols_text, range, &names);
    if (last) {
      const size_t before = body_.size();
      indent_ += 4;
      for (const KernelTensor& tensor : form_.outputs)
        if (!region_.IsPerElement(tensor.value)) Store(tensor);
      indent_ -= 4;
      if (body_.size() > before) body_.insert(before, "    if split == 0:\n");
      stored = true;
    }
    finish(last ? base : fmt::format("{}_part{}", base, ++stage), true);
  }
  if (stored) return;
  begin();
  for (const KernelTensor& tensor : form_.outputs)
    if (!region_.IsPerElement(tensor.value)) Store(tensor);
  if (!body_.empty()) finish(base, false);
}

std::vector<Id> TritonRows::Reduced(int pass) const {
  std::vector<Id> all;
  for (; pass < form_.num_passes; ++pass)
    for (const Id reduce : Reduces(pass)) all.push_back(reduce);
  return all;
}

void TritonRows::CombineSquares(Id squares, const std::string& name) {
  const Id sum = FirstAlike(form_.variance_of.at(squares));
  for (const char* suffix : {"", "_count"})
    Line(fmt::format("{0}{1} = tl.load({0}{1}_ptr + row * SPLITS + part, mask=in_part, other=0.0)",
                     name, suffix));
  Line(fmt::format("total = tl.sum({}_count, axis=1)[:, None]", name));
  Line(fmt::format("apart = {} / tl.maximum({}_count, 1.0) - {} / total", parts_.at(sum), name,
                   Bracketed(known_.at(sum))));
  Assign(squares, fmt::format("tl.sum({0} + {0}_count * apart * apart, axis=1)[:, None]", name));
}

}  // namespace davinci::teacher
