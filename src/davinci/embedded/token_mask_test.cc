#include "davinci/embedded/token_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/base/utf8.h"
#include "davinci/embedded/call_grammar.h"
#include "davinci/llm/thinking.h"
#include "davinci/llm/tool_calls.h"
#include "davinci/model/draw.h"

namespace davinci::embedded {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Nano {
  text::Tokenizer tokenizer =
      text::Tokenizer::Load(DAVINCI_SOURCE_DIR "/models/davinci-nano").value();
  std::shared_ptr<const TokenTable> table = std::make_shared<TokenTable>(tokenizer);
};

const Nano& TheNano() {
  static const Nano* nano = new Nano;
  return *nano;
}

CallForm FormFor(std::string_view tool) {
  CallForm form;
  form.open = "\n<tool_call>\n{\"name\": \"" + std::string(tool) + "\", \"arguments\": ";
  return form;
}

// A model that has learned nothing draws these: random logits, at most `budget` tokens.
llm::Reply Drawn(TokenMask* mask, uint64_t seed, int budget, double temperature = 1) {
  const Nano& nano = TheNano();
  SplitMix64 rng(seed);
  model::DrawScratch scratch;
  model::Sampling sampling;
  sampling.temperature = temperature;
  std::vector<model::TokenId> tokens;
  llm::Reply reply;
  reply.finish_reason = llm::FinishReason::kLength;
  std::vector<float> logits(static_cast<size_t>(nano.tokenizer.vocab_size()) + 40);
  while (static_cast<int>(tokens.size()) < budget) {
    for (float& logit : logits) logit = static_cast<float>(rng.Uniform() * 8);
    std::span<const uint64_t> allowed;
    if (mask != nullptr) allowed = mask->Allowed(budget - static_cast<int>(tokens.size()));
    const auto token =
        model::Draw(logits, sampling, static_cast<float>(rng.Uniform()), 0, &scratch, allowed)
            .token;
    tokens.push_back(token);
    if (mask != nullptr) mask->Accept(token);
    if (token != nano.tokenizer.eos_id()) continue;
    reply.finish_reason = llm::FinishReason::kStop;
    break;
  }
  reply.text = nano.tokenizer.Decode(tokens, /*skip_special=*/true);
  return reply;
}

TokenMask MaskFor(const CallForm& form, const llm::ToolSpec& tool) {
  auto grammar = GrammarOfCall(form, tool.parameters);
  EXPECT_TRUE(grammar.ok()) << grammar.status().ToString();
  return TokenMask(TheNano().table, std::move(grammar).value(), {TheNano().tokenizer.eos_id()});
}

std::vector<std::string> SomeNames(SplitMix64* rng) {
  std::set<std::string> names;
  const size_t count = 1 + rng->Below(20);
  while (names.size() < count) {
    std::string name = "fuse-";
    for (size_t i = 1 + rng->Below(12); i > 0; --i) name += static_cast<char>('a' + rng->Below(3));
    names.insert(rng->Below(9) == 0 ? name + "-\"\xC3\xA9" : name);
  }
  return {names.begin(), names.end()};
}

TEST(TokenMask, AnySelectionCanBeReadAndNamesShownSkillsOnceEach) {
  SplitMix64 rng(1);
  int bare = 0;
  for (int i = 0; i < 100; ++i) {
    const auto names = SomeNames(&rng);
    TokenMask mask = MaskFor(FormFor("select_skills"), llm::SelectSkillsTool(names, 3));
    const llm::Reply reply = Drawn(&mask, static_cast<uint64_t>(i), 70 + i * 5, i % 4 == 0 ? 0 : 1);
    const auto read = llm::ParseSelectSkills(reply, names, 3);
    ASSERT_TRUE(read.ok()) << read.message << "\n" << reply.text;
    EXPECT_THAT(read.value->unknown_names, IsEmpty()) << reply.text;
    EXPECT_EQ(read.value->num_duplicates + read.value->num_over_cap, 0) << reply.text;
    EXPECT_EQ(reply.finish_reason, llm::FinishReason::kStop);
    bare += llm::ParseSelectSkills(Drawn(nullptr, static_cast<uint64_t>(i), 200), names, 3).ok();
  }
  EXPECT_EQ(bare, 0);
}

TEST(TokenMask, AnySummaryCanBeReadAndHoldsWholeSkills) {
  for (int i = 0; i < 100; ++i) {
    TokenMask mask = MaskFor(FormFor("update_skill_library"), llm::UpdateSkillLibraryTool(2));
    const llm::Reply reply = Drawn(&mask, static_cast<uint64_t>(i), 80 + i * 20);
    const auto read = llm::ParseUpdateSkillLibrary(reply, 2);
    ASSERT_TRUE(read.ok()) << read.message << "\n" << reply.text;
    for (const std::string& why : read.value->rejected) EXPECT_THAT(why, HasSubstr("repeats"));
    for (const llm::ProposedSkill& skill : read.value->skills) {
      EXPECT_GE(skill.tags.size(), 3U);
      EXPECT_LE(skill.tags.size(), 6U);
      size_t characters = 0;
      for (const char c : skill.description) characters += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
      EXPECT_LE(characters, 120U);
    }
  }
}

TEST(TokenMask, AReplyThatMayThinkStillEndsWithTheCall) {
  CallForm form = FormFor("select_skills");
  form.open.erase(0, 1);
  form.thinks = true;
  int thought = 0;
  for (int i = 0; i < 60; ++i) {
    TokenMask mask = MaskFor(form, llm::SelectSkillsTool({"a", "b"}, 3));
    const llm::Reply reply = Drawn(&mask, static_cast<uint64_t>(i), 80);
    ASSERT_TRUE(llm::ParseSelectSkills(reply, {"a", "b"}, 3).ok()) << reply.text;
    thought += !llm::SplitThinking(reply.text).thinking.empty();
  }
  EXPECT_GT(thought, 10);
  EXPECT_LT(thought, 60);
}

// The least that a reply takes is enough; with one token less it is cut.
TEST(TokenMask, EndsWithinTheTokensThatItIsGiven) {
  const std::vector<std::string> names = {"a-skill"};
  const llm::ToolSpec tool = llm::SelectSkillsTool(names, 1);
  int least = 1;
  for (; least < 200; ++least) {
    TokenMask mask = MaskFor(FormFor("select_skills"), tool);
    if (Drawn(&mask, 7, least).finish_reason == llm::FinishReason::kStop) break;
  }
  EXPECT_LT(least, 60);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    TokenMask mask = MaskFor(FormFor("select_skills"), tool);
    EXPECT_EQ(Drawn(&mask, seed, least + static_cast<int>(seed % 3)).finish_reason,
              llm::FinishReason::kStop);
  }
}

