// Replays recorded trials of the judge (judge/recorded_trial.h) and says where one of them asks or
// decides otherwise.
//
//   transcript_replay [--accept | --tampered] [--schema FILE] FOLDER…
//
// --accept: outcomes that differ are written into the records; questions that differ ask for new
// records. Exit status 0: every trial repeats to the byte.
// --schema: each Evaluation must hold to this JSON schema, and have no member that it does not
// describe.
// --tampered: of every twentieth record a question, an answer and the outcome are changed first.
// Exit status 0: all of that is noticed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/recorded_trial.h"
#include "json_schema.h"

namespace {

using davinci::judge::Replay;

constexpr size_t kBefore = 120;  // characters of context before the first difference
constexpr size_t kShown = 400;
constexpr size_t kEvery = 20;  // record that is tampered with

std::string Around(const std::string& text, size_t at) {
  return davinci::ValidUtf8(text.substr(at < kBefore ? 0 : at - kBefore, kBefore + kShown));
}

void Show(const std::string& name, const Replay& replay) {
  fmt::print("{}\n", name);
  if (!replay.difference.empty()) fmt::print("  {}\n", replay.difference);
  if (replay.recorded == replay.outcome) return;
  const auto differ = std::mismatch(replay.recorded.begin(), replay.recorded.end(),
                                    replay.outcome.begin(), replay.outcome.end());
  const auto at = static_cast<size_t>(differ.first - replay.recorded.begin());
  fmt::print("  outcome recorded: … {}\n  outcome now:      … {}\n", Around(replay.recorded, at),
             Around(replay.outcome, at));
}

// The record with the last `from` of it replaced.
std::string Changed(const std::string& record, std::string_view from, std::string_view to) {
  std::string changed = record;
  const size_t at = changed.rfind(from);
  if (at != std::string::npos) changed.replace(at, from.size(), to);
  return changed;
}

// What a replay does not notice; empty: nothing.
std::string Unnoticed(const std::string& record) {
  const struct {
    std::string_view what, from, to;
  } changes[] = {{"a question", "\"op\":\"", "\"op\":\"x"},
                 {"an answer", "\t{\"value\":{", "\t{\"valve\":{"},
                 {"the outcome", "\"status\"", "\"statue\""}};
  for (const auto& change : changes) {
    const std::string changed = Changed(record, change.from, change.to);
    if (changed == record) continue;
    const auto replay = davinci::judge::ReplayTrial(changed);
    if (!replay.ok() || replay->same()) return std::string(change.what);
  }
  return "";
}

// Prints what is wrong with an outcome by `schema`; false: nothing.
bool Violates(const nlohmann::json& schema, const std::string& name, const std::string& outcome) {
  const auto document = nlohmann::json::parse(outcome, nullptr, false);
  if (schema.is_null() || !document.is_object() || !document.contains("evaluation")) return false;
  const auto problems = davinci::Violations(schema, document["evaluation"]);
  if (!problems.empty()) fmt::print("{}\n  {}\n", name, fmt::join(problems, "\n  "));
  return !problems.empty();
}

nlohmann::json ReadSchema(const char* path) {
  const auto text = davinci::ReadFile(path);
  const auto schema = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  return schema.is_object() ? davinci::Closed(schema) : nlohmann::json();
}

}  // namespace

int main(int argc, char** argv) {
  const davinci::Stopwatch watch;
  bool accept = false;
  bool tampered = false;
  nlohmann::json schema;
  std::vector<std::filesystem::path> records;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--accept") {
      accept = true;
      continue;
    }
    if (std::string_view(argv[i]) == "--tampered") {
      tampered = true;
      continue;
    }
    if (std::string_view(argv[i]) == "--schema" && i + 1 < argc) {
      schema = ReadSchema(argv[++i]);
      if (schema.is_null()) fmt::print(stderr, "transcript_replay: no schema in {}\n", argv[i]);
      if (schema.is_null()) return 2;
      continue;
    }
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i], error))
      if (entry.path().extension() == ".trial") records.push_back(entry.path());
  }
  std::ranges::sort(records);
  if (records.empty()) {
    fmt::print(stderr, "transcript_replay: no *.trial in the folders given\n");
    return 2;
  }
  int differing = 0;
  for (size_t i = 0; tampered && i < records.size(); i += kEvery) {
    const auto text = davinci::ReadFile(records[i]);
    if (!text.ok()) continue;
    if (const std::string what = Unnoticed(*text); !what.empty()) {
      fmt::print("{}: {} was changed, and its replay says nothing\n", records[i].string(), what);
      ++differing;
    }
  }
  if (tampered) return differing == 0 ? 0 : 1;
  for (const auto& path : records) {
    const auto text = davinci::ReadFile(path);
    const auto replay =
        text.ok() ? davinci::judge::ReplayTrial(*text) : davinci::Result<Replay>(text.status());
    if (!replay.ok()) {
      fmt::print("{}\n  {}\n", path.string(), replay.status().ToString());
      ++differing;
      continue;
    }
    const bool violates = Violates(schema, path.string(), replay->outcome);
    if (violates) ++differing;
    if (replay->same()) continue;
    if (!violates) ++differing;
    Show(path.string(), *replay);
    if (accept && replay->difference.empty())
      (void)davinci::WriteFileAtomic(path, davinci::judge::WithOutcome(*text, replay->outcome),
                                     davinci::Durability::kFastest);
  }
  fmt::print("{} trials replayed in {:.1f} s, {} differ\n", records.size(), watch.Seconds(),
             differing);
  return differing == 0 ? 0 : 1;
}
