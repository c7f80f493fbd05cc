#include "davinci/skill/admission_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Skill Named(const char* name, const char* content = "advice") {
  Skill skill;
  skill.name = name;
  skill.description = "d";
  skill.content = content;
  return skill;
}

Evidence Measured(double low, const char* target = "cpu", const char* when = "2026-01-01") {
  Evidence evidence;
  evidence.uplift = {low + 0.1, low, low + 0.2};
  evidence.target = target;
  evidence.last_verified = when;
  return evidence;
}

Record Known(Skill skill, std::vector<Evidence> evidence = {},
             SkillState state = SkillState::kActive) {
  Record record;
  record.skill = std::move(skill);
  record.evidence = std::move(evidence);
  record.state = state;
  record.usage.selected = 7;
  record.position = 3;
  return record;
}

Encounter SameName(Record record, double similarity) {
  Encounter encounter;
  encounter.same_name = std::move(record);
  encounter.same_name_similarity = similarity;
  return encounter;
}

Encounter Similar(Record record, double similarity) {
  Encounter encounter;
  encounter.similar = std::move(record);
  encounter.similarity = similarity;
  return encounter;
}

TEST(Admission, ANewSkillIsAdded) {
  const auto decision = DecideAdmission(Named("a"), {Measured(1.3)}, {});
  EXPECT_EQ(decision.result.admission, Admission::kAdded);
  EXPECT_EQ(decision.record.skill, Named("a"));
  EXPECT_THAT(decision.record.evidence, ElementsAre(Measured(1.3)));
}

TEST(Admission, TheSameSkillAgainChangesNothing) {
  const auto known = Known(Named("a"), {Measured(1.3)});
  for (const auto& evidence : {std::vector<Evidence>{}, {Measured(1.3)}})
    EXPECT_EQ(DecideAdmission(Named("a"), evidence, SameName(known, 1)).result.admission,
              Admission::kUnchanged);
  // Measured earlier than what is known.
  EXPECT_EQ(DecideAdmission(Named("a"), {Measured(1.9, "cpu", "2025-01-01")}, SameName(known, 1))
                .result.admission,
            Admission::kUnchanged);
}

TEST(Admission, NewEvidenceForTheSameSkillJoins) {
  const auto known = Known(Named("a"), {Measured(1.3)});
  const auto decision = DecideAdmission(
      Named("a"), {Measured(1.1, "cpu", "2026-02-02"), Measured(1.5, "cuda")}, SameName(known, 1));
  EXPECT_EQ(decision.result.admission, Admission::kMerged);
  // The later measurement counts, also when it is worse.
  EXPECT_THAT(decision.record.evidence,
              ElementsAre(Measured(1.1, "cpu", "2026-02-02"), Measured(1.5, "cuda")));
  EXPECT_EQ(decision.record.usage.selected, 7);
}

TEST(Admission, ATakenNameIsRefusedNotRenamed) {
  const auto decision = DecideAdmission(Named("a", "other"), {Measured(9)},
                                        SameName(Known(Named("a"), {Measured(1.3)}), 0.12));
  EXPECT_EQ(decision.result.admission, Admission::kRefused);
  EXPECT_EQ(decision.result.name, "a");
  EXPECT_THAT(decision.result.reason, HasSubstr("similarity 0.12"));
}

TEST(Admission, ANearDuplicateWithBetterEvidenceReplacesTheContentUnderTheKnownName) {
  auto known = Known(Named("a"), {Measured(1.3)});
  known.skill.tags = {"x", "y"};
  auto newcomer = Named("b", "better advice");
  newcomer.tags = {"y", "z"};
  const auto decision = DecideAdmission(newcomer, {Measured(1.4)}, Similar(known, 0.8));
  EXPECT_EQ(decision.result.admission, Admission::kMerged);
  EXPECT_EQ(decision.result.name, "a");
  EXPECT_THAT(decision.result.reason, HasSubstr("near-duplicate of \"a\" (similarity 0.80)"));
  EXPECT_EQ(decision.record.skill.name, "a");
  EXPECT_EQ(decision.record.skill.content, "better advice");
  EXPECT_THAT(decision.record.skill.tags, ElementsAre("x", "y", "z"));
  EXPECT_THAT(decision.record.evidence, ElementsAre(Measured(1.4)));
  EXPECT_EQ(decision.record.usage.selected, 7);
  EXPECT_EQ(decision.record.position, 3);
}

TEST(Admission, ANearDuplicateWithoutBetterEvidenceIsRefused) {
  const auto known = Known(Named("a"), {Measured(1.3)});
  const auto refused = [&](const std::vector<Evidence>& evidence, const char* why) {
    const auto decision = DecideAdmission(Named("b", "x"), evidence, Similar(known, 0.8));
    EXPECT_EQ(decision.result.admission, Admission::kRefused);
    EXPECT_EQ(decision.result.name, "b");
    EXPECT_THAT(decision.result.reason, HasSubstr(why));
  };
  refused({}, "no evidence of its own");
  refused({Measured(1.3)}, "at least 1.3");
  refused({Measured(1.9, "cuda")}, "for cuda");
}

TEST(Admission, UnprovenAdviceGivesWayToProvenAdvice) {
  EXPECT_EQ(DecideAdmission(Named("a", "x"), {Measured(1.05)}, SameName(Known(Named("a")), 0.9))
                .result.admission,
            Admission::kMerged);
}

TEST(Admission, ARetiredSkillComesBackByBetterEvidenceOnly) {
  const auto known = Known(Named("a"), {Measured(0.7)}, SkillState::kRetired);
  EXPECT_EQ(DecideAdmission(Named("a"), {}, SameName(known, 1)).result.admission,
            Admission::kRefused);
  EXPECT_EQ(DecideAdmission(Named("b", "x"), {Measured(0.6)}, Similar(known, 0.9)).result.admission,
            Admission::kRefused);
  for (const auto& decision :
       {DecideAdmission(Named("a"), {Measured(1.2, "cpu", "2026-03-03")}, SameName(known, 1)),
        DecideAdmission(Named("b", "x"), {Measured(1.2)}, Similar(known, 0.9))}) {
    EXPECT_EQ(decision.result.admission, Admission::kMerged);
    EXPECT_EQ(decision.record.state, SkillState::kActive);
  }
}

}  // namespace
}  // namespace davinci::skill
