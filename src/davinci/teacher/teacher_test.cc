#include "davinci/teacher/teacher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/step_answer.h"
#include "davinci/teacher/program/math_text.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kSource = DAVINCI_SOURCE_DIR;

// The grammar stays where it was loaded: it points into itself.
struct Made {
  Result<synth::Grammar> loaded = synth::LoadGrammar(kSource / "synth");
  Result<synth::StyleBook> styles = synth::LoadStyles(kSource / "synth");
  Result<Teacher> written = Teacher::Load(kSource / "synth");
  const synth::Grammar& grammar = *loaded;
  const Teacher& teacher = *written;
};

const Made& All() {
  static const Made made;
  return made;
}

std::vector<synth::SampledTask> Tasks(size_t count, uint64_t seed, std::string pattern = "") {
  std::vector<synth::SampledTask> tasks;
  synth::SampleOptions options;
  options.count = count;
  options.seed = seed;
  options.pattern = std::move(pattern);
  EXPECT_TRUE(synth::SampleTasks(All().grammar, *All().styles, options,
                                 [&](const synth::SampledTask& task) {
                                   tasks.push_back(task);
                                   return Status::Ok();
                                 })
                  .ok());
  return tasks;
}

TEST(PythonExpression, ReadsCallsSlicesAndPrecedence) {
  auto sum = PythonExpression::Parse("a + b * -c ** 2");
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->text, "+");
  EXPECT_EQ(sum->parts[1].text, "*");
  EXPECT_EQ(sum->parts[1].parts[1].text, "-");
  auto call = PythonExpression::Parse("F.normalize(x, p=2, dim=-1)[..., :8].T");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->text, "T");
  EXPECT_EQ(call->parts[0].parts[0].parts[0].DottedName(), "F.normalize");
  EXPECT_FALSE(PythonExpression::Parse("x +").ok());
  EXPECT_FALSE(PythonExpression::Parse("f(x").ok());
}

TEST(Teacher, GivesAnAnswerToNearlyEveryTaskAndAnOwnKernelToMost) {
  size_t answers = 0, own = 0;
  const auto tasks = Tasks(300, 5);
  for (const auto& task : tasks) {
    const auto candidate = All().teacher.Write(task.graph, task.text, Language::kTriton,
                                               RuleSet::Of(Level::kBest, Language::kTriton));
    if (!candidate.ok()) continue;
    ++answers;
    own += candidate->own_kernels > 0;
    EXPECT_THAT(candidate->source, HasSubstr("class " + task.text.entry + "New("));
  }
  EXPECT_GE(answers, 0.99 * static_cast<double>(tasks.size()));
  EXPECT_GE(own, 0.8 * static_cast<double>(tasks.size()));
}

// A demonstration uses exactly the rules whose skills are in its prompt.
TEST(Teacher, EveryRuleShowsWithItsSkillAndNotWithout) {
  auto tasks = Tasks(1500, 6);
  for (auto& task : Tasks(100, 5, "matmul")) tasks.push_back(std::move(task));  // with triangles
  for (const RuleInfo& rule : Rules()) {
    EXPECT_TRUE(fs::is_directory(kSource / "skills" / rule.skill)) << rule.skill;
    for (const Language language : rule.languages) {
      const auto with = RuleSet::Of(Level::kBest, language);
      auto without = with;
      without.Erase(rule.rule);
      size_t shown = 0;
      for (const auto& task : tasks) {
        if (shown == 3) break;
        const auto a = All().teacher.Write(task.graph, task.text, language, with);
        if (!a.ok() || !a->rules.Contains(rule.rule)) continue;
        ++shown;
        EXPECT_TRUE(a->skills.contains(std::string(rule.skill)));
        const auto b = All().teacher.Write(task.graph, task.text, language, without);
        ASSERT_TRUE(b.ok()) << task.id;
        EXPECT_FALSE(b->rules.Contains(rule.rule)) << rule.name << " in " << task.id;
        EXPECT_NE(a->source, b->source) << rule.name << " in " << task.id;
      }
      EXPECT_GT(shown, 0u) << rule.name << " never shows in " << LanguageName(language);
    }
  }
}

