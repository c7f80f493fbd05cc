// The section of one task. Internal.
#pragma once

#include <string>

#include "davinci/report/run_view.h"

namespace davinci::report {

// `max_text_bytes` bounds every text shown (reply, code, message); what is longer loses its middle.
std::string TaskSection(const RunView& run, const TaskView& task, size_t max_text_bytes);

std::string TaskAnchor(const TaskView& task);

}  // namespace davinci::report
