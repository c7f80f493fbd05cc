#include "davinci/agent/step_parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/agent/part_code.h"

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kSteps = R"(forward(x, scale, mask=None)
x: [A, B]
mask: bool[A, B]
A = 512, B = 384, C = 128
m1 = self.blocks[0]
m1.fc.weight: [C, B]
self.out.weight: [B, C]
t1: [A, B] = layer_norm(x, [B], m1.norm)
t2: [A, C] = linear(t1, m1.fc)
t3: [A, C] = relu(t2)
t4: [C, A] = transpose(t3, -2, -1)
t5: [C, A] = softmax(t4, dim=-1)
t6: [A, B] = linear(t3, self.out)
t7: [A, B] = t6 * scale
return (t5, t7)
)";

constexpr const char* kPlan = R"(# t1 layer_norm: x, m1.norm.weight, m1.norm.bias -> t1
# t2 linear, t3 relu: t1, m1.fc.weight, m1.fc.bias -> t3
# t5 softmax: t3 -> a5
# t5 softmax: t3, a5 -> t5
# t6 linear, t7 *: t3, self.out.weight, self.out.bias -> t7
)";

constexpr const char* kCode = R"(# t1 layer_norm: x, m1.norm.weight, m1.norm.bias -> t1
@kernel
def norm(x, y, z, o, R, C):
    st(o, ld(x))

t1 = torch.empty_like(x)
norm[cdiv(A, 4)](x, m1.norm.weight, m1.norm.bias, t1, A, B)


# t2 linear, t3 relu: t1, m1.fc.weight, m1.fc.bias -> t3
@kernel
def f1(x, y, z, o, R, C, K):
    st(o, ld(x))

t3 = x.new_empty((A, C))
f1[cdiv(A, 64)](t1, m1.fc.weight, m1.fc.bias, t3, A, C, B)


# t5 softmax: t3 -> a5
@kernel
def f2(x, o, R, C):
    st(o, ld(x))

a5 = x.new_empty((C,))
f2[C](t3, a5, A, C)


# t5 softmax: t3, a5 -> t5
@kernel
def f3(x, y, o, R, C):
    st(o, ld(x))

t5 = x.new_empty((C, A))
f3[C](t3, a5, t5, A, C)


# t6 linear, t7 *: t3, self.out.weight, self.out.bias -> t7
@kernel
def f4(x, y, z, o, R, C, K):
    st(o, ld(x) * 2)

t7 = torch.empty_like(x)
f4[cdiv(A, 64)](t3, self.out.weight, self.out.bias, t7, A, B, C)


class ModelNew(Model):
    @replay
    def forward(self, x, scale, mask=None):
        ...
)";

TEST(StepParts, HaveTheStepsOfTheirKernelsAndInputs) {
  const auto parts = PartsOf(kSteps, kPlan, 2);
  ASSERT_THAT(parts, SizeIs(4));
  EXPECT_EQ(parts[0].steps,
            "forward(x)\n"
            "x: [A, B]\n"
            "A = 512, B = 384\n"
            "m1 = self.blocks[0]\n"
            "t1: [A, B] = layer_norm(x, [B], m1.norm)\n"
            "return t1\n");
  EXPECT_EQ(parts[1].steps,
            "forward(t1)\n"
            "t1: [A, B]\n"
            "A = 512, B = 384, C = 128\n"
            "m1 = self.blocks[0]\n"
            "m1.fc.weight: [C, B]\n"
            "t2: [A, C] = linear(t1, m1.fc)\n"
            "t3: [A, C] = relu(t2)\n"
            "return t3\n");
  EXPECT_EQ(parts[1].plan, "# t2 linear, t3 relu: t1, m1.fc.weight, m1.fc.bias -> t3\n");
  EXPECT_THAT(parts[2].steps, HasSubstr("forward(t1)\nt1: [A, C]\nA = 512, C = 128\n"
                                        "t2: [C, A] = transpose(t1, -2, -1)\n"))
      << "what stands between what a kernel reads and its step";
  EXPECT_THAT(parts[2].plan, HasSubstr("-> a3\n# t3 softmax: t1, a3 -> t3\n"))
      << "kernels of one step stay together";
  EXPECT_THAT(parts[3].steps, HasSubstr("forward(scale, t1)\nt1: [A, C]\n"));
}

// A part of a long task looks like a part of a short one.
TEST(StepParts, NumberTheirStepsFromOne) {
  const auto parts = PartsOf(
      "forward(x, t2)\nx: [A]\nm41 = self.h[20].attn\nm43 = self.h[21].attn\n"
      "t1: [A] = exp(x)\nt433: [A] = linear(t1, m43.t1)\nt434: [A] = t433 + t2\nreturn t434\n",
      "# t1 exp: x -> t1\n# t433 linear, t434 +: t1, m43.t1.weight, t2 -> t434, a433\n", 1);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[1].steps,
            "forward(t2, t1)\nt1: [A]\nm1 = self.h[21].attn\nt3: [A] = linear(t1, m1.t1)\n"
            "t4: [A] = t3 + t2\nreturn t4\n");
  EXPECT_EQ(parts[1].plan, "# t3 linear, t4 +: t1, m1.t1.weight, t2 -> t4, a3\n");
  EXPECT_EQ(NamedAsWhole("# t3 +: t1\nt3 = f(t1, m1.t1, t2, a3, t7)  # t5\n", parts[1]),
            "# t433 +: t1\nt433 = f(t1, m43.t1, t2, a433, t7_)  # t5_\n")
      << "a step that the part does not have is none of the whole";
}