// A task whose text holds its sizes is small on every target: nothing is worth splitting.
TEST(Teacher, SizesInTheTextAreThoseOfTheGpu) {
  constexpr double kFew = 16384;
  size_t seen = 0;
  for (const auto& task : Tasks(900, 8)) {
    if (!task.text.fixed_sizes || task.graph.Elements(synth::Binding::kCpu) > kFew) continue;
    const auto best = All().teacher.Write(task.graph, task.text, Language::kTriton,
                                          RuleSet::Of(Level::kBest, Language::kTriton));
    if (!best.ok()) continue;
    ++seen;
    EXPECT_FALSE(best->rules.Contains(Rule::kSplitRows)) << task.id;
    EXPECT_FALSE(best->rules.Contains(Rule::kGroupTiles)) << task.id;
  }
  EXPECT_GT(seen, 10u);
}

// No launch by Triton is hidden behind one kernel of some microseconds.
TEST(Teacher, AShortSingleOperatorPrefersPyTorch) {
  size_t preferred = 0;
  for (const auto& task : Tasks(600, 9)) {
    const auto best = All().teacher.Write(task.graph, task.text, Language::kTriton,
                                          RuleSet::Of(Level::kBest, Language::kTriton));
    if (!best.ok() || !best->prefers_vendor) continue;
    ++preferred;
    EXPECT_EQ(task.graph.pattern->family.find("chain"), std::string::npos) << task.id;
    const auto vendor = All().teacher.WriteVendor(task.graph, task.text, Language::kTriton);
    ASSERT_TRUE(vendor.ok()) << task.id;
    EXPECT_EQ(vendor->own_kernels, 0) << task.id;
    EXPECT_EQ(vendor->source.find("triton"), std::string::npos) << task.id;
  }
  EXPECT_GT(preferred, 5u);
}

// Kernels that forward() launches are wrapped, and a graph's are not.
TEST(Teacher, DirectLaunchesAreOfKernelsThatForwardCalls) {
  size_t direct = 0;
  for (const auto& task : Tasks(200, 10)) {
    const auto best = All().teacher.Write(task.graph, task.text, Language::kTriton,
                                          RuleSet::Of(Level::kBest, Language::kTriton));
    if (!best.ok() || best->own_kernels == 0) continue;
    const bool wrapped = best->source.find("@direct\n@triton.jit\ndef ") != std::string::npos;
    EXPECT_EQ(wrapped, best->rules.Contains(Rule::kDirectLaunch)) << task.id;
    EXPECT_FALSE(wrapped && best->rules.Contains(Rule::kReplayGraph)) << task.id;
    direct += wrapped;
  }
  EXPECT_GT(direct, 20u);
}

Result<Candidate> BestDelta(const synth::SampledTask& task) {
  return All().teacher.Write(task.graph, task.text, Language::kTriton,
                             RuleSet::Of(Level::kBest, Language::kTriton), ReplyForm::kDelta);
}

// The names that lines of the form "NAME = …" and "A, B = …" define.
std::set<std::string> Defined(const std::string& text) {
  std::set<std::string> names;
  for (const std::string_view line : synth::Split(text, '\n')) {
    const size_t equals = line.find(" = ");
    if (equals == std::string_view::npos || line.find('(') < equals) continue;
    for (const std::string_view name : synth::Split(line.substr(0, equals), ','))
      names.emplace(synth::Trim(name.substr(0, name.find(':'))));
  }
  return names;
}

Result<Candidate> BestBesideSteps(const synth::SampledTask& task, const Steps& steps) {
  return All().teacher.Write(task.graph, task.text, Language::kTriton,
                             RuleSet::Of(Level::kBest, Language::kTriton),
                             {ReplyForm::kDelta, &steps});
}

