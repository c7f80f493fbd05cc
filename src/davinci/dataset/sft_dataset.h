// A data set for `davinci sft` from runs and row files: examples, filters, manifest. The front
// header of this module.
//
//   OUT/train.jsonl   the rows that were kept
//   OUT/eval.jsonl    with eval_share: rows of the groups of references that are held out
//   OUT/manifest.json inputs, settings, counts per rule, digests; written last
//
// The same inputs and settings give the same bytes. Rows pass through a file beside the output, so
// memory holds references and proposed skills of all rows, not their conversations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/dataset/run_examples.h"
#include "davinci/sftdata/diversity.h"
#include "davinci/sftdata/published.h"

namespace davinci::dataset {

struct DatasetRequest {
  // Run folders, folders of collect (pass-1, pass-2), and JSONL files of any format that
  // sftdata::ParseAnyRow reads.
  std::vector<std::filesystem::path> inputs;
  std::vector<std::string> evaluation;  // texts of evaluation references
  std::filesystem::path out;
  sftdata::Format format = sftdata::Format::kNative;
  ExampleRules rules;
  sftdata::DiversityOptions diversity;
  double eval_share = 0;
  std::string version;  // of davinci, for the manifest
};

struct DatasetResult {
  int64_t candidates = 0;  // rows before the diversity filter
  int64_t train = 0;
  int64_t eval = 0;
  std::map<std::string, int64_t> kept;      // by agent
  std::map<std::string, int64_t> dropped;   // by rule of the diversity filter
  std::map<std::string, int64_t> left_out;  // by rule before it
  std::vector<std::filesystem::path> files;
};

// InvalidArgument: an input that is neither a run nor a row file, a bad row (file and line), no row
// at all, or none left (with the rules that took them).
Result<DatasetResult> WriteDataset(const DatasetRequest& request);

}  // namespace davinci::dataset
