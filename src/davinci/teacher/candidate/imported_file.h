// The file of a candidate for an imported module: the user's own file, then the kernels, then for
// each shape that has kernels a class (or function) that differs from the one before in its forward
// alone. A call of a shape that a class has no kernels for goes on to the class that it extends;
// the last one is the user's. Weights are those of the one object. Internal.
#pragma once

#include <string>
#include <vector>

#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

// `kernels` with the import lines before them. The first of `shapes` is the task's own.
std::string ImportedFile(const std::vector<ImportedForward>& shapes, const std::string& kernels);

}  // namespace davinci::teacher
