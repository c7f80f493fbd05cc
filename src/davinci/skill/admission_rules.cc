#include "davinci/skill/admission_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace davinci::skill {
namespace {

void SortBySubject(std::vector<Evidence>* evidence) {
  std::sort(evidence->begin(), evidence->end(), [](const Evidence& a, const Evidence& b) {
    return std::tie(a.target, a.language) < std::tie(b.target, b.language);
  });
}

std::string SubjectText(const Evidence& evidence) {
  return evidence.language.empty() ? evidence.target
                                   : fmt::format("{} ({})", evidence.target, evidence.language);
}

const Evidence* BetterEvidence(const std::vector<Evidence>& incoming, const Record& record) {
  for (const Evidence& one : incoming) {
    const Evidence* known = record.EvidenceLike(one);
    const auto raised = [](const Evidence& e) { return e.correctness && e.correctness->raised; };
    if (known == nullptr ? record.evidence.empty()
                         : one.uplift.low > known->uplift.low || (raised(one) && !raised(*known)))
      return &one;
  }
  return nullptr;
}

std::string WhyNotBetter(const std::vector<Evidence>& incoming, const Record& record) {
  if (incoming.empty()) return "it brings no evidence of its own";
  for (const Evidence& one : incoming)
    if (const Evidence* known = record.EvidenceLike(one); known != nullptr)
      return fmt::format("its uplift on {} is at least {:.3g}, that of the known one {:.3g}",
                         SubjectText(one), one.uplift.low, known->uplift.low);
  return fmt::format("its evidence is for {}, that of the known one for {}",
                     SubjectText(incoming[0]), SubjectText(record.evidence[0]));
}

std::string StateRemark(const Record& record) {
  return record.state == SkillState::kActive ? ""
                                             : fmt::format(", {}", SkillStateName(record.state));
}

Decision Refuse(const Skill& skill, std::string reason) {
  return {{Admission::kRefused, skill.name, std::move(reason)}, {}};
}

// The same skill again: what was measured since may be new.
Decision JoinEvidence(const std::vector<Evidence>& incoming, const Record& known) {
  Decision decision{{Admission::kMerged, known.skill.name, ""}, known};
  const bool returns =
      known.state != SkillState::kActive && BetterEvidence(incoming, known) != nullptr;
  std::string targets;
  for (const Evidence& one : incoming) {
    const Evidence* old = known.EvidenceLike(one);
    if (old != nullptr && (*old == one || old->last_verified > one.last_verified)) continue;
    std::erase_if(decision.record.evidence, [&](const Evidence& e) { return SameSubject(e, one); });
    decision.record.evidence.push_back(one);
    targets += (targets.empty() ? "" : ", ") + SubjectText(one);
  }
  SortBySubject(&decision.record.evidence);
  if (returns) decision.record.state = SkillState::kActive;
  if (!targets.empty()) {
    decision.result.reason = fmt::format("the same skill; newer evidence for {}{}", targets,
                                         returns ? ", better than what it left with" : "");
  } else if (known.state != SkillState::kActive) {
    return Refuse(known.skill, fmt::format("it is {}, and comes back only with better evidence",
                                           SkillStateName(known.state)));
  } else {
    decision.result = {Admission::kUnchanged, known.skill.name, "the same skill is there already"};
  }
  return decision;
}

Decision MergeNearDuplicate(const Skill& skill, const std::vector<Evidence>& incoming,
                            const Record& known, double similarity) {
  const std::string whom =
      fmt::format("{} of \"{}\"{} (similarity {:.2f})",
                  similarity >= kNearDuplicate ? "near-duplicate" : "new version", known.skill.name,
                  StateRemark(known), similarity);
  const Evidence* better = BetterEvidence(incoming, known);
  if (better == nullptr)
    return Refuse(skill, fmt::format("{}: {}", whom, WhyNotBetter(incoming, known)));
  Decision decision{{Admission::kMerged, known.skill.name, ""}, known};
  Skill& merged = decision.record.skill;
  merged = skill;
  merged.name = known.skill.name;
  merged.tags = known.skill.tags;
  for (const std::string& tag : skill.tags)
    if (std::find(merged.tags.begin(), merged.tags.end(), tag) == merged.tags.end() &&
        merged.tags.size() < kMaxTags)
      merged.tags.push_back(tag);
  // Evidence belongs to the content that was measured.
  decision.record.evidence = incoming;
  SortBySubject(&decision.record.evidence);
  decision.record.state = SkillState::kActive;
  decision.result.reason =
      fmt::format("{}; its content replaces the known one: uplift on {} at least {:.3g}{}", whom,
                  SubjectText(*better), better->uplift.low,
                  known.EvidenceLike(*better) == nullptr
                      ? ""
                      : fmt::format(" instead of {:.3g}", known.EvidenceLike(*better)->uplift.low));
  return decision;
}

}  // namespace

std::string_view AdmissionName(Admission admission) {
  switch (admission) {
    case Admission::kAdded:
      return "added";
    case Admission::kUnchanged:
      return "unchanged";
    case Admission::kMerged:
      return "merged";
    case Admission::kRefused:
      return "refused";
  }
  return "unknown";
}

Decision DecideAdmission(const Skill& skill, const std::vector<Evidence>& evidence,
                         const Encounter& encounter, bool is_version) {
  if (encounter.same_name) {
    const Record& known = *encounter.same_name;
    if (known.skill == skill) return JoinEvidence(evidence, known);
    if (is_version || encounter.same_name_similarity >= kNearDuplicate)
      return MergeNearDuplicate(skill, evidence, known, encounter.same_name_similarity);
    return Refuse(
        skill, fmt::format("the name is taken{} by a different skill (similarity {:.2f}); choose "
                           "another name, or replace that skill",
                           StateRemark(known), encounter.same_name_similarity));
  }
  if (encounter.similar)
    return MergeNearDuplicate(skill, evidence, *encounter.similar, encounter.similarity);
  Decision decision{{Admission::kAdded, skill.name, ""}, {}};
  decision.record.skill = skill;
  decision.record.evidence = evidence;
  SortBySubject(&decision.record.evidence);
  return decision;
}

Prospect ProspectOf(const Skill& skill, const Encounter& encounter, bool may_replace) {
  if (encounter.same_name) {
    const Record& known = *encounter.same_name;
    if (known.state != SkillState::kActive)
      return {fmt::format("the name is that of a skill that is {}", SkillStateName(known.state)),
              false};
    if (known.skill.content == skill.content) return {"the library has this skill already", false};
    if (!may_replace)
      return {fmt::format("the name is taken by another skill (similarity {:.2f})",
                          encounter.same_name_similarity),
              false};
    return {"", true};
  }
  if (encounter.similar)
    return {
        fmt::format("near-duplicate of \"{}\"{} (similarity {:.2f})", encounter.similar->skill.name,
                    StateRemark(*encounter.similar), encounter.similarity),
        false};
  return {};
}

}  // namespace davinci::skill
