// The grammar of the repository (synth/) and what is made from it.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "davinci/config/task_config.h"
#include "davinci/data/fingerprint.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth";

const Grammar& TheGrammar() {
  static const Result<Grammar>* grammar = new Result<Grammar>(LoadGrammar(kFolder));
  if (!grammar->ok()) ADD_FAILURE() << grammar->status().ToString();
  return grammar->value();
}

const StyleBook& TheStyles() {
  static const Result<StyleBook>* book = new Result<StyleBook>(LoadStyles(kFolder));
  if (!book->ok()) ADD_FAILURE() << book->status().ToString();
  return book->value();
}

std::vector<SampledTask> Sample(size_t count, SplitKind split, uint64_t seed, int threads,
                                std::vector<std::string> decontaminate = {}) {
  SampleOptions options;
  options.count = count;
  options.split = split;
  options.seed = seed;
  options.threads = threads;
  const auto contamination = ContaminationOf(decontaminate);
  options.contamination = &contamination;
  std::vector<SampledTask> tasks;
  const auto counts = SampleTasks(TheGrammar(), TheStyles(), options, [&](const SampledTask& task) {
    tasks.push_back(task);
    return Status::Ok();
  });
  EXPECT_TRUE(counts.ok()) << counts.status().ToString();
  return tasks;
}

TEST(DimTable, AlgebraicallyEqualSizesAreOneSize) {
  DimTable dims(1);
  const DimId h = dims.Symbol("spatial", "H", 2, {64, 16, 18});
  const DimId one = dims.Constant(1), two = dims.Constant(2);
  // A convolution with kernel 3, padding 1: (H + 2 - 2 - 1) // 1 + 1.
  DimId same = dims.Binary('+', h, two);
  same = dims.Binary('-', dims.Binary('-', same, two), one);
  EXPECT_EQ(dims.Binary('+', dims.Binary('/', same, one), one), h);
  // Down and up by two, where two divides H.
  const DimId half = dims.Binary('/', h, two);
  EXPECT_EQ(dims.Binary('*', half, two), h);
  // Stride 2: (H - 1) // 2 + 1 is written as H // 2.
  const DimId strided = dims.Binary('+', dims.Binary('/', dims.Binary('-', h, one), two), one);
  EXPECT_EQ(strided, half);
  EXPECT_EQ(dims.At(half, Binding::kVariant), 9);
}

TEST(DimTable, DivisionOfAnOddSizeIsNotUndone) {
  DimTable dims(1);
  const DimId h = dims.Symbol("spatial", "H", 1, {65, 17, 19});
  const DimId two = dims.Constant(2);
  EXPECT_FALSE(dims.Equal(dims.Binary('*', dims.Binary('/', h, two), two), h));
}

// Both are 33 for 65; only an even size tells them apart.
TEST(DimTable, RoundingUpAndDownStayApart) {
  DimTable dims(1);
  const DimId h = dims.Symbol("spatial", "H", 1, {65, 16, 19});
  const DimId one = dims.Constant(1), two = dims.Constant(2);
  const DimId up = dims.Binary('/', dims.Binary('+', h, one), two);
  const DimId next = dims.Binary('+', dims.Binary('/', h, two), one);
  EXPECT_EQ(dims.At(up, Binding::kCuda), dims.At(next, Binding::kCuda));
  EXPECT_FALSE(dims.Equal(up, next));
}

TEST(DimTable, PythonTextKeepsPrecedence) {
  DimTable dims(1);
  const DimId a = dims.Symbol("r", "a", 1, {8, 8, 8}), b = dims.Symbol("r", "b", 1, {2, 2, 2});
  const auto name = [&](DimId id) -> std::string { return id == a ? "a" : id == b ? "b" : ""; };
  EXPECT_EQ(dims.Python(dims.Binary('*', dims.Binary('+', a, b), b), name), "(a + b) * b");
  EXPECT_EQ(dims.Python(dims.Binary('/', dims.Binary('*', a, b), dims.Constant(4)), name),
            "a * b // 4");
}

