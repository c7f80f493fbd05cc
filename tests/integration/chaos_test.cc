// kill -9 at 50 random points: the final store is the one of an undisturbed run, and nothing that
// was paid for and recorded is ever paid for again.
//
// Equal has to be: every unit with its content, the texts, the skill library, the winners. Not
// equal are times, who of two identical kernels was judged first, and the sessions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kKills = 50;
constexpr int kDelayMs = 4;

// Runs in a child of its own, which may be killed at any time.
pid_t Start(const Scenario& scenario, const fs::path& run, const fs::path& calls) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ScriptedEvaluator evaluator(kDelayMs);
  SlowRecording backbone(scenario.Replies(), kDelayMs, calls);
  ScriptedAuthor author;
  author.verdicts["alpha"] = {"wrong", "ok 1.3"};
  rollout::StopFlag stop;
  runs::RunParts parts = scenario.Parts(&backbone, &evaluator);
  parts.author = &author;
  const auto result = runs::ExecuteRun(scenario.Request(run), parts, &stop, {});
  if (!result.ok()) ::write(2, result.status().message().data(), result.status().message().size());
  ::_exit(result.ok() && result->finished() ? 0 : 1);
}

int WaitFor(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

void DropTimes(json* value) {
  if (value->is_object()) {
    for (auto it = value->begin(); it != value->end();) {
      const std::string& key = it.key();
      const bool varies = key.ends_with("_seconds") || key.ends_with("_unix_s") ||
                          key == "judged_before" || key == "latency_s" || key == "seconds" ||
                          key == "last_verified" || key == "taken_over" || key == "candidates" ||
                          key == "exported_path";
      if (varies) {
        it = value->erase(it);
      } else {
        DropTimes(&*it);
        ++it;
      }
    }
  } else if (value->is_array()) {
    for (json& element : *value) DropTimes(&element);
  }
}

// Everything of a finished run that must not depend on when it was killed.
json Content(const fs::path& folder) {
  json content;
  auto run = store::RunStore::OpenForReading(folder);
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_TRUE((*run)->damaged_lines().empty());
  EXPECT_TRUE((*run)
                  ->ForEach([&](const store::Unit& unit) {
                    if (unit.kind == "session") return true;
                    EXPECT_FALSE(content["units"].contains(unit.id)) << "twice: " << unit.id;
                    json body = unit.body;
                    DropTimes(&body);
                    content["units"][unit.id] = body;
                    return true;
                  })
                  .ok());
  auto library = skill::Library::Open(folder / "library.sqlite", {});
  EXPECT_TRUE(library.ok()) << library.status().ToString();
  const auto records = (*library)->All(true);
  EXPECT_TRUE(records.ok());
  for (const skill::Record& record : *records) {
    json document = json::parse(skill::ToJson(record).dump());
    // The name of the run's folder is part of the evidence.
    for (json& evidence : document["evidence"]) evidence.erase("run");
    DropTimes(&document);
    content["library"].push_back(document);
  }
  const auto replay = runs::ReplayRun(folder, {});
  EXPECT_TRUE(replay.ok());
  json result = runs::ToJson(*replay);
  result.erase("run");
  result.erase("stages");
  DropTimes(&result);
  content["result"] = result;
  return content;
}

std::multiset<std::string> Lines(const fs::path& file) {
  std::multiset<std::string> lines;
  const auto text = ReadFile(file);
  if (!text.ok()) return lines;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

// Labels of the replies that are in the journal.
std::set<std::string> Recorded(const fs::path& folder) {
  std::set<std::string> labels;
  auto run = store::RunStore::OpenForReading(folder);
  if (!run.ok()) return labels;
  EXPECT_TRUE((*run)
                  ->ForEach([&](const store::Unit& unit) {
                    if (unit.body.contains("label"))
                      labels.insert(unit.body["label"].get<std::string>());
                    return true;
                  })
                  .ok());
  return labels;
}

// Of all segments.
int64_t LinesOf(const fs::path& run) {
  int64_t lines = 0;
  for (const char* segment : {"journal.jsonl", "steps/00000001.jsonl"}) {
    const auto text = ReadFile(run / segment);
    if (text.ok()) lines += std::count(text->begin(), text->end(), '\n');
  }
  return lines;
}

// One time in five while the run is being opened, else some units on: between two of them or in the
// middle of one. A child that is done earlier is not killed.
void KillSomewhere(pid_t child, const fs::path& run, SplitMix64* random) {
  if (random->Below(5) == 0) {
    ::usleep(static_cast<useconds_t>(random->Below(40'000)));
  } else {
    const int64_t target = LinesOf(run) + 1 + static_cast<int64_t>(random->Below(12));
    siginfo_t ended{};
    while (LinesOf(run) < target) {
      ended.si_pid = 0;
      ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid != 0) return;
      ::usleep(300);
    }
    ::usleep(static_cast<useconds_t>(random->Below(uint64_t{2} * 1000 * kDelayMs)));
  }
  ::kill(child, SIGKILL);
}

TEST(Chaos, FiftyKillsChangeNothing) {
  const auto dir = MakeTempDir("chaos");
  ASSERT_TRUE(dir.ok());
  const Scenario scenario = Scenario::Make(dir->path());
  const int undisturbed = WaitFor(Start(scenario, dir->path() / "calm", dir->path() / "calls0"));
  ASSERT_TRUE(WIFEXITED(undisturbed));
  ASSERT_EQ(WEXITSTATUS(undisturbed), 0);
  const json expected = Content(dir->path() / "calm");
  ASSERT_GT(expected["units"].size(), 80u);
  ASSERT_GE(expected["library"].size(), 2u);

  const uint64_t seed = SecretSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SplitMix64 random(seed);
  int kills = 0;
  int runs = 0;
  std::set<int64_t> places;  // how far a run was when it was killed
  while (kills < kKills) {
    const fs::path folder = dir->path() / ("run" + std::to_string(runs));
    const fs::path calls = dir->path() / ("calls" + std::to_string(++runs));
    std::set<std::string> paid;
    for (bool finished = false; !finished;) {
      const auto before = Lines(calls);
      const pid_t child = Start(scenario, folder, calls);
      ASSERT_GT(child, 0);
      if (kills < kKills) KillSomewhere(child, folder, &random);
      const int status = WaitFor(child);
      if (WIFSIGNALED(status)) {
        ++kills;
        const auto run = store::RunStore::OpenForReading(folder);
        places.insert(run.ok() ? *(*run)->NumUnits() : -1);
      } else {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        finished = true;
      }
      const auto after = Lines(calls);
      for (const std::string& label : paid)
        EXPECT_EQ(after.count(label), before.count(label)) << label << " was paid for again";
      paid = Recorded(folder);
    }
    EXPECT_EQ(json::diff(expected, Content(folder)).dump(1), json::array().dump(1));
  }
  EXPECT_GE(places.size(), 25u) << "the kills were not spread over the run";
}

}  // namespace
}  // namespace davinci::integration
