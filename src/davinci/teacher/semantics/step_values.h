// The values of a program that steps make and the graph does not name: "t5" of "0.9 * x + y", which
// is one node of a generated graph. Pure.
#pragma once

#include <map>
#include <string>

#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/lower_options.h"
#include "davinci/teacher/semantics/step_names.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// `options` are those that `program` was lowered with, `steps` those of its graph.
std::map<Id, std::string> StepValues(const Program& program, const Steps& steps,
                                     const Tables& tables, const LowerOptions& options);

}  // namespace davinci::teacher
