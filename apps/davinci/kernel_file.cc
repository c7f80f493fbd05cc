#include "kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "davinci/runs/export_kernel.h"

namespace davinci::app {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsCuda(const std::string& path) { return std::filesystem::path(path).extension() == ".cu"; }

bool IsCpp(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".c";
}

}  // namespace

bool IsKernelFile(const std::string& path, std::string_view source, const task::Task& task) {
  if (IsCuda(path) || IsCpp(path)) return true;
  const bool defines = Holds(source, "class " + task.candidate_entry) ||
                       (!task.candidate_function.empty() && Holds(source, task.candidate_function));
  return Holds(source, "@triton.jit") && !defines;
}

std::string HarnessOf(const std::string& path, std::string_view source, const task::Task& task) {
  const config::TaskConfig& c = task.config;
  const std::string reference = !c.function.empty() ? c.function : !c.op.empty() ? c.op : c.entry;
  const bool python = !IsCuda(path) && !IsCpp(path);
  std::string text = task.source;
  text += fmt::format("\n\n# ---- {}, and the harness that davinci wrote for it ----\n",
                      std::filesystem::path(path).filename().string());
  const std::string literal = runs::PythonLiteral(source);
  if (python) {
    for (std::string_view rest = source; !rest.empty();) {
      const size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
      if (!rest.starts_with("from __future__")) text += rest.substr(0, length);
      rest.remove_prefix(length);
    }
    text += fmt::format(
        "\n\nimport torch\nfrom davinci_runtime import harness as _harness\n"
        "{} = _harness.module_of({}, \"triton\", {}, globals())\n",
        task.candidate_entry, reference, literal);
  } else {
    text += fmt::format(
        "import torch\nfrom davinci_runtime import harness as _harness\n"
        "{} = _harness.module_of({}, \"{}\", {})\n",
        task.candidate_entry, reference, IsCuda(path) ? "cuda" : "cpp", literal);
  }
  return text;
}

}  // namespace davinci::app
