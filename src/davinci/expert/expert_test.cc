#include "davinci/expert/expert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/data/rollout.h"
#include "davinci/expert/expected_gain.h"
#include "davinci/expert/expert_author.h"

namespace davinci::expert {
namespace {

using nlohmann::json;

const std::filesystem::path kSynth = std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth";

// relu(x) * self.scale, or something that no rule knows.
json Traced(const std::string& first = "torch.relu({0})", const std::string& name = "relu") {
  json document = json::parse(R"json({
    "inputs": [{"id": 0, "text": "x", "order": []}],
    "weights": [{"id": 1, "text": "self.scale", "contiguous": true}],
    "values": [{"shape": [64, 512], "dtype": "float32"}, {"shape": [512], "dtype": "float32"},
               {"shape": [64, 512], "dtype": "float32"}, {"shape": [64, 512], "dtype": "float32"}],
    "calls": [{"reads": [0], "gives": [{"id": 2, "item": ""}], "view": false, "effect": false,
               "place": "net.py:3", "module": ""}],
    "outputs": [2], "result": "{0}", "signature": "x", "names": ["x"],
    "source": {"future": "", "text": "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n",
               "names": ["Model", "torch"]},
    "training": true, "helpers": "", "guard": "x.shape == (64, 512)",
    "fallback": "super().forward(x)", "kept": []})json");
  document["calls"][0]["text"] = first;
  document["calls"][0]["name"] = name;
  return document;
}

json WithProduct() {
  json document = Traced();
  document["calls"].push_back({{"text", "{0} * {1}"},
                               {"name", "mul"},
                               {"reads", {2, 1}},
                               {"gives", {{{"id", 3}, {"item", ""}}}},
                               {"view", false},
                               {"effect", false},
                               {"place", "net.py:4"},
                               {"module", ""}});
  document["outputs"] = {3};
  return document;
}

task::Task ATask() {
  task::Task task;
  task.candidate_entry = "ModelNew";
  return task;
}

TEST(Expert, ACandidateExtendsTheUsersClass) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok()) << expert.status().ToString();
  const auto task = expert->Import(WithProduct(), ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  for (const Language language : {Language::kCpp, Language::kTriton, Language::kCuda}) {
    const auto variants = expert->Variants(*task, language, 8);
    ASSERT_FALSE(variants.empty());
    const std::string& source = variants[0].candidate.source;
    EXPECT_EQ(variants[0].candidate.own_kernels, 1);  // both calls are one kernel
    EXPECT_NE(source.find("class ModelNew(Model):"), std::string::npos) << source;
    EXPECT_NE(source.find("if not (x.shape == (64, 512)):"), std::string::npos) << source;
    EXPECT_EQ(source.find("class Model(torch.nn.Module)"), source.rfind("class Model("));
  }
}

TEST(Expert, ExpectsAGainOfFusedCalls) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(WithProduct(), ATask());
  ASSERT_TRUE(task.ok());
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  const teacher::Candidate& candidate = variants[0].candidate;
  const double elements = 64 * 512;
  EXPECT_DOUBLE_EQ(candidate.work.bytes, 4 * (2 * elements + 512));
  EXPECT_DOUBLE_EQ(candidate.eager.bytes, 4 * (4 * elements + 512));
  EXPECT_EQ(candidate.work.own_launches, 1);
  EXPECT_EQ(candidate.eager.torch_launches, 2);
  EXPECT_GT(ExpectedGain(candidate, Target::kCpu), 1.5);
  EXPECT_LT(ExpectedGain(candidate, Target::kCpu), 3);
}

json Call(const char* text, const char* name, std::vector<int> reads, int gives) {
  return {{"text", text},        {"name", name},    {"reads", reads},
          {"view", false},       {"effect", false}, {"gives", {{{"id", gives}, {"item", ""}}}},
          {"place", "net.py:4"}, {"module", ""}};
}

