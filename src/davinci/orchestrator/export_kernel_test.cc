#include "davinci/orchestrator/export_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::orchestrator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(StandaloneSource, ACandidateWithoutTheHelperStaysAsItIs) {
  const std::string source = "import torch\n\nclass ModelNew:\n    pass  # no davinci_runtime\n";
  EXPECT_EQ(StandaloneSource(source, "helper"), source);
}

TEST(StandaloneSource, EveryFormOfImportBringsTheHelperAlong) {
  for (const char* line :
       {"import davinci_runtime as dv\n", "from davinci_runtime import cpp_module\n",
        "  import davinci_runtime\n"})
    EXPECT_THAT(StandaloneSource(line, "def cpp_module(): ..."),
                HasSubstr("def cpp_module(): ..."));
}

TEST(StandaloneSource, AHarnessComesAlongWhereItIsImported) {
  EXPECT_THAT(StandaloneSource("from davinci_runtime import harness as _harness\n", "helper",
                               "def module_of(): ..."),
              HasSubstr("def module_of(): ..."));
  EXPECT_THAT(StandaloneSource("import davinci_runtime\n", "helper", "def module_of(): ..."),
              Not(HasSubstr("module_of")));
}

TEST(StandaloneSource, FutureImportsComeFirst) {
  const std::string text = StandaloneSource(
      "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nimport davinci_runtime\n", "helper");
  EXPECT_THAT(text, StartsWith("from __future__ import annotations\n"));
}

TEST(StandaloneSource, QuotesAndBackslashesOfTheHelperSurvive) {
  EXPECT_THAT(StandaloneSource("import davinci_runtime\n", R"(a = "x\n""")"),
              HasSubstr(R"(a = \"x\\n\"\")"));
}

TEST(WithRemarks, ARemarkCannotBecomeCode) {
  const std::string text = WithRemarks("x = 1\n", {"fine", "bad\nimport os"});
  EXPECT_EQ(text, "# fine\n# bad import os\n\nx = 1\n");
}

}  // namespace
}  // namespace davinci::orchestrator
