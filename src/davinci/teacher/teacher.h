// Writes fast kernels for generated tasks: the operator graph becomes tensor primitives (lower.h),
// these become regions (fusion.h), each region one kernel (emitter.h); what nothing covers stays a
// PyTorch call, so every task has an answer.
//
// Rules name the skill of skills/ that states them. A candidate uses exactly the rules that the
// given skills allow. Pure: the same task, language and rules give the same text. Threads may share
// a Teacher.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/reply_form.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/emit/emitter.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

struct Rule {
  std::string name;
  std::string skill;  // folder of skills/
  std::set<Language> languages;
};
const std::vector<Rule>& Rules();

enum class Level { kNaive, kBetter, kBest };
std::string_view LevelName(Level level);

struct Candidate {
  std::string source;  // with <entry>New: a Python file, or a delta reply (agent/delta_reply.h)
  std::set<std::string> rules, skills;
  int own_kernels = 0;             // regions
  std::vector<LeftOperator> left;  // operators left to PyTorch
  bool prefers_vendor = false;     // PyTorch's own kernels are expected to be as fast
};

class Teacher {
 public:
  static Result<Teacher> Load(const std::filesystem::path& synth_folder);

  // `allowed`: names of rules. Fails where the task cannot be rewritten at all in this language.
  Result<Candidate> Write(const synth::Graph& graph, const synth::RenderedTask& task,
                          Language language, const std::set<std::string>& allowed,
                          ReplyForm form = ReplyForm::kFile) const;
  // The task as calls of PyTorch alone: the answer where a candidate prefers the vendor.
  Result<Candidate> WriteVendor(const synth::Graph& graph, const synth::RenderedTask& task,
                                Language language, ReplyForm form = ReplyForm::kFile) const;
  // The rules of a level: naive has none.
  static std::set<std::string> RulesOf(Level level, Language language);

 private:
  Tables tables_;
};

}  // namespace davinci::teacher
