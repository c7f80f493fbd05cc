// A kernel as a file that runs in plain PyTorch, wherever davinci is not installed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace davinci::orchestrator {

// The candidate's source, with davinci_runtime's text in front when it imports that helper, so that
// `import davinci_runtime` finds it without an installation. `from __future__` lines come first, as
// Python wants it. This is the text that is certified.
std::string StandaloneSource(std::string_view source, std::string_view runtime_source);

// A text as a Python literal in three quotes.
std::string PythonLiteral(std::string_view text);

// `standalone` with a comment in front; each line of `remarks` becomes one. Nothing that runs
// differs.
std::string WithRemarks(std::string_view standalone, const std::vector<std::string>& remarks);

}  // namespace davinci::orchestrator
