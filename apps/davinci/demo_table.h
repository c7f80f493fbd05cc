// These functions show a person a folder of davinci synth demos: a table of the judge's verdicts,
// and a page of tasks and kernels.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"

namespace davinci::app {

// A candidate of demos.jsonl, as a row of the table counts it.
struct Demo {
  std::string family;
  std::string size;  // class of the largest value
  std::string language, level;
  int own_kernels = 0;
};
using Demos = std::map<std::string, Demo>;  // by candidate

// Adds the candidates of a line of demos.jsonl, but those with a mistake.
void AddDemos(const nlohmann::json& row, Demos* demos);
// Those of FOLDER/demos.jsonl. InvalidArgument: the file is another one.
Result<Demos> ReadDemos(const std::filesystem::path& folder);
// Prints the table and writes it to FOLDER/table.md; verdicts are those of FOLDER/results.jsonl.
Status PrintDemoTable(const std::filesystem::path& folder, const Demos& demos);
// FOLDER/gallery.html: the first tasks, their kernels and what the judge said, where it did.
Status WriteDemoGallery(const std::filesystem::path& folder);

}  // namespace davinci::app
