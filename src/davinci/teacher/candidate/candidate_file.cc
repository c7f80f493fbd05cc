#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_text.h"
#include "davinci/teacher/candidate/freed_values.h"
#include "davinci/teacher/candidate/imported_file.h"
#include "davinci/teacher/candidate/shared_attributes.h"

namespace davinci::teacher {

std::string CandidateText::ResultText() const {
  std::string result;
  for (size_t i = 0; i < d_.program.outputs.size(); ++i) {
    const std::string name = d_.Name(d_.program.outputs[i]);
    if (d_.task.parts.result == "dict")
      result += fmt::format("{}\"{}\": {}", i ? ", " : "", d_.task.parts.result_keys[i], name);
    else
      result += (i ? ", " : "") + name;
  }
  if (d_.task.parts.result == "dict") result = "{" + result + "}";
  if (d_.task.parts.result == "list") result = "[" + result + "]";
  return result;
}

std::vector<std::string> CandidateText::LinesOfForward() const {
  // A stream of a device orders what reads the memory; there it is no faster.
  if (d_.language != Language::kCpp) return d_.forward;
  std::set<std::string> returned;
  for (const Id output : d_.program.outputs) returned.insert(d_.Name(output));
  std::vector<std::string> lines = WithFreedValues(d_.forward, returned);
  // A submodule that stays one call may give its attributes other values.
  const auto& from = d_.task.parts.imported;
  if (!from || std::any_of(d_.program.values.begin(), d_.program.values.end(),
                           [](const TensorValue& value) { return value.what == "module"; }))
    return lines;
  return WithSharedAttributes(lines, [&](const std::string& name) { return from->Names({name}); });
}

std::vector<std::string> CandidateText::ReadConstants() const {
  std::vector<std::string> names;
  const auto read = [&](const std::string& name) {
    return std::any_of(d_.forward.begin(), d_.forward.end(),
                       [&](const std::string& line) { return synth::HasWord(line, name); });
  };
  for (const Id id : d_.constants) {
    const std::string name = d_.Variable(id);
    const bool made =
        std::any_of(d_.constant_lines.begin(), d_.constant_lines.end(),
                    [&](const std::string& line) { return line.starts_with(name + " = "); });
    const bool given = std::find(d_.program.outputs.begin(), d_.program.outputs.end(), id) !=
                       d_.program.outputs.end();
    if (made && (given || read(name))) names.push_back(name);
  }
  return names;
}

std::string CandidateText::File() const {
  const bool direct = d_.candidate.rules.Contains(Rule::kDirectLaunch);
  const std::string imports = KernelImports(*d_.file, d_.language, direct);
  const std::string section = KernelSection(*d_.file, d_.language, d_.math, direct, d_.forward);
  if (d_.task.parts.imported) return ImportedFile({Forward()}, imports + section);
  const bool triton = d_.language == Language::kTriton, cuda = d_.language == Language::kCuda;
  std::string forward;
  for (const std::string& line : LinesOfForward()) forward += "        " + line + "\n";
  const std::string body = d_.task.parts.helpers + d_.task.parts.constructor + forward;
  std::string file;
  if (body.find("math.") != std::string::npos) file += "import math\n\n";
  file += "import torch\nimport torch.nn as nn\n";
  if (body.find("F.") != std::string::npos) file += "import torch.nn.functional as F\n";
  file += imports;
  const auto binding =
      static_cast<size_t>(triton || cuda ? synth::Binding::kCuda : synth::Binding::kCpu);
  if (!d_.task.parts.constants[binding].empty()) file += "\n" + d_.task.parts.constants[binding];
  file += section;
  file += "\n\n" + d_.task.parts.helpers + d_.task.parts.constructor;
  const std::string inputs = synth::Join(d_.task.parts.inputs, ", ");
  const bool replays = d_.candidate.rules.Contains(Rule::kReplayGraph);
  file += fmt::format("    def {}(self, {}):\n", replays ? "compute" : "forward", inputs);
  for (const std::string& input : d_.task.parts.inputs)
    if (d_.read_inputs.contains(input))
      file += fmt::format("        {0} = {0}.contiguous()\n", input);
  file += forward + "        return " + ResultText() + "\n";
  return replays ? file + Replay(inputs) : file;
}

ImportedForward CandidateText::Forward() const {
  ImportedForward forward;
  forward.from = &*d_.task.parts.imported;
  forward.inputs = d_.task.parts.inputs;
  forward.read_inputs = d_.read_inputs;
  forward.lines = LinesOfForward();
  forward.constants = ReadConstants();
  forward.constant_lines = d_.constant_lines;
  for (const Id output : d_.program.outputs) forward.results.push_back(d_.Name(output));
  forward.replays = d_.candidate.rules.Contains(Rule::kReplayGraph);
  forward.pure = d_.program.effects.empty() && d_.program.updates.empty();
  return forward;
}

}  // namespace davinci::teacher
