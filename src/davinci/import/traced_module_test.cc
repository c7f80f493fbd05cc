#include "davinci/import/traced_module.h"

#include <gtest/gtest.h>

#include "davinci/import/import_graph.h"

namespace davinci::import {
namespace {

using nlohmann::json;

json Relu() {
  return json::parse(R"json({
    "inputs": [{"id": 0, "text": "x", "order": []}],
    "weights": [{"id": 1, "text": "self.scale", "contiguous": true}],
    "values": [{"shape": [4, 8], "dtype": "float32"}, {"shape": [8], "dtype": "float32"},
               {"shape": [4, 8], "dtype": "float32"}, {"shape": [4, 8], "dtype": "float64"}],
    "calls": [{"text": "{0} * {1}", "name": "mul", "reads": [0, 1],
               "gives": [{"id": 2, "item": ""}], "view": false, "effect": false,
               "place": "net.py:3", "module": ""},
              {"text": "{0}.double()", "name": "__double__", "reads": [2],
               "gives": [{"id": 3, "item": ""}], "view": false, "effect": false,
               "place": "net.py:4", "module": ""}],
    "outputs": [3], "result": "{{'y': {0}}}", "signature": "x", "names": ["x"],
    "source": {"future": "", "text": "import torch\n", "names": ["torch"]},
    "training": true, "helpers": "", "guard": "x.shape == (4, 8)",
    "fallback": "super().forward(x)", "kept": []
  })json");
}

TEST(TracedModule, IsReadAsItWasWritten) {
  const auto module = ParseTracedModule(Relu());
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->calls.size(), 2u);
  EXPECT_EQ(module->calls[0].reads, (std::vector<int>{0, 1}));
  EXPECT_EQ(module->weights[0].text, "self.scale");
  EXPECT_TRUE(module->training);
}

TEST(TracedModule, AGuardForArgumentsLeavesTheModulesStateOut) {
  json document = Relu();
  for (const char* state : {"", " and self.training is True and as_traced(self, (), (), '_8')"}) {
    document["guard"] = std::string("x.shape == (4, 8) and a == 0.5") + state;
    EXPECT_EQ(ForArguments(*ParseTracedModule(document)), "x.shape == (4, 8) and a == 0.5");
  }
}

TEST(TracedModule, ARefusalIsBadInputWithItsReason) {
  const auto module = ParseTracedModule({{"untraceable", "net.py:7: item"}});
  EXPECT_EQ(module.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(module.status().message(), "net.py:7: item");
}

TEST(TracedModule, ATensorIsThereBeforeItIsRead) {
  json document = Relu();
  document["calls"][0]["reads"] = {0, 3};
  EXPECT_EQ(ParseTracedModule(document).status().code(), StatusCode::kInternal);
}

TEST(TracedModule, ATextReadsOnlyWhatItsCallReads) {
  for (const char* text : {"{0} * {2}", "{x}", "{", "{99999999}", "{0"}) {
    json document = Relu();
    document["calls"][0]["text"] = text;
    EXPECT_FALSE(ParseTracedModule(document).ok()) << text;
  }
}

// Relu() with its rows as a symbol.
json WithSymbol() {
  json document = Relu();
  for (json& value : document["values"])
    if (value["shape"].size() == 2) value["shape"][0] = "s0";
  document["symbols"] = {{{"name", "s0"}, {"values", {4, 9}}, {"place", "x.shape[0]"}}};
  document["serves"] = {0, 2};
  document["calls"][1]["text"] = "{0}.double() + \u27e62*s0 - 1\u27e7";
  return document;
}

TEST(TracedModule, SizesMayBeSymbols) {
  const auto module = ParseTracedModule(WithSymbol());
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->values[2].shape, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(module->serves, (std::vector<int>{0, 2}));
  const auto larger = AtSizes(*module, {100});
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->values[2].shape, (std::vector<int64_t>{100, 8}));
  EXPECT_FALSE(AtSizes(*module, {int64_t{1} << 40}));
  const auto made = ImportGraph(*module, {"Model", "ModelNew"});
  ASSERT_TRUE(made.ok());
  const synth::Graph& graph = made->graph;
  EXPECT_EQ(graph.dims[graph.values[2].shape[0]].kind, synth::Dim::Kind::kSymbol);
  EXPECT_TRUE(graph.dims.IsConstant(graph.values[2].shape[1], 8));
  EXPECT_TRUE(made->task.parts.nodes[1].form.starts_with("{0}.double() + {dim:"));
  EXPECT_EQ(made->task.parts.imported->symbols, (std::vector<std::string>{"x.shape[0]"}));
}

