#include "davinci/teacher/candidate/file_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

// The names between each `before` and the next `after`.
std::vector<std::string> NamesBetween(const std::string& text, std::string_view before,
                                      std::string_view after) {
  std::vector<std::string> names;
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const size_t begin = at + before.size();
    names.push_back(text.substr(begin, text.find(after, begin) - begin));
  }
  return names;
}

// Variables of values and of steps: t12, v3.
bool IsNumbered(const std::string& name) {
  return name.size() > 1 && (name[0] == 't' || name[0] == 'v') &&
         std::all_of(name.begin() + 1, name.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// The kernels with numbers in place of their own names and those of their tensors.
std::string Unnamed(const std::string& source, const std::vector<std::string>& kernels) {
  static constexpr std::string_view kPointer = "_ptr";
  std::set<std::string> tensors;
  synth::Renamed(source, [&](const std::string& name) {
    if (name.size() > kPointer.size() && name.ends_with(kPointer)) {
      tensors.insert(name);
      tensors.insert(name.substr(0, name.size() - kPointer.size()));
    }
    return name;
  });
  static constexpr std::string_view kFunction = "extern \"C\" void ";
  for (const std::string& parameters : NamesBetween(source, kFunction, ") {"))
    for (const std::string& parameter : NamesBetween(parameters, "* ", ","))
      tensors.insert(parameter);
  std::map<std::string, std::string> numbers;
  return synth::Renamed(source, [&](const std::string& name) {
    const bool own = std::find(kernels.begin(), kernels.end(), name) != kernels.end();
    if (!own && !tensors.contains(name) && !IsNumbered(name)) return name;
    return numbers.try_emplace(name, "#" + std::to_string(numbers.size())).first->second;
  });
}

// g++ takes half of an AVX-512 register where it tunes for an Intel processor. Kernels that compute
// functions are bound by arithmetic, and get all of it.
constexpr std::string_view kWholeRegisters =
    "#ifdef __AVX512F__\n#pragma GCC target(\"prefer-vector-width=512\")\n#endif\n";

// The kernels that the lines launch get the wrapper.
std::string Direct(std::string kernels, const std::vector<std::string>& lines) {
  static constexpr std::string_view kDefinition = "@triton.jit\ndef ";
  for (size_t at = 0; (at = kernels.find(kDefinition, at)) != std::string::npos;) {
    const size_t begin = at + kDefinition.size();
    const std::string call = kernels.substr(begin, kernels.find('(', begin) - begin) + "[";
    const bool launched = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(call) != std::string::npos;
    });
    if (launched) kernels.insert(at, "@direct\n");
    at = begin + (launched ? 8 : 0);
  }
  return kernels;
}

}  // namespace

std::string FileKernels::UniqueName(const std::string& name) {
  std::string own = name;
  for (int n = 2; !names.insert(own).second; ++n) own = fmt::format("{}{}", name, n);
  return own;
}

void FileKernels::Define(const std::string& text) {
  if (kernels.find(text) == std::string::npos) kernels += (kernels.empty() ? "" : "\n\n") + text;
}

void FileKernels::Add(const KernelText& text, Language language, bool with_source) {
  const bool triton = language == Language::kTriton;
  if (with_source) kernels += (kernels.empty() ? "" : triton ? "\n\n" : "\n") + text.source;
  if (!text.binding.empty()) bindings += text.binding + "\n";
  helpers.insert(text.helpers.begin(), text.helpers.end());
}

std::vector<std::string> FileKernels::CallOfKnown(const KernelText& text,
                                                  std::vector<std::string>* earlier) {
  // In Python kernels are called by the names of their definitions, or of what these are bound to.
  const bool bound = !text.binding.empty();
  const std::string bindings_of = "\n" + text.binding;
  const std::vector<std::string> called =
      bound ? NamesBetween(bindings_of, "\n", " = ") : NamesBetween(text.source, "\ndef ", "(");
  std::vector<std::string> own = called;
  if (bound)
    for (const std::string& symbol : NamesBetween(text.binding, ".get(\"", "\""))
      own.push_back(symbol);
  const auto [found, added] = known.try_emplace(Unnamed(text.source + bindings_of, own), called);
  if (added) return {};
  if (earlier != nullptr) *earlier = found->second;
  std::vector<std::string> lines = text.call;
  for (std::string& line : lines)
    for (size_t i = 0; i < called.size(); ++i)
      line = synth::WithWord(line, called[i], found->second[i]);
  for (const std::string& name : called) names.erase(name);
  return lines;
}

std::string KernelImports(const FileKernels& file, Language language, bool direct) {
  if (file.kernels.empty()) return "";
  return language == Language::kTriton
             ? fmt::format("import triton\nimport triton.language as tl\n{}",
                           direct ? "from triton.runtime import driver\n" : "")
             : std::string("\nimport davinci_runtime as dv\n");
}

std::string KernelSection(const FileKernels& file, Language language, const MathText& math,
                          bool direct, const std::vector<std::string>& lines) {
  const std::string& kernels = file.kernels;
  if (kernels.empty()) return "";
  if (language == Language::kTriton)
    return fmt::format("\n\n{}{}{}", direct ? fmt::format("{}\n\n", TritonDirect()) : "",
                       TritonPrelude(file.helpers), direct ? Direct(kernels, lines) : kernels);
  if (language == Language::kCuda)
    return fmt::format("\nSOURCE = r\"\"\"\n{}{}\"\"\"\n\nkernels = dv.cuda_module(SOURCE)\n{}",
                       CudaPrelude(file.helpers, kernels), kernels, file.bindings);
  const std::string prelude = math.Definitions(file.helpers);
  const std::string memory =
      std::string(kernels.find("std::fill") == std::string::npos ? "" : "#include <algorithm>\n") +
      (kernels.find("std::make_unique") == std::string::npos ? "" : "#include <memory>\n");
  return fmt::format(
      "\n# errno and floating-point traps keep loops from vectorising; fused products round "
      "otherwise than PyTorch.\nFLAGS = [\"-fno-math-errno\", \"-fno-trapping-math\", "
      "\"-ffp-contract=off\"]\nSOURCE = r\"\"\"\n{}#include <bit>\n#include <cmath>\n#include "
      "<cstdint>\n{}\n{}{}{}\"\"\"\n\nkernels = dv.cpp_module(SOURCE, FLAGS)\n{}",
      prelude.empty() ? "" : kWholeRegisters, memory, prelude, prelude.empty() ? "" : "\n", kernels,
      file.bindings);
}

}  // namespace davinci::teacher
