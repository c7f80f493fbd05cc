#include "davinci/runs/export_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::runs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The helper's text, and harness.py's.
ExportParts Parts(const std::string& runtime = "helper", const std::string& harness = "") {
  ExportParts parts;
  parts.runtime_source = runtime;
  parts.harness_source = harness;
  return parts;
}

Evaluation Judged(Outcome outcome, nlohmann::json evidence) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.correct = true;
  evaluation.evidence = std::move(evidence);
  return evaluation;
}

TEST(StandaloneSource, ACandidateWithoutTheHelperStaysAsItIs) {
  const std::string source = "import torch\n\nclass ModelNew:\n    pass  # no davinci_runtime\n";
  EXPECT_EQ(StandaloneSource(source, Parts()), source);
}

TEST(StandaloneSource, EveryFormOfImportBringsTheHelperAlong) {
  for (const char* line :
       {"import davinci_runtime as dv\n", "from davinci_runtime import cpp_module\n",
        "  import davinci_runtime\n"})
    EXPECT_THAT(StandaloneSource(line, Parts("def cpp_module(): ...")),
                HasSubstr("def cpp_module(): ..."));
}

TEST(StandaloneSource, AHarnessComesAlongWhereItIsImported) {
  const ExportParts parts = Parts("helper", "def module_of(): ...");
  EXPECT_THAT(StandaloneSource("from davinci_runtime import harness as _harness\n", parts),
              HasSubstr("def module_of(): ..."));
  EXPECT_THAT(StandaloneSource("import davinci_runtime\n", parts), Not(HasSubstr("module_of")));
}

TEST(StandaloneSource, FutureImportsComeFirst) {
  const std::string text = StandaloneSource(
      "\"\"\"doc\"\"\"\nfrom __future__ import annotations\nimport davinci_runtime\n", Parts());
  EXPECT_THAT(text, StartsWith("from __future__ import annotations\n"));
}

TEST(StandaloneSource, TheKernelComesBeforeTheHelper) {
  const std::string text =
      StandaloneSource("import davinci_runtime\nclass ModelNew: ...\n", Parts("def cpp(): ..."));
  EXPECT_LT(text.find("class ModelNew"), text.find("def cpp()"));
}

TEST(PythonLiteral, TextStandsAsItIsWhereARawLiteralCanHoldIt) {
  EXPECT_EQ(PythonLiteral("a = '\\n'\n"), "r'''a = '\\n'\n'''");
  EXPECT_EQ(PythonLiteral("'''doc'''\n"), "r\"\"\"'''doc'''\n\"\"\"");
}

TEST(PythonLiteral, OtherTextIsEscaped) {
  EXPECT_EQ(PythonLiteral("a\\"), R"("""a\\""")");
  EXPECT_EQ(PythonLiteral("\"\"\" '''\n"), "\"\"\"\\\"\\\"\\\" '''\n\"\"\"");
  EXPECT_EQ(PythonLiteral("a\r\n"), "\"\"\"a\\r\n\"\"\"");
}

TEST(WhyNotExported, OnlyAVerdictFromADeviceWhoseExportRunsItsKernelIsExported) {
  const nlohmann::json runs = {{"export", {{"runs_kernel", true}}}};
  EXPECT_EQ(WhyNotExported(Judged(Outcome::kOk, runs)), "");
  EXPECT_THAT(WhyNotExported(Judged(Outcome::kCompileOnly, runs)), HasSubstr("without a device"));
  EXPECT_THAT(WhyNotExported(Judged(Outcome::kMismatch, runs)), HasSubstr("mismatch"));
  EXPECT_THAT(WhyNotExported(Judged(Outcome::kOk, nlohmann::json::object())),
              HasSubstr("not called"));
  const nlohmann::json falls_back = {
      {"export", {{"runs_kernel", false}, {"why", "no place for bias"}}}};
  EXPECT_THAT(WhyNotExported(Judged(Outcome::kOk, falls_back)), HasSubstr("no place for bias"));
}

TEST(WithRemarks, ARemarkCannotBecomeCode) {
  const std::string text = WithRemarks("x = 1\n", {"fine", "bad\nimport os"});
  EXPECT_EQ(text, "# fine\n# bad import os\n\nx = 1\n");
}

}  // namespace
}  // namespace davinci::runs