// What a prompt shows and what the answer says have the same names.
TEST(Teacher, AnswersHaveTheNamesOfTheSteps) {
  size_t noted = 0, short_ones = 0, results = 0, taken = 0, written = 0;
  for (const char* pattern : {"mixed_rows_long", "mixed_image", "attention", "matmul_chain"})
    for (const auto& task : Tasks(40, 10, pattern)) {
      const Steps steps = All().teacher.StepsOf(task.graph, task.text, Language::kTriton).value();
      const auto best = BestBesideSteps(task, steps);
      if (!best.ok() || best->own_kernels == 0) continue;
      const std::set<std::string> known = Defined(steps.text);
      // Values of kernels as well as tensors.
      for (const std::string& name : Defined(best->source))
        if (name.find_first_not_of("tm") == 1 &&
            name.find_first_not_of("0123456789", 1) == std::string::npos) {
          EXPECT_TRUE(known.contains(name)) << name << "\n" << steps.text << best->source;
          results += name[0] == 't';
        }
      // What the answer leaves out is made of the task's own calls.
      const auto plain = All().teacher.PlainOf(task.graph, task.text, steps);
      ASSERT_TRUE(plain.ok()) << plain.status().message();
      const std::string filled = agent::FilledIn(*plain, best->source);
      const size_t begin = filled.find("def forward(");
      std::set<std::string> made = Defined(filled.substr(begin));
      made.insert(task.text.parts.inputs.begin(), task.text.parts.inputs.end());
      synth::Renamed(filled.substr(begin), [&](const std::string& name) {
        const bool digits = name.find_first_not_of("0123456789", 1) == std::string::npos;
        const bool letter = std::isupper(static_cast<unsigned char>(name[0])) != 0 && name != "F";
        if (digits && (letter || (name.size() > 1 && (name[0] == 't' || name[0] == 'm')))) {
          EXPECT_TRUE(made.contains(name)) << name << "\n" << best->source << filled;
        }
        return name;
      });
      short_ones += best->source.find("        return ") == std::string::npos;
      // A note stands in front of each kernel.
      const std::string kernels = "\n" + best->source.substr(0, best->source.find("def forward("));
      EXPECT_EQ(synth::CountOf(kernels, "\n@kernel\n"), synth::CountOf(kernels, " -> "))
          << best->source;
      EXPECT_EQ(kernels.find("# @"), std::string::npos) << best->source;
      noted += synth::CountOf(kernels, "\n# t");
      // Nearly every step that a kernel takes has a line in it.
      for (const std::string_view line : synth::Split(kernels, '\n')) {
        if (!line.starts_with("# t")) continue;
        for (const std::string_view step : synth::Split(line.substr(2, line.find(": ")), ',')) {
          const std::string_view word = synth::Trim(step);
          const std::string name(word.substr(0, word.find(' ')));
          ++taken;
          written += kernels.find("\n    " + name + " = ") != std::string::npos;
        }
      }
    }
  EXPECT_GT(noted, 100u);
  EXPECT_GT(short_ones, 60u);
  EXPECT_GT(results, 200u);
  EXPECT_GT(10 * written, 7 * taken) << written << " of " << taken;
}

// Behind a convolution that was traced a size is known by its result alone.
TEST(Teacher, PlainForwardReadsASizeThatAResultHasFromIt) {
  synth::Graph graph(1);
  synth::RenderedTask task;
  const auto size = [&](int64_t value) {
    return graph.dims.Symbol("", "s" + std::to_string(graph.dims.size()), 1, {value, value, value});
  };
  const auto add = [&](std::vector<synth::DimId> shape) {
    synth::Value value;
    value.shape = std::move(shape);
    graph.values.push_back(std::move(value));
    return static_cast<synth::ValueId>(graph.values.size() - 1);
  };
  const auto call = [&](const char* form, std::vector<synth::ValueId> reads,
                        std::vector<synth::DimId> shape) {
    synth::Node node;
    node.inputs = std::move(reads);
    node.outputs = {add(std::move(shape))};
    graph.nodes.push_back(node);
    synth::NodeText text;
    text.form = form;
    task.parts.nodes.push_back(text);
    return node.outputs[0];
  };
  const synth::DimId a = size(32), b = size(4), c = size(18), d = size(8);
  const synth::ValueId x = add({a, b, c}), w = add({b, b, graph.dims.Constant(3)});
  graph.values[0].origin = synth::Value::Origin::kInput;
  graph.values[1].origin = synth::Value::Origin::kParameter;
  graph.inputs = {x};
  task.parts.inputs = {"x"};
  task.parts.weights = {{w, "self.w"}};
  const auto positive = call("F.relu({0})", {x}, {a, b, c});
  const auto conv = call("F.conv1d({0}, {1}, None, 2)", {positive, w}, {a, b, d});
  graph.outputs = {call("torch.tanh({0})", {conv}, {a, b, d})};
  const auto steps = All().teacher.StepsOf(graph, task, Language::kTriton).value();
  const auto names = All().teacher.PlainOf(graph, task, steps).value().names;
  using Name = std::pair<std::string, std::string>;
  for (const Name& name : {Name("C", "x.shape[2]"), Name("D", "t2.shape[2]")})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name.first;
}

