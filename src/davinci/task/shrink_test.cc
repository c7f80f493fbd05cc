#include "davinci/task/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kMatrices[] = R"py(import torch

batch_size = 4096  # rows
width = 2 ** 10 * 16
half = width // 2
name = "text"
batch_size = 8192


def get_inputs():
    return [torch.randn(batch_size, width), torch.randint(0, 9, (batch_size,)), torch.zeros(3, 4)]


def get_init_inputs():
    return [width, half]
)py";

std::map<std::string, int64_t> Constants(std::string_view source) {
  std::map<std::string, int64_t> constants;
  for (const auto& [name, value] : IntegerConstants(source)) constants[name] = value;
  return constants;
}

TEST(Shrink, ConstantsAreReadLikePythonReadsThem) {
  EXPECT_THAT(IntegerConstants(kMatrices),
              ElementsAre(Pair("width", 16384), Pair("half", 8192), Pair("batch_size", 8192)));
  EXPECT_THAT(IntegerConstants("a = 1\nb == 2\nc = a + unknown\n    d = 4\n3 = 3\ne = (a + 1) * 3\n"
                               "f = 9 ** 99\ng = 1_000\nh = 3.5\n"),
              ElementsAre(Pair("a", 1), Pair("e", 6), Pair("g", 1000)));
}

TEST(Shrink, InputsAreCountedWhereTheTextSaysTheirSizes) {
  EXPECT_EQ(InputElements(kMatrices, Constants(kMatrices)), int64_t{8192} * 16384 + 8192 + 12);
  const std::string listed =
      "b = 8\nshape = (64, 32)\n\n\ndef get_inputs():\n    return [torch.rand(b, *shape), "
      "torch.rand(size=(b, 2), dtype=torch.half)]\n";
  EXPECT_EQ(InputElements(listed, Constants(listed)), 8 * 64 * 32 + 16);
  EXPECT_EQ(InputElements("def get_inputs():\n    return [torch.rand(some())]\n", {}),
            std::nullopt);
}

TEST(Shrink, TheLeadingSizeGoesFirstAndModelSizesKeepALeast) {
  const auto sizes = ShrinkSizes(kMatrices, 1 << 20);
  EXPECT_EQ(ShrunkText(sizes), "batch_size 8192 -> 32");
  EXPECT_EQ(ShrunkText(ShrinkSizes(kMatrices, 1 << 10)),
            "batch_size 8192 -> 1, half 8192 -> 256, width 16384 -> 512")
      << "what is made of a size follows it";
  EXPECT_THAT(ShrinkSizes(kMatrices, int64_t{1} << 40), IsEmpty()) << "small enough";
  EXPECT_THAT(ShrinkSizes("def get_inputs():\n    return [torch.rand(8192, 8192)]\n", 1 << 10),
              IsEmpty())
      << "no constants";
  const std::string shape =
      "b = 8\ndim = 4096\nshape = (dim, 32)\n\n\ndef get_inputs():\n    return [torch.rand(b, "
      "*shape)]\n\n\ndef get_init_inputs():\n    return []\n";
  EXPECT_EQ(ShrunkText(ShrinkSizes(shape, 4096)),
            "b 8 -> 1, dim 4096 -> 128, shape [4096, 32] -> [128, 32]");
  const std::string square =
      "N = 4096\n\n\ndef get_inputs():\n    return [torch.rand(N, N)]\n\n\ndef get_init_inputs():\n"
      "    return [N]\n";
  EXPECT_EQ(ShrunkText(ShrinkSizes(square, 1)), "N 4096 -> 16");
}

TEST(Shrink, AnEntryGetsItsSizesAsASidecarUnlessItHasOwnOnes) {
  auto dir = MakeTempDir("shrink");
  ASSERT_TRUE(dir.ok());
  TaskEntry entry;
  entry.id = "matrices";
  entry.path = dir->path() / "matrices.py";
  ASSERT_TRUE(WriteFileAtomic(entry.path, kMatrices).ok());
  ASSERT_TRUE(WriteFileAtomic(dir->path() / "matrices.toml", "tags = [\"x\"]").ok());
  auto shrunk = ShrinkForCpu(&entry, 1 << 20);
  ASSERT_TRUE(shrunk.ok()) << shrunk.status().ToString();
  EXPECT_EQ(shrunk->size(), 1u);
  EXPECT_TRUE(entry.path.empty());
  EXPECT_EQ(entry.source, kMatrices);
  EXPECT_EQ(entry.sidecar, "tags = [\"x\"]\n[sizes.cpu]\nbatch_size = 32\n");
  // Its own sizes count.
  shrunk = ShrinkForCpu(&entry, 1);
  ASSERT_TRUE(shrunk.ok());
  EXPECT_THAT(*shrunk, IsEmpty());
}

}  // namespace
}  // namespace davinci::task
