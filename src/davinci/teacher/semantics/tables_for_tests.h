// The installation's tables, loaded once for all tests of a program. For tests alone.
#pragma once

#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

inline const Tables& TheTables() {
  static const auto* tables =
      new Tables(LoadTables(std::string(DAVINCI_SOURCE_DIR) + "/synth/teacher").value());
  return *tables;
}

}  // namespace davinci::teacher
