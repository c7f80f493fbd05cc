#include <fmt/format.h>

#include <algorithm>

#include "davinci/agent/plain_forward.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_text.h"
#include "davinci/teacher/candidate/imported_forward.h"
#include "davinci/teacher/candidate/step_answer.h"

namespace davinci::teacher {

std::map<std::string, size_t> CandidateText::ResultRanks() const {
  std::map<std::string, size_t> ranks;
  for (size_t i = 0; i < d_.program.values.size(); ++i)
    if (const auto id = static_cast<Id>(i); d_.program[id].kind == TensorValue::Kind::kOpaque)
      ranks[d_.program.Variable(id)] = d_.program[id].shape.size();
  return ranks;
}

std::vector<std::string> CandidateText::DeltaLines(std::vector<std::string> lines,
                                                   const HostNames& names) const {
  std::map<std::string, size_t> ranks;
  for (size_t i = 0; i < d_.graph.inputs.size(); ++i)
    ranks[d_.task.parts.inputs[i]] = d_.InputValue(i).shape.size();
  return ShortHostText(std::move(lines), ranks, ResultRanks(),
                       d_.steps == nullptr ? nullptr : &names);
}

// Beside steps a forward with kernels says what they compute alone (agent/plain_forward.h).
std::vector<std::string> CandidateText::BesideSteps(std::vector<std::string> lines,
                                                    const HostNames& names) const {
  if (d_.steps == nullptr || d_.notes.empty()) return lines;
  std::set<std::string> plain = d_.steps->taken;
  for (const auto& [value, name] : d_.steps->names) plain.insert(name);
  for (const auto& steps : d_.steps->of_nodes)
    for (const Step& step : steps) plain.insert(step.name);
  for (const MemberName& member : names.members) plain.insert(member.name);
  for (const std::string& input : d_.task.parts.inputs) plain.erase(input);
  if (d_.task.parts.imported)
    for (const std::string_view line : synth::Split(d_.task.parts.imported->first_lines, '\n'))
      plain.emplace(line.substr(0, line.find(' ')));
  return agent::WithoutPlainLines(lines, plain, WrittenTensors(d_.file->kernels, lines));
}

// The class behind the kernels, of whose forward `lines` are the body. Beside steps they stand
// behind the kernels that they launch.
std::string CandidateText::Assembled(const std::string& kernels, const std::string& head,
                                     const std::vector<std::string>& lines) const {
  const bool whole = d_.steps == nullptr || d_.notes.empty() ||
                     std::ranges::any_of(lines, [](const std::string& line) {
                       return line.starts_with("return") || line.starts_with(' ');
                     });
  std::string text = whole ? kernels : WithLaunches(kernels, lines);
  if (!text.empty()) text += "\n\n";
  text += head;
  if (!whole) return text + "        ...\n";
  for (const std::string& line : lines) text += "        " + line + "\n";
  return text;
}

// The reply for a user's module is written for what the task draws: other arguments are not looked
// at, and what is contiguous is not made so.
std::string CandidateText::ImportedDelta() const {
  const synth::ImportedParts& from = *d_.task.parts.imported;
  std::vector<std::string> lines, names;
  for (size_t i = 0; i < d_.graph.inputs.size(); ++i)
    if (const std::string& input = d_.task.parts.inputs[i];
        d_.read_inputs.contains(input) && !d_.InputValue(i).order.empty())
      lines.push_back(fmt::format("{0} = {0}.contiguous()", input));
  if (!ReadConstants().empty())
    lines.insert(lines.end(), d_.constant_lines.begin(), d_.constant_lines.end());
  lines.insert(lines.end(), d_.forward.begin(), d_.forward.end());
  for (const Id output : d_.program.outputs) names.push_back(d_.Name(output));
  lines.push_back("return " + Filled(from.result, names));
  const HostNames step_names = NamesOfSteps(d_, lines);
  std::vector<std::string> body;
  for (const std::string_view line : synth::Split(from.first_lines, '\n'))
    if (!line.empty()) body.emplace_back(line);
  for (std::string& line : DeltaLines(std::move(lines), step_names))
    body.push_back(std::move(line));
  body = BesideSteps(std::move(body), step_names);
  std::string head;
  // Functions that these lines call; those of the guard are left out with it.
  constexpr std::string_view kDef = "def ";
  for (size_t at = from.helpers.find(kDef); at != std::string::npos;
       at = from.helpers.find(kDef, at + 1)) {
    const size_t begin = at + kDef.size();
    const std::string name = from.helpers.substr(begin, from.helpers.find('(', begin) - begin);
    if (!synth::HasWord(synth::Join(body, "\n"), name)) continue;
    head += from.helpers + "\n\n";
    break;
  }
  // Rollouts ask for a class in the place of a function, too.
  const bool is_function = from.base.empty();
  head +=
      fmt::format("class {}({}):\n{}    def forward(self{}{}):\n",
                  is_function ? "ModelNew" : from.defined, is_function ? "nn.Module" : from.base,
                  d_.candidate.rules.Contains(Rule::kReplayGraph) ? "    @replay\n" : "",
                  from.signature.empty() ? "" : ", ", from.signature);
  return Assembled(WithKernelNotes(d_.file->kernels, d_.notes, step_names), head, body);
}

// The kernels, and a class that differs from the task's own in its forward alone.
std::string CandidateText::Delta() const {
  if (d_.task.parts.imported) return ImportedDelta();
  std::vector<std::string> lines = d_.forward;
  lines.push_back("return " + ResultText());
  const HostNames step_names = NamesOfSteps(d_, lines);
  const std::string head =
      fmt::format("class {0}New({0}):\n{1}    def forward(self, {2}):\n", d_.task.entry,
                  d_.candidate.rules.Contains(Rule::kReplayGraph) ? "    @replay\n" : "",
                  synth::Join(d_.task.parts.inputs, ", "));
  return Assembled(WithKernelNotes(d_.file->kernels, d_.notes, step_names), head,
                   BesideSteps(DeltaLines(std::move(lines), step_names), step_names));
}

}  // namespace davinci::teacher
