#include "davinci/judge/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/judge/machine/quiet_process.h"
#include "davinci/judge/transcribed_process.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Said(Transcript* transcript, const char* what, const json& question, const json& answer) {
  return transcript->Ask(what, question, [&] { return answer; });
}

// The values that some trial reads, and its record.
struct Recorded {
  explicit Recorded(int num_readings) {
    Transcript transcript;
    const WithOutside trial(&transcript);
    for (int i = 0; i < num_readings; ++i) readings.push_back(MonotonicNs());
    seed = SecretSeed();
    Said(&transcript, "cpu", 1, 17);
    readings.push_back(MonotonicNs());
    Said(&transcript, "cpu", 2, 18);
    text = transcript.Finish();
  }
  std::vector<int64_t> readings;
  uint64_t seed = 0;
  std::string text;
};

TEST(Transcript, ReplaysClockSeedsAndAnswers) {
  const Recorded recorded(2);
  Transcript replay(recorded.text);
  const WithOutside trial(&replay);
  EXPECT_EQ(MonotonicNs(), recorded.readings[0]);
  EXPECT_EQ(MonotonicNs(), recorded.readings[1]);
  EXPECT_EQ(SecretSeed(), recorded.seed);
  EXPECT_EQ(Said(&replay, "cpu", 1, nullptr), 17);
  EXPECT_EQ(MonotonicNs(), recorded.readings[2]);
  EXPECT_THAT(replay.Difference(), HasSubstr("1 more lines were recorded, next cpu"));
  EXPECT_EQ(Said(&replay, "cpu", 2, nullptr), 18);
  EXPECT_EQ(replay.Difference(), "");
}

TEST(Transcript, AnotherQuestionEndsTheReplay) {
  const Recorded recorded(0);
  Transcript replay(recorded.text);
  const WithOutside trial(&replay);
  (void)SecretSeed();
  EXPECT_THROW(Said(&replay, "cpu", 3, nullptr), std::runtime_error);
  EXPECT_THAT(replay.Difference(), HasSubstr("recorded: cpu 1\n  now asked: cpu 3"));
  EXPECT_EQ(Said(&replay, "cpu", 1, nullptr), nullptr);  // of a destructor, say
}

TEST(Transcript, ClockReadingsMayBeFewerOrMore) {
  const Recorded recorded(3);
  for (const int num_readings : {0, 2, 5}) {
    Transcript replay(recorded.text);
    const WithOutside trial(&replay);
    for (int i = 0; i < num_readings; ++i)
      EXPECT_EQ(MonotonicNs(), recorded.readings[static_cast<size_t>(std::min(i, 2))]);
    EXPECT_EQ(SecretSeed(), recorded.seed);
    EXPECT_EQ(Said(&replay, "cpu", 1, nullptr), 17);
    EXPECT_EQ(MonotonicNs(), recorded.readings[3]) << num_readings;
  }
}

TEST(Transcript, FoldersGoByNames) {
  std::string text;
  {
    Transcript transcript;
    const WithOutside trial(&transcript);
    const auto folder = MakeTempDir("davinci-test");
    ASSERT_TRUE(folder.ok());
    const std::string path = (folder->path() / "a.py").string();
    EXPECT_EQ(Said(&transcript, "load", path, {{"loaded", path}}), json({{"loaded", path}}));
    text = transcript.Finish();
    EXPECT_EQ(text, "load\t\"{folder1}/a.py\"\t{\"loaded\":\"{folder1}/a.py\"}\n");
  }
  Transcript replay(text);
  const WithOutside trial(&replay);
  const auto other = MakeTempDir("davinci-test");
  ASSERT_TRUE(other.ok());
  const std::string path = (other->path() / "a.py").string();
  EXPECT_EQ(Said(&replay, "load", path, nullptr), json({{"loaded", path}}));
}

// A process of which only two things are asked.
class TwoAnswers final : public QuietProcess {
 public:
  Result<json> AwaitReady(double) override { return json("up"); }
  Result<Reply> Await(double, const worker::BuildHandler& build) override {
    return Reply{build({{"source", "x"}}), {}, {}};
  }
  Status Wait(double) override { return DeadlineExceeded("late"); }
  Result<worker::Message> Receive(double) override {
    worker::Message message;
    message.done = std::string("D\x00\xff", 3);
    return message;
  }
  worker::CoreTimes ReadCoreTimes() const override { return {1, 2, 3, 4, {{9, 8, 7}}}; }
  std::string OutputTail() override { return "\xff!"; }
};

// Asks a process everything that is more than a number; what it heard.
json Heard(worker::Process* process) {
  json heard = json::array();
  heard.push_back(*process->AwaitReady(1));
  heard.push_back(process->Post({{"op", "load"}}).ok());
  heard.push_back(process
                      ->Await(1,
                              [](const json& request) {
                                return json{{"built", request.at("source")}, {"at", MonotonicNs()}};
                              })
                      ->ok);
  heard.push_back(process->Wait(1).message());
  heard.push_back(std::string(process->Receive(1)->done) == std::string("D\x00\xff", 3));
  heard.push_back(process->ReadCoreTimes().others.at(0).waited_ns);
  heard.push_back(process->OutputTail() == "\xff!");
  heard.push_back(process->WaitForDeath().has_value());
  return heard;
}

TEST(TranscribedProcess, PlaysWhatTheRealOneSaid) {
  Transcript transcript;
  TranscribedProcess recorded(&transcript, "runner1", std::make_shared<TwoAnswers>());
  json heard;
  {
    const WithOutside trial(&transcript);
    heard = Heard(&recorded);
  }
  Transcript replay(transcript.Finish());
  TranscribedProcess played(&replay, "runner1", nullptr);
  {
    const WithOutside trial(&replay);
    const json again = Heard(&played);
    EXPECT_EQ(again.at(2).at("built"), heard.at(2).at("built"));
    for (size_t i = 3; i < heard.size(); ++i) EXPECT_EQ(again.at(i), heard.at(i)) << i;
    EXPECT_EQ(replay.Difference(), "");
  }
  worker::Process& process = played;
  EXPECT_TRUE(process.WaitForDeath().has_value());  // off the trial's thread, or after it
  EXPECT_FALSE(process.Post({{"op", "rest"}}).ok());
}

}  // namespace
}  // namespace davinci::judge
