// Transcript: all that a trial asked of the outside, and what it was answered, as text.
//
// A trial (trial.h) is a function of its request, its protocol and these answers: what processes
// reply and the kernel says of them, clock readings, secret seeds, leases, facts kept from other
// trials. Recording asks the real thing and writes both down; a replay compares each question with
// the recorded one and answers from the text, so that a trial repeats without torch, to the byte.
//
// Text, by line:
//   {…}                      the head, and last what came of the trial (trial_record.h)
//   @12,5,300                clock readings, nanoseconds, each since the one before
//   what TAB question TAB answer        JSON; empty for null
// Folders that differ from run to run are written as names in braces ("{folder1}").
//
// A replay tolerates clock readings more or fewer than recorded between two questions: the last one
// recorded repeats, those left over are skipped. Every other difference ends it.
// Used by one thread, that of the trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/outside.h"
#include "davinci/judge/folder_names.h"

namespace davinci::judge {

class Transcript final : public Outside {
 public:
  Transcript() = default;                       // records
  explicit Transcript(std::string_view lines);  // replays these, without head and outcome

  bool replays() const { return replays_; }
  // On the thread of the trial, and not within a question: else what is asked is no part of it.
  bool listens() const { return internal::thread_outside == this; }

  // Returns what `answer` says, which is not called in a replay. Exceptions of type
  // std::runtime_error end a replay that asks otherwise.
  nlohmann::json Ask(std::string_view what, const nlohmann::json& question,
                     const std::function<nlohmann::json()>& answer);
  // True where a replay comes to this question next; false while recording.
  bool IsNext(std::string_view what) const;

  FolderNames& names() { return names_; }

  int64_t MonotonicNs() override;
  uint64_t SecretSeed() override;
  void MadeFolder(const std::filesystem::path& folder) override;

  // The recorded lines.
  std::string Finish();
  // The first difference of a replay, or the number of lines that were not asked for; empty: none.
  std::string Difference() const;

 private:
  struct Line {
    std::string_view what;
    std::string_view question;
    std::string_view answer;
  };
  Line Next();
  void FlushClock();
  void Differ(const std::string& difference);

  bool replays_ = false;
  FolderNames names_;
  int num_folders_ = 0;
  int64_t clock_ns_ = 0;  // the last reading
  std::string text_;
  // Recording:
  std::vector<int64_t> readings_;  // since the last line
  // Replaying:
  std::string_view rest_;
  std::string_view pending_clock_;  // readings of the current line that have not been asked for
  int line_ = 0;
  std::string difference_;
};

}  // namespace davinci::judge
