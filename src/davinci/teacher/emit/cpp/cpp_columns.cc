#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/emit/cpp/cpp_writer.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

void CppWriter::LaneStatements(int after) {
  std::vector<Id> members;
  for (const Id member : region_.members)
    if (!region_.IsPerElement(member) && p_[member].kind == Kind::kPoint &&
        form_.pass.at(member) == after)
      members.push_back(member);
  if (members.empty()) return;
  // What the loops behind this one, or the caller, read; the rest is gone with its lane.
  std::erase_if(members, [&](Id member) {
    return !IsOutput(member) &&
           std::none_of(region_.members.begin(), region_.members.end(), [&](Id reader) {
             const auto& reads = p_[reader].operands;
             const bool apart = region_.IsPerElement(reader) || p_[reader].kind != Kind::kPoint ||
                                form_.pass.at(reader) != after;
             return apart && std::find(reads.begin(), reads.end(), member) != reads.end();
           });
  });
  std::vector<std::string> arrays;
  for (const Id member : members) {
    arrays.push_back(fmt::format("w{}", ++count_));
    Line(fmt::format("{} {}[{}];",
                     Type(p_[member].dtype == DType::kBool ? DType::kBool : DType::kFloat),
                     arrays.back(), kLanes));
  }
  const auto saved = known_;
  LaneLoop([&] {
    for (size_t i = 0; i < members.size(); ++i) {
      const std::string value = Text(members[i]);
      Line(fmt::format("{}[l] = {};", arrays[i], value));
    }
  });
  known_ = saved;
  for (size_t i = 0; i < members.size(); ++i) known_[members[i]] = arrays[i] + "[l]";
}

bool CppWriter::SideBySide() const {
  if (!rules_.Contains(Rule::kColumnsCpp) || form_.kept.empty() || form_.reduced.empty())
    return false;
  if (!form_.axes.back().reduced) return true;
  if (HasScan()) return false;
  int64_t elements = 1;
  for (const int axis : form_.reduced) {
    const std::optional<int64_t> held = Held(form_.axes[static_cast<size_t>(axis)]);
    if (!held) return false;
    elements *= *held;
    if (elements > kShortRow) return false;
  }
  const std::optional<int64_t> lanes = Number(form_.axes[static_cast<size_t>(form_.kept.back())]);
  return lanes && *lanes >= kFewestLanes;
}

void CppWriter::Columns() {
  text_.used.Insert(Rule::kColumnsCpp);
  const std::vector<int> outer(form_.kept.begin(), form_.kept.end() - 1);
  const LoopAxis& lanes = form_.axes[static_cast<size_t>(form_.kept.back())];
  Line(fmt::format("const int64_t blocks = ({} + {}) / {};", lanes.size, kLanes - 1, kLanes));
  Line(Parallel());
  Open(fmt::format("for (int64_t task = 0; task < {} * blocks; ++task)", Multiplied(outer)));
  Line(fmt::format("const int64_t {} = task % blocks * {};", lanes.index, kLanes));
  const std::optional<int64_t> held = Held(lanes);
  if (held && (*held < kLanes || *held % kLanes == 0))
    Line(fmt::format("constexpr int64_t lanes = {};", *held < kLanes ? *held : kLanes));
  else
    Line(fmt::format("const int64_t lanes = {0} - {1} < {2} ? {0} - {1} : {2};", lanes.size,
                     lanes.index, kLanes));
  if (!outer.empty()) {
    Line("const int64_t group = task / blocks;");
    Decompose(outer, "group");
  }
  lane_axis_ = form_.kept.back();
  Branches(outer, [&] { ColumnPasses(); });
  Close();
}

void CppWriter::ColumnPasses() {
  FindLaneParts();
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
      LaneLoop([&] { ElementStatements(pass, reduces, sums, "[l]"); });
      for (size_t k = 0; k < form_.reduced.size(); ++k) Close();
      known_ = saved;
      for (size_t i = 0; i < reduces.size(); ++i)
        known_[reduces[i]] =
            p_[reduces[i]].dtype == DType::kBool ? sums[i] + "[l] != 0.0f" : sums[i] + "[l]";
      for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
    }
    LaneStatements(pass + 1);
  }
  if (StoresRows()) LaneLoop([&] { StoreRows(); }, false);
}

}  // namespace davinci::teacher
