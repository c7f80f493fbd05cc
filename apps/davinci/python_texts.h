// Python files as texts: what generated tasks and rows are decontaminated against.
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::app {

// The texts of files, and of all *.py below folders, in the order given and sorted below a folder.
Result<std::vector<std::string>> ReadPythonTexts(const std::vector<std::string>& paths);

}  // namespace davinci::app
