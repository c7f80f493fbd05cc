// Replies of an oracle and of runners as they are read. tests/worker/messages_test.py writes the
// golden files of an oracle.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/judge/roles/oracle_replies.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/roles/variant_facts.h"

namespace davinci::judge::from_oracle {
namespace {

using nlohmann::json;

// Each line of the golden file of the replies to `op`.
template <typename Reply>
std::vector<Reply> GoldenReplies(const std::string& op) {
  const std::string path = DAVINCI_SOURCE_DIR "/tests/golden/replies/oracle/" + op + ".jsonl";
  std::istringstream lines(ReadFile(path).value());
  std::vector<Reply> replies;
  for (std::string line; std::getline(lines, line);)
    replies.push_back(json::parse(line).get<Reply>());
  return replies;
}

TEST(Replies, OfInputsHoldWhatACallNeeds) {
  const auto prepared = GoldenReplies<Prepared>("prepare");
  ASSERT_EQ(prepared.size(), 2);
  EXPECT_EQ(prepared[0].distribution, "heavy_tailed");
  EXPECT_EQ(prepared[0].args, "gASVBQ==");
  EXPECT_EQ(prepared[0].call_seed, 13);
  EXPECT_EQ(prepared[0].peak_bytes, 4096);
  EXPECT_FALSE(prepared[1].peak_bytes);

  const auto nonfinite = GoldenReplies<PreparedNonfinite>("nonfinite");
  ASSERT_EQ(nonfinite.size(), 2);
  EXPECT_EQ(nonfinite[0].args, "gASVBQ==");
  EXPECT_EQ(nonfinite[0].call_seed, 13);
  EXPECT_FALSE(nonfinite[1].args);

  const auto drawn = GoldenReplies<Drawn>("draw");
  ASSERT_EQ(drawn.size(), 1);
  EXPECT_EQ(drawn[0].args, (std::vector<std::string>{"gASVBQ==", "gASVCQ=="}));
  EXPECT_EQ(drawn[0].call_seed, 13);
}

TEST(Replies, OfAComparisonSayWhatElseBroke) {
  const auto verified = GoldenReplies<Verified>("verify");
  ASSERT_EQ(verified.size(), 2);
  EXPECT_EQ(verified[0].comparison.at("passed"), true);
  EXPECT_FALSE(verified[0].late);
  EXPECT_EQ(verified[0].changed, 1);
  EXPECT_TRUE(verified[1].comparison.is_null());
  EXPECT_TRUE(verified[1].late);
  EXPECT_FALSE(verified[1].changed);

  const auto several = GoldenReplies<VerifiedSeveral>("verify_several");
  ASSERT_EQ(several.size(), 1);
  ASSERT_EQ(several[0].calls.size(), 2);
  EXPECT_EQ(several[0].calls[0].changed, 1);
  EXPECT_TRUE(several[0].calls[1].late);
  EXPECT_THROW((void)json::object().get<Verified>(), json::exception);
}

TEST(Replies, OfTheReferenceAndItsMemory) {
  EXPECT_TRUE(GoldenReplies<Mutates>("mutates").at(0).mutates);
  EXPECT_FALSE(GoldenReplies<Mutates>("mutates").at(0).hides);
  EXPECT_TRUE(GoldenReplies<Mutates>("mutates").at(1).hides);
  EXPECT_EQ(GoldenReplies<Unread>("unread").at(0).names, std::vector<std::string>{"bias"});
  const auto arenas = GoldenReplies<Arena>("arena");
  ASSERT_EQ(arenas.size(), 2);
  EXPECT_EQ(arenas[0].bytes, 4096);
  EXPECT_EQ(arenas[0].handle, json("00ff"));
  EXPECT_FALSE(arenas[1].handle);
}

TEST(Replies, OfTheDeviceAndTheProcess) {
  EXPECT_TRUE(GoldenReplies<IsFilled>("filled").at(0).filled);
  EXPECT_EQ(GoldenReplies<Released>("release").at(0).at_ns, 123456789);
  EXPECT_EQ(GoldenReplies<Turn>("turn").at(0).turn_seconds, 0.25);
  EXPECT_EQ(GoldenReplies<Calibrated>("calibrate").at(0).between_events_seconds, 0.25);
  EXPECT_TRUE(GoldenReplies<Forgot>("forget").at(0).clean);
}

TEST(Replies, OfAReferenceAreFacts) {
  const auto facts = GoldenReplies<VariantFacts>("describe");
  ASSERT_EQ(facts.size(), 2);
  EXPECT_EQ(facts[0].init, "gASVBQ==");
  EXPECT_EQ(facts[0].structure, "tuple(T,T)");
  ASSERT_EQ(facts[0].outputs.size(), 2);
  EXPECT_EQ(facts[0].outputs[1].dtype, "i64");
  EXPECT_EQ(facts[0].outputs[0].stride, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(facts[0].slot_bytes, 4096);
  EXPECT_EQ(facts[0].num_slots, 3);
  EXPECT_EQ(facts[0].num_weights, 1);
  EXPECT_EQ(facts[0].lent, (std::vector<bool>{false, true}));
  EXPECT_EQ(facts[0].kept, std::vector<std::string>{"steps"});
  EXPECT_EQ(facts[0].left_in, std::vector<int>{1});
  EXPECT_EQ(facts[0].mode, "train");
  EXPECT_EQ(facts[0].footprint_bytes, 65536);
  ASSERT_TRUE(facts[0].work);
  EXPECT_EQ(facts[0].work->operators, 2);
  EXPECT_TRUE(facts[0].work->reads_everything);
  EXPECT_EQ(json(*facts[0].work).at("flops"), 12);
  EXPECT_EQ(facts[1].mode, "");
  EXPECT_FALSE(facts[1].work);
}

// Whatever the process sends: what cannot be read is the default.
TEST(Replies, OfARunnerAreReadWithoutTrust) {
  const json strange[] = {json(),
                          json::array({1}),
                          json("text"),
                          json::object(),
                          {{"seconds", "x"}, {"ms", json::array()}, {"matched", 3}, {"clean", 1}}};
  for (const json& reply : strange) {
    EXPECT_EQ(reply.get<from_runner::Loaded>().seconds, 0);
    EXPECT_EQ(reply.get<from_runner::Hot>().ms, 0);
    EXPECT_EQ(reply.get<from_runner::TookState>().matched, "");
    EXPECT_FALSE(reply.get<from_runner::Forgot>().clean);
    EXPECT_FALSE(reply.get<from_runner::Forgot>().full);
    EXPECT_FALSE(reply.get<from_runner::Profiled>().busy_ms);
    EXPECT_EQ(reply.get<from_runner::CalledExport>().why_reference, "its process did not say");
    EXPECT_FALSE(reply.get<from_runner::CompiledOnly>().blocked);
  }
}

TEST(Replies, OfARunnerSayWhatTheyHold) {
  const json profile = {{"device", {{"busy_ms", 0.5}}},
                        {"library_share", 0.25},
                        {"operators",
                         {{{"op", "aten::view"}, {"compute", false}},
                          {{"op", "aten::mm"}, {"compute", true}},
                          {{"op", "aten::add"}, {"compute", true}}}}};
  const auto profiled = profile.get<from_runner::Profiled>();
  EXPECT_EQ(profiled.busy_ms, 0.5);
  EXPECT_EQ(profiled.library_share, 0.25);
  EXPECT_EQ(profiled.top_operator, "aten::mm");

  const json compiled = {
      {"blocked", {{"reason", "no device"}}},
      {"any_size", true},
      {"kernels", {{{"interpreted", 2}, {"fp32_products", "TF32"}}, {{"interpreted", 0}}, 7}},
      {"builds", {{{"ok", true}}, {{"ok", "true"}}}}};
  const auto only = compiled.get<from_runner::CompiledOnly>();
  EXPECT_EQ(only.blocked.value().reason, "no device");
  EXPECT_EQ(only.blocked->detail, "");
  EXPECT_TRUE(only.any_size);
  EXPECT_TRUE(only.tf32);
  EXPECT_EQ(only.triton, 2);
  EXPECT_EQ(only.interpreted, 1);
  EXPECT_EQ(only.compiled, 1);

  EXPECT_EQ(json({{"why", {nullptr, nullptr}}}).get<from_runner::CalledExport>().why_reference, "");
  EXPECT_EQ(json({{"why", {nullptr, "shape"}}}).get<from_runner::CalledExport>().why_reference,
            "shape");
}

}  // namespace
}  // namespace davinci::judge::from_oracle
