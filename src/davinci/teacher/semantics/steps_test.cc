#include "davinci/teacher/semantics/steps.h"

#include <gtest/gtest.h>

#include "davinci/teacher/semantics/tables_for_tests.h"

namespace davinci::teacher {
namespace {

using synth::DimId;
using synth::Value;
using synth::ValueId;

// A module as the importer makes one, node by node.
class Module {
 public:
  DimId Size(int64_t value) {
    return graph_.dims.Symbol("", "s" + std::to_string(graph_.dims.size()), 1,
                              {value, value, value});
  }
  DimId Constant(int64_t value) { return graph_.dims.Constant(value); }
  ValueId Input(const std::string& name, std::vector<DimId> shape) {
    const ValueId id = Add(std::move(shape));
    graph_.values.back().origin = Value::Origin::kInput;
    graph_.inputs.push_back(id);
    task_.parts.inputs.push_back(name);
    return id;
  }
  ValueId Weight(const std::string& name, std::vector<DimId> shape) {
    const ValueId id = Add(std::move(shape));
    graph_.values.back().origin = Value::Origin::kParameter;
    task_.parts.weights.emplace_back(id, name);
    return id;
  }
  std::vector<ValueId> Call(const std::string& form, std::vector<ValueId> reads,
                            std::vector<std::vector<DimId>> shapes) {
    synth::Node node;
    node.inputs = std::move(reads);
    for (auto& shape : shapes) node.outputs.push_back(Add(std::move(shape)));
    synth::NodeText text;
    text.form = form;
    graph_.nodes.push_back(node);
    task_.parts.nodes.push_back(text);
    return node.outputs;
  }
  // The last call is one of a layer.
  void Made(const std::string& constructor, const std::string& path) {
    task_.parts.nodes.back().constructor = constructor;
    task_.parts.nodes.back().module = path;
  }
  std::string Steps(std::vector<ValueId> outputs) { return Made(std::move(outputs)).text; }
  teacher::Steps Made(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return StepsOf(graph_, task_, TheTables(), synth::Binding::kCpu).value();
  }
  synth::Graph Inferred(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return WithInferredSizes(graph_, task_, TheTables()).value();
  }

 private:
  ValueId Add(std::vector<DimId> shape) {
    Value value;
    value.shape = std::move(shape);
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size() - 1);
  }
  synth::Graph graph_{1};
  synth::RenderedTask task_;
};

TEST(Steps, EachCallHasALine) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8);
  const ValueId x = m.Input("x", {a, b}), scale = m.Weight("self.scale", {b});
  const auto y = m.Call("F.relu({0} + 1.0) * {1}", {x, scale}, {{a, b}});
  EXPECT_EQ(m.Steps(y),
            "forward(x)\n"
            "x: [A, B]\n"
            "A = 32, B = 8\n"
            "self.scale: [B]\n"
            "t1: [A, B] = x + 1.0\n"
            "t2: [A, B] = relu(t1)\n"
            "t3: [A, B] = t2 * self.scale\n"
            "return t3\n");
}

TEST(Steps, SpellingsOfACallAreOne) {
  const auto steps = [](const std::string& form) {
    Module m;
    const DimId a = m.Size(32), b = m.Size(8);
    const ValueId x = m.Input("x", {a, b});
    return m.Steps(m.Call(form, {x}, {{a, b}}));
  };
  const std::string one = steps("torch.softmax({0}.mul(2.0), dim=-1)");
  EXPECT_EQ(one, steps("F.softmax(2.0 * {0}, 1)"));
  EXPECT_EQ(one, steps("nn.Softmax(dim=1)({0} * 2.0)"));
  EXPECT_NE(one, steps("torch.softmax({0}.mul(2.0), dim=0)"));
  // A trace has the functions that layers call in the end.
  EXPECT_EQ(steps("nn.ReLU6()({0})"), steps("F.hardtanh({0}, 0.0, 6.0, False)"));
  EXPECT_EQ(steps("nn.RReLU()({0})"),
            steps("F.rrelu({0}, lower=0.125, upper=0.3333333333333333, training=False)"));
  EXPECT_NE(steps("nn.RReLU()({0})"), steps("F.rrelu({0}, 0.125, 0.3333333333333333, True)"));
  EXPECT_EQ(steps("nn.Threshold(0.1, 0.25)({0})"), steps("F.threshold({0}, 0.1, 0.25, False)"));
  EXPECT_EQ(steps("F.normalize({0}, dim=-1)"), steps("F.normalize({0}, p=2.0, dim=-1)"));
}

// As numbers the sizes of a norm would be those of one shape.
TEST(Steps, SizesOfANormAreItsInputs) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8), c = m.Size(16);
  const ValueId x = m.Input("x", {a, b, c});
  const auto y =
      m.Call("torch.nn.functional.layer_norm({0}, (8, 16), None, None, 1e-05)", {x}, {{a, b, c}});
  EXPECT_NE(m.Steps(y).find("layer_norm(x, normalized_shape=(B, C))"), std::string::npos)
      << m.Steps(y);
}

