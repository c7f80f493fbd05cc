#include "davinci/teacher/semantics/plain_call.h"

#include <gtest/gtest.h>

#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/tables_for_tests.h"

namespace davinci::teacher {

const Tables& TheTables() {
  static const auto* tables =
      new Tables(LoadTables(std::string(DAVINCI_SOURCE_DIR) + "/synth/teacher").value());
  return *tables;
}

namespace {

// A call of functions alone, in one spelling; every tensor has three axes.
std::string Plain(const std::string& text) {
  PythonExpression call = PythonExpression::Parse(text).value();
  std::vector<PythonExpression> arguments(call.parts.begin() + 1, call.parts.end());
  return PlainCall(TheTables(), ShortFunctionName(call.parts[0].DottedName()), arguments,
                   call.keywords, [](const PythonExpression&) { return std::optional<size_t>(3); })
      .Text();
}

TEST(PlainCall, NamesAndSigns) {
  EXPECT_EQ(Plain("torch.nn.functional.relu(x, inplace=True)"), "relu(x)");
  EXPECT_EQ(Plain("relu_(x)"), "relu(x)");
  EXPECT_EQ(Plain("torch.multiply(x, y)"), "x * y");
  EXPECT_EQ(Plain("torch.bmm(x, y)"), "x @ y");
  EXPECT_EQ(Plain("torch.pow(x, exponent=2)"), "x ** 2");
  EXPECT_EQ(Plain("torch.square(x)"), "x ** 2");
  EXPECT_EQ(Plain("torch.neg(x)"), "-x");
  EXPECT_EQ(Plain("torch.add(x, y, alpha=2)"), "add(x, y, alpha=2)");
}

TEST(PlainCall, ArgumentsHaveTheirParametersNamesAndNoDefaults) {
  EXPECT_EQ(Plain("mean(x, 1, True)"), "mean(x, dim=-2, keepdim=True)");
  EXPECT_EQ(Plain("mean(x, keepdim=True, dim=(1, 2), dtype=None)"),
            "mean(x, dim=(-2, -1), keepdim=True)");
  EXPECT_EQ(Plain("F.softmax(x, dim=2, _stacklevel=3)"), "softmax(x)");
  EXPECT_EQ(Plain("clamp(x, 0.0, 6.0)"), "clamp(x, min=0.0, max=6.0)");
  EXPECT_EQ(Plain("torch.cat((x, y), 2)"), "cat((x, y), dim=-1)");
  EXPECT_EQ(Plain("unsqueeze(x, 1)"), "unsqueeze(x, -3)");
  EXPECT_EQ(Plain("x.view(4, 8)"), "x.view(4, 8)");  // a method is its caller's to read
  EXPECT_EQ(Plain("view(x, 4, 8)"), "reshape(x, (4, 8))");
  EXPECT_EQ(Plain("F.max_pool2d(x, (2, 2), (2, 2), 0)"), "max_pool2d(x, 2)");
  EXPECT_EQ(Plain("F.unfold(x, 4, dilation=1, padding=0, stride=4)"), "unfold(x, 4, stride=4)");
  EXPECT_EQ(Plain("unfold(x, 2, 3, 1)"), "unfold(x, 2, 3, 1)");  // of a tensor, along an axis
}

TEST(PlainCall, WhatIsNotKnownStays) {
  EXPECT_EQ(Plain("torch.erfinv_of(x, 3, eps=1)"), "erfinv_of(x, 3, eps=1)");
  EXPECT_EQ(Plain("mean(x, axis=1)"), "mean(x, axis=1)");
}

// As a weight's name is given.
std::string Layered(const std::string& name, std::vector<std::string> texts,
                    std::vector<std::pair<std::string, std::string>> keywords) {
  const auto named = [](const std::string& text) {
    return text.starts_with("self.") ? PythonExpression{PythonExpression::Kind::kName, text, {}, {}}
                                     : PythonExpression::Parse(text).value();
  };
  std::vector<PythonExpression> arguments;
  for (const std::string& text : texts) arguments.push_back(named(text));
  std::vector<PythonExpression::Keyword> given;
  for (const auto& [keyword, text] : keywords) given.push_back({keyword, named(text)});
  return PlainCall(TheTables(), name, arguments, given,
                   [](const PythonExpression&) { return std::nullopt; })
      .Text();
}

TEST(PlainCall, ALayerStandsForItsTensors) {
  EXPECT_EQ(Layered("linear", {"x", "self.fc.weight", "self.fc.bias"}, {}), "linear(x, self.fc)");
  EXPECT_EQ(Layered("linear", {"x", "self.fc.weight"}, {}), "linear(x, weight=self.fc.weight)");
  EXPECT_EQ(Layered("linear", {"x", "self.a.weight", "self.b.bias"}, {}),
            "linear(x, weight=self.a.weight, bias=self.b.bias)");
  EXPECT_EQ(Layered("rms_norm", {"x", "(8,)", "self.norm.weight", "1e-06"}, {}),
            "rms_norm(x, self.norm, eps=1e-06)");
  EXPECT_EQ(Layered("batch_norm", {"x", "self.bn.running_mean"},
                    {{"running_var", "self.bn.running_var"},
                     {"weight", "self.bn.weight"},
                     {"bias", "self.bn.bias"},
                     {"training", "True"},
                     {"momentum", "0.1"}}),
            "batch_norm(x, self.bn, training=True)");
}

TEST(PlainCall, ConstructorsSayWhatForwardPasses) {
  const auto layer = [](const std::string& constructor) {
    const PythonExpression made = PythonExpression::Parse(constructor).value();
    const std::string function = FunctionOfLayer(made.parts[0].DottedName());
    return PlainCall(TheTables(), function, {PythonExpression::Parse("x").value()},
                     ArgumentsOfLayer(TheTables(), made, "self.l", true),
                     [](const PythonExpression&) { return std::nullopt; })
        .Text();
  };
  EXPECT_EQ(layer("nn.Linear(8, 4)"), "linear(x, self.l)");
  EXPECT_EQ(layer("nn.Conv2d(8, 4, 3, 2, padding=1, bias=False)"),
            "conv2d(x, weight=self.l.weight, stride=2, padding=1)");
  EXPECT_EQ(layer("nn.LayerNorm(8, eps=1e-06)"), "layer_norm(x, self.l, eps=1e-06)");
  EXPECT_EQ(layer("nn.LayerNorm(8, elementwise_affine=False)"), "layer_norm(x)");
  EXPECT_EQ(layer("nn.BatchNorm2d(8)"), "batch_norm(x, self.l, training=True)");
  EXPECT_EQ(layer("nn.InstanceNorm2d(8)"), "instance_norm(x)");
  EXPECT_EQ(layer("nn.MaxPool2d(2, stride=2)"), "max_pool2d(x, 2)");
  EXPECT_EQ(layer("nn.Unfold(3, padding=1)"), "unfold(x, 3, padding=1)");
  EXPECT_EQ(FunctionOfLayer("nn.LSTM"), "");
}

}  // namespace
}  // namespace davinci::teacher
