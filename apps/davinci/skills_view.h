// How `davinci skills` shows records, events and differences.
#pragma once

#include <string>
#include <vector>

#include "davinci/skill/difference.h"
#include "davinci/skill/library.h"

namespace davinci::app {

struct ViewOptions {
  bool color = false;
  size_t width = 0;  // of the terminal; 0 = unlimited
};
// As fits stdout.
ViewOptions ViewOfStdout();

// "1.42x (1.38 – 1.47)"; "" for none.
std::string UpliftText(const skill::Evidence* evidence);

std::string RenderRecords(const std::vector<skill::Record>& records, const ViewOptions& view);
std::string RenderRanked(const std::vector<skill::Ranked>& ranked, const ViewOptions& view);
// The skill as a prompt shows it, with its evidence and statistics above.
std::string RenderRecord(const skill::Record& record, const ViewOptions& view);
std::string RenderEvents(const std::vector<skill::Event>& events, const ViewOptions& view);
std::string RenderSnapshots(const std::vector<skill::Snapshot>& snapshots, const ViewOptions& view);
std::string RenderDifferences(const std::vector<skill::Difference>& differences,
                              const ViewOptions& view);

skill::OrderedJson EventJson(const skill::Event& event);
skill::OrderedJson SnapshotJson(const skill::Snapshot& snapshot);
skill::OrderedJson DifferenceJson(const skill::Difference& difference);

}  // namespace davinci::app