// Parts are as large as they may be, and follow each other.
TEST(StepParts, TakeStepsInOrder) {
  const std::string plan =
      "# t2 *: t1 -> t2\n# t4 exp, t7 []: t3 -> t7\n# t8 *, t9 cos, t10 sin: t6, t7 -> t9, t10\n"
      "# t14 group_norm: x -> a14\n# also t19 group_norm: t18 -> a19\n"
      "# t14 group_norm, t15 silu: a14, self.n.weight -> t15\n"
      "# also t19 group_norm, t20 silu: a19, self.m.weight -> t20\n# t18 +: t16, t17 -> t18\n";
  std::vector<std::string> plans;
  for (const StepPart& part : PartsOf("forward(x)\nreturn t20\n", plan, 6))
    plans.push_back(part.plan);
  EXPECT_THAT(plans, ElementsAre("# t2 *: t1 -> t2\n# t4 exp, t6 []: t3 -> t6\n"
                                 "# t7 *, t8 cos, t9 sin: t5, t6 -> t8, t9\n",
                                 "# t1 group_norm: x -> a1\n# also t6 group_norm: t5 -> a6\n"
                                 "# t1 group_norm, t2 silu: a1, self.n.weight -> t2\n"
                                 "# also t6 group_norm, t7 silu: a6, self.m.weight -> t7\n"
                                 "# t5 +: t3, t4 -> t5\n"));
}

// Digits behind a name need not be a step's number.
TEST(StepParts, InputsWithManyDigits) {
  const auto parts = PartsOf(
      "forward(x123456789012, y)\nt1: [A] = exp(x123456789012)\nt2: [A] = t1 + y\nreturn t2\n",
      "# t1 exp: x123456789012 -> t1\n# t2 +: t1, y -> t2\n", 1);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_THAT(parts[0].steps, HasSubstr("forward(x123456789012)\n"));
}

// A kernel that takes an early and a late step runs in front of what needs the early one.
TEST(StepParts, StandBehindWhatTheyNeed) {
  const std::string steps =
      "forward(pair)\nx = pair[0]\nx: [A]\nA = 8\nself.w: [A]\nt1: [A] = relu(self.w)\n"
      "t2: [A] = exp(x)\nt3: [A] = sort(t2)\nt4: [A] = sin(t3)\nt5: [A] = t2 + t1\n"
      "return (t4, t5)\n";
  const std::string plan =
      "# t4 sin: t3 -> t4\n# t2 exp, t5 +: x, t1 -> t2, t5\n# t1 relu: self.w -> t1\n";
  const auto parts = PartsOf(steps, plan, 1);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_THAT(parts[0].steps, HasSubstr("forward()\nA = 8\nself.w: [A]\nt1"));
  EXPECT_THAT(parts[1].steps, HasSubstr("forward(x, t1)\nx: [A]\nt1: [A]\nA = 8\nt2"));
  EXPECT_THAT(parts[2].plan, HasSubstr("# t2 sin: t1 -> t2"));
  EXPECT_THAT(CodeOfPart("# t4 sin: t3 -> t4\n@kernel\ndef f(x, o):\n    st(o, sin(ld(x)))\n\n"
                         "# t2\n@kernel\ndef g(x, o):\n    st(o, ld(x))\n\n"
                         "# t1 relu: self.w -> t1\n@kernel\ndef h(x, o):\n    st(o, ld(x))\n\n"
                         "t1 = x.new_empty((A,))\nh[A](self.w, t1)\n\n\n"
                         "class ModelNew(Model):\n    def forward(self, x):\n        ...\n",
                         parts[0]),
              HasSubstr("t1 = torch.empty_like(self.w)\nh[A](self.w, t1)\n"));
}

TEST(StepParts, OneReplyWillDo) {
  EXPECT_THAT(PartsOf(kSteps, kPlan, 6), IsEmpty());
  EXPECT_THAT(PartsOf(kSteps, kPlan, 5), SizeIs(2));
  EXPECT_THAT(PartsOf(kSteps, "", 2), IsEmpty());
  EXPECT_THAT(PartsOf(kSteps, kPlan, 0), IsEmpty());
  std::string in_place = kSteps;
  in_place.insert(in_place.find("t4"), "t3.add_(x)\n");
  EXPECT_THAT(PartsOf(in_place, kPlan, 2), IsEmpty());
}