TEST(Expression, MistakesAreNamed) {
  EXPECT_FALSE(Expression::Parse("(a + b").ok());
  EXPECT_FALSE(Expression::Parse("a b").ok());
  const auto parsed = Expression::Parse("max(lo, 0) + 2 * 3 // 4");
  ASSERT_TRUE(parsed.ok());
  NumberLookup lookup;
  lookup.number = [](std::string_view) { return -5.0; };
  EXPECT_EQ(EvaluateNumber(*parsed, lookup), 1.0);
}

// Every pattern can be built, and no text of the grammar names what does not exist.
TEST(Grammar, EveryPatternBuilds) {
  for (const auto& [name, pattern] : TheGrammar().patterns) {
    int built = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      BuildOptions options;
      options.seed = seed * 7919 + 1;
      options.reach = options.reach_cpu = 0.3;
      const BuildOutcome outcome = BuildGraph(TheGrammar(), pattern, options);
      built += outcome.graph.has_value();
      ASSERT_FALSE(outcome.rejected.starts_with("grammar")) << name << ": " << outcome.rejected;
    }
    EXPECT_GT(built, 0) << name;
  }
}

TEST(Grammar, EveryFamilyOfTheIssueIsThere) {
  std::set<std::string> families;
  for (const auto& [name, op] : TheGrammar().operators) families.insert(op.family);
  for (const char* family :
       {"activation", "pointwise", "reduction", "softmax", "norm", "scan", "pool", "loss", "matmul",
        "conv", "gather", "attention", "recurrent", "resample", "shape", "mixture"})
    EXPECT_TRUE(families.contains(family)) << family;
  EXPECT_GT(TheGrammar().operators.size(), 300u);
}

TEST(Builder, ConvolutionShapesFollowTheFormula) {
  const Pattern& pattern = TheGrammar().patterns.find("conv_chain")->second;
  int seen = 0;
  for (uint64_t seed = 1; seed < 200; ++seed) {
    BuildOptions options;
    options.seed = seed;
    options.reach = options.reach_cpu = 0.4;
    const auto outcome = BuildGraph(TheGrammar(), pattern, options);
    if (!outcome.graph || outcome.graph->nodes[0].op->name != "conv2d") continue;
    const Graph& graph = *outcome.graph;
    const Node& conv = graph.nodes[0];
    const auto attr = [&](const char* name) {
      return std::get<int64_t>(conv.attrs.find(name)->second);
    };
    const auto& in = graph.values[static_cast<size_t>(conv.inputs[0])].shape;
    const auto& out = graph.values[static_cast<size_t>(conv.outputs[0])].shape;
    for (const Binding binding : {Binding::kCuda, Binding::kCpu, Binding::kVariant}) {
      const int64_t height = graph.dims.At(in[2], binding);
      EXPECT_EQ(graph.dims.At(out[2], binding),
                (height + 2 * attr("p") - attr("d") * (attr("k") - 1) - 1) / attr("s") + 1);
    }
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

// What is no work is no task: a result that is there already, or a view of the input.
TEST(Builder, NothingIsReturnedTwiceOrWithoutWork) {
  const auto build = [](const char* pattern, uint64_t seed) {
    BuildOptions options;
    options.seed = seed;
    options.reach = options.reach_cpu = 0.3;
    return BuildGraph(TheGrammar(), TheGrammar().patterns.find(pattern)->second, options);
  };
  int twice = 0;
  std::set<std::string> moves;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    twice += build("pair", seed).rejected == "same output";
    if (const auto moved = build("data_move", seed); moved.graph)
      for (const Node& node : moved.graph->nodes) moves.insert(node.op->name);
  }
  EXPECT_GT(twice, 0);
  EXPECT_GT(moves.size(), 5u);
  for (const char* view : {"slice_stride", "narrow", "crop2d"})
    EXPECT_FALSE(moves.contains(view)) << view;
}

TEST(Builder, SmallTargetsStayWithinTheirBudget) {
  for (const SampledTask& task : Sample(200, SplitKind::kTrain, 3, 1)) {
    EXPECT_LE(task.graph.Flops(Binding::kCpu), TheGrammar().budgets[1].flops) << task.id;
    EXPECT_LE(task.graph.Elements(Binding::kCpu), TheGrammar().budgets[1].elements) << task.id;
  }
}

TEST(Sampler, ThreadsChangeNothing) {
  const auto one = Sample(400, SplitKind::kTrain, 11, 1),
             four = Sample(400, SplitKind::kTrain, 11, 4);
  ASSERT_EQ(one.size(), four.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].id, four[i].id);
    EXPECT_EQ(one[i].text.source, four[i].text.source);
    EXPECT_EQ(one[i].text.sidecar, four[i].text.sidecar);
  }
  EXPECT_NE(Sample(1, SplitKind::kTrain, 12, 1)[0].text.source, one[0].text.source);
}

