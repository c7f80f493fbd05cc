#include "davinci/teacher/demos/demo_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "davinci/base/json_text.h"
#include "davinci/skill/formats.h"

namespace davinci::teacher {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const fs::path kProject = DAVINCI_SOURCE_DIR;

// `spread`: of the interval's ends from the median, as a factor.
Evaluation Judged(double speedup, double spread = 1.05) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  const double low = speedup / spread;
  const double high = speedup * spread;
  evaluation.speedup = Speedup{speedup, low, high, low > 1.02 || high < 0.98, "eager"};
  return evaluation;
}

Demonstration Softmax() {
  Demonstration made;
  made.brief.id = "softmax-1";
  made.brief.reference = "class Model: pass\n";
  made.brief.language = davinci::Language::kCpp;
  made.family = "softmax";
  made.split = "train";
  made.attempts = {{"a.naive", "class ModelNew: pass  # slow\n", {}, {}, "", Judged(0.8)},
                   {"a.best",
                    "class ModelNew: pass  # fast\n",
                    {"branch-free-exp"},
                    {"fast_exp"},
                    "",
                    Judged(2.0)}};
  made.found = {"reduce-columns-row-by-row", "branch-free-exp", "independent-partial-sums"};
  return made;
}

DemoRows Rows(const Demonstration& demonstration, const RowLimits& limits = {}) {
  const auto prompts = agent::PromptSet::Load(kProject / "prompts", kProject / "prompts/compact");
  EXPECT_TRUE(prompts.ok()) << prompts.status().ToString();
  std::map<std::string, skill::Skill> library;
  const auto read = skill::ReadSkills(kProject / "skills");
  for (const auto& document : read->documents) library[document.skill.name] = document.skill;
  auto rows = RowsOf(*prompts, demonstration, library, limits);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  return *rows;
}

std::vector<std::string> Kinds(const DemoRows& made) {
  std::vector<std::string> kinds;
  for (const auto& row : made.rows)
    kinds.push_back(row.origin.id.substr(row.origin.id.rfind('.') + 1));
  return kinds;
}

TEST(DemoRows, MistakeGivesARepairAloneAndTellsNothingAboutSkills) {
  Demonstration made = Softmax();
  made.attempts[0].mutation = "slow";
  std::set<std::string> kinds;
  for (std::string kind : Kinds(Rows(made))) {
    while (std::isdigit(static_cast<unsigned char>(kind.back()))) kind.pop_back();
    kinds.insert(kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"policy", "repair", "kept"}));
}

TEST(DemoRows, MeasuredGainGivesRowsOfAllAgentsThatReadBackAlike) {
  const DemoRows made = Rows(Softmax());
  EXPECT_THAT(Kinds(made), ElementsAre("policy0", "repair1", "selection2", "summary3", "kept4"));
  for (const auto& row : made.rows) {
    EXPECT_EQ(row.origin.split, "train");
    EXPECT_THAT(row.origin.rules, ElementsAre("fast_exp"));
    EXPECT_THAT(row.origin.skills, ElementsAre("branch-free-exp"));
    const auto again = sftdata::ParseRow(JsonText(sftdata::ToJson(row)));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, row);
  }
  // The slow attempt is context, the fast one is trained.
  const auto& repair = made.rows[1].messages;
  EXPECT_THAT(repair[2].content, HasSubstr("slow"));
  EXPECT_EQ(repair[2].weight, 0);
  EXPECT_THAT(repair[3].content, HasSubstr("Turn 1 of 2"));
  EXPECT_THAT(repair[4].content, HasSubstr("fast"));
  EXPECT_EQ(repair[4].weight, 1);
  // Behind the fast one it is said again, whole.
  const auto& kept = made.rows[4].messages;
  ASSERT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept[2].content, kept[4].content);
  EXPECT_THAT(kept[3].content, HasSubstr("Turn 1 of 2"));
  EXPECT_EQ(kept[2].weight, 0);
  EXPECT_EQ(kept[4].weight, 1);
}

