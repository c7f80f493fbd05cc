#include "davinci/orchestrator/export_kernel.h"

#include <fmt/format.h>

namespace davinci::orchestrator {
namespace {

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

std::string StandaloneSource(std::string_view source, std::string_view runtime_source) {
  if (!ImportsRuntime(source)) return std::string(source);
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
      "\n"
      "# ---- the kernel ----\n"
      "{}",
      future, PythonLiteral(runtime_source), rest);
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

}  // namespace davinci::orchestrator