TEST(Sampler, SplitsAreDisjoint) {
  std::set<uint64_t> held;
  for (const SampledTask& task : Sample(150, SplitKind::kCombination, 5, 2))
    held.insert(task.graph.CombinationHash());
  std::set<uint64_t> reinforced;
  for (const SampledTask& task : Sample(60, SplitKind::kReinforcement, 5, 2)) {
    EXPECT_FALSE(held.contains(task.graph.CombinationHash())) << task.id;
    EXPECT_FALSE(task.style->held_out);
    reinforced.insert(task.graph.CombinationHash());
  }
  held.merge(reinforced);
  for (const SampledTask& task : Sample(600, SplitKind::kTrain, 5, 2)) {
    EXPECT_FALSE(held.contains(task.graph.CombinationHash()) &&
                 task.graph.OperatorSequence().size() > 1)
        << task.id;
    EXPECT_FALSE(task.style->held_out);
    EXPECT_FALSE(TheGrammar().held_out_families.contains(task.graph.pattern->family));
    for (const Node& node : task.graph.nodes)
      EXPECT_FALSE(TheGrammar().held_out_families.contains(node.op->family)) << node.op->name;
  }
  for (const SampledTask& task : Sample(60, SplitKind::kFamily, 5, 2))
    EXPECT_TRUE(TheGrammar().held_out_families.contains(task.graph.pattern->family));
  for (const SampledTask& task : Sample(60, SplitKind::kStyle, 5, 2))
    EXPECT_TRUE(task.style->held_out);
}

TEST(Sampler, TasksOfOnePatternSayTheirOwnSplit) {
  SampleOptions options;
  options.count = 20;
  options.pattern = "linear_chain";
  std::set<std::optional<SplitKind>> splits;
  const auto counts = SampleTasks(TheGrammar(), TheStyles(), options, [&](const SampledTask& task) {
    EXPECT_EQ(task.split, SplitOf(TheGrammar(), task.graph, *task.style)) << task.id;
    EXPECT_EQ(ToJson(task)["synth"]["split"], SplitName(task.split));
    const auto config = config::ParseTaskConfig(task.text.sidecar, task.id);
    EXPECT_EQ(config->split, SplitName(task.split));
    splits.insert(task.split);
    return Status::Ok();
  });
  ASSERT_TRUE(counts.ok()) << counts.status().ToString();
  EXPECT_GT(splits.size(), 1U);
}

TEST(Sampler, LeastElementsCountForTheSizesThatTheDeviceRuns) {
  SampleOptions options;
  options.count = 60;
  options.seed = 23;
  options.least_elements = 5e7;
  size_t tasks = 0;
  const auto counts = SampleTasks(TheGrammar(), TheStyles(), options, [&](const SampledTask& task) {
    const Binding binding = task.text.fixed_sizes ? Binding::kCpu : Binding::kCuda;
    EXPECT_GE(task.graph.Elements(binding), options.least_elements) << task.id;
    ++tasks;
    return Status::Ok();
  });
  ASSERT_TRUE(counts.ok()) << counts.status().ToString();
  EXPECT_EQ(tasks, options.count);
  EXPECT_GT(counts->rejected.at("elements"), 0U);
}

TEST(Sampler, LongTasksAreLeftOutWhereShortOnesAreAskedFor) {
  SampleOptions options;
  options.count = 60;
  options.seed = 24;
  options.most_operators = 4;
  const auto counts = SampleTasks(TheGrammar(), TheStyles(), options, [&](const SampledTask& task) {
    EXPECT_LE(task.graph.OperatorSequence().size(), options.most_operators) << task.id;
    return Status::Ok();
  });
  ASSERT_TRUE(counts.ok()) << counts.status().ToString();
  EXPECT_GT(counts->rejected.at("operators"), 0U);
}

