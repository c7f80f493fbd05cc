// davinci skills verify: judges the example of a seed skill again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/data/evaluation.h"

namespace davinci::app {

struct VerifyOptions {
  std::vector<std::string> folders;  // of seed skills
  std::string python;                // --python
  int threads = 0;                   // of the kernels; 0 = all cores
  std::optional<Target> target;      // examples of this target only
  bool missing = false;              // only those without evidence of their present files
  bool list = false;                 // say which examples would be judged, and judge none
  bool update = false;               // write evidence files
  bool json = false;
};

// 0 every skill that could be measured here stands (or none could), 1 one does not, 2 a folder is
// not a seed skill, 3 the judge failed. The worst one counts: 3, 2, 1.
int RunVerify(const VerifyOptions& options);

}  // namespace davinci::app
