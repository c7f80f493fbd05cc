#include "davinci/synth/variation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "davinci/base/files.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

const Corpus& TheCorpus() {
  static const Corpus* corpus =
      new Corpus(LoadCorpus(std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth").value());
  return *corpus;
}

PairText Written() {
  PairText pair;
  pair.task =
      "import torch\nimport torch.nn as nn\n\nROWS = 64\n\n\n"
      "class Model(nn.Module):\n    \"\"\"What it was.\"\"\"\n\n"
      "    def __init__(self, width):\n        super().__init__()\n"
      "        self.projection9 = nn.Linear(width, 16, bias=False)\n        self.norm = width\n"
      "        self.register_buffer(\"table9\", torch.ones(16))\n\n"
      "    def forward(self, x):\n        # the old step\n"
      "        return self.projection9(x) + x.norm() * self.table9\n\n\n"
      "def get_inputs():\n    return [torch.randn(ROWS, 32)]\n\n\n"
      "def get_init_inputs():\n    return [32]\n";
  pair.sidecar = "precision = \"fp32\"\n\n[sizes.cuda]\nROWS = 64\n";
  pair.answer =
      "@kernel\ndef f1(x, o, N):\n    i = ids(1024)\n\n\n"
      "class ModelNew(Model):\n    def forward(self, x):\n        w = self.projection9.weight\n"
      "        f1(x, w, self.table9, x.shape[0])\n";
  return pair;
}

std::string Between(const std::string& text, const std::string& before, const std::string& after) {
  const size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

// The name of the attribute that the module gets.
std::string Attribute(const std::string& task) {
  const size_t end = task.find("nn.Linear(");
  const size_t begin = task.rfind("self.", end) + 5;
  return task.substr(begin, task.find(' ', begin) - begin);
}

TEST(Variation, SameSeedGivesTheSameTexts) {
  for (const uint64_t seed : {1, 2, 3}) {
    const PairText once = Varied(TheCorpus(), Written(), seed);
    const PairText again = Varied(TheCorpus(), Written(), seed);
    EXPECT_EQ(once.task + once.sidecar + once.answer, again.task + again.sidecar + again.answer);
  }
}

TEST(Variation, AttributesOfTaskAndAnswerAreAlike) {
  std::set<std::string> names;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const PairText pair = Varied(TheCorpus(), Written(), seed);
    const std::string name = Attribute(pair.task);
    names.insert(name);
    EXPECT_NE(pair.answer.find("self." + name + ".weight"), std::string::npos) << pair.answer;
    EXPECT_NE(pair.task.find("self." + name + "("), std::string::npos) << pair.task;
    // A name that is a method elsewhere stays.
    EXPECT_NE(pair.task.find("self.norm = width"), std::string::npos) << pair.task;
  }
  // Most are no word of the list of attributes.
  EXPECT_GT(names.size(), 60u);
}

TEST(Variation, BuffersOfTaskAndAnswerAreAlike) {
  std::set<std::string> names;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const PairText pair = Varied(TheCorpus(), Written(), seed);
    const std::string name = Between(pair.task, "self.register_buffer(\"", "\"");
    names.insert(name);
    EXPECT_NE(pair.task.find("* self." + name), std::string::npos) << pair.task;
    EXPECT_NE(pair.answer.find(", self." + name + ","), std::string::npos) << pair.answer;
  }
  EXPECT_GT(names.size(), 60u);
}

TEST(Variation, ArgumentsOfForwardAreAlikeAndThoseOfKernelsStay) {
  std::set<std::string> names;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const PairText pair = Varied(TheCorpus(), Written(), seed);
    const std::string name = Between(pair.answer, "def forward(self, ", ")");
    if (name.find('=') != std::string::npos) continue;  // one more argument
    names.insert(name);
    EXPECT_EQ(Between(pair.task, "def forward(self, ", ")"), name);
    EXPECT_NE(pair.task.find("(" + name + ") + " + name + ".norm() *"), std::string::npos)
        << pair.task;
    EXPECT_NE(pair.answer.find("f1(" + name + ", w, "), std::string::npos) << pair.answer;
    EXPECT_NE(pair.answer.find(", " + name + ".shape[0])"), std::string::npos) << pair.answer;
    EXPECT_NE(pair.answer.find("def f1(x, o, N):"), std::string::npos) << pair.answer;
  }
  EXPECT_TRUE(names.contains("x"));
  EXPECT_GT(names.size(), 60u);
}