TEST(Sampler, NoTwoTasksAreAlike) {
  const auto tasks = Sample(500, SplitKind::kTrain, 21, 2);
  std::vector<fingerprint::Signature> signatures;
  for (const SampledTask& task : tasks)
    signatures.push_back(
        fingerprint::SignatureOf(task.text.source, fingerprint::TokenRule::kKeepNames));
  for (size_t i = 0; i < tasks.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      EXPECT_LT(fingerprint::Similarity(signatures[i], signatures[k]), 0.9)
          << tasks[i].id << " " << tasks[k].id;
}

TEST(Sampler, GivenFilesAreAvoided) {
  const auto before = Sample(40, SplitKind::kTrain, 31, 1);
  std::vector<std::string> texts;
  for (const SampledTask& task : before) texts.push_back(task.text.source);
  std::set<std::string> ids;
  for (const SampledTask& task : Sample(40, SplitKind::kTrain, 31, 1, texts)) ids.insert(task.id);
  for (const SampledTask& task : before) EXPECT_FALSE(ids.contains(task.id)) << task.id;
}

TEST(Renderer, SidecarsParseAndNothingIsLeftOpen) {
  for (const SampledTask& task : Sample(600, SplitKind::kTrain, 41, 2)) {
    EXPECT_TRUE(config::ParseTaskConfig(task.text.sidecar, task.id).ok()) << task.text.sidecar;
    EXPECT_EQ(task.text.source.find('?'), std::string::npos) << task.text.source;
    EXPECT_NE(task.text.source.find("class " + task.text.entry + "("), std::string::npos);
  }
}

// A candidate's constructor has the file's own sizes: what get_init_inputs() does not give may not
// vary.
TEST(Renderer, VariantsLeaveSizesOfTheConstructor) {
  size_t with_own = 0;
  for (const SampledTask& task : Sample(400, SplitKind::kTrain, 3, 2)) {
    const std::string& source = task.text.source;
    const size_t begin = source.find("def __init__(self)");
    if (begin == std::string::npos || source.find("return []") == std::string::npos) continue;
    const std::string constructor = source.substr(begin, source.find("def forward", begin) - begin);
    const size_t variants = task.text.sidecar.find("[[variants]]");
    for (const auto line : Split(task.text.sidecar, '\n')) {
      const size_t equals = line.find(" = ");
      if (equals == std::string_view::npos || line.starts_with("split")) continue;
      const std::string name(line.substr(0, equals));
      if (WithWord(constructor, name, "") == constructor) continue;
      ++with_own;
      const size_t varied =
          variants == std::string::npos ? variants : task.text.sidecar.find("\n" + name, variants);
      EXPECT_EQ(varied, std::string::npos) << task.id << ": " << name << "\n" << source;
    }
  }
  EXPECT_GT(with_own, 10u);
}

TEST(Sampler, MixedTasksHaveTheirShare) {
  SampleOptions options;
  options.count = 200;
  options.mixed = 0.5;
  const auto counts = SampleTasks(TheGrammar(), TheStyles(), options,
                                  [](const SampledTask&) { return Status::Ok(); });
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  // Half of them are long.
  EXPECT_NEAR(static_cast<double>(counts->families.at("mixed")), 50, 25);
  EXPECT_NEAR(static_cast<double>(counts->families.at("mixed_long")), 50, 25);
  options.split = SplitKind::kFamily;
  EXPECT_FALSE(SampleTasks(TheGrammar(), TheStyles(), options, [](const SampledTask&) {
                 return Status::Ok();
               }).ok());
}

TEST(Fingerprint, NumbersAndCommentsDoNotCount) {
  const std::string a = "def f(x):\n    return x * 2 + y  # twice\n",
                    b = "def f(x):\n    return x * 3 + y\n";
  EXPECT_EQ(
      fingerprint::Similarity(fingerprint::SignatureOf(a, fingerprint::TokenRule::kKeepNames),
                              fingerprint::SignatureOf(b, fingerprint::TokenRule::kKeepNames)),
      1.0);
  EXPECT_LT(fingerprint::Similarity(fingerprint::SignatureOf(a, fingerprint::TokenRule::kKeepNames),
                                    fingerprint::SignatureOf("import os\nprint(os.getcwd(), 4)\n",
                                                             fingerprint::TokenRule::kKeepNames)),
            0.2);
}

}  // namespace
}  // namespace davinci::synth
