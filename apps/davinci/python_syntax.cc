#include "python_syntax.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace davinci::app {
namespace {

constexpr char kParse[] =
    "import ast, sys\n"
    "path = sys.argv[1]\n"
    "try:\n"
    "    ast.parse(open(path, \"rb\").read(), path)\n"
    "except SyntaxError as error:\n"
    "    text = (error.text or \"\").strip()\n"
    "    print(f\"{path}:{error.lineno}: SyntaxError: {error.msg}\" + (f\": {text}\" if text else "
    "\"\"))\n";

}  // namespace

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

std::string OutputOf(const std::string& command) {
  std::string output;
  if (FILE* pipe = ::popen(command.c_str(), "re")) {
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
    ::pclose(pipe);
  }
  return output;
}

Status OrSyntaxError(const Status& failed, const std::vector<std::string>& files,
                     const std::string& python) {
  const bool missing = failed.message().find("get_inputs()") != std::string::npos ||
                       failed.message().find("no class ") != std::string::npos;
  if (!missing) return failed;
  for (const std::string& file : files) {
    std::error_code error;
    if (!file.ends_with(".py") || !std::filesystem::is_regular_file(file, error)) continue;
    std::string said = OutputOf(fmt::format("{} -I -c {} {} 2>/dev/null", ShellQuoted(python),
                                            ShellQuoted(kParse), ShellQuoted(file)));
    while (said.ends_with('\n')) said.pop_back();
    if (!said.empty()) return InvalidArgument(std::move(said));
  }
  return failed;
}

}  // namespace davinci::app
