// Calls of the Selection and Summary agents by a model that has learned nothing: with the grammar
// every reply is accepted, without it none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "davinci/agent/selection_agent.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/embedded/embedded_backbone.h"
#include "davinci/skill/formats.h"
#include "davinci/trainer/new_model.h"
#include "davinci/trainer/tokenizer_training.h"

namespace davinci {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

const fs::path kRoot = DAVINCI_SOURCE_DIR;

class BoundedCalls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("bounded_calls_{}", getpid());
    trainer::TokenizerTraining training;
    const auto tasks = ListFiles(kRoot / "tasks", ".py", true);
    ASSERT_TRUE(tasks.ok());
    for (const fs::path& file : *tasks) training.files.push_back(file.string());
    training.vocab_size = 1024;
    const auto trained = trainer::TrainTokenizer(training);
    ASSERT_TRUE(trained.ok()) << trained.status().ToString();
    ASSERT_TRUE(trainer::WriteTokenizer(trained->definition, folder_ / "tokenizer").ok());
    trainer::NewModel tiny;
    tiny.tokenizer = folder_ / "tokenizer";
    tiny.out = folder_ / "model";
    tiny.layers = 1;
    tiny.width = 64;
    ASSERT_TRUE(trainer::WriteNewModel(tiny).ok());
    embedded::EmbeddedOptions options;
    options.engine.model_dir = tiny.out.string();
    options.engine.device = "cpu";
    options.engine.cache_tokens = 8 * 8192;
    options.take_turns = false;
    auto opened = embedded::EmbeddedBackbone::Open(std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    backbone_ = std::move(opened).value();
  }
  static void TearDownTestSuite() {
    backbone_.reset();
    fs::remove_all(folder_);
  }

  // The i-th task of the suite with some skills.
  static std::vector<skill::Skill> SomeSkills(SplitMix64* rng) {
    static const auto read = skill::ReadSkills(kRoot / "skills").value();
    std::set<size_t> places;
    const size_t count = 1 + rng->Below(8);
    while (places.size() < count) places.insert(rng->Below(read.documents.size()));
    std::vector<skill::Skill> skills;
    for (const size_t at : places) skills.push_back(read.documents[at].skill);
    return skills;
  }
  static llm::Request Selection(int i, const std::vector<skill::Skill>& skills) {
    static const auto files = ListFiles(kRoot / "tasks", ".py", true).value();
    static const auto prompts =
        agent::PromptSet::Load(kRoot / "prompts", kRoot / "prompts/compact").value();
    agent::TaskBrief task;
    task.reference = ReadFile(files[static_cast<size_t>(i) % files.size()]).value();
    task.language = Language::kCpp;
    llm::Request request = agent::BuildSelectionRequest(prompts, task, "A device.", skills).value();
    request.max_tokens = 200;
    request.temperature = i % 4 == 0 ? 0.0 : 1.0;
    request.seed = i;
    request.logprobs = true;
    return request;
  }

  static fs::path folder_;
  static std::unique_ptr<embedded::EmbeddedBackbone> backbone_;
};
fs::path BoundedCalls::folder_;
std::unique_ptr<embedded::EmbeddedBackbone> BoundedCalls::backbone_;

TEST_F(BoundedCalls, EveryReplyIsAcceptedAndNoneWithoutTheGrammar) {
  SplitMix64 rng(5);
  int accepted = 0, bare = 0;
  for (int i = 0; i < 100; ++i) {
    const auto skills = SomeSkills(&rng);
    llm::Request request = Selection(i, skills);
    const auto reply = backbone_->Generate(request, {});
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    const auto reading = agent::ReadSelection(*reply, skills);
    EXPECT_FALSE(reading.error.has_value()) << reading.problem << "\n" << reply->text;
    EXPECT_THAT(reading.unknown_names, IsEmpty());
    accepted += !reading.error.has_value() && reading.num_dropped == 0;
    const auto& trace = reply->trace.value();
    EXPECT_TRUE(trace.bounded);
    EXPECT_EQ(trace.logprobs.size(), trace.output_tokens.size());
    if (i % 10 != 0) continue;
    request.bound_calls = false;
    const auto free = backbone_->Generate(request, {});
    ASSERT_TRUE(free.ok());
    EXPECT_FALSE(free->trace.value().bounded);
    bare += !agent::ReadSelection(*free, skills).error.has_value();
  }
  EXPECT_EQ(accepted, 100);
  EXPECT_EQ(bare, 0);
}

TEST_F(BoundedCalls, SamplesInOneBatchAreEachBound) {
  SplitMix64 rng(6);
  const auto skills = SomeSkills(&rng);
  llm::Request request = Selection(3, skills);
  const auto replies = backbone_->GenerateMany(request, 8, {});
  ASSERT_TRUE(replies.ok());
  for (int i = 0; i < 8; ++i) {
    const llm::Reply& reply = (*replies)[static_cast<size_t>(i)];
    EXPECT_FALSE(agent::ReadSelection(reply, skills).error.has_value()) << reply.text;
    // Alone it is the same.
    EXPECT_EQ(backbone_->Generate(llm::SampleOf(request, i), {})->text, reply.text);
  }
}

TEST_F(BoundedCalls, SummariesAreBoundToo) {
  static const auto prompts =
      agent::PromptSet::Load(kRoot / "prompts", kRoot / "prompts/compact").value();
  agent::TaskBrief task;
  task.reference = "class Model: pass\n";
  task.language = Language::kCpp;
  for (int i = 0; i < 10; ++i) {
    llm::Request request = agent::BuildSummaryRequest(prompts, task, "A device.", {}, {},
                                                      {1, "slow\n", {}}, {2, "fast\n", {}})
                               .value();
    request.max_tokens = 120 + 100 * i;
    request.seed = i;
    const auto reply = backbone_->Generate(request, {});
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    const auto reading = agent::ReadSummary(*reply);
    EXPECT_FALSE(reading.error.has_value()) << reading.problem << "\n" << reply->text;
  }
}

}  // namespace
}  // namespace davinci