// PyTorch's number stands in the place of none: a kernel cannot add what the line does not say.
TEST(Steps, AnRmsNormSaysItsEps) {
  const auto line = [](const std::string& form) {
    Module m;
    const DimId a = m.Size(32), b = m.Size(8);
    const ValueId x = m.Input("x", {a, b});
    const std::string text = m.Steps(m.Call(form, {x}, {{a, b}}));
    return text.substr(text.find("rms_norm"),
                       text.find('\n', text.find("rms_norm")) - text.find("rms_norm"));
  };
  const std::string said = "rms_norm(x, eps=1.1920928955078125e-07)";
  EXPECT_EQ(line("torch.nn.functional.rms_norm({0}, (8,))"), said);
  EXPECT_EQ(line("torch.nn.functional.rms_norm({0}, (8,), None, None)"), said);
  EXPECT_EQ(line("torch.nn.functional.rms_norm({0}, (8,), eps=None)"), said);
  EXPECT_EQ(line("torch.nn.functional.rms_norm({0}, (8,), eps=1e-06)"), "rms_norm(x, eps=1e-06)");
}

// The letter of a size that a result shares with a weight behind it is read from the weight: the
// line that makes the result may name it.
TEST(Steps, ASizeIsReadFromAWeightRatherThanAResult) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8), c = m.Size(16);
  const ValueId x = m.Input("x", {a, b, m.Constant(2)});
  const auto flat = m.Call("{0}.reshape(32, 16)", {x}, {{a, c}});
  const ValueId w = m.Weight("self.fc.weight", {b, c});
  const auto y = m.Call("torch.nn.functional.linear({0}, {1})", {flat[0], w}, {{a, b}});
  for (const LetterPlace& place : m.Made(y).letters)
    EXPECT_EQ(place.value, place.letter == "C" ? w : x) << place.letter;
}

TEST(Steps, ALayerIsTheFunctionThatItCalls) {
  const auto steps = [](bool layer) {
    Module m;
    const DimId a = m.Size(32), b = m.Size(8);
    const ValueId x = m.Input("x", {a, b}), w = m.Weight("self.norm.weight", {b}),
                  bias = m.Weight("self.norm.bias", {b});
    const auto y = layer ? m.Call("{m}({0})", {x}, {{a, b}})
                         : m.Call("torch.nn.functional.layer_norm({0}, (8,), {1}, {2}, 1e-6)",
                                  {x, w, bias}, {{a, b}});
    if (layer) m.Made("nn.LayerNorm(8, eps=1e-06)", "norm");
    return m.Steps(y);
  };
  EXPECT_EQ(steps(true), steps(false));
  EXPECT_NE(steps(true).find("t1: [A, B] = layer_norm(x, self.norm, eps=1e-06)\n"),
            std::string::npos);
}

TEST(Steps, ResultsHaveNamesThatNoArgumentHas) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8);
  const ValueId x = m.Input("t1", {a, b});
  const auto halves = m.Call("{0}.chunk(2, 1)", {x}, {{a, m.Constant(4)}, {a, m.Constant(4)}});
  const auto sum = m.Call("{0} + {1}", {halves[0], halves[1]}, {{a, m.Constant(4)}});
  EXPECT_EQ(m.Steps({sum[0], halves[1]}),
            "forward(t1)\n"
            "t1: [A, B]\n"
            "A = 32, B = 8, C = 4\n"
            "t2 = chunk(t1, 2, dim=-1)\n"
            "t3: [A, C] = t2[0]\n"
            "t4: [A, C] = t2[1]\n"
            "t5: [A, C] = t3 + t4\n"
            "return (t5, t4)\n");
}

TEST(Steps, SizesAreLetters) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8);
  const ValueId x = m.Input("x", {a, b});
  const auto y = m.Call("{0}.reshape(-1) / {0}.shape[1] ** 0.5", {x}, {{m.Constant(256)}});
  EXPECT_EQ(m.Steps(y),
            "forward(x)\n"
            "x: [A, B]\n"
            "A = 32, B = 8\n"
            "t1: [A * B] = reshape(x, -1)\n"
            "t2: [A * B] = t1 / B ** 0.5\n"
            "return t2\n");
}

// A module that was traced at one shape has numbers behind a pool, and the pool says which sizes of
// x they are.
TEST(Steps, SizesThatFunctionsGiveAreInferred) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(4), c = m.Size(18);
  const ValueId x = m.Input("x", {a, b, c});
  const auto pooled = m.Call("F.max_pool1d({0}, 2)", {x}, {{m.Constant(32), b, m.Constant(9)}});
  const auto joined = m.Call("torch.cat(({0}, {0}), -1)", pooled, {{a, b, m.Constant(18)}});
  const synth::Graph graph = m.Inferred(joined);
  EXPECT_EQ(graph.dims.At(graph.values[1].shape[2], synth::Binding::kCpu), 9);
  EXPECT_FALSE(graph.dims.IsConstant(graph.values[1].shape[2]));
  EXPECT_FALSE(graph.dims.IsConstant(graph.values[2].shape[2]));
  EXPECT_EQ(m.Steps(joined),
            "forward(x)\n"
            "x: [A, B, C]\n"
            "A = 32, B = 4, C = 18, D = 9\n"
            "t1: [A, B, D] = max_pool1d(x, 2)\n"
            "t2: [A, B, D + D] = cat((t1, t1), dim=-1)\n"
            "return t2\n");
}

TEST(Steps, AComprehensionStaysAsItIs) {
  Module m;
  const DimId a = m.Size(32), b = m.Size(8);
  const ValueId x = m.Input("x", {a, b});
  const auto y = m.Call("torch.stack([row + 1 for row in {0}])", {x}, {{a, b}});
  EXPECT_EQ(m.Steps(y),
            "forward(x)\n"
            "x: [A, B]\n"
            "A = 32, B = 8\n"
            "t1: [A, B] = torch.stack([row + 1 for row in x])\n"
            "return t1\n");
}

}  // namespace
}  // namespace davinci::teacher