size_t Times(const std::string& text, const std::string& what) {
  size_t times = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

// Many small launches with two results.
json ManySmallLaunches() {
  json document = Traced("torch.erfinv({0})", "erfinv");
  document["values"] = json::array();
  for (int i = 0; i < 12; ++i)
    document["values"].push_back({{"shape", {64, 512}}, {"dtype", "float32"}});
  for (int i = 3; i < 12; ++i)
    document["calls"].push_back(i % 2 ? Call("torch.sin({0})", "sin", {i - 1}, i)
                                      : Call("torch.erfinv({0})", "erfinv", {i - 1}, i));
  document["outputs"] = {10, 11};
  document["result"] = "({0}, {1})";
  return document;
}

// A graph holds many small launches.
TEST(Expert, WhatAGraphKeepsHasNamesOfItsOwn) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = ManySmallLaunches();
  const auto task = expert->Import(document, ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kTriton, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  ASSERT_TRUE(variants[0].candidate.rules.Contains(teacher::Rule::kReplayGraph)) << source;
  EXPECT_NE(source.find("return (_values[0], _values[1])"), std::string::npos) << source;
  // The user's attributes may have any other name.
  for (size_t at = source.find("            self."); at != std::string::npos;
       at = source.find("            self.", at + 1))
    if (source.find(" = ", at) < source.find('\n', at)) {
      EXPECT_EQ(source[at + 17], '_') << source;
    }
  // The same kernel is there once, however often it is launched.
  EXPECT_EQ(Times(source, "@triton.jit\n"), 1u) << source;
  EXPECT_EQ(variants[0].candidate.own_kernels, 5);

  // A method of the user's keeps its name.
  document["source"]["text"] =
      "import torch\n\n\nclass Model(torch.nn.Module):\n"
      "    def kernel_compute(self):\n        pass\n";
  const auto named = expert->Import(document, ATask());
  ASSERT_TRUE(named.ok()) << named.status().ToString();
  const auto others = expert->Variants(*named, Language::kTriton, 1);
  ASSERT_FALSE(others.empty());
  EXPECT_EQ(Times(others[0].candidate.source, "def kernel_compute"), 1u);
}

TEST(Expert, WhatNoInputDecidesIsMadeOnce) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced();
  document["values"] = json::array();
  for (int i = 0; i < 5; ++i)
    document["values"].push_back({{"shape", {64, 512}}, {"dtype", "float32"}});
  document["calls"].push_back(
      Call("torch.bartlett_window(512, device={0}.device)", "bartlett_window", {0}, 3));
  document["calls"].push_back(Call("{0} * {1}", "mul", {2, 3}, 4));
  document["outputs"] = {4};
  const auto task = expert->Import(document, ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  for (const Language language : {Language::kTriton, Language::kCpp}) {
    const auto variants = expert->Variants(*task, language, 1);
    ASSERT_FALSE(variants.empty());
    const std::string& source = variants[0].candidate.source;
    const size_t made = source.find("torch.bartlett_window(512, device=x.device)");
    EXPECT_LT(source.find("def kernel_constants(self, x)"), made) << source;
    EXPECT_LT(made, source.find("return [", made)) << source;
    EXPECT_NE(source.find("] = self.kept_constants(x)"), std::string::npos) << source;
    EXPECT_NE(source.find("[_c.to(x.device) for _c in self.kernel_constants(x)]"),
              std::string::npos)
        << source;
  }
}

// Documents of one module at several shapes; the first is the task's own.
json AtShapes(std::vector<json> documents) {
  for (size_t i = 1; i < documents.size(); ++i) documents[0]["shapes"].push_back(documents[i]);
  return documents[0];
}

json WithRows(json document, int64_t rows) {
  for (json& value : document["values"])
    for (json& size : value["shape"])
      if (size == 64) size = rows;
  document["guard"] = fmt::format("x.shape == ({}, 512)", rows);
  return document;
}

task::Task AtRows(const std::vector<int>& rows) {
  task::Task task = ATask();
  for (const int number : rows) task.config.variants.push_back({{"ROWS", number}});
  return task;
}

TEST(Expert, EachShapeThatATaskNamesHasItsKernels) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(
      AtShapes({WithProduct(), WithRows(WithProduct(), 7), WithRows(WithProduct(), 9)}),
      AtRows({7, 9}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  for (const Language language : {Language::kCpp, Language::kTriton, Language::kCuda}) {
    const auto variants = expert->Variants(*task, language, 1);
    ASSERT_FALSE(variants.empty());
    const std::string& source = variants[0].candidate.source;
    // A call of another shape goes from class to class; the last one is the user's.
    for (const char* line :
         {"class ModelNew_shape2(Model):", "class ModelNew_shape1(ModelNew_shape2):",
          "class ModelNew(ModelNew_shape1):", "if not (x.shape == (64, 512)):",
          "if not (x.shape == (7, 512)):", "if not (x.shape == (9, 512)):"})
      EXPECT_EQ(Times(source, line), 1u) << line << "\n" << source;
    // The kernel gets its sizes as arguments, and is there once.
    EXPECT_EQ(Times(source, language == Language::kTriton ? "@triton.jit\n" : "extern \"C\""), 1u)
        << source;
    EXPECT_TRUE(ShapesWithout(*task, variants[0].candidate).empty());
    EXPECT_EQ(variants[0].candidate.shapes.size(), 2u);
  }
}

// `document` of 64 rows with its rows as a symbol.
json WithSymbol(json document, const std::vector<int>& rows, const std::vector<int>& serves) {
  for (json& value : document["values"])
    for (json& size : value["shape"])
      if (size == 64) size = "s0";
  document["symbols"] = {{{"name", "s0"}, {"values", rows}, {"place", "x.shape[0]"}}};
  document["serves"] = serves;
  document["guard"] = "x.dim() == 2 and x.shape[1] == 512";
  return document;
}

TEST(Expert, ASymbolServesEveryShapeWithOneText) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document =
      AtShapes({WithProduct(), WithRows(WithProduct(), 70), WithRows(WithProduct(), 90)});
  document["symbolic"] = WithSymbol(WithProduct(), {64, 70, 90}, {0, 1, 2});
  const auto task = expert->Import(document, AtRows({70, 90}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  ASSERT_TRUE(task->symbolic) << task->why_not_symbolic;
  for (const Language language : {Language::kCpp, Language::kTriton, Language::kCuda}) {
    const auto variants = expert->Variants(*task, language, 2);
    ASSERT_EQ(variants.size(), 2u);
    const teacher::Candidate& candidate = variants[0].candidate;
    EXPECT_EQ(Times(candidate.source, "class ModelNew"), 1u) << candidate.source;
    EXPECT_EQ(Times(candidate.source, "x.shape[1] == 512"), 1u) << candidate.source;
    ASSERT_EQ(candidate.symbols.size(), 1u);
    EXPECT_EQ(candidate.symbols[0].place, "x.shape[0]");
    EXPECT_LE(candidate.symbols[0].least, 64);
    EXPECT_GE(candidate.symbols[0].most, 90);
    EXPECT_EQ(
        Times(candidate.source, fmt::format("{} <= x.shape[0] <= {}", candidate.symbols[0].least,
                                            candidate.symbols[0].most)),
        1u)
        << candidate.source;
    EXPECT_EQ(candidate.shapes.size(), 2u);
    EXPECT_TRUE(ShapesWithout(*task, candidate).empty());
    // The other way: each shape by itself, and one text for the others behind them.
    EXPECT_EQ(variants[1].sizes, Sizes::kNumbers);
    EXPECT_EQ(Times(variants[1].candidate.source, "class ModelNew"), 4u);
    EXPECT_EQ(variants[1].candidate.symbols.size(), 1u);
  }
}

TEST(Expert, AShapeThatSymbolsDoNotServeHasItsOwnKernels) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document =
      AtShapes({WithProduct(), WithRows(WithProduct(), 70), WithRows(WithProduct(), 90)});
  document["symbolic"] = WithSymbol(WithProduct(), {64, 90}, {0, 2});
  const auto task = expert->Import(document, AtRows({70, 90}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  EXPECT_EQ(Times(variants[0].candidate.source, "if not (x.shape == (70, 512)):"), 1u);
  EXPECT_EQ(Times(variants[0].candidate.source, "if not (x.shape == (90, 512)):"), 0u);
  EXPECT_EQ(variants[0].candidate.shapes.size(), 2u);
}

TEST(Expert, WithoutSymbolsEachShapeIsByItself) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = AtShapes({WithProduct(), WithRows(WithProduct(), 70)});
  document["symbolic"] = {{"untraceable", "forward needs x.shape[0] as a number"}};
  const auto task = expert->Import(document, AtRows({70}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_FALSE(task->symbolic);
  EXPECT_EQ(task->why_not_symbolic, "forward needs x.shape[0] as a number");
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  EXPECT_EQ(Times(variants[0].candidate.source, "class ModelNew"), 2u);
}

// The matrices of a product are the second axis of its grid, which ends at 65,535.
TEST(Expert, AGridThatNoDeviceStartsGoesToTheModulesOwnForward) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto products = [](int matrices) {
    json document = Traced("torch.bmm({0}, {0})", "bmm");
    document["values"] = json::array();
    for (int i = 0; i < 4; ++i)
      document["values"].push_back({{"shape", {matrices, 96, 96}}, {"dtype", "float32"}});
    document["values"][1]["shape"] = {96};
    document["calls"].push_back(Call("torch.relu({0})", "relu", {2}, 3));
    document["outputs"] = {3};
    document["guard"] = fmt::format("x.shape == ({}, 96, 96)", matrices);
    return document;
  };
  json document = products(64);
  document["shapes"] = json::array({products(70)});
  document["symbolic"] = WithSymbol(products(64), {64, 70}, {0, 1});
  const auto task = expert->Import(document, AtRows({70}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  ASSERT_TRUE(task->symbolic) << task->why_not_symbolic;
  const auto variants = expert->Variants(*task, Language::kTriton, 1);
  ASSERT_FALSE(variants.empty());
  EXPECT_EQ(Times(variants[0].candidate.source, "and x.shape[0] <= 65535"), 1u)
      << variants[0].candidate.source;
}

// A constant that is made once for a device belongs to one shape, and so does a graph of launches.
TEST(Expert, NothingThatDependsOnASymbolIsKept) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced();
  document["values"] = json::array();
  for (int i = 0; i < 3; ++i)
    document["values"].push_back({{"shape", {64, 512}}, {"dtype", "float32"}});
  document["values"].push_back({{"shape", {64, 1}}, {"dtype", "float32"}});
  document["values"].push_back({{"shape", {64, 512}}, {"dtype", "float32"}});
  json symbolic = WithSymbol(document, {64, 70}, {0, 1});
  symbolic["calls"].push_back(
      Call("torch.special.i0(torch.rand(\u27e6s0\u27e7, 1, device={0}.device))", "i0", {0}, 3));
  symbolic["calls"].push_back(Call("{0} * {1}", "mul", {2, 3}, 4));
  symbolic["outputs"] = {4};
  document["calls"].push_back(
      Call("torch.special.i0(torch.rand(64, 1, device={0}.device))", "i0", {0}, 3));
  document["calls"].push_back(Call("{0} * {1}", "mul", {2, 3}, 4));
  document["outputs"] = {4};
  json other = WithRows(document, 70);
  other["calls"][1]["text"] = "torch.special.i0(torch.rand(70, 1, device={0}.device))";
  document["shapes"] = json::array({other});
  document["symbolic"] = symbolic;
  const auto task = expert->Import(document, AtRows({70}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  ASSERT_TRUE(task->symbolic) << task->why_not_symbolic;
  const auto variants = expert->Variants(*task, Language::kTriton, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  EXPECT_EQ(Times(source, "kernel_constants"), 0u) << source;
  EXPECT_EQ(Times(source, "torch.rand(x.shape[0], 1, device=x.device)"), 1u) << source;
  if (Times(source, "def kernel_replay") > 0) {
    EXPECT_EQ(Times(source, "if self._replay_shapes != [x.shape, ]:"), 1u) << source;
    EXPECT_EQ(Times(source, "if [x.shape, *self.kernel_places()] != self._replay_key:"), 1u);
  }
}

TEST(Expert, ATransposedInputIsReducedAsItLies) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced("torch.sum({0}, dim=1)", "sum");
  document["values"][2]["shape"] = {64};
  for (const bool transposed : {true, false}) {
    document["inputs"][0]["order"] = transposed ? json{1, 0} : json::array();
    const auto task = expert->Import(document, ATask());
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    for (const Language language : {Language::kCpp, Language::kTriton, Language::kCuda}) {
      const auto variants = expert->Variants(*task, language, 1);
      ASSERT_FALSE(variants.empty());
      const std::string& source = variants[0].candidate.source;
      EXPECT_EQ(Times(source, "x_in_memory = x.permute(1, 0).contiguous()"), transposed) << source;
      EXPECT_EQ(Times(source, "x = x.contiguous()"), !transposed) << source;
    }
    // A reply's kernel reads it contiguous: steps have no name for its memory.
    const auto steps = expert->StepsOf(document, ATask());
    ASSERT_TRUE(steps.ok()) << steps.status().ToString();
    EXPECT_EQ(expert->PlanOf(document, ATask(), *steps), "# t1 sum: x -> t1\n");
  }
}

// Replies are assembled with it, where a number is that of the task's own shape.
TEST(Expert, StepsThatHoldForOneShapeSayWhich) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto one_shape = [&](const std::string& own, const std::string& further) {
    json document = Traced(own, "mul"), other = WithRows(document, 7);
    other["calls"][0]["text"] = further;
    document["shapes"] = json::array({other});
    const auto steps = expert->StepsOf(document, AtRows({7}));
    EXPECT_TRUE(steps.ok()) << steps.status().ToString();
    EXPECT_EQ(Times(steps->text, "x: [A, B]\n"), 1u) << steps->text;
    return steps->plain.one_shape;
  };
  EXPECT_EQ(one_shape("{0} * 0.5", "{0} * 0.5"), "");
  EXPECT_EQ(one_shape("{0} * 0.5", "{0} * 0.25"),
            "if not (x.shape == (64, 512)): return super().forward(x)");
}

TEST(Expert, AKernelInCppHoldsAllSizesButTheOutermost) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(WithProduct(), ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  EXPECT_EQ(Times(source, "constexpr int64_t n1 = 512;"), 1u) << source;
  EXPECT_EQ(Times(source, ", int64_t n0) {"), 1u) << source;
  EXPECT_EQ(Times(source, ", 64)\n"), 1u) << source;
}

TEST(Expert, ShortRowsInCppAreReducedSideBySide) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced("torch.sum({0}, dim=1)", "sum");
  document["values"][2]["shape"] = {64};
  for (const int cols : {4, 512}) {
    document["values"][0]["shape"] = {64, cols};
    const auto task = expert->Import(document, ATask());
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    const auto variants = expert->Variants(*task, Language::kCpp, 1);
    ASSERT_FALSE(variants.empty());
    const std::string& source = variants[0].candidate.source;
    EXPECT_EQ(Times(source, "[(row + l) * cols + col]"), cols == 4) << source;
  }
}

TEST(Expert, ShapesWithOneTextAreOneClass) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(AtShapes({Traced(), WithRows(Traced(), 7)}), AtRows({7}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  EXPECT_EQ(Times(source, "if not (x.shape == (64, 512) or x.shape == (7, 512)):"), 1u) << source;
  EXPECT_EQ(Times(source, "class ModelNew"), 1u) << source;
}

TEST(Expert, AShapeWithoutKernelsIsTheModulesOwn) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json kept = WithRows(Traced("torch.special.airy_ai({0})", "airy_ai"), 7);
  const auto task = expert->Import(
      AtShapes({WithProduct(), kept, {{"untraceable", "net.py:9: item"}}}), AtRows({7, 8, 9}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  EXPECT_EQ(Times(variants[0].candidate.source, "class ModelNew(Model):"), 1u);
  EXPECT_EQ(
      ShapesWithout(*task, variants[0].candidate),
      (std::vector<std::string>{"ROWS=7: every call stays PyTorch's: airy_ai (not known: airy_ai)",
                                "ROWS=8: net.py:9: item", "ROWS=9: it was not traced"}));
}

TEST(Expert, AShapeOfAnotherModuleIsRefusedWithItsName) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(
      AtShapes({WithProduct(),
                {{"untraceable", "the constructor reads ROWS"}, {"by_constructor", true}}}),
      AtRows({7}));
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.status().message(), "further shape ROWS=7: the constructor reads ROWS");
}

TEST(Expert, FunctionsOfSeveralShapesCallOneAnother) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  task::Task task = AtRows({7});
  task.config.function = "scaled";
  task.candidate_function = "scaled_new";
  json document = WithProduct();
  document["weights"] = json::array();
  document["inputs"].push_back({{"id", 1}, {"text", "scale"}, {"order", json::array()}});
  document["names"] = {"x", "scale"};
  document["signature"] = "x, scale";
  document["fallback"] = "scaled(x, scale)";
  const auto imported = expert->Import(AtShapes({document, WithRows(document, 7)}), task);
  ASSERT_TRUE(imported.ok()) << imported.status().ToString();
  const auto variants = expert->Variants(*imported, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  EXPECT_EQ(Times(source, "        return scaled(x, scale)\n"), 1u) << source;
  EXPECT_EQ(Times(source, "        return scaled_new_shape1(x, scale)\n"), 1u) << source;
  EXPECT_LT(source.find("def scaled_new_shape1("), source.find("def scaled_new(")) << source;
}

// Each shape keeps its own constants and its own graph with the module.
TEST(Expert, ShapesKeepTheirOwnGraphs) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const json document = ManySmallLaunches();
  const auto task = expert->Import(AtShapes({document, WithRows(document, 32)}), AtRows({32}));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kTriton, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  const size_t second = source.find("class ModelNew(");
  ASSERT_NE(second, std::string::npos);
  const std::string first_class = source.substr(0, second), own = source.substr(second);
  for (const char* name : {"_replay_graph", "_replay_key", "kernel_compute", "kernel_capture"}) {
    const std::string suffixed = std::string(name) + "_shape1";
    EXPECT_GT(Times(first_class, suffixed), 0u) << name << "\n" << source;
    EXPECT_EQ(Times(first_class, name), Times(first_class, suffixed)) << name << "\n" << source;
    EXPECT_GT(Times(own, name), 0u) << name;
    EXPECT_EQ(Times(own, suffixed), 0u) << name;
  }
}

TEST(Expert, ALargeProductReadsFactorsThatWereSplitOnce) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced("torch.matmul({0}, {1})", "matmul");
  for (const int64_t size : {4096, 64}) {
    document["values"] = json::array();
    for (int i = 0; i < 3; ++i)
      document["values"].push_back({{"shape", {size, size}}, {"dtype", "float32"}});
    document["calls"][0]["reads"] = {0, 1};
    const auto task = expert->Import(document, ATask());
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    const auto variants = expert->Variants(*task, Language::kTriton, 1);
    if (size == 64 && variants.empty()) continue;
    ASSERT_FALSE(variants.empty());
    const std::string& source = variants[0].candidate.source;
    EXPECT_EQ(Times(source, "split_rows_kernel["), size == 4096 ? 1u : 0u) << source;
    EXPECT_EQ(Times(source, "split_transposed_kernel["), size == 4096 ? 1u : 0u) << source;
  }
}

TEST(Expert, AProductOfAnotherElementTypeStaysACall) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced();
  document["values"] = json::array();
  for (const char* type : {"float32", "float64", "float32", "float64", "float64"})
    document["values"].push_back({{"shape", {4096, 4096}}, {"dtype", type}});
  document["weights"].push_back({{"id", 3}, {"text", "self.other"}, {"contiguous", true}});
  document["calls"].push_back(Call("torch.matmul({0}, {1})", "matmul", {1, 3}, 4));
  document["outputs"] = {2, 4};
  document["result"] = "({0}, {1})";
  const auto task = expert->Import(document, ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kTriton, 1);
  ASSERT_FALSE(variants.empty());
  const std::string& source = variants[0].candidate.source;
  EXPECT_EQ(Times(source, "torch.matmul(self.scale, self.other)"), 1u) << source;
  EXPECT_EQ(variants[0].candidate.own_kernels, 1) << source;
}

TEST(Expert, WhatNoRuleKnowsStaysACallWithItsReason) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  const auto task = expert->Import(Traced("torch.special.airy_ai({0})", "airy_ai"), ATask());
  ASSERT_TRUE(task.ok());
  std::string why;
  EXPECT_TRUE(expert->Variants(*task, Language::kCpp, 8, &why).empty());
  EXPECT_EQ(why, "every call stays PyTorch's: airy_ai (not known: airy_ai)");
}

TEST(Expert, AKeywordThatAFunctionDoesNotKnowIsNotIgnored) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced("torch.nn.functional.layer_norm({0}, (512,), wide=True)", "layer_norm");
  const auto task = expert->Import(document, ATask());
  ASSERT_TRUE(task.ok());
  EXPECT_TRUE(expert->Variants(*task, Language::kCpp, 8).empty());
}