TEST(CallGrammar, ReadsItsOwnCompletionsFromAnyPlace) {
  const auto grammar =
      GrammarOfCall(FormFor("update_skill_library"), llm::UpdateSkillLibraryTool(2).parameters);
  ASSERT_TRUE(grammar.ok());
  SplitMix64 rng(3);
  for (int walk = 0; walk < 30; ++walk) {
    ByteGrammar::State state = grammar->start();
    for (int step = 0; step < 400 && !grammar->IsEnd(state); ++step) {
      std::vector<ByteGrammar::State> next;
      for (int byte = 0; byte < 256; ++byte)
        if (const auto found = grammar->Next(state, static_cast<uint8_t>(byte)))
          next.push_back(*found);
      ASSERT_FALSE(next.empty());
      state = next[rng.Below(next.size())];
    }
    const std::string completion = grammar->Completion(state);
    ByteGrammar::State end = state;
    for (size_t i = 0; i < completion.size(); ++i) {
      EXPECT_EQ(grammar->Completion(end), completion.substr(i));
      const auto next = grammar->Next(end, static_cast<uint8_t>(completion[i]));
      ASSERT_TRUE(next.has_value());
      end = *next;
    }
    EXPECT_TRUE(grammar->IsEnd(end));
  }
}

TEST(CallGrammar, NamesWhatOfASchemaItDoesNotKnow) {
  const auto made = GrammarOfCall(
      {}, {{"type", "object"}, {"properties", {{"n", {{"type", "number"}}}}}, {"required", {"n"}}});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("\"number\""));
}

}  // namespace
}  // namespace davinci::embedded
