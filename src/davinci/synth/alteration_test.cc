#include "davinci/synth/alteration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

const Exchanges& TheExchanges() {
  static const Exchanges* exchanges =
      new Exchanges(LoadExchanges(std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth").value());
  return *exchanges;
}

constexpr std::string_view kTask = R"(import torch
import torch.nn as nn

ROWS = 64  # 128 would do, too


class Model(nn.Module):
    """Applies nn.ReLU() and adds 0.25."""

    def __init__(self, width):
        super().__init__()
        self.act = nn.ReLU()
        self.scale = 0.75

    def forward(self, x):
        n = x.shape[0]
        x = self.act(x)
        y = x.mean(dim=-1, keepdim=True) + n
        y = torch.clamp(
            y,
            min=0,
        )
        return x * y


def get_inputs():
    return [torch.randn(ROWS, 32)]


def get_init_inputs():
    return [32]
)";

TEST(Alteration, SameSeedGivesTheSameText) {
  for (const uint64_t seed : {1, 2, 3})
    EXPECT_EQ(Altered(TheExchanges(), std::string(kTask), seed),
              Altered(TheExchanges(), std::string(kTask), seed));
}

TEST(Alteration, EveryKindOfEditOccurs) {
  size_t exchanged = 0, sizes = 0, constants = 0, operators = 0, left_out = 0, inserted = 0;
  constexpr size_t kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = Altered(TheExchanges(), std::string(kTask), seed);
    exchanged += text.find("self.act = nn.ReLU()") == std::string::npos ? 1 : 0;
    sizes += text.find("ROWS = 64 ") == std::string::npos ||
                     text.find("return [32]") == std::string::npos
                 ? 1
                 : 0;
    constants += text.find("self.scale = 0.75") == std::string::npos ? 1 : 0;
    operators += text.find("return x * y") == std::string::npos ? 1 : 0;
    left_out += text.find("x = self.act(x)") == std::string::npos ? 1 : 0;
    inserted += CountOf(text, "\n        x = ") + CountOf(text, "\n        y = ") > 3 ? 1 : 0;
  }
  for (const size_t count : {exchanged, sizes, constants, operators, left_out, inserted})
    EXPECT_THAT(count, ::testing::AllOf(::testing::Ge(5), ::testing::Lt(kSeeds)));
}

// Text around code, and code that computes shapes, stays as it was written.
TEST(Alteration, StringsCommentsAndShapesStay) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = Altered(TheExchanges(), std::string(kTask), seed);
    EXPECT_THAT(text, ::testing::HasSubstr("\"\"\"Applies nn.ReLU() and adds 0.25.\"\"\""));
    EXPECT_THAT(text, ::testing::HasSubstr("  # 128 would do, too"));
    EXPECT_THAT(text, ::testing::HasSubstr("        n = x.shape[0]\n"));
    // A statement of several lines is whole.
    EXPECT_THAT(text, ::testing::HasSubstr("            y,\n            min=0,\n        )\n"));
    EXPECT_THAT(text,
                ::testing::HasSubstr("def get_inputs():\n    return [torch.randn(ROWS, 32)]"));
  }
}

TEST(Alteration, WhatIsPutInIsImported) {
  size_t needed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = Altered(TheExchanges(), std::string(kTask), seed);
    if (text.find(" F.") == std::string::npos) continue;
    ++needed;
    EXPECT_THAT(text, ::testing::HasSubstr("import torch.nn.functional as F\n"));
  }
  EXPECT_GT(needed, 5);
}

// Heads, groups and vectors still divide most sizes.
TEST(Alteration, MostMultiplesOfFourStaySo) {
  size_t changed = 0, multiples = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::string text = Altered(TheExchanges(), std::string(kTask), seed);
    const int size = std::stoi(text.substr(text.find("ROWS = ") + 7));
    EXPECT_GE(size, 1);
    if (size == 64) continue;
    ++changed;
    multiples += size % 4 == 0 ? 1 : 0;
  }
  EXPECT_GT(changed, 20);
  EXPECT_GE(multiples * 10, changed * 8);
}

}  // namespace
}  // namespace davinci::synth