// A model that has seen names of the lists alone cannot copy other names.
// The names that follow `before` up to a character that no name has.
std::string NameBehind(const std::string& text, const std::string& before) {
  const size_t begin = text.find(before) + before.size();
  size_t end = begin;
  while (end < text.size() && IsWordChar(text[end])) ++end;
  return text.substr(begin, end - begin);
}

TEST(Variation, StepsHaveTheNamesOfTheTask) {
  int renamed = 0, optional = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    PairText pair = Written();
    pair.task = Replaced(pair.task, "forward(self, x)", "forward(self, dim)");
    pair.task = Replaced(pair.task, "(x) + x.norm()", "(dim) + dim.norm()");
    pair.answer = Replaced(pair.answer, "forward(self, x)", "forward(self, dim)");
    pair.answer =
        Replaced(pair.answer, "f1(x, w, self.table9, x.shape", "f1(dim, w, self.table9, dim.shape");
    pair.answer = "# t1 mean: dim, self.projection9.weight -> t1\n" + pair.answer;
    pair.steps =
        "forward(dim)\ndim: [A, B]\nt1: [A] = mean(dim, dim=-1)\n"
        "t2: [A, C] = linear(dim, weight=self.projection9.weight)\nreturn t1, t2\n";
    pair = Varied(TheCorpus(), std::move(pair), seed);
    if (pair.task.find("forward(self") == std::string::npos) continue;
    const std::string argument = NameBehind(pair.task, "forward(self, ");
    const std::string attribute = Attribute(pair.task);
    const std::string& steps = pair.steps;
    EXPECT_EQ(NameBehind(steps, "forward("), argument) << steps;
    EXPECT_NE(steps.find("\n" + argument + ": [A, B]\n"), std::string::npos) << steps;
    EXPECT_NE(steps.find("mean(" + argument + ", dim=-1)"), std::string::npos) << steps;
    EXPECT_NE(steps.find("weight=self." + attribute + ".weight"), std::string::npos) << steps;
    EXPECT_NE(
        pair.answer.find(fmt::format("# t1 mean: {}, self.{}.weight -> t1\n", argument, attribute)),
        std::string::npos)
        << pair.answer;
    renamed += argument != "dim" && attribute != "projection9";
    const std::string head = steps.substr(0, steps.find('\n'));
    const size_t more = head.find(", ");
    optional += more != std::string::npos;
    if (more != std::string::npos) {
      EXPECT_NE(pair.answer.find(head.substr(more)), std::string::npos) << head << pair.answer;
    }
  }
  EXPECT_GT(renamed, 5);
  EXPECT_GT(optional, 0);
}

TEST(Variation, HalfOfTheNamesAreNoWordsOfTheLists) {
  std::set<std::string> words(TheCorpus().words.begin(), TheCorpus().words.end());
  for (const auto& [key, texts] : TheCorpus().lists) words.insert(texts.begin(), texts.end());
  size_t fresh = 0, invented = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string name =
        Between(Varied(TheCorpus(), Written(), seed).answer, "def forward(self, ", ")");
    if (name == "x" || name.find('=') != std::string::npos) continue;
    ++fresh;
    const bool parts = name.find('_') != std::string::npos;
    invented += !parts && !words.contains(name);
  }
  EXPECT_GT(fresh, 300u);
  EXPECT_GT(static_cast<double>(invented) / static_cast<double>(fresh), 0.4);
}

TEST(Variation, KeysOfTaskAndAnswerAreAlike) {
  PairText written = Written();
  written.task = Replaced(written.task, "return self.projection9(x) + x.norm() * self.table9",
                          "return {\"low9\": x, 'high9': x.norm()}");
  written.answer += "        return {\"low9\": x, \"high9\": t1}\n";
  std::set<std::string> keys;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const PairText pair = Varied(TheCorpus(), written, seed);
    const std::string low = Between(pair.answer, "return {\"", "\":");
    const std::string high = Between(pair.answer.substr(pair.answer.find(", \"")), ", \"", "\":");
    keys.insert(low);
    EXPECT_NE(low, high);
    EXPECT_NE(pair.task.find("\"" + low + "\": "), std::string::npos) << pair.task;
    EXPECT_NE(pair.task.find("'" + high + "': "), std::string::npos) << pair.task;
  }
  EXPECT_TRUE(keys.contains("low9"));
  EXPECT_GT(keys.size(), 60u);
}