TEST(StepParts, CodeOfAllPartsIsTheWholeCode) {
  for (const size_t most : {1U, 2U, 3U, 5U}) {
    std::vector<std::string> codes;
    for (const StepPart& part : PartsOf(kSteps, kPlan, most))
      codes.push_back(NamedAsWhole(CodeOfPart(kCode, part), part));
    std::string joined = JoinParts(codes).code;
    // Memory is made like a tensor that the part shows.
    for (const auto& [shown, whole] : std::vector<std::pair<std::string, std::string>>{
             {"t1.new_empty", "x.new_empty"},
             {"t3.new_empty((A, B))", "torch.empty_like(x)"},
             {"t3.new_empty", "x.new_empty"}})
      for (size_t at; (at = joined.find(shown)) != std::string::npos;)
        joined.replace(at, shown.size(), whole);
    EXPECT_EQ(joined.substr(0, joined.find("class ")),
              std::string(kCode).substr(0, std::string(kCode).find("class ")))
        << most;
    EXPECT_THAT(joined, HasSubstr("\n    @replay\n    def forward(self, x"));
  }
  const auto parts = PartsOf(kSteps, kPlan, 2);
  const std::string code = CodeOfPart(kCode, parts[1]);
  EXPECT_EQ(code, R"(# t2 linear, t3 relu: t1, m1.fc.weight, m1.fc.bias -> t3
@kernel
def f1(x, y, z, o, R, C, K):
    st(o, ld(x))

t3 = t1.new_empty((A, C))
f1[cdiv(A, 64)](t1, m1.fc.weight, m1.fc.bias, t3, A, C, B)


class ModelNew(Model):
    @replay
    def forward(self, t1):
        ...
)");
}

// A kernel that is used again stands in both parts, and twice in what is joined.
TEST(StepParts, FurtherUsesOfAKernel) {
  const std::string steps =
      "forward(x)\nx: [A]\nA = 8\nt1: [A] = exp(x)\nt2: [A] = exp(t1)\nt3: [A] = exp(t2)\n"
      "return t3\n";
  // Steps have their names in the kernel.
  const std::string plan = "# t1 exp: x -> t1\n# also t2 exp: t1 -> t2\n# also t3 exp: t2 -> t3\n";
  const std::string code = plan +
                           "@kernel\ndef f(x, o, N):\n    t1 = exp(ld(x))\n    st(o, t1)\n\n"
                           "t1 = torch.empty_like(x)\nf[A](x, t1, A)\n\n"
                           "t2 = torch.empty_like(x)\nf[A](t1, t2, A)\n\n"
                           "t3 = torch.empty_like(x)\nf[A](t2, t3, A)\n\n\n"
                           "class ModelNew(Model):\n    def forward(self, x):\n        ...\n";
  const auto parts = PartsOf(steps, plan, 2);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[0].plan, "# t1 exp: x -> t1\n# also t2 exp: t1 -> t2\n");
  EXPECT_EQ(parts[1].plan, "# t2 exp: t1 -> t2\n");
  const std::string second = CodeOfPart(code, parts[1]);
  EXPECT_THAT(second, HasSubstr("# t2 exp: t1 -> t2\n@kernel\ndef f(x, o, N):\n    t2 = exp("));
  EXPECT_THAT(second, HasSubstr("t2 = torch.empty_like(t1)\nf[A](t1, t2, A)\n"));
  EXPECT_THAT(second, Not(HasSubstr("t1 = ")));
  const std::string joined =
      JoinParts({CodeOfPart(code, parts[0]), NamedAsWhole(second, parts[1])}).code;
  EXPECT_THAT(joined, HasSubstr("t2 = torch.empty_like(x)\nf[A](t1, t2, A)\n"));
  EXPECT_THAT(joined, HasSubstr("def f_2(x, o, N):\n    t3 = exp("));
  EXPECT_THAT(joined, HasSubstr("t3 = torch.empty_like(t2)\nf_2[A](t2, t3, A)\n"));
}

// Two parts name kernels and constants alike.
TEST(StepParts, NamesThatTwoPartsHave) {
  const std::string tail = "\n\nclass ModelNew(Model):\n    def forward(self, x):\n        ...\n";
  const auto kernel = [&](const char* op, const char* size, const char* in, const char* out) {
    return fmt::format(
        "@kernel\ndef f1(x, o):\n    st(o, ld(x) {0} B)\n\nB = {1}\n{3} = x.new_empty(A)\n"
        "f1[A]({2}, {3})\n{4}",
        op, size, in, out, tail);
  };
  const auto [joined, kernels] =
      JoinParts({kernel("+", "3", "x", "t1"), kernel("*", "4", "t1", "t2")});
  EXPECT_THAT(joined, HasSubstr("def f1_2(x, o):\n    st(o, ld(x) * B_2)\n"));
  EXPECT_THAT(joined, HasSubstr("B_2 = 4\nt2 = x.new_empty(A)\nf1_2[A](t1, t2)\n"));
  EXPECT_THAT(joined, HasSubstr("f1[A](x, t1)\n"));
  EXPECT_THAT(kernels, ElementsAre(ElementsAre("f1"), ElementsAre("f1_2")));
}

}  // namespace
}  // namespace davinci::agent
