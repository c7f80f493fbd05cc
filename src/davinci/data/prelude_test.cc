#include "davinci/data/prelude.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci {
namespace {

using ::testing::ElementsAre;

constexpr char kText[] =
    "\"\"\"What replies may use.\n\n    import nothing\n\"\"\"\n\n"
    "import math\nimport triton.language as tl\nfrom triton.runtime import driver\n\n\n"
    "def half(x):\n    return math.floor(x / 2)\n\n\n"
    "@decorated\ndef alone(x):\n    # half of nothing\n    return x\n";

TEST(Prelude, DefinitionsHaveTheirDecoratorsAndImportsTheirNames) {
  const Prelude prelude = Prelude::Parse(kText, "prelude.py").value();
  std::vector<std::string> names, imports;
  for (const auto& piece : prelude.definitions()) names.push_back(piece.name);
  for (const auto& piece : prelude.imports()) imports.push_back(piece.name);
  EXPECT_THAT(names, ElementsAre("half", "alone"));
  EXPECT_THAT(imports, ElementsAre("math", "tl", "driver"));
  EXPECT_EQ(prelude.definitions()[1].text,
            "@decorated\ndef alone(x):\n    # half of nothing\n    return x\n");
  EXPECT_FALSE(Prelude::Parse("import math\n", "prelude.py").ok());
  EXPECT_FALSE(Prelude::Parse("import math, os\n\ndef f():\n    pass\n", "prelude.py").ok());
}

TEST(NamesBoundAtTop, ImportsAssignmentsAndDefinitionsAreFound) {
  EXPECT_THAT(NamesBoundAtTop("import torch.nn as nn\nfrom math import pi, tau as t  # two\n"
                              "A, B = 1, 2\nrate: float = 3.0\nif x == 2:\n    inner = 1\n"
                              "def f(a=1):\n    b = 2\n@cached\nclass Net(nn.Module):\n"),
              ElementsAre("nn", "pi", "t", "A", "B", "rate", "f", "Net"));
}

}  // namespace
}  // namespace davinci
