// Writes fast kernels for generated tasks: the operator graph becomes tensor primitives (lower.h),
// these become regions (fusion.h), each region one kernel (emitter.h); what nothing covers stays a
// PyTorch call, so every task has an answer.
//
// Rules name the skill of skills/ that states them. A candidate uses exactly the rules that the
// given rules allow. Pure: the same task, language and rules give the same text. Threads may share
// a Teacher.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/agent/plain_forward.h"
#include "davinci/base/status.h"
#include "davinci/data/reply_form.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/candidate/candidate.h"
#include "davinci/teacher/rules/launch_settings.h"
#include "davinci/teacher/rules/rules.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// An imported module as it was traced at one shape.
struct TaskShape {
  const synth::Graph* graph = nullptr;
  const synth::RenderedTask* task = nullptr;
};

class Teacher {
 public:
  static Result<Teacher> Load(const std::filesystem::path& synth_folder);

  // Fails where the task cannot be rewritten at all in this language.
  Result<Candidate> Write(const synth::Graph& graph, const synth::RenderedTask& task,
                          Language language, const RuleSet& allowed,
                          AnswerForm form = ReplyForm::kFile,
                          const LaunchSettings& launch = {}) const;
  // Kind of work of each node, by the function that it calls (synth/teacher/families.toml).
  std::vector<std::string> KindsOf(const synth::Graph& graph,
                                   const synth::RenderedTask& task) const;
  // An imported task with kernels for each of its shapes; the first is the task's own. One that no
  // kernel comes of is left to the module's own forward (Candidate::shapes).
  Result<Candidate> WriteShapes(const std::vector<TaskShape>& shapes, Language language,
                                const RuleSet& allowed, const LaunchSettings& launch = {}) const;
  // The task as calls of PyTorch alone: the answer where a candidate prefers the vendor.
  Result<Candidate> WriteVendor(const synth::Graph& graph, const synth::RenderedTask& task,
                                Language language, AnswerForm form = ReplyForm::kFile) const;
  // The task's forward as straight-line PyTorch, one call a line (semantics/steps.h), however its
  // author divided and named it. Sizes are those of the language's target.
  Result<Steps> StepsOf(const synth::Graph& graph, const synth::RenderedTask& task,
                        Language language, const NamedOperators& named = {}) const;
  // The same forward as code, for replies that say no more than what kernels compute.
  Result<agent::PlainForward> PlainOf(const synth::Graph& graph, const synth::RenderedTask& task,
                                      const Steps& steps) const;
  const Tables& tables() const { return tables_; }

 private:
  Result<Program> Lowered(const synth::Graph& graph, const synth::RenderedTask& task,
                          Language language, const RuleSet& allowed, AnswerForm form) const;

  Tables tables_;
};

}  // namespace davinci::teacher
