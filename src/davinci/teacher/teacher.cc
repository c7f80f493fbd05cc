#include "davinci/teacher/teacher.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/candidate/imported_file.h"
#include "davinci/teacher/semantics/lower.h"
#include "davinci/teacher/semantics/step_values.h"
#include "davinci/teacher/semantics/steps.h"

namespace davinci::teacher {

Result<Teacher> Teacher::Load(const std::filesystem::path& synth_folder) {
  Teacher teacher;
  DAVINCI_ASSIGN_OR_RETURN(teacher.tables_, LoadTables(synth_folder / "teacher"));
  return teacher;
}

std::vector<std::string> Teacher::KindsOf(const synth::Graph& graph,
                                          const synth::RenderedTask& task) const {
  std::vector<std::string> kinds;
  for (const Program::NodeCall& call : CallsOf(graph, task.parts, tables_))
    kinds.push_back(call.kind);
  return kinds;
}

Result<Program> Teacher::Lowered(const synth::Graph& graph, const synth::RenderedTask& task,
                                 Language language, const RuleSet& allowed, AnswerForm form) const {
  const synth::Binding binding =
      language == Language::kCpp || task.fixed_sizes ? synth::Binding::kCpu : synth::Binding::kCuda;
  LowerOptions options{allowed.In(language), binding};
  options.in_cpp = language == Language::kCpp;
  options.brief = IsBrief(form.reply, language);
  DAVINCI_ASSIGN_OR_RETURN(Program program, Lower(graph, task.parts, tables_, options));
  program.fixed_sizes = task.fixed_sizes;
  if (form.steps != nullptr && options.brief)
    program.names = StepValues(program, *form.steps, tables_, options);
  return program;
}

Result<Candidate> Teacher::Write(const synth::Graph& graph, const synth::RenderedTask& task,
                                 Language language, const RuleSet& allowed, AnswerForm form,
                                 const LaunchSettings& launch) const {
  DAVINCI_ASSIGN_OR_RETURN(Program program, Lowered(graph, task, language, allowed, form));
  FileKernels file;
  return CandidateWriter(std::move(program), graph, task, language, allowed, tables_.math, form,
                         launch, &file)
      .Write();
}

Result<Candidate> Teacher::WriteShapes(const std::vector<TaskShape>& shapes, Language language,
                                       const RuleSet& allowed, const LaunchSettings& launch) const {
  FileKernels file;
  Candidate candidate;
  std::vector<ImportedForward> forwards;
  const auto add = [&](const TaskShape& shape) -> Result<Candidate> {
    DAVINCI_ASSIGN_OR_RETURN(
        Program program, Lowered(*shape.graph, *shape.task, language, allowed, ReplyForm::kFile));
    CandidateWriter writer(std::move(program), *shape.graph, *shape.task, language, allowed,
                           tables_.math, ReplyForm::kFile, launch, &file);
    DAVINCI_ASSIGN_OR_RETURN(Candidate one, writer.Compose());
    if (one.own_kernels == 0 && !forwards.empty()) return InvalidArgument(EveryCallStays(one.left));
    forwards.push_back(writer.Forward());
    return one;
  };
  DAVINCI_ASSIGN_OR_RETURN(candidate, add(shapes[0]));
  for (size_t i = 1; i < shapes.size(); ++i) {
    const FileKernels before = file;
    const auto one = add(shapes[i]);
    if (!one.ok()) file = before;
    if (one.ok()) candidate.rules.Insert(one->rules);
    candidate.shapes.push_back(one.ok() ? ShapeKernels{one->own_kernels}
                                        : ShapeKernels{0, one.status().message()});
  }
  std::vector<std::string> lines;
  bool direct = false;
  for (const ImportedForward& forward : forwards) {
    lines.insert(lines.end(), forward.lines.begin(), forward.lines.end());
    direct = direct || !forward.replays;
  }
  direct = direct && candidate.rules.Contains(Rule::kDirectLaunch);
  candidate.skills = candidate.rules.Skills();
  candidate.source =
      ImportedFile(forwards, KernelImports(file, language, direct) +
                                 KernelSection(file, language, tables_.math, direct, lines));
  return candidate;
}

Result<Candidate> Teacher::WriteVendor(const synth::Graph& graph, const synth::RenderedTask& task,
                                       Language language, AnswerForm form) const {
  LowerOptions options;
  options.calls_only = true;
  options.brief = IsBrief(form.reply, language);
  DAVINCI_ASSIGN_OR_RETURN(Program program, Lower(graph, task.parts, tables_, options));
  program.fixed_sizes = task.fixed_sizes;
  FileKernels file;
  return CandidateWriter(std::move(program), graph, task, language, {}, tables_.math, form, {},
                         &file)
      .Write();
}

Result<Steps> Teacher::StepsOf(const synth::Graph& graph, const synth::RenderedTask& task,
                               Language language, const NamedOperators& named) const {
  return teacher::StepsOf(graph, task, tables_,
                          language == Language::kCpp ? synth::Binding::kCpu : synth::Binding::kCuda,
                          named);
}

namespace {

// "t8.shape[2] // 2", where t8 is no input.
bool NamesAResult(const std::string& size, const std::vector<std::string>& inputs) {
  constexpr std::string_view kShape = ".shape[";
  for (size_t at = 0; (at = size.find(kShape, at)) != std::string::npos; ++at) {
    size_t begin = at;
    while (begin > 0 && (synth::IsWordChar(size[begin - 1]) || size[begin - 1] == '.')) --begin;
    const std::string name = size.substr(begin, at - begin);
    if (!name.starts_with("self.") && std::ranges::find(inputs, name) == inputs.end()) return true;
  }
  return false;
}

}  // namespace

Result<agent::PlainForward> Teacher::PlainOf(const synth::Graph& graph,
                                             const synth::RenderedTask& task,
                                             const Steps& steps) const {
  agent::PlainForward plain;
  DAVINCI_ASSIGN_OR_RETURN(Candidate calls, WriteVendor(graph, task, Language::kTriton,
                                                        AnswerForm(ReplyForm::kDelta, &steps)));
  plain.code = std::move(calls.source);
  plain.inputs.insert(task.parts.inputs.begin(), task.parts.inputs.end());
  LowerOptions options;
  options.calls_only = true;
  DAVINCI_ASSIGN_OR_RETURN(const Program program, Lower(graph, task.parts, tables_, options));
  for (const auto& [letter, value, axis] : steps.letters) {
    std::string size = program.SizeText(graph.values[static_cast<size_t>(value)].shape[axis]);
    // A size that only a result has, which the program has under a name of its own.
    if (size.find('?') != std::string::npos || NamesAResult(size, task.parts.inputs))
      size = fmt::format("{}.shape[{}]", steps.names.at(value), axis);
    plain.names.emplace_back(letter, std::move(size));
  }
  for (const MemberName& member : steps.members) plain.names.emplace_back(member.name, member.path);
  for (const std::string_view line : synth::Split(steps.text, '\n')) {
    // "t3: bool[A, B] = t1 > t2"
    const size_t colon = line.find(": "), open = line.find('[', colon),
                 close = line.find(']', open);
    if (close == std::string_view::npos || line.find(' ') < colon) continue;
    const std::string_view type = line.substr(colon + 2, open - colon - 2);
    if (type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") != std::string_view::npos)
      continue;
    plain.tensors[std::string(line.substr(0, colon))] = {
        std::string(type), std::string(line.substr(open + 1, close - open - 1))};
  }
  return plain;
}

}  // namespace davinci::teacher
