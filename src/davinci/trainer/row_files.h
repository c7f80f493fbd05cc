// The files that an entry of data.train, data.eval or a command line names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::trainer {

// A file; a folder: its *.jsonl; a path whose last part has a `*`: the files of that folder that
// match. Sorted by name. NotFound: there is none.
Result<std::vector<std::filesystem::path>> RowFiles(const std::string& entry);

}  // namespace davinci::trainer