TEST(Variation, SomeForwardsHaveAnArgumentThatNobodyGives) {
  size_t optional = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const PairText pair = Varied(TheCorpus(), Written(), seed);
    const std::string given = Between(pair.answer, "def forward(self, ", ")");
    const size_t equals = given.find('=');
    if (equals == std::string::npos) continue;
    ++optional;
    const std::string asked = Between(pair.task, "def forward(self, ", ")");
    EXPECT_EQ(asked.substr(0, asked.find_first_of(":=", asked.find(", "))),
              given.substr(0, equals));
    EXPECT_TRUE(asked.ends_with(given.substr(equals + 1))) << asked << " and " << given;
  }
  EXPECT_GT(optional, 10u);
}

// Rollouts ask for a class whose forward has the function's arguments.
TEST(Variation, SomeModulesWithoutStateAreFunctions) {
  PairText written = Written();
  written.task =
      "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n\n"
      "    def forward(self, x):\n        y = x + 1\n\n        return y.norm()\n\n\n"
      "def get_inputs():\n    return [torch.randn(64, 32)]\n\n\n"
      "def get_init_inputs():\n    return []\n";
  written.sidecar = "entry = \"Net\"\nprecision = \"fp32\"\n";
  written.answer =
      "class NetNew(Net):\n    def forward(self, x):\n        return x.norm()  # or so\n";
  written.entry = "Net";
  PairText state = written;
  state.answer += "        self.weight\n";
  size_t functions = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(Varied(TheCorpus(), state, seed).sidecar.find("function"), std::string::npos);
    const PairText pair = Varied(TheCorpus(), written, seed);
    if (pair.sidecar.find("function") == std::string::npos) continue;
    ++functions;
    EXPECT_EQ(pair.sidecar, "function = \"" + pair.entry + "\"\nprecision = \"fp32\"\n");
    const std::string arguments = Between(pair.task, "\ndef " + pair.entry + "(", ")");
    if (arguments.find(':') != std::string::npos) continue;
    EXPECT_EQ(pair.answer.substr(0, pair.answer.find("        return")),
              "class ModelNew(nn.Module):\n    def forward(self, " + arguments + "):\n");
    EXPECT_EQ(pair.task.find("class "), std::string::npos) << pair.task;
    EXPECT_NE(pair.task.find("\n    return "), std::string::npos) << pair.task;
  }
  EXPECT_GT(functions, 10u);
}

TEST(Variation, ArgumentsOfForwardDiffer) {
  PairText written = Written();
  written.task = Replaced(written.task, "forward(self, x)", "forward(self, x, y, z)");
  written.answer = Replaced(written.answer, "forward(self, x)", "forward(self, x, y, z)");
  written.answer += "        return x + y + z\n";
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const PairText pair = Varied(TheCorpus(), written, seed);
    const std::string arguments = Between(pair.answer, "def forward(self, ", ")");
    if (arguments.find('=') != std::string::npos) continue;
    std::set<std::string> names;
    for (const std::string_view name : SplitTop(arguments, ',')) names.emplace(Trim(name));
    EXPECT_EQ(names.size(), 3u) << arguments;
    EXPECT_EQ(Between(pair.task, "def forward(self, ", ")"), arguments);
  }
}

