#include "davinci/orchestrator/export_kernel.h"

#include <fmt/format.h>

#include "davinci/base/json_text.h"

namespace davinci::orchestrator {
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

// As a Python literal in three quotes. Backslashes and quotes are escaped, so any text survives.
std::string PythonLiteral(std::string_view text) {
  std::string literal = "\"\"\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') literal += '\\';
    literal += c;
  }
  return literal + "\"\"\"";
}

std::string StandaloneSource(std::string_view source, std::string_view runtime_source,
                             std::string_view harness_source) {
  if (!ImportsRuntime(source)) return std::string(source);
  std::string harness;
  if (source.find(kHarnessImport) != std::string_view::npos)
    harness = fmt::format(
        "_HARNESS_SOURCE = {}\n"
        "if not hasattr(_sys.modules[\"davinci_runtime\"], \"harness\"):\n"
        "    _harness = _types.ModuleType(\"davinci_runtime.harness\")\n"
        "    exec(compile(_HARNESS_SOURCE, \"davinci_runtime/harness.py\", \"exec\"), "
        "_harness.__dict__)\n"
        "    _sys.modules[\"davinci_runtime\"].harness = _harness\n",
        PythonLiteral(harness_source));
  std::string future;
  std::string rest;
  SplitFuture(source, &future, &rest);
  return fmt::format(
      "{}import sys as _sys\n"
      "import types as _types\n"
      "\n"
      "# davinci_runtime (Apache-2.0): compiles the kernels below; needs g++ or a CUDA toolkit.\n"
      "_RUNTIME_SOURCE = {}\n"
      "if \"davinci_runtime\" not in _sys.modules:\n"
      "    _runtime = _types.ModuleType(\"davinci_runtime\")\n"
      "    exec(compile(_RUNTIME_SOURCE, \"davinci_runtime.py\", \"exec\"), _runtime.__dict__)\n"
      "    _sys.modules[\"davinci_runtime\"] = _runtime\n"
      "{}"
      "\n"
      "# ---- the kernel ----\n"
      "{}",
      future, PythonLiteral(runtime_source), harness, rest);
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

// {"entry", "op", "globals", "kernel", "kernel_function", "target", "capability", "cases"}
json GuardFacts(const config::TaskConfig& config, Target target, const Evaluation& verified) {
  const bool is_class = config.function.empty() && config.op.empty();
  json facts = {{"entry", is_class ? config.entry : config.function},
                {"kernel", is_class ? config.CandidateEntry() : std::string("ModelNew")},
                {"globals", config.Globals(TargetName(target))},
                {"target", TargetName(target)},
                {"cases", verified.evidence.value("verified", json::array())}};
  if (!config.op.empty()) facts["op"] = config.op;
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

}  // namespace

std::string ExportSource(std::string_view source, const config::TaskConfig& config, Target target,
                         const Evaluation& verified, const ExportParts& parts,
                         std::vector<std::string> remarks) {
  const std::string standalone =
      StandaloneSource(source, parts.runtime_source, parts.harness_source);
  const json facts = GuardFacts(config, target, verified);
  if (facts["cases"].empty() || parts.guard_source.empty()) return WithRemarks(standalone, remarks);
  remarks.push_back(
      fmt::format("Verified on {} in {} for these inputs; other calls run the "
                  "reference:",
                  TargetName(target), config::PrecisionName(config.precision)));
  for (const json& one : facts["cases"])
    remarks.push_back("  " + SpecText(one.value("inputs", json::object())));
  remarks.emplace_back(
      "With on_unverified = \"raise\" or on_grad = \"raise\" (class or instance) they raise "
      "NotVerified.");
  return WithRemarks(
      fmt::format("{}\n\n"
                  "# ---- the guard (Apache-2.0) ----\n"
                  "import json as _json\n"
                  "import types as _guard_types\n"
                  "\n"
                  "_GUARD_SOURCE = {}\n"
                  "_REFERENCE_SOURCE = {}\n"
                  "_VERIFIED = _json.loads({})\n"
                  "_guard = _guard_types.ModuleType(\"davinci_guard\")\n"
                  "exec(compile(_GUARD_SOURCE, \"davinci_guard.py\", \"exec\"), "
                  "_guard.__dict__)\n"
                  "NotVerified = _guard.NotVerified\n"
                  "_guard.install(globals(), _REFERENCE_SOURCE, _VERIFIED)\n",
                  standalone, PythonLiteral(parts.guard_source),
                  PythonLiteral(parts.reference_source), PythonLiteral(JsonText(facts))),
      remarks);
}

}  // namespace davinci::orchestrator
