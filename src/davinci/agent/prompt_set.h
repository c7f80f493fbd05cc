// PromptSet: the prompts of one run, each loaded and checked before the first model call.
//
// The files lie in the installation's folder prompts/. A recipe may name a folder of its own: a
// file found there replaces the installed one of the same name, whole. A name that no prompt has is
// an error with the nearest one that does, because an override that is silently ignored is worse
// than none. Every file must declare exactly the variables that prompt_set.cc
// lists for it, so an override that asks for something the code cannot give fails at once.
//
//   selection_system.md  selection_task.md          the Selection agent
//   policy_system.md     policy_task.md             the Policy agent
//   contract_<language>.md                          what a candidate of that language looks like
//   delta_triton.md                                 what a delta reply looks like
//   example/reference.py, example/<language>.py     a task and candidates that the judge accepts
//   example/delta-triton.py                         the same as a delta reply
//   kevin_task.md        kevin_verdict.md           the Policy agent under the strategy kevin
//   evolve_task.md                                  … and under evolve
//   feedback.md          no_code.md                 what the Policy agent hears after a turn
//   device_cuda.md       device_cpu.md              the device, in all three
//   summary_system.md    summary_task.md            the Summary agent
//
// Immutable after loading, so it may be shared between threads. Loading reads files; nothing else
// in agent/ does.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "davinci/agent/delta_reply.h"
#include "davinci/agent/prompt_template.h"
#include "davinci/base/status.h"
#include "davinci/data/language.h"
#include "davinci/data/reply_form.h"

namespace davinci::agent {

struct WorkedExample {
  std::string reference;
  std::string candidate;
};

class PromptSet {
 public:
  // `override_folder` may be empty. Errors name the file, all missing or broken ones at once.
  static Result<PromptSet> Load(const std::filesystem::path& installed_folder,
                                const std::filesystem::path& override_folder = {});

  // `name` without ".md"; an unknown one is an internal error. Values as PromptTemplate::Render.
  Result<std::string> Render(std::string_view name, const PromptValues& values) const;

  // The prelude of delta replies; null where the installation has none.
  const Prelude* prelude() const { return prelude_ ? &*prelude_ : nullptr; }

  // Null for a language that no candidate is written in on purpose (auto, python).
  const WorkedExample* Example(Language language, ReplyForm reply = ReplyForm::kFile) const;

  // SHA-256 over every file in force: which prompts a run used.
  const std::string& hash() const { return hash_; }

 private:
  std::map<std::string, PromptTemplate, std::less<>> templates_;
  std::map<std::pair<Language, ReplyForm>, WorkedExample> examples_;
  std::optional<Prelude> prelude_;
  std::string hash_;
};

}  // namespace davinci::agent
