// forward() of an imported module by a graph of its launches. Internal.
#pragma once

#include <string>

#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

// The methods behind kernel_compute(); `guard`: the first lines of forward().
std::string ImportedReplay(const ImportedForward& shape, const std::string& guard);

}  // namespace davinci::teacher