TEST(DemoRows, SelectionShowsWhatRetrievalFindsInItsOrder) {
  const DemoRows made = Rows(Softmax());
  const std::string& asked = made.rows[2].messages[1].content;
  size_t before = 0;
  for (const std::string& name : Softmax().found) {
    const size_t at = asked.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, before);
    before = at;
  }
  EXPECT_EQ(asked.find("fuse-pointwise-chain"), std::string::npos);
  Demonstration missed = Softmax();
  missed.found = {"reduce-columns-row-by-row"};
  EXPECT_EQ(Rows(missed).left_out.at("selection: retrieval finds no skill that helps"), 1u);
}

TEST(DemoRows, ShortRepliesStandInConversationsAndSummaries) {
  Demonstration made = Softmax();
  made.brief.reply = ReplyForm::kDelta;
  made.brief.target = Target::kCuda;
  made.brief.language = davinci::Language::kTriton;
  made.attempts[0].code = "slow delta\n";
  made.attempts[1].code = "class ModelNew(Model): fast delta\n";
  for (const auto& row : Rows(made).rows) {
    std::string text;
    for (const auto& message : row.messages) text += message.content;
    if (row.agent == rl::AgentKind::kSelection) continue;
    EXPECT_NE(text.find("fast delta"), std::string::npos) << text;
    EXPECT_EQ(text.find("class ModelNew: pass  # fast"), std::string::npos) << text;
  }
}

TEST(DemoRows, AReplyWithoutCodeHearsWhyAndAnUndecidedOneGivesNoRow) {
  Demonstration made = Softmax();
  made.attempts[0].reply = "I would write a kernel.";
  made.attempts[0].mutation = "reply";
  made.attempts[0].evaluation = {};
  made.attempts[0].evaluation.outcome = Outcome::kParseError;
  const auto rows = Rows(made);
  EXPECT_THAT(Kinds(rows), ElementsAre("policy0", "repair1", "kept2"));
  const auto& turn = rows.rows[1].messages;
  EXPECT_EQ(turn[2].content, "I would write a kernel.");
  EXPECT_THAT(turn[3].content, HasSubstr("nothing could be judged"));
  for (const auto& [outcome, correct] :
       {std::pair<Outcome, std::optional<bool>>{Outcome::kCompileOnly, std::nullopt},
        {Outcome::kJudgeError, std::nullopt}}) {
    Demonstration undecided = Softmax();
    undecided.attempts[0].mutation = "off_by_one";
    undecided.attempts[0].evaluation = {};
    undecided.attempts[0].evaluation.outcome = outcome;
    undecided.attempts[0].evaluation.correct = correct;
    EXPECT_EQ(Rows(undecided).left_out.at("repair: the judge did not decide"), 1u);
  }
}

TEST(DemoRows, VerdictsWithoutADeviceAreNamedAsSuch) {
  Demonstration made = Softmax();
  for (auto& attempt : made.attempts) {
    attempt.evaluation = {};
    attempt.evaluation.outcome = Outcome::kCompileOnly;
    attempt.evaluation.correct = true;
  }
  made.attempts[0].mutation = "wrong_axis";
  made.attempts[0].evaluation.outcome = Outcome::kMismatch;
  made.attempts[0].evaluation.correct = false;
  made.attempts[0].evaluation.message = "7 of 9 values differ";
  const auto rows = Rows(made);
  EXPECT_THAT(Kinds(rows), ElementsAre("policy0", "repair1", "kept2"));
  for (const auto& row : rows.rows) EXPECT_EQ(row.origin.verdict, "compile_only");
  EXPECT_THAT(rows.rows[1].messages[3].content, HasSubstr("7 of 9 values differ"));
}

