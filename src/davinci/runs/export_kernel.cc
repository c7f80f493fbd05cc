#include "davinci/runs/export_kernel.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/json_text.h"

namespace davinci::runs {
namespace {

using nlohmann::json;

constexpr std::string_view kHarnessImport = "from davinci_runtime import harness";

bool ImportsRuntime(std::string_view source) {
  for (std::string_view rest = source; !rest.empty();) {
    const size_t newline = rest.find('\n');
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if ((line.starts_with("import ") || line.starts_with("from ")) &&
        line.find("davinci_runtime") != std::string_view::npos)
      return true;
  }
  return false;
}

// Splits off the `from __future__` lines, which may stand behind nothing but comments and the
// docstring.
void SplitFuture(std::string_view source, std::string* future, std::string* rest) {
  while (!source.empty()) {
    const size_t newline = source.find('\n');
    const size_t length = newline == std::string_view::npos ? source.size() : newline + 1;
    const std::string_view line = source.substr(0, length);
    source.remove_prefix(length);
    (line.starts_with("from __future__ import") ? *future : *rest) += line;
  }
}

}  // namespace

// A raw literal holds neither its own quotes nor a backslash or a quote as its last character.
std::string PythonLiteral(std::string_view text) {
  const bool ends_badly = text.ends_with('\\') || text.ends_with('"') || text.ends_with('\'');
  const bool readable = !ends_badly && text.find('\r') == std::string_view::npos;
  for (const std::string_view quotes : {"\'\'\'", "\"\"\""})
    if (readable && text.find(quotes) == std::string_view::npos)
      return fmt::format("r{0}{1}{0}", quotes, text);
  std::string literal = "\"\"\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') literal += '\\';
    if (c == '\r')
      literal += "\\r";
    else
      literal += c;
  }
  return literal + "\"\"\"";
}

std::string StandaloneSource(std::string_view source, const ExportParts& parts) {
  if (!ImportsRuntime(source)) return std::string(source);
  std::vector<std::pair<std::string_view, std::string_view>> helpers = {
      {"davinci_runtime", parts.runtime_source}};
  if (source.find(kHarnessImport) != std::string_view::npos)
    helpers.emplace_back("davinci_runtime.harness", parts.harness_source);
  std::string future;
  std::string rest;
  SplitFuture(source, &future, &rest);
  std::string text = fmt::format(
      "{}import sys as _sys\n"
      "import types as _types\n"
      "\n"
      "# davinci_runtime (Apache-2.0) compiles the kernels; needs g++ or a CUDA toolkit. Its text "
      "stands below, and is a constant of this file.\n"
      "for _text in _sys._getframe().f_code.co_consts:\n"
      "    if isinstance(_text, str) and _text.startswith(\"# module davinci_runtime\") and "
      "\"\\n\" in "
      "_text:\n"
      "        _name = _text.split()[2]\n"
      "        if _name not in _sys.modules:\n"
      "            _sys.modules[_name] = _types.ModuleType(_name)\n"
      "            exec(compile(_text, _name + \".py\", \"exec\"), "
      "_sys.modules[_name].__dict__)\n"
      "        if _name.endswith(\".harness\"):\n"
      "            _sys.modules[\"davinci_runtime\"].harness = _sys.modules[_name]\n"
      "\n"
      "# ---- the kernel ----\n"
      "{}",
      future, rest);
  for (int number = 1; const auto& [name, helper] : helpers)
    text += fmt::format("\n\n# ---- {0} ----\n_DAVINCI_RUNTIME_{1} = {2}\n", name, number++,
                        PythonLiteral(fmt::format("# module {}\n{}", name, helper)));
  return text;
}

std::string WhyNotExported(const Evaluation& evaluation) {
  if (evaluation.outcome == Outcome::kCompileOnly)
    return "it was checked without a device, which verifies too little for an export";
  if (evaluation.outcome != Outcome::kOk)
    return fmt::format("its verdict is {}", OutcomeName(evaluation.outcome));
  const json told = evaluation.evidence.value("export", json::object());
  if (!told.value("runs_kernel", false))
    return fmt::format("its export would run the reference: {}",
                       told.value("why", std::string("it was not called")));
  return "";
}

