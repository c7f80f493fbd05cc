#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"

namespace davinci::teacher {

// The kernels that forward() launches get the wrapper.
std::string CandidateWriter::Direct(std::string kernels) const {
  static constexpr std::string_view kDefinition = "@triton.jit\ndef ";
  for (size_t at = 0; (at = kernels.find(kDefinition, at)) != std::string::npos;) {
    const size_t begin = at + kDefinition.size();
    const std::string call = kernels.substr(begin, kernels.find('(', begin) - begin) + "[";
    const bool launched =
        std::any_of(forward_.begin(), forward_.end(),
                    [&](const std::string& line) { return line.find(call) != std::string::npos; });
    if (launched) kernels.insert(at, "@direct\n");
    at = begin + (launched ? 8 : 0);
  }
  return kernels;
}

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

std::string CandidateWriter::KernelSection(const std::string& kernels, const std::string& bindings,
                                           const std::set<std::string>& helpers) const {
  const bool triton = language_ == Language::kTriton, cuda = language_ == Language::kCuda;
  std::string file;
  const bool direct = candidate_.rules.Contains(Rule::kDirectLaunch);
  if (!kernels.empty() && triton)
    file += fmt::format("\n\n{}{}{}", direct ? fmt::format("{}\n\n", TritonDirect()) : "",
                        TritonPrelude(helpers), direct ? Direct(kernels) : kernels);
  if (!kernels.empty() && cuda)
    file += fmt::format("\nSOURCE = r\"\"\"\n{}{}\"\"\"\n\nkernels = dv.cuda_module(SOURCE)\n{}",
                        CudaPrelude(helpers, kernels), kernels, bindings);
  if (!kernels.empty() && !triton && !cuda) {
    const std::string prelude = math_.Definitions(helpers);
    const std::string memory =
        std::string(kernels.find("std::fill") == std::string::npos ? ""
                                                                   : "#include <algorithm>\n") +
        (kernels.find("std::make_unique") == std::string::npos ? "" : "#include <memory>\n");
    file += fmt::format(
        "\n# errno and floating-point traps keep loops from vectorising; fused products round "
        "otherwise than PyTorch.\nFLAGS = [\"-fno-math-errno\", \"-fno-trapping-math\", "
        "\"-ffp-contract=off\"]\nSOURCE = r\"\"\"\n#include <bit>\n#include <cmath>\n#include "
        "<cstdint>\n{}\n{}{}{}\"\"\"\n\nkernels = dv.cpp_module(SOURCE, FLAGS)\n{}",
        memory, prelude, prelude.empty() ? "" : "\n", kernels, bindings);
  }
  return file;
}

std::string CandidateWriter::File(const std::string& kernels, const std::string& bindings,
                                  const std::set<std::string>& helpers) {
  if (task_.parts.imported) return ImportedFile(kernels, bindings, helpers);
  const bool triton = language_ == Language::kTriton, cuda = language_ == Language::kCuda;
  std::string forward;
  for (const std::string& line : forward_) forward += "        " + line + "\n";
  const std::string body = task_.parts.helpers + task_.parts.constructor + forward;
  std::string file;
  if (body.find("math.") != std::string::npos) file += "import math\n\n";
  file += "import torch\nimport torch.nn as nn\n";
  if (body.find("F.") != std::string::npos) file += "import torch.nn.functional as F\n";
  file += KernelImports(kernels);
  const auto binding =
      static_cast<size_t>(triton || cuda ? synth::Binding::kCuda : synth::Binding::kCpu);
  if (!task_.parts.constants[binding].empty()) file += "\n" + task_.parts.constants[binding];
  file += KernelSection(kernels, bindings, helpers);
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

std::string CandidateWriter::KernelImports(const std::string& kernels) const {
  if (kernels.empty()) return "";
  return language_ == Language::kTriton
             ? fmt::format("import triton\nimport triton.language as tl\n{}",
                           candidate_.rules.Contains(Rule::kDirectLaunch)
                               ? "from triton.runtime import driver\n"
                               : "")
             : std::string("\nimport davinci_runtime as dv\n");
}

namespace {

// "F." may be somebody else's name in the user's file.
std::string WithFullNames(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = i == 0 || (std::isalnum(static_cast<unsigned char>(line[i - 1])) == 0 &&
                                   line[i - 1] != '_' && line[i - 1] != '.');
    if (begins && line.compare(i, 2, "F.") == 0) {
      text += "torch.nn.functional.";
      ++i;
    } else {
      text += line[i];
    }
  }
  return text;
}

}  // namespace

std::string CandidateWriter::ImportedResult(const std::vector<std::string>& names) const {
  return Filled(task_.parts.imported->result, names);
}

std::string CandidateWriter::ImportedConstants(const std::vector<std::string>& names) const {
  const std::string inputs = synth::Join(task_.parts.inputs, ", ");
  std::string text = fmt::format("    def kernel_constants(self, {}):\n", inputs);
  for (const std::string& line : constant_lines_) text += "        " + WithFullNames(line) + "\n";
  text += fmt::format("        return [{}]\n\n", synth::Join(names, ", "));
  return text + fmt::format(R"(    _constants_device = None

    def kept_constants(self, {0}):
        if self._constants_device != {1}.device:
            with torch.inference_mode(False), torch.no_grad():
                self._constants = self.kernel_constants({0})
            self._constants_device = {1}.device
        return self._constants

)",
                            inputs, task_.parts.inputs[0]);
}

