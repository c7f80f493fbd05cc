#include "davinci/skill/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tokenizer, DottedNamesAreTheirParts) {
  EXPECT_THAT(Tokenize("nn.Conv2d(torch.softmax)"),
              ElementsAre("nn", "conv2d", "torch", "softmax"));
}

TEST(Tokenizer, CamelAndSnakeCaseMeet) {
  EXPECT_THAT(Tokenize("log_softmax"), ElementsAre("log", "softmax", "logsoftmax"));
  EXPECT_THAT(Tokenize("LogSoftmax"), ElementsAre("log", "softmax", "logsoftmax"));
  EXPECT_THAT(Tokenize("CUDAGraph"), ElementsAre("cuda", "graph", "cudagraph"));
  EXPECT_THAT(Tokenize("BatchNorm2d"), ElementsAre("batch", "norm2d", "batchnorm2d"));
}

TEST(Tokenizer, DigitsStayInTheirWordAndNumbersGo) {
  EXPECT_THAT(Tokenize("float4 sm90 128 1e-5 x"), ElementsAre("float4", "sm90", "1e"));
}

TEST(Tokenizer, HyphensAndSlashesSeparate) {
  EXPECT_THAT(Tokenize("warp-level task_specific/norm"),
              ElementsAre("warp", "level", "task", "specific", "taskspecific", "norm"));
}

TEST(Tokenizer, UnderscoresAtTheEndsAreNothing) {
  EXPECT_THAT(Tokenize("__shfl_xor__ _ __"), ElementsAre("shfl", "xor", "shflxor"));
}

TEST(Tokenizer, BytesBeyondAsciiAreLetters) {
  EXPECT_THAT(Tokenize("größe µs"), ElementsAre("größe", "µs"));
  EXPECT_THAT(Tokenize(std::string_view("\xff\xfe\0\x01", 4)), ElementsAre("\xff\xfe"));
  EXPECT_THAT(Tokenize(""), IsEmpty());
}

TEST(Tokenizer, ASkillIsNameDescriptionTagsAndContent) {
  Skill skill;
  skill.name = "split-k";
  skill.description = "Tall matmul";
  skill.tags = {"triton"};
  skill.content = "Add parts.";
  EXPECT_THAT(TokenizeSkill(skill),
              ElementsAre("split", "tall", "matmul", "triton", "add", "parts"));
}

}  // namespace
}  // namespace davinci::skill