// A plan has a line for each use of a kernel, and each launch of the reply is one.
TEST(Teacher, PlansSayEachUseOfAKernel) {
  size_t plans = 0, further = 0;
  for (const char* pattern : {"mixed_rows_long", "mlp", "mixture_single"})
    for (const auto& task : Tasks(40, 10, pattern)) {
      const Steps steps = All().teacher.StepsOf(task.graph, task.text, Language::kTriton).value();
      const auto best = BestBesideSteps(task, steps);
      if (!best.ok() || best->own_kernels == 0) continue;
      const std::string plan = PlanOf(best->source);
      size_t launches = 0, lines = 0;
      for (const std::string_view line : synth::Split(best->source, '\n')) {
        const std::string_view text = synth::Trim(line);
        const size_t end =
            static_cast<size_t>(std::ranges::find_if_not(text, synth::IsWordChar) - text.begin());
        launches += end > 1 && end < text.size() && text[0] == 'f' && text[1] >= '1' &&
                    text[1] <= '9' && (text[end] == '(' || text[end] == '[');
      }
      for (const std::string_view line : synth::Split(plan, '\n')) {
        if (line.empty()) continue;
        ++lines;
        further += line.starts_with("# also t");
        EXPECT_NE(line.find(" -> "), std::string::npos) << line;
      }
      EXPECT_EQ(lines, launches) << best->source;
      ++plans;
    }
  EXPECT_GT(plans, 40u);
  EXPECT_GT(further, 0u);
}

// `kernel` of the prelude takes a grid of one axis that is no tuple; triton.jit does not.
TEST(Teacher, EveryKernelOfADeltaReplyIsLaunchedByThePrelude) {
  size_t templates = 0;
  for (const char* pattern : {"sorting", "mixture_single", "attention"})
    for (const auto& task : Tasks(60, 10, pattern)) {
      const auto best = BestDelta(task);
      if (!best.ok() || best->own_kernels == 0) continue;
      EXPECT_EQ(best->source.find("@triton.jit"), std::string::npos) << best->source;
      templates += best->rules.Contains(Rule::kSelectLargest);
    }
  EXPECT_GT(templates, 5u);
}

// A convolution's result says how large it is: the sizes of its input say so by a formula alone.
TEST(Teacher, DeltaRepliesReadTheSizesThatAConvolutionGives) {
  size_t read = 0;
  for (const auto& task : Tasks(40, 11, "conv1d_chain")) {
    const auto best = BestDelta(task);
    if (!best.ok() || best->own_kernels == 0) continue;
    read += best->source.find(" = t1.shape\n") != std::string::npos;
  }
  EXPECT_GT(read, 10u);
}

// One kernel serves linear layers with a bias and without.
TEST(Teacher, DeltaRepliesPassTheBiasThatALinearLayerHasOrHasNot) {
  size_t absent = 0;
  for (const auto& task : Tasks(80, 12, "linear_chain")) {
    const auto best = BestDelta(task);
    if (!best.ok() || best->source.find("dot_nt(") == std::string::npos) continue;
    const bool without = task.text.source.find("bias=False") != std::string::npos &&
                         task.text.source.find("bias=True") == std::string::npos;
    if (!without) continue;
    ++absent;
    EXPECT_NE(best->source.find("total = with_bias(total, z, col, in_col)"), std::string::npos)
        << best->source;
    EXPECT_NE(best->source.find(".bias, "), std::string::npos) << best->source;
  }
  EXPECT_GT(absent, 5u);
}