// relu(x), then its rows beside one another: two axes of the result are one axis of relu's.
TEST(Expert, AValueAgainstItselfIsNoAxisTwice) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  json document = Traced();
  document["values"] = json::parse(R"json([
    {"shape": [16], "dtype": "float32"}, {"shape": [16], "dtype": "float32"},
    {"shape": [16], "dtype": "float32"}, {"shape": [16, 1], "dtype": "float32"},
    {"shape": [1, 16], "dtype": "float32"}, {"shape": [16, 16], "dtype": "float32"}])json");
  const auto add = [&](const char* text, const char* name, std::vector<int> reads, int gives) {
    document["calls"].push_back({{"text", text},
                                 {"name", name},
                                 {"reads", reads},
                                 {"gives", {{{"id", gives}, {"item", ""}}}},
                                 {"view", std::string_view(name) == "unsqueeze"},
                                 {"effect", false},
                                 {"place", "net.py:4"},
                                 {"module", ""}});
  };
  add("{0}.unsqueeze(1)", "unsqueeze", {2}, 3);
  add("{0}.unsqueeze(0)", "unsqueeze", {2}, 4);
  add("{0} * {1}", "mul", {3, 4}, 5);
  document["outputs"] = {5};
  const auto task = expert->Import(document, ATask());
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  const auto variants = expert->Variants(*task, Language::kCpp, 1);
  ASSERT_FALSE(variants.empty());
  EXPECT_EQ(variants[0].candidate.own_kernels, 2);  // relu, and the product
}

