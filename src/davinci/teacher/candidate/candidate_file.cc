#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/candidate/freed_values.h"
#include "davinci/teacher/candidate/shared_attributes.h"

namespace davinci::teacher {

std::string CandidateWriter::ResultText() const {
  std::string result;
  for (size_t i = 0; i < p_.outputs.size(); ++i) {
    const std::string name = Name(p_.outputs[i]);
    if (task_.parts.result == "dict")
      result += fmt::format("{}\"{}\": {}", i ? ", " : "", task_.parts.result_keys[i], name);
    else
      result += (i ? ", " : "") + name;
  }
  if (task_.parts.result == "dict") result = "{" + result + "}";
  if (task_.parts.result == "list") result = "[" + result + "]";
  return result;
}

std::vector<std::string> CandidateWriter::LinesOfForward() const {
  // A stream of a device orders what reads the memory; there it is no faster.
  if (language_ != Language::kCpp) return forward_;
  std::set<std::string> returned;
  for (const Id output : p_.outputs) returned.insert(Name(output));
  const std::vector<std::string> lines = WithFreedValues(forward_, returned);
  // A submodule that stays one call may give its attributes other values.
  const auto& from = task_.parts.imported;
  if (!from || std::any_of(p_.values.begin(), p_.values.end(),
                           [](const TensorValue& value) { return value.what == "module"; }))
    return lines;
  return WithSharedAttributes(lines, [&](const std::string& name) { return from->Names({name}); });
}

std::string CandidateWriter::File() const {
  const bool direct = candidate_.rules.Contains(Rule::kDirectLaunch);
  const std::string imports = KernelImports(*file_, language_, direct);
  const std::string section = KernelSection(*file_, language_, math_, direct, forward_);
  if (task_.parts.imported) return ImportedFile({Forward()}, imports + section);
  const bool triton = language_ == Language::kTriton, cuda = language_ == Language::kCuda;
  std::string forward;
  for (const std::string& line : LinesOfForward()) forward += "        " + line + "\n";
  const std::string body = task_.parts.helpers + task_.parts.constructor + forward;
  std::string file;
  if (body.find("math.") != std::string::npos) file += "import math\n\n";
  file += "import torch\nimport torch.nn as nn\n";
  if (body.find("F.") != std::string::npos) file += "import torch.nn.functional as F\n";
  file += imports;
  const auto binding =
      static_cast<size_t>(triton || cuda ? synth::Binding::kCuda : synth::Binding::kCpu);
  if (!task_.parts.constants[binding].empty()) file += "\n" + task_.parts.constants[binding];
  file += section;
  file += "\n\n" + task_.parts.helpers + task_.parts.constructor;
  const std::string inputs = synth::Join(task_.parts.inputs, ", ");
  const bool replays = candidate_.rules.Contains(Rule::kReplayGraph);
  file += fmt::format("    def {}(self, {}):\n", replays ? "compute" : "forward", inputs);
  for (const std::string& input : task_.parts.inputs)
    if (read_inputs_.contains(input))
      file += fmt::format("        {0} = {0}.contiguous()\n", input);
  file += forward + "        return " + ResultText() + "\n";
  return replays ? file + Replay(inputs) : file;
}

ImportedForward CandidateWriter::Forward() const {
  ImportedForward forward;
  forward.from = &*task_.parts.imported;
  forward.inputs = task_.parts.inputs;
  forward.read_inputs = read_inputs_;
  forward.lines = LinesOfForward();
  forward.constants = ReadConstants();
  forward.constant_lines = constant_lines_;
  for (const Id output : p_.outputs) forward.results.push_back(Name(output));
  forward.replays = candidate_.rules.Contains(Rule::kReplayGraph);
  forward.pure = p_.effects.empty() && p_.updates.empty();
  return forward;
}

}  // namespace davinci::teacher
