#include "davinci/import/named_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/import/import_graph.h"

namespace davinci::import {
namespace {

using ::testing::ElementsAre;

TracedValue Float(std::vector<int64_t> shape) { return {std::move(shape), {}, "float32"}; }

// conv = self.conv(x); y = conv.reshape(3, 20, 256); z = y * self.scale, x of (3, 20, 18, 18).
TracedModule Convolution() {
  TracedModule module;
  module.values = {Float({3, 20, 18, 18}), Float({20, 20, 3, 3}), Float({20}),        Float({256}),
                   Float({3, 20, 16, 16}), Float({3, 20, 256}),   Float({3, 20, 256})};
  module.inputs = {{0, "x", true, {}}};
  module.weights = {{1, "self.blocks[0].conv.weight", true, {}},
                    {2, "self.blocks[0].conv.bias", true, {}},
                    {3, "self.scale", true, {}}};
  TracedCall conv, view, product;
  conv.text = "torch.nn.functional.conv2d({0}, {1}, {2}, (1, 1), (0, 0), (1, 1), 1)";
  conv.name = "conv2d";
  conv.reads = {0, 1, 2};
  conv.gives = {{4, ""}};
  conv.module = "blocks.0.conv";
  view.text = "{0}.reshape(3, 20, 256)";
  view.name = "reshape";
  view.reads = {4};
  view.gives = {{5, ""}};
  view.view = true;
  product.text = "{0} * {1}";
  product.name = "mul";
  product.reads = {5, 3};
  product.gives = {{6, ""}};
  module.calls = {conv, view, product};
  module.outputs = {6};
  module.result = "{0}";
  module.signature = "x";
  module.names = {"x"};
  module.source = "class Model: pass\n";
  return module;
}

std::string Text(const TracedModule& module, size_t value, size_t axis) {
  std::string text;
  const SizeTerm& term = module.values[value].sizes[axis][0];
  for (const size_t symbol : term.symbols) text += module.symbols[symbol].name;
  return text.empty() ? std::to_string(term.factor) : text;
}

TEST(NamedSizes, SizesOfInputsWeightsAndConvolutionsAreSymbols) {
  const TracedModule named = WithNamedSizes(Convolution());
  std::vector<int64_t> values;
  for (const TracedSymbol& symbol : named.symbols) values.push_back(symbol.value);
  EXPECT_THAT(values, ElementsAre(3, 20, 18, 256, 16));
  EXPECT_EQ(Text(named, 0, 0), "s0");
  EXPECT_EQ(Text(named, 4, 0), "s0");
  // The batch's 3 is not the kernel's.
  EXPECT_EQ(Text(named, 1, 2), "3");
  EXPECT_EQ(Text(named, 4, 3), "s4");
  for (size_t i = 0; i < named.values.size(); ++i)
    for (size_t axis = 0; axis < named.values[i].shape.size(); ++axis)
      EXPECT_EQ(SizeAt(named.values[i].sizes[axis], named.symbols), named.values[i].shape[axis]);
}

TEST(NamedSizes, ViewsNameTheirSizesAndOtherNumbersStay) {
  const TracedModule named = WithNamedSizes(Convolution());
  EXPECT_EQ(named.calls[0].text, Convolution().calls[0].text);
  EXPECT_EQ(named.calls[1].text, "{0}.reshape(\u27e6s0\u27e7, \u27e6s1\u27e7, \u27e6s3\u27e7)");
}

// The batch of all inputs has a name, as in rows; another 1 is a number, unless a further shape has
// a larger one.
TEST(NamedSizes, OneIsNamedWhereItIsTheBatchOrAnotherShapeChangesIt) {
  TracedModule module = Convolution(), other = Convolution();
  for (const size_t value : {0, 1, 4, 5}) module.values[value].shape[0] = 1;
  const TracedModule batch = WithNamedSizes(module);
  EXPECT_EQ(Text(batch, 0, 0), "s0");
  EXPECT_EQ(Text(batch, 1, 0), "1") << "of a weight";
  EXPECT_EQ(Text(batch, 4, 0), "s0");
  module.values[1].shape[0] = other.values[1].shape[0];
  module.values[6].shape = {5, 7};
  module.inputs.push_back(module.inputs[0]);
  module.inputs.back().id = 6;
  EXPECT_EQ(Text(WithNamedSizes(module), 0, 0), "1");
  module.values[6].shape = other.values[6].shape;
  module.inputs.pop_back();
  const TracedModule larger = WithNamedSizes(module, {other});
  EXPECT_EQ(larger.symbols[0].value, 1);
  EXPECT_EQ(Text(larger, 0, 0), "s0");
  EXPECT_EQ(Text(larger, 4, 0), "s0");
}

// 4 by 30 in one axis: no tensor has 120, two neighbours together do.
TEST(NamedSizes, ProductsOfNeighboursAreProducts) {
  TracedModule module = Convolution();
  module.values[0].shape = {4, 30, 18, 18};
  module.values[6].shape = {120};
  module.calls[2].reads = {0};
  const TracedModule named = WithNamedSizes(module);
  EXPECT_EQ(Text(named, 6, 0), "s0s1");
}

// 18 rows and 18 columns are two sizes where another shape has them apart.
TEST(NamedSizes, AFurtherShapeTellsEqualSizesApart) {
  TracedModule wider = Convolution();
  wider.values[0].shape = {3, 20, 18, 26};
  wider.values[4].shape = {3, 20, 16, 24};
  const TracedModule alone = WithNamedSizes(Convolution());
  EXPECT_EQ(Text(alone, 0, 2), Text(alone, 0, 3));
  const TracedModule named = WithNamedSizes(Convolution(), {wider});
  EXPECT_NE(Text(named, 0, 2), Text(named, 0, 3));
  EXPECT_NE(Text(named, 4, 2), Text(named, 4, 3));
  EXPECT_EQ(Text(named, 0, 1), Text(named, 4, 1));
  // One with other calls says nothing.
  wider.values.pop_back();
  const TracedModule other = WithNamedSizes(Convolution(), {wider});
  EXPECT_EQ(Text(other, 0, 2), Text(other, 0, 3));
}

// joined = torch.cat((x, y), 1); twice = x.repeat_interleave(2, 1); inner = x[:, 4:-4].
TracedModule Sums(int64_t left, int64_t right) {
  TracedModule module;
  module.values = {Float({16, left}), Float({16, right}), Float({16, left + right}),
                   Float({16, 2 * left}), Float({16, left - 8})};
  module.inputs = {{0, "x", true, {}}, {1, "y", true, {}}};
  const auto call = [&](const char* text, std::vector<int> reads, int gives) {
    TracedCall made;
    made.text = text;
    made.name = "other";
    made.reads = std::move(reads);
    made.gives = {{gives, ""}};
    module.calls.push_back(std::move(made));
  };
  call("torch.cat(({0}, {1}), 1)", {0, 1}, 2);
  call("{0}.repeat_interleave(2, 1)", {0}, 3);
  call("{0}[:, 4:-4]", {0}, 4);
  module.outputs = {2, 3, 4};
  return module;
}

TEST(NamedSizes, SizesOfOperandsAddUpWhereFurtherShapesAgree) {
  const TracedModule named = WithNamedSizes(Sums(24, 40), {Sums(30, 50)});
  const auto size = [&](size_t value) { return named.values[value].sizes[1]; };
  ASSERT_EQ(size(2).size(), 2u);
  EXPECT_THAT(size(2)[0].symbols, ElementsAre(1u));
  EXPECT_THAT(size(2)[1].symbols, ElementsAre(2u));
  ASSERT_EQ(size(3).size(), 1u);
  EXPECT_EQ(size(3)[0].factor, 2);
  ASSERT_EQ(size(4).size(), 2u);
  EXPECT_EQ(size(4)[1].factor, -8);
  EXPECT_TRUE(size(4)[1].symbols.empty());
  // One shape alone says nothing of others.
  EXPECT_EQ(Text(WithNamedSizes(Sums(24, 40)), 2, 1), "64");
}

TEST(NamedSizes, NumbersThatAFurtherShapeChangesAreFound) {
  TracedModule own = Sums(24, 40), other = Sums(30, 50);
  const auto is_of_one = [&](const char* text, const char* text_of_other) {
    own.calls[1].text = text;
    other.calls[1].text = text_of_other;
    return IsOfOneShape(own, {other});
  };
  EXPECT_FALSE(is_of_one("{0} * 1e-05", "{0} * 1e-05"));
  EXPECT_TRUE(is_of_one("{0} * 0.375", "{0} * -1.25"));
  EXPECT_TRUE(is_of_one("conv2d({0}, {1}, groups=24)", "conv2d({0}, {1}, groups=30)"));
  EXPECT_FALSE(is_of_one("{0}.reshape(\u27e6s0\u27e7, \u27e6s1\u27e7)", "{0}.reshape(16, 30)"));
  // More calls: a loop over one of its sizes.
  other.calls.push_back(other.calls[0]);
  EXPECT_TRUE(is_of_one("{0} + 1.0", "{0} + 1.0"));
}

// Behind a view to an image that a convolution gives: before it nothing tells the image's sides.
TEST(NamedSizes, AViewNamesWhatATensorBeforeItHas) {
  TracedModule module = Convolution();
  module.values[0].shape = {3, 20, 256};
  module.values.insert(module.values.begin() + 4, Float({3, 20, 16, 16}));
  TracedCall view = module.calls[1];
  view.text = "{0}.reshape(3, 20, 16, 16)";
  view.reads = {0};
  view.gives = {{4, ""}};
  module.calls.insert(module.calls.begin(), view);
  for (size_t i = 1; i < module.calls.size(); ++i)
    for (TracedCall::Given& given : module.calls[i].gives) ++given.id;
  module.calls[1].reads = {4, 1, 2};
  module.calls[2].reads = {5};
  module.calls[3].reads = {6, 3};
  module.outputs = {7};
  const TracedModule named = WithNamedSizes(module);
  EXPECT_EQ(named.calls[0].text, "{0}.reshape(\u27e6s0\u27e7, \u27e6s1\u27e7, 16, 16)");
  EXPECT_EQ(Text(named, 4, 2), Text(named, 5, 2));
  EXPECT_EQ(Text(named, 4, 2)[0], 's');
}

TEST(NamedSizes, SymbolsThatAreThereStay) {
  TracedModule module = Convolution();
  module.symbols = {{"s0", 3, {3, 5}, "x.shape[0]"}};
  EXPECT_TRUE(WithNamedSizes(module).values[0].sizes.empty());
}

TEST(NamedSizes, ImportedGraphHasTheShapesOfBefore) {
  const auto plain = ImportGraph(Convolution(), {"Model", "ModelNew"});
  const auto named = ImportGraph(WithNamedSizes(Convolution()), {"Model", "ModelNew"});
  ASSERT_TRUE(plain.ok() && named.ok());
  for (size_t i = 0; i < plain->graph.values.size(); ++i)
    for (size_t axis = 0; axis < plain->graph.values[i].shape.size(); ++axis)
      EXPECT_EQ(plain->graph.dims.At(plain->graph.values[i].shape[axis], synth::Binding::kCpu),
                named->graph.dims.At(named->graph.values[i].shape[axis], synth::Binding::kCpu));
  EXPECT_EQ(named->task.parts.nodes[0].layer, "self.blocks[0].conv");
  EXPECT_EQ(named->task.parts.nodes[2].layer, "");
}

// The call is a layer's forward only if it is all that the submodule does, with all it has.
TEST(NamedSizes, OtherCallsAreNoLayers) {
  const auto layer = [](const auto& change) {
    TracedModule module = Convolution();
    change(&module);
    const auto made = ImportGraph(module, {"Model", "ModelNew"});
    return made.ok() ? made->task.parts.nodes[0].layer : made.status().message();
  };
  EXPECT_EQ(layer([](TracedModule* m) { m->calls[0].module = "blocks.0"; }), "");
  EXPECT_EQ(layer([](TracedModule* m) { m->calls[1].module = "blocks.0.conv"; }), "");
  EXPECT_EQ(layer([](TracedModule* m) { m->weights[1].text = "self.bias"; }), "");
}

}  // namespace
}  // namespace davinci::import