TEST(Expert, APoolingWindowThatCountsOtherwiseStaysACall) {
  const auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  for (const bool usual : {true, false}) {
    json document = Traced(std::string("torch.nn.functional.avg_pool2d({0}, 3, 1, 1, False, ") +
                               (usual ? "True" : "False") + ", None)",
                           "avg_pool2d");
    for (json& value : document["values"]) value["shape"] = {2, 4, 8, 8};
    const auto task = expert->Import(document, ATask());
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(expert->Variants(*task, Language::kCpp, 1).empty(), !usual);
  }
}

ExpertAuthor AnAuthor(Dealing dealing, Expert expert) {
  return ExpertAuthor(
      std::move(expert), {Language::kCpp}, [](const auto&) { return Result<json>(WithProduct()); },
      dealing);
}

Evaluation Verdict(Outcome outcome, double speedup = 0) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.correct = outcome == Outcome::kOk;
  if (speedup > 0)
    evaluation.speedup = Speedup{speedup, speedup * 0.99, speedup * 1.01, true, "eager"};
  return evaluation;
}

TEST(ExpertAuthor, EachRolloutIsAnotherWayAndEndsWithAFineKernel) {
  auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  ExpertAuthor author = AnAuthor(Dealing::kOneEach, std::move(expert).value());
  author.Prepare({{"net", std::make_shared<task::Task>(ATask())}}, 8);
  const size_t count = author.NumVariants("net");
  ASSERT_GE(count, 1u);
  std::set<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const RolloutId rollout{"net", 0, static_cast<int>(i), 1};
    const auto kernel = author.Next(rollout, {});
    ASSERT_TRUE(kernel);
    EXPECT_FALSE(kernel->rules.empty());
    EXPECT_FALSE(kernel->skills.empty());
    texts.insert(kernel->source);
    EXPECT_FALSE(author.Next(rollout, {Verdict(Outcome::kOk, 2)}));
  }
  EXPECT_EQ(texts.size(), count);
}

