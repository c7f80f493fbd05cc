// The installation's tables, loaded once for all tests of the module. For tests alone.
#pragma once

#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

const Tables& TheTables();  // plain_call_test.cc

}  // namespace davinci::teacher