// The library of such a rollout has no skill for what is to be written.
TEST(DemoRows, SummaryShowsTheSkillsNearTheTaskButForItsAnswer) {
  const auto rows = Rows(Softmax());
  const std::string& asked = rows.rows[3].messages[1].content;
  EXPECT_THAT(asked, HasSubstr("`reduce-columns-row-by-row`"));
  EXPECT_THAT(asked, HasSubstr("`independent-partial-sums`"));
  EXPECT_EQ(asked.find("`branch-free-exp`"), std::string::npos);
}

TEST(DemoRows, WithoutGainOnlyThePolicyLearns) {
  Demonstration same = Softmax();
  same.attempts[0].evaluation = Judged(2.0);
  EXPECT_THAT(Kinds(Rows(same)), ElementsAre("policy0", "kept1"));
  Demonstration wrong = Softmax();
  wrong.attempts[1].evaluation.correct = false;
  EXPECT_TRUE(Rows(wrong).rows.empty());
}

TEST(DemoRows, OnlySignificantMeasurementsCount) {
  Demonstration slow = Softmax();
  slow.attempts[1].evaluation = Judged(0.57);
  for (const double spread : {1.05, 1.5, 30.0}) {
    slow.attempts[1].evaluation = Judged(0.57, spread);
    EXPECT_TRUE(Rows(slow).rows.empty()) << spread;
  }
  EXPECT_EQ(Rows(slow).left_out.at("the best attempt is not significantly faster than PyTorch"),
            1u);
  // Twice as fast by the medians, and perhaps as fast: no gain.
  Demonstration unsure = Softmax();
  unsure.attempts[0].evaluation = Judged(1.0, 6);
  const DemoRows made = Rows(unsure);
  EXPECT_THAT(Kinds(made), ElementsAre("policy0", "kept1"));
  EXPECT_EQ(made.left_out.at("repair: no significant gain"), 1u);
}

TEST(DemoRows, TooLongPromptsAreLeftOut) {
  Demonstration wide = Softmax();
  wide.brief.reference = std::string(20000, 'x');
  const DemoRows made = Rows(wide);
  EXPECT_TRUE(made.rows.empty());
  EXPECT_EQ(made.left_out.at("policy: the prompt is too long"), 1u);
}

TEST(DemoRows, SomeRepairsShowNoSkillsAndThoseThatAreTooLongWithThem) {
  Demonstration made = Softmax();
  const auto shows_skills = [](const sftdata::Row& row) {
    return row.messages[1].content.find("# Techniques") != std::string::npos;
  };
  RowLimits limits;
  limits.bare_repairs = 0;
  EXPECT_TRUE(shows_skills(Rows(made, limits).rows[1]));
  limits.bare_repairs = 1;
  const DemoRows bare = Rows(made, limits);
  EXPECT_TRUE(shows_skills(bare.rows[0]));
  EXPECT_FALSE(shows_skills(bare.rows[1]));
  limits.bare_repairs = 0;
  limits.policy_tokens = static_cast<size_t>(PromptTokens(bare.rows[1], limits)) + 10;
  const DemoRows made_short = Rows(made, limits);
  EXPECT_EQ(made_short.left_out.at("policy: the prompt is too long"), 1u);
  EXPECT_EQ(made_short.left_out.at("kept: the prompt is too long"), 1u);
  ASSERT_THAT(Kinds(made_short), ElementsAre("repair0", "selection1"));
  EXPECT_FALSE(shows_skills(made_short.rows[0]));
}

TEST(DemoRows, LengthsAreThoseOfTheGivenTokenizerAndCountTools) {
  RowLimits limits;
  limits.count_tokens = [](std::string_view text) { return text == "select_skills" ? 2500 : 1; };
  Demonstration wide = Softmax();
  wide.brief.reference += std::string(20000, '#');
  const DemoRows made = Rows(wide, limits);
  EXPECT_THAT(Kinds(made), ElementsAre("policy0", "repair1", "summary2", "kept3"));
  EXPECT_EQ(made.left_out.at("selection: the prompt is too long"), 1u);
}

}  // namespace
}  // namespace davinci::teacher