// The user's file, then the kernels, then a class that differs in its forward alone.
std::string CandidateWriter::ImportedFile(const std::string& kernels, const std::string& bindings,
                                          const std::set<std::string>& helpers) {
  const synth::ImportedParts& from = *task_.parts.imported;
  const bool replays = candidate_.rules.Contains(Rule::kReplayGraph);
  std::string file = from.future + from.source + "\n\nimport torch\n" + KernelImports(kernels) +
                     KernelSection(kernels, bindings, helpers) + "\n\n";
  std::string indent = "    ";
  const std::string self = from.base.empty() ? "" : from.signature.empty() ? "self" : "self, ";
  const std::string inputs = synth::Join(task_.parts.inputs, ", ");
  const std::vector<std::string> constants = ReadConstants();
  if (from.base.empty()) {
    file += fmt::format("def {}({}):\n", from.defined, from.signature);
  } else {
    file += fmt::format("class {}({}):\n", from.defined, from.base);
    if (from.guard.find("configuration(self)") != std::string::npos)
      file +=
          "    def __setattr__(self, name, value):\n"
          "        self.__dict__.pop(\"configuration_digest\", None)\n"
          "        super().__setattr__(name, value)\n\n";
    if (!constants.empty()) file += ImportedConstants(constants);
    file += replays ? fmt::format("    def kernel_compute(self, {}):\n", inputs)
                    : fmt::format("    def forward({}{}):\n", self, from.signature);
    indent = "        ";
  }
  const auto add = [&](const std::string& line) { file += indent + line + "\n"; };
  if (!replays) {
    // What the kernels were not written for goes the module's own way.
    if (!from.guard.empty()) {
      add(fmt::format("if not ({}):", from.guard));
      add(fmt::format("    return {}", from.fallback));
    }
    for (const std::string_view line : synth::Split(from.first_lines, '\n'))
      if (!line.empty()) add(std::string(line));
  }
  for (const std::string& input : task_.parts.inputs)
    if (read_inputs_.contains(input)) add(fmt::format("{0} = {0}.contiguous()", input));
  if (!constants.empty())
    add(fmt::format("[{}] = self.kept_constants({})", synth::Join(constants, ", "), inputs));
  for (const std::string& line : forward_) add(WithFullNames(line));
  std::vector<std::string> results;
  for (const Id output : p_.outputs)
    // The caller may change what it gets.
    results.push_back(
        Name(output) +
        (std::find(constants.begin(), constants.end(), Name(output)) == constants.end() || replays
             ? ""
             : ".clone()"));
  if (!replays) {
    add("return " + ImportedResult(results));
    return file;
  }
  add(fmt::format("return [{}]", synth::Join(results, ", ")));
  return file + ImportedReplay();
}

}  // namespace davinci::teacher