TEST(Variation, TextsAroundTheCodeChangeAndTheCodeStays) {
  std::set<std::string> docstrings, tails, starts;
  size_t unnamed = 0, tables = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const PairText pair = Varied(TheCorpus(), Written(), seed);
    for (const char* code : {"super().__init__()", "return [torch.randn(ROWS, 32)]", "return [32]",
                             "def forward(self, ", "ROWS = 64"})
      EXPECT_NE(pair.task.find(code), std::string::npos) << pair.task;
    const size_t text = pair.task.find("\"\"\"", pair.task.find("class Model"));
    docstrings.insert(text == std::string::npos ? "" : pair.task.substr(text, 30));
    tails.insert(pair.task.substr(pair.task.size() - 20));
    starts.insert(pair.task.substr(0, 8));
    unnamed += pair.task.find("import torch.nn as nn") == std::string::npos;
    tables += pair.sidecar.find("[sizes") != std::string::npos;
    EXPECT_TRUE(pair.task.ends_with("\n"));
  }
  EXPECT_GT(docstrings.size(), 50u);
  EXPECT_TRUE(docstrings.contains(""));
  EXPECT_GT(tails.size(), 20u);
  EXPECT_GT(starts.size(), 5u);
  EXPECT_GT(unnamed, 20u);
  // Most files say their sizes themselves.
  EXPECT_GT(tables, 20u);
  EXPECT_LT(tables, 150u);
}

TEST(Variation, SizesOfAnotherTargetStayATable) {
  PairText pair = Written();
  pair.sidecar = "precision = \"fp32\"\n\n[sizes.cuda]\nROWS = 4096\n";
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(Varied(TheCorpus(), pair, seed).sidecar, pair.sidecar);
}

// Whatever people wrote: the file stays a task.
TEST(Variation, ModulesOfPeopleStayTasks) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth" / "modules")) {
    const std::string source = ReadFile(entry.path()).value();
    ++files;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const PairText varied = VariedTask(TheCorpus(), {source, "", ""}, seed);
      ASSERT_NE(varied.task.find("def get_inputs()"), std::string::npos)
          << entry.path() << " with seed " << seed << ":\n"
          << varied.task;
      EXPECT_NE(varied.task.find("return", varied.task.find("def get_init_inputs()")),
                std::string::npos)
          << entry.path();
      EXPECT_EQ(varied.answer, "");
    }
  }
  EXPECT_GT(files, 400);
}

// Rows are made of these modules, and models are asked those.
TEST(Variation, NoModuleResemblesAnExamination) {
  const auto root = std::filesystem::path(DAVINCI_SOURCE_DIR);
  const auto texts = [](const std::filesystem::path& folder) {
    std::vector<std::string> read;
    const auto files = ListFiles(folder, ".py", true).value();
    for (const auto& file : files) read.push_back(ReadFile(file).value());
    return read;
  };
  std::vector<std::string> asked = texts(root / "tasks");
  const auto imported = texts(root / "tests" / "import" / "modules");
  asked.insert(asked.end(), imported.begin(), imported.end());
  const auto index = ContaminationOf(asked);
  const double most = SampleOptions().contaminated;
  EXPECT_GE(index.Nearest(fingerprint::SignatureOf(asked[0], fingerprint::TokenRule::kPlainNames)),
            most);
  const auto files = ListFiles(root / "synth" / "modules", ".py", true).value();
  for (const auto& file : files)
    EXPECT_LT(index.Nearest(fingerprint::SignatureOf(ReadFile(file).value(),
                                                     fingerprint::TokenRule::kPlainNames)),
              most)
        << file;
}

TEST(Variation, NoModuleCallsAHeldOutOperator) {
  const auto root = std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth";
  const Grammar grammar = LoadGrammar(root).value();
  std::set<std::string> calls;  // "cdist("
  for (const auto& [name, op] : grammar.operators) {
    if (!grammar.held_out_families.contains(op.family)) continue;
    for (const char* style : {"module", "functional", "torch"})
      if (const auto found = op.spell.find(style); found != op.spell.end())
        for (const std::string& text : found->second) {
          const size_t end = text.find('(');
          const size_t begin = text.rfind('.', end) + 1;
          calls.insert(text.substr(begin, end + 1 - begin));
        }
  }
  EXPECT_THAT(calls, ::testing::IsSupersetOf({"cdist(", "Unfold(", "cosine_similarity("}));
  const auto files = ListFiles(root / "modules", ".py", true).value();
  for (const auto& file : files) {
    const std::string text = ReadFile(file).value();
    for (const std::string& call : calls)
      EXPECT_EQ(text.find(call), std::string::npos) << file << " calls " << call;
  }
}

}  // namespace
}  // namespace davinci::synth
