#include "davinci/teacher/teacher.h"

#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/semantics/lower.h"

namespace davinci::teacher {

Result<Teacher> Teacher::Load(const std::filesystem::path& synth_folder) {
  Teacher teacher;
  DAVINCI_ASSIGN_OR_RETURN(teacher.tables_, LoadTables(synth_folder / "teacher"));
  return teacher;
}

Result<Candidate> Teacher::Write(const synth::Graph& graph, const synth::RenderedTask& task,
                                 Language language, const RuleSet& allowed, ReplyForm form,
                                 const LaunchSettings& launch) const {
  const synth::Binding binding =
      language == Language::kCpp || task.fixed_sizes ? synth::Binding::kCpu : synth::Binding::kCuda;
  DAVINCI_ASSIGN_OR_RETURN(Program program,
                           Lower(graph, task.parts, tables_, {allowed.In(language), binding}));
  program.fixed_sizes = task.fixed_sizes;
  return CandidateWriter(std::move(program), graph, task, language, allowed, tables_.math, form,
                         launch)
      .Write();
}

Result<Candidate> Teacher::WriteVendor(const synth::Graph& graph, const synth::RenderedTask& task,
                                       Language language, ReplyForm form) const {
  LowerOptions options;
  options.calls_only = true;
  DAVINCI_ASSIGN_OR_RETURN(Program program, Lower(graph, task.parts, tables_, options));
  program.fixed_sizes = task.fixed_sizes;
  return CandidateWriter(std::move(program), graph, task, language, {}, tables_.math, form).Write();
}

}  // namespace davinci::teacher