// nvcc would fuse a scaled score with the subtraction of its maximum, and the largest less itself
// would not be 0.
TEST(Teacher, AProductLessSomethingIsRoundedFirstInCuda) {
  size_t rounded = 0;
  for (const auto& task : Tasks(60, 12, "attention_chain")) {
    const auto best = All().teacher.Write(task.graph, task.text, Language::kCuda,
                                          RuleSet::Of(Level::kBest, Language::kCuda));
    if (!best.ok()) continue;
    rounded += best->source.find("__fsub_rn(v") != std::string::npos;
  }
  EXPECT_GT(rounded, 5u);
}

// Negated halves of a tensor and its tables are read where they are joined: nothing else is
// written.
TEST(Teacher, AJoinReadsThroughCheapFunctionsOfSlices) {
  size_t whole = 0;
  for (const auto& task : Tasks(30, 6, "rotary")) {
    if (task.graph.precision != synth::Precision::kFp32) continue;
    const auto rules = RuleSet::Of(Level::kBest, Language::kTriton);
    const auto made = All().teacher.Write(task.graph, task.text, Language::kTriton, rules);
    auto fewer = rules;
    fewer.Erase(Rule::kFusePointwise);
    const auto apart = All().teacher.Write(task.graph, task.text, Language::kTriton, fewer);
    if (!made.ok() || !apart.ok() || !made->left.empty()) continue;
    ++whole;
    EXPECT_EQ(made->own_kernels, 1) << made->source;
    EXPECT_GT(apart->own_kernels, 1);
  }
  EXPECT_GT(whole, 10u);
}

// g++ takes 256 bits of AVX-512 where it tunes for an Intel processor.
TEST(Teacher, KernelsThatComputeFunctionsTakeWholeVectorRegisters) {
  size_t computing = 0, moving = 0;
  for (const auto& task : Tasks(200, 13)) {
    const auto best = All().teacher.Write(task.graph, task.text, Language::kCpp,
                                          RuleSet::Of(Level::kBest, Language::kCpp));
    if (!best.ok() || best->own_kernels == 0) continue;
    const bool functions = best->source.find("static inline float ") != std::string::npos;
    const size_t wide = best->source.find("#pragma GCC target(\"prefer-vector-width=512\")");
    (functions ? computing : moving) += 1;
    if (functions) {
      EXPECT_LT(wide, best->source.find("#include")) << best->source;
    } else if (best->source.find("struct ") == std::string::npos) {
      EXPECT_EQ(wide, std::string::npos) << best->source;
    }
  }
  EXPECT_GT(computing, 20u);
  EXPECT_GT(moving, 20u);
}

// An exponential with its edges costs as much as the rest of the function.
TEST(MathText, TheErrorFunctionNeedsNoExponential) {
  const auto math = MathText::Load(kSource / "synth" / "teacher" / "math.cpp");
  ASSERT_TRUE(math.ok()) << math.status().ToString();
  EXPECT_THAT(math->Definitions({"Erf"}), HasSubstr("float Erf("));
  EXPECT_EQ(math->Definitions({"Erf"}).find("Exp("), std::string::npos);
}

TEST(Teacher, WithoutRulesEveryOperatorIsAKernel) {
  // Templates and structure make kernels of what else is a vendor call.
  auto fusion = RuleSet::Of(Level::kBest, Language::kCpp);
  for (const Rule rule : {Rule::kFlashAttentionCpp, Rule::kSelectLargest, Rule::kGatherIntoPlaces,
                          Rule::kReduceWeights, Rule::kReassociate, Rule::kScaleByDiagonal})
    fusion.Erase(rule);
  for (const auto& task : Tasks(200, 7)) {
    const auto naive = All().teacher.Write(task.graph, task.text, Language::kCpp, {});
    const auto best = All().teacher.Write(task.graph, task.text, Language::kCpp, fusion);
    if (!naive.ok() || !best.ok()) continue;
    EXPECT_EQ(naive->rules, RuleSet()) << task.id;
    EXPECT_GE(naive->own_kernels, best->own_kernels) << task.id;
  }
}

}  // namespace
}  // namespace davinci::teacher