TEST(ExpertAuthor, AWrongKernelIsWrittenAgainWithoutARule) {
  auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  ExpertAuthor author = AnAuthor(Dealing::kOneEach, std::move(expert).value());
  author.Prepare({{"net", std::make_shared<task::Task>(ATask())}}, 8);
  const RolloutId rollout{"net", 0, 0, 1};
  const auto first = author.Next(rollout, {});
  const auto second = author.Next(rollout, {Verdict(Outcome::kMismatch)});
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->source, second->source);
  EXPECT_NE(second->name.find("best without "), std::string::npos) << second->name;
  EXPECT_LT(second->rules.size(), first->rules.size());
}

TEST(ExpertAuthor, OneRolloutTriesTheWaysInTurn) {
  auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  ExpertAuthor author = AnAuthor(Dealing::kInTurn, std::move(expert).value());
  author.Prepare({{"net", std::make_shared<task::Task>(ATask())}}, 8);
  const RolloutId rollout{"net", 5, 0, 1};
  std::vector<Evaluation> earlier;
  std::set<std::string> texts;
  while (const auto kernel = author.Next(rollout, earlier)) {
    texts.insert(kernel->source);
    earlier.push_back(Verdict(Outcome::kOk, 2));
  }
  EXPECT_EQ(texts.size(), author.NumVariants("net"));
}

TEST(ExpertAuthor, ATaskThatCannotBeTracedFailsWithThePlace) {
  auto expert = Expert::Load(kSynth);
  ASSERT_TRUE(expert.ok());
  ExpertAuthor author(
      std::move(expert).value(), {Language::kCpp},
      [](const auto&) {
        return Result<json>(
            json{{"untraceable", "net.py:9: item makes what follows depend on numbers"}});
      },
      Dealing::kOneEach);
  author.Prepare({{"net", std::make_shared<task::Task>(ATask())}}, 8);
  EXPECT_FALSE(author.Knows("net"));
  const auto kernel = author.Next({"net", 0, 0, 1}, {});
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->source.empty());
  EXPECT_NE(kernel->name.find("net.py:9"), std::string::npos);
  EXPECT_EQ(author.WhyNone("net").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace davinci::expert
