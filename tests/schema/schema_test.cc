// docs/evaluation.schema.json is what readers of our JSON rely on: what ToJson() writes and what
// davinci judge wrote must hold to it, and what would mislead a reader must not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/data/evaluation.h"
#include "davinci/data/evidence.h"
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

// The least evidence that an outcome comes with.
Evidence EvidenceOf(Outcome outcome) {
  Evidence evidence;
  evidence.sandbox = json::object();
  evidence.work = json::object();
  evidence.checks = {{"task", 0, outcome == Outcome::kOk, 0.5}};
  switch (outcome) {
    case Outcome::kOk:
      evidence.clocks.emplace().agreement = "agree";
      evidence.stopped_because = "narrow enough";
      evidence.threads = 2;
      evidence.candidate_libraries.emplace();
      break;
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
      evidence.failure.mismatch = {
          {{"passed", false}, {"outputs", json::array()}}, "heavy_tailed", 1, 0};
      break;
    case Outcome::kPolicyViolation:
      evidence.failure.rule = Rule::kInputMutation;
      break;
    case Outcome::kInvalidTiming:
      evidence.failure.rule = Rule::kLateWrites;
      break;
    case Outcome::kCompileOnly:
      evidence.compile_only.emplace().arch = "sm_90";
      break;
    default:
      break;
  }
  return evidence;
}

Evaluation Fast() {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.evidence = ToJson(EvidenceOf(Outcome::kOk));
  evaluation.correct = true;
  evaluation.speedup = Speedup{2.5, 2.4, 2.6, true, "eager"};
  evaluation.candidate_time = TimeSummary{1.0, 0.9, 1.4, 20};
  evaluation.baseline_time = TimeSummary{2.5, 2.2, 3.0, 20};
  evaluation.times["total_ms"] = 812.5;
  evaluation.times["stages_ms"] = {{"loading", 40.0}};
  evaluation.provenance["protocol"] = {{"name", "davinci"}, {"version", 1}};
  evaluation.AddLabel(Label::kLowCoverage);
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
    evaluation.evidence = ToJson(EvidenceOf(evaluation.outcome));
    EXPECT_THAT(Violations(Closed(Schema()), ToJson(evaluation)), IsEmpty())
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

TEST(EvaluationSchema, EachOutcomeNeedsItsEvidence) {
  const std::pair<Outcome, std::vector<std::string>> needed[] = {
      {Outcome::kOk, {"checks", "clocks", "stopped_because", "sandbox", "work"}},
      {Outcome::kMismatch, {"checks", "comparison", "distribution", "variant"}},
      {Outcome::kNondeterministic, {"comparison"}},
      {Outcome::kPolicyViolation, {"rule"}},
      {Outcome::kInvalidTiming, {"rule"}},
      {Outcome::kCompileOnly, {"compile_only"}}};
  for (const auto& [outcome, members] : needed)
    for (const std::string& member : members) {
      Evaluation evaluation;
      evaluation.outcome = outcome;
      evaluation.evidence = ToJson(EvidenceOf(outcome));
      ASSERT_EQ(evaluation.evidence.erase(member), 1u) << member;
      EXPECT_THAT(Violations(Schema(), ToJson(evaluation)), Not(IsEmpty()))
          << OutcomeName(outcome) << " without " << member;
    }
}

// Every member at once, so that the schema describes whatever a trial may collect.
TEST(EvaluationSchema, DescribesAllEvidence) {
  Evidence all = EvidenceOf(Outcome::kMismatch);
  all.failure = {Rule::kDiskLimit, "line 1", "exited with status 1", "last words",
                 all.failure.mismatch};
  all.clocks.emplace();
  all.clocks->settle_ms = all.clocks->publish_ms = {1, 2};
  all.windows.emplace().calls = 12;
  all.windows->full_queue_ms = {1.5, std::nullopt};
  all.roofline.emplace().peaks = json::object();
  all.kernelbench.emplace().trials = 1;
  all.undisturbed_calls.emplace();
  all.waking = {1, 0.5, 0.25};
  all.device_state = {json::object(), json::object()};
  all.device_memory = {int64_t{1} << 30, 7};
  all.compile_only.emplace().report = json::object();
  all.compile_only->compared = {{{0, "task"}}};
  all.compile_only->not_compared = {0, "too slow"};
  all.compile_only->blocked = {"needs device", "a launch"};
  all.stress_while_timing = 2;
  all.stopped_because = all.timed_again = "noise";
  all.launches = {1.5, 1.25};
  all.candidate_libraries = {"kernel.so"};
  all.threads = 2;
  all.output_bytes = 12;
  all.output_tail = "…";
  all.admission = all.nonfinite = all.profile = json::object();
  all.verified = json::array();
  Evaluation evaluation;
  evaluation.evidence = ToJson(all);
  EXPECT_THAT(Violations(Closed(Schema()), ToJson(evaluation)), IsEmpty());
  evaluation.evidence["surprise"] = 1;
  EXPECT_THAT(Violations(Closed(Schema()), ToJson(evaluation)), Not(IsEmpty()));
}

TEST(EvaluationSchema, APublishedRuleThatDoesNotExistSaysWhy) {
  Evidence evidence;
  evidence.kernelbench.emplace().why = "fp64";
  EXPECT_EQ(ToJson(evidence)["kernelbench"], (json{{"correct", nullptr}, {"why", "fp64"}}));
}

TEST(JsonSchema, UnknownKeywordIsAProblem) {
  EXPECT_THAT(Violations({{"type", "string"}, {"pattern", "x"}}, "x"),
              Contains(HasSubstr("pattern")));
}

}  // namespace
}  // namespace davinci
