// Syntax errors of the user's Python files, found by the interpreter that will import them.
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::app {

// `failed` as it is, unless one of `files` does not parse: then "x.py:3: SyntaxError: …", because a
// definition that could not be found may stand in what cannot be read. Folders are not looked into.
Status OrSyntaxError(const Status& failed, const std::vector<std::string>& files,
                     const std::string& python);

// What the shell command prints; "" when it cannot be started.
std::string OutputOf(const std::string& command);
// `text` as one word of a shell command.
std::string ShellQuoted(const std::string& text);

}  // namespace davinci::app
