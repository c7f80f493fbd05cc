#include "davinci/sftdata/diversity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "davinci/base/hash.h"
#include "davinci/data/fingerprint.h"
#include "davinci/llm/tools.h"
#include "davinci/sftdata/family.h"
#include "davinci/skill/minhash.h"

namespace davinci::sftdata {
namespace {

std::string KeyOf(uint64_t seed, std::string_view id) {
  return Sha256().Field(std::to_string(seed)).Field(id).FinishHex();
}

// Groups of near-duplicate references.
class Groups {
 public:
  explicit Groups(double threshold) : threshold_(threshold) {}

  int Of(const std::string& reference) {
    const auto [known, fresh] = by_text_.try_emplace(Sha256Hex(reference), -1);
    if (!fresh) return known->second;
    const auto signature = fingerprint::SignatureOf(reference, fingerprint::TokenRule::kKeepNames);
    const auto nearest = index_.NearestOf(signature);
    const int group =
        nearest && nearest->similarity >= threshold_ ? group_of_[nearest->number] : num_groups_++;
    index_.Add(signature);
    group_of_.push_back(group);
    return known->second = group;
  }

 private:
  const double threshold_;
  fingerprint::SignatureIndex index_;
  std::vector<int> group_of_;  // of each signature
  std::unordered_map<std::string, int> by_text_;
  int num_groups_ = 0;
};

}  // namespace

RowFacts FactsOf(const Row& row) {
  RowFacts facts;
  facts.content = ContentHash(row);
  facts.id = row.origin.id.empty() ? facts.content : row.origin.id;
  facts.agent = row.agent;
  facts.reference = row.origin.reference;
  facts.family = !row.origin.family.empty() ? row.origin.family
                 : facts.reference.empty()  ? "other"
                                            : FamilyOf(facts.reference);
  facts.speedup = row.origin.speedup;
  if (row.agent != rl::AgentKind::kSummary) return facts;
  for (const RowMessage& message : row.messages) {
    if (message.weight <= 0) continue;
    for (const RowToolCall& call : message.tool_calls) {
      const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
      if (!arguments.is_object() || !arguments.contains("new_skills")) continue;
      for (const auto& skill : arguments["new_skills"])
        if (skill.is_object() && skill.contains("content") && skill["content"].is_string())
          facts.skills.push_back(skill["content"].get<std::string>());
    }
  }
  return facts;
}

std::string SpeedupBucket(const std::optional<double>& speedup) {
  if (!speedup || *speedup <= 0) return "wrong";
  if (*speedup < 1) return "<1";
  if (*speedup < 1.2) return "1-1.2";
  if (*speedup < 1.5) return "1.2-1.5";
  if (*speedup < 2) return "1.5-2";
  return *speedup < 3 ? "2-3" : ">=3";
}

DiversityResult ChooseDiverse(const std::vector<RowFacts>& rows,
                              const std::vector<std::string>& evaluation,
                              const DiversityOptions& options) {
  fingerprint::SignatureIndex contamination;
  for (const std::string& text : evaluation)
    contamination.Add(fingerprint::SignatureOf(text, fingerprint::TokenRule::kPlainNames));
  std::vector<std::string> keys;
  for (const RowFacts& row : rows) keys.push_back(KeyOf(options.seed, row.id));
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::tie(keys[a], rows[a].content) < std::tie(keys[b], rows[b].content);
  });

  DiversityResult result;
  result.group.assign(rows.size(), -1);
  result.rule.resize(rows.size());
  Groups groups(options.near_reference);
  std::unordered_map<std::string, bool> contaminated;  // by reference
  std::unordered_set<std::string> contents;
  skill::NearDuplicateIndex skills;
  std::map<std::pair<rl::AgentKind, int>, int> per_group;
  std::map<std::pair<rl::AgentKind, std::string>, int> per_cell;
  const auto rule_of = [&](size_t i) -> std::string {
    const RowFacts& row = rows[i];
    if (!row.reference.empty()) {
      const auto [known, fresh] = contaminated.try_emplace(row.reference, false);
      if (fresh && contamination.size() > 0)
        known->second =
            contamination.Nearest(fingerprint::SignatureOf(
                row.reference, fingerprint::TokenRule::kPlainNames)) >= options.contaminated;
      if (known->second) return "contaminated";
      result.group[i] = groups.Of(row.reference);
    }
    if (!contents.insert(row.content).second) return "duplicate";
    for (const std::string& text : row.skills)
      if (!skills.Nearest(text, options.near_skill).name.empty()) return "near_skill";
    const std::string cell = row.family + " " + SpeedupBucket(row.speedup);
    int* of_group = result.group[i] < 0 ? nullptr : &per_group[{row.agent, result.group[i]}];
    int& of_cell = per_cell[{row.agent, cell}];
    if (options.per_reference > 0 && of_group != nullptr && *of_group >= options.per_reference)
      return "reference_cap";
    if (options.per_cell > 0 && of_cell >= options.per_cell) return "cell_cap";
    if (of_group != nullptr) ++*of_group;
    ++of_cell;
    for (size_t s = 0; s < row.skills.size(); ++s)
      skills.Add(row.id + "#" + std::to_string(s), row.skills[s]);
    return "";
  };
  for (const size_t i : order) result.rule[i] = rule_of(i);
  for (size_t i = 0; i < rows.size(); ++i)
    if (result.rule[i].empty()) result.kept.push_back(i);
  return result;
}

OrderedJson CountsOf(const std::vector<RowFacts>& rows, const DiversityResult& result) {
  OrderedJson counts = OrderedJson::object();
  for (const rl::AgentKind agent :
       {rl::AgentKind::kPolicy, rl::AgentKind::kSelection, rl::AgentKind::kSummary}) {
    int64_t all = 0;
    int64_t kept = 0;
    std::map<std::string, int64_t> dropped;
    std::map<std::string, std::map<std::string, int64_t>> cells;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].agent != agent) continue;
      ++all;
      kept += result.rule[i].empty();
      if (result.rule[i].empty())
        ++cells[rows[i].family][SpeedupBucket(rows[i].speedup)];
      else
        ++dropped[result.rule[i]];
    }
    counts[std::string(rl::AgentKindName(agent))] = {
        {"rows", all}, {"kept", kept}, {"dropped", dropped}, {"cells", cells}};
  }
  return counts;
}

std::vector<bool> HoldOut(const std::vector<RowFacts>& rows, const DiversityResult& result,
                          double share, uint64_t seed) {
  std::set<int> groups;
  for (const size_t i : result.kept)
    if (result.group[i] >= 0) groups.insert(result.group[i]);
  // A group is known by the least key of its rows, so that numbering does not matter.
  std::map<int, std::string> keys;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!groups.contains(result.group[i])) continue;
    std::string key = KeyOf(seed ^ 0x9e3779b97f4a7c15ULL, Sha256Hex(rows[i].reference));
    std::string& least = keys[result.group[i]];
    if (least.empty() || key < least) least = std::move(key);
  }
  std::vector<std::pair<std::string, int>> order;
  for (const auto& [group, key] : keys) order.emplace_back(key, group);
  std::ranges::sort(order);
  const auto count = static_cast<size_t>(std::llround(share * static_cast<double>(order.size())));
  std::set<int> held;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) held.insert(order[i].second);
  std::vector<bool> out(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out[i] = held.contains(result.group[i]);
  return out;
}

}  // namespace davinci::sftdata
