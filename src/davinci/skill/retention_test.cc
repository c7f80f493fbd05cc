#include "davinci/skill/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Record Named(const char* name, double low, double high, const char* target = "cpu") {
  Record record;
  record.skill.name = name;
  Evidence evidence;
  evidence.uplift = {(low + high) / 2, low, high};
  evidence.target = target;
  record.evidence = {evidence};
  return record;
}

TEST(Retention, ASkillThatIsSurelyNoHelpAnywhereIsRetired) {
  EXPECT_TRUE(RetirementReason(Named("a", 0.8, 0.99)));
  EXPECT_FALSE(RetirementReason(Named("a", 0.8, 1.01)));
  Record both = Named("a", 0.8, 0.9);
  both.evidence.push_back(Named("a", 1.2, 1.3, "cuda").evidence[0]);
  EXPECT_FALSE(RetirementReason(both));
  EXPECT_FALSE(RetirementReason(Record{}));
}

TEST(Retention, ManyPoorRolloutsRetireASkillWhateverItsEvidence) {
  Record record = Named("a", 1.3, 1.5);
  for (int i = 0; i < kMinObservations - 1; ++i) record.usage.Observe(i % 2 == 0 ? 0.8 : 0.9);
  EXPECT_FALSE(RetirementReason(record));
  record.usage.Observe(0.9);
  EXPECT_TRUE(RetirementReason(record));
  Record noisy = Named("a", 1.3, 1.5);
  for (int i = 0; i < kMinObservations; ++i) noisy.usage.Observe(i % 2 == 0 ? 0.3 : 2.5);
  EXPECT_FALSE(RetirementReason(noisy));
}

TEST(Retention, TheCapTakesTheLeastWorthFirst) {
  std::vector<Record> records = {Named("proven", 1.4, 1.5), Named("weak", 1.05, 1.2),
                                 Named("popular", 1.05, 1.2), Record{}, Named("gone", 0.1, 2)};
  records[2].usage.selected = 5;
  records[3].skill.name = "unproven";
  records[4].state = SkillState::kRetired;
  EXPECT_THAT(ChooseEvictions(records, 1), ElementsAre("unproven", "weak", "popular"));
  EXPECT_THAT(ChooseEvictions(records, 4), IsEmpty());
  EXPECT_THAT(ChooseEvictions(records, 0), IsEmpty());
}

TEST(Retention, AmongEqualsTheLaterArrivalGoes) {
  std::vector<Record> records = {Named("old", 1.1, 1.2), Named("new", 1.1, 1.2)};
  records[0].position = 1;
  records[1].position = 2;
  EXPECT_THAT(ChooseEvictions(records, 1), ElementsAre("new"));
}

TEST(Retention, ObservationsOutweighEvidence) {
  Record record = Named("a", 1.4, 1.5);
  for (int i = 0; i < kMinObservations; ++i) record.usage.Observe(i % 2 == 0 ? 1.09 : 1.11);
  EXPECT_NEAR(Worth(record), 1.095, 0.01);
}

}  // namespace
}  // namespace davinci::skill