std::string WithRemarks(std::string_view standalone, const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) {
    text += remark.empty() ? "#" : "# ";
    for (const char c : remark) text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    text += '\n';
  }
  if (!remarks.empty()) text += '\n';
  text += standalone;
  return text;
}

namespace {

// {"entry", "op", "package", "globals", "kernel", "kernel_function", "target", "capability",
// "cases"}
json GuardFacts(const config::TaskConfig& config, Target target, const Evaluation& verified,
                const std::string& package) {
  const bool is_class = config.function.empty() && config.op.empty();
  json facts = {{"entry", is_class ? config.entry : config.function},
                {"kernel", config.CandidateClass()},
                {"globals", config.Globals(TargetName(target))},
                {"target", TargetName(target)},
                {"cases", verified.evidence.value("verified", json::array())}};
  if (!config.op.empty()) facts["op"] = config.op;
  if (!package.empty()) facts["package"] = package;
  if (!is_class)
    facts["kernel_function"] =
        (config.op.empty() ? config.function : config.op.substr(config.op.rfind('.') + 1)) + "_new";
  const json device = verified.provenance.value("device", json::object());
  if (const auto found = device.find("compute_capability"); found != device.end())
    facts["capability"] = *found;
  return facts;
}

std::string SpecText(const json& spec) {
  const std::string kind = spec.value("kind", "");
  if (kind == "tensor")
    return fmt::format("{} {}", spec.value("dtype", ""),
                       JsonText(spec.value("shape", json::array())));
  if (kind == "value") return JsonText(spec.value("value", json()));
  std::string text;
  for (const json& item : spec.value("items", json::array()))
    text += (text.empty() ? "" : ", ") + SpecText(item);
  return text;
}

// Of {"positional", "keywords"}.
std::string CallText(const json& call) {
  std::string text;
  for (const json& item : call.value("positional", json::array()))
    text += (text.empty() ? "" : ", ") + SpecText(item);
  const json keywords = call.value("keywords", json::object());
  for (const auto& [name, item] : keywords.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, SpecText(item));
  return text;
}

}  // namespace

std::string ExportSource(std::string_view source, const config::TaskConfig& config, Target target,
                         const Evaluation& verified, const ExportParts& parts,
                         std::vector<std::string> remarks) {
  const std::string standalone = StandaloneSource(source, parts);
  const json facts = GuardFacts(config, target, verified, parts.package);
  if (facts["cases"].empty() || parts.guard_source.empty()) return WithRemarks(standalone, remarks);
  remarks.push_back(
      fmt::format("Verified on {} in {} for these inputs; other calls run the "
                  "reference:",
                  TargetName(target), config::PrecisionName(config.precision)));
  for (const json& one : facts["cases"])
    remarks.push_back("  " + CallText(one.value("inputs", json::object())));
  remarks.emplace_back(
      "With on_unverified = \"raise\" or on_grad = \"raise\" (class or instance) they raise "
      "NotVerified.");
  return WithRemarks(
      fmt::format(
          "{}\n\n"
          "# ---- the reference, for calls that the kernel was not verified for ----\n"
          "_REFERENCE_SOURCE = {}\n\n"
          "# ---- the guard (Apache-2.0): which calls run the kernel ----\n"
          "import json as _json\n"
          "import sys as _guard_sys\n"
          "import types as _guard_types\n"
          "\n"
          "_VERIFIED = _json.loads({})\n"
          "_GUARD_SOURCE = {}\n"
          "_guard = _guard_types.ModuleType(__name__ + \"_guard\")\n"
          "_guard_sys.modules[_guard.__name__] = _guard  # where torch.compile looks for it\n"
          "exec(compile(_GUARD_SOURCE, _guard.__name__ + \".py\", \"exec\"), "
          "_guard.__dict__)\n"
          "NotVerified = _guard.NotVerified\n"
          "_reference = _guard.install(globals(), _REFERENCE_SOURCE, _VERIFIED)\n",
          standalone, PythonLiteral(parts.reference_source), PythonLiteral(JsonText(facts)),
          PythonLiteral(parts.guard_source)),
      remarks);
}

}  // namespace davinci::runs
