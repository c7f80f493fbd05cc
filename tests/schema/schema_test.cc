// docs/evaluation.schema.json is what readers of our JSON rely on: what ToJson() writes and what
// davinci judge wrote must hold to it, and what would mislead a reader must not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "davinci/data/evaluation.h"
#include "json_schema.h"

namespace davinci {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

json Load(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return json::parse(file);
}

const json& Schema() {
  static const json schema =
      Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "docs/evaluation.schema.json");
  return schema;
}

Evaluation Fast() {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{2.5, 2.4, 2.6, true, "eager"};
  evaluation.candidate_time = TimeSummary{1.0, 0.9, 1.4, 20};
  evaluation.baseline_time = TimeSummary{2.5, 2.2, 3.0, 20};
  evaluation.times["total_ms"] = 812.5;
  evaluation.times["stages_ms"] = {{"loading", 40.0}};
  evaluation.provenance["protocol"] = {{"name", "davinci"}, {"version", 1}};
  evaluation.AddLabel("low coverage");
  return evaluation;
}

TEST(EvaluationSchema, StatusesAreTheOutcomes) {
  std::set<std::string> published = Schema()["properties"]["status"]["enum"];
  std::set<std::string> known;
  for (int i = 0; i <= static_cast<int>(Outcome::kJudgeError); ++i)
    known.insert(std::string(OutcomeName(static_cast<Outcome>(i))));
  EXPECT_EQ(published, known);
}

TEST(EvaluationSchema, HoldsForEveryOutcome) {
  for (int i = 0; i <= static_cast<int>(Outcome::kJudgeError); ++i) {
    Evaluation evaluation;
    evaluation.outcome = static_cast<Outcome>(i);
    EXPECT_THAT(Violations(Schema(), ToJson(evaluation)), IsEmpty())
        << OutcomeName(evaluation.outcome);
  }
  EXPECT_THAT(Violations(Schema(), ToJson(Fast())), IsEmpty());
}

TEST(EvaluationSchema, HoldsForDocumentsThatTheJudgeWrote) {
  int documents = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(DAVINCI_SOURCE_DIR "/tests/schema/documents")) {
    const json document = Load(entry.path());
    EXPECT_THAT(Violations(Schema(), document), IsEmpty()) << entry.path();
    auto read = EvaluationFromJson(document);
    ASSERT_TRUE(read.ok()) << entry.path() << ": " << read.status().ToString();
    json verdict = document;  // without what a batch adds around it
    verdict.erase("id");
    verdict.erase("job");
    EXPECT_EQ(ToJson(*read), verdict) << entry.path() << ": reading and writing changed it";
    ++documents;
  }
  EXPECT_GE(documents, 5);
}

TEST(EvaluationSchema, RefusesDocumentsThatWouldMislead) {
  const auto refused = [](const char* pointer, const json& value) {
    json document = ToJson(Fast());
    document[json::json_pointer(pointer)] = value;
    return !Violations(Schema(), document).empty();
  };
  EXPECT_TRUE(refused("/status", "mismatch")) << "a speedup of a wrong kernel";
  EXPECT_TRUE(refused("/status", "compile_only")) << "a speedup that no device measured";
  EXPECT_TRUE(refused("/correct", nullptr)) << "a speedup of something never compared";
  EXPECT_TRUE(refused("/status", "fast"));
  EXPECT_TRUE(refused("/schema", "davinci.evaluation/2"));
  EXPECT_TRUE(refused("/correct", "yes"));
  EXPECT_TRUE(refused("/speedup/low", "2.4"));
  EXPECT_TRUE(refused("/speedup/p_value", 0.01));
  EXPECT_TRUE(refused("/speedup/median", -1));
  EXPECT_TRUE(refused("/labels/0", 7));
  EXPECT_TRUE(refused("/times/candidate", 1.0));
  EXPECT_TRUE(refused("/verdict", "ok"));
  EXPECT_FALSE(refused("/evidence/anything", 1)) << "evidence is open";
}

TEST(EvaluationSchema, RefusesDocumentsThatLackAMember) {
  const json whole = ToJson(Fast());
  for (const auto& [name, value] : whole.items()) {
    json document = whole;
    document.erase(name);
    EXPECT_THAT(Violations(Schema(), document), Contains(HasSubstr(name))) << name;
  }
}

TEST(JsonSchema, UnknownKeywordIsAProblem) {
  EXPECT_THAT(Violations({{"type", "string"}, {"pattern", "x"}}, "x"),
              Contains(HasSubstr("pattern")));
}

}  // namespace
}  // namespace davinci