TEST(TracedModule, SymbolsAreChecked) {
  const auto parses = [](const auto& change) {
    json document = WithSymbol();
    change(document);
    return ParseTracedModule(document).ok();
  };
  EXPECT_TRUE(parses([](json&) {}));
  EXPECT_FALSE(parses([](json& d) { d["values"][0]["shape"][0] = "s1"; }));
  EXPECT_FALSE(parses([](json& d) { d["values"][0]["shape"][0] = "s0 - 5"; }));
  EXPECT_FALSE(parses([](json& d) { d["calls"][0]["text"] = "{0} + \u27e6s7\u27e7"; }));
  EXPECT_FALSE(parses([](json& d) { d["symbols"][0]["values"] = {1, 9}; }));
  EXPECT_FALSE(parses([](json& d) { d["symbols"][0]["values"] = {4}; }));
  EXPECT_FALSE(parses([](json& d) { d["serves"] = {1, 2}; }));
  EXPECT_FALSE(parses([](json& d) { d.erase("serves"); }));
  EXPECT_FALSE(parses([](json& d) { d["values"][0]["shape"][0] = "s0*s0*s0*s0*s0*1000000000"; }));
}

TEST(TracedModule, SizesAreBounded) {
  for (const json& shape : {json{-1}, json{"4"}, json{1e6}, json{1 << 30, 1 << 30}}) {
    json document = Relu();
    document["values"][0]["shape"] = shape;
    EXPECT_FALSE(ParseTracedModule(document).ok()) << shape;
  }
}

TEST(TracedModule, AnOrderInMemoryNamesEachAxisOnce) {
  for (const json& order : {json{0}, json{0, 0}, json{0, 2}, json{1, 0, 2}}) {
    json document = Relu();
    document["inputs"][0]["order"] = order;
    EXPECT_FALSE(ParseTracedModule(document).ok()) << order;
  }
  json document = Relu();
  document["inputs"][0]["order"] = {1, 0};
  const auto module = ParseTracedModule(document);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->inputs[0].order, (std::vector<int>{1, 0}));
}

TEST(TracedModule, EveryMemberIsNeeded) {
  const json document = Relu();
  for (const auto& [key, value] : document.items()) {
    json less = document;
    less.erase(key);
    EXPECT_FALSE(ParseTracedModule(less).ok()) << key;
  }
}

TEST(ImportGraph, CallsBecomeNodesAndOtherElementTypesAreForeign) {
  const auto module = ParseTracedModule(Relu());
  ASSERT_TRUE(module.ok());
  const auto imported = ImportGraph(*module, {"Model", "ModelNew"});
  ASSERT_TRUE(imported.ok()) << imported.status().ToString();
  const synth::Graph& graph = imported->graph;
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].label, "mul");
  EXPECT_EQ(graph.nodes[1].label, "double");  // underscores would be mangled in a class
  EXPECT_EQ(graph.precision, synth::Precision::kFp32);
  EXPECT_TRUE(graph.values[2].foreign.empty());
  EXPECT_EQ(graph.values[3].foreign, "float64 elements");
  EXPECT_EQ(graph.inputs, (std::vector<synth::ValueId>{0}));
}

TEST(ImportGraph, PartsOfAnArgumentGetNamesOfTheirOwn) {
  json document = Relu();
  document["inputs"][0]["text"] = "batch['x']";
  document["names"] = {"batch"};
  document["signature"] = "batch";
  const auto module = ParseTracedModule(document);
  ASSERT_TRUE(module.ok());
  const auto imported = ImportGraph(*module, {"Model", "ModelNew"});
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported->task.parts.inputs[0], "part_1");
  EXPECT_EQ(imported->task.parts.imported->first_lines, "part_1 = batch['x']\n");
}

}  // namespace
}  // namespace davinci::import
