#include "davinci/agent/sound_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/agent/plain_forward.h"

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PlainForward Module() {
  return {
      "class ModelNew(Model):\n"
      "    def forward(self, x, mask):\n"
      "        t1 = self.fc(x)\n"
      "        t2 = torch.relu(t1)\n"
      "        t3 = m1.norm(t2)\n"
      "        t4 = t3 + 1\n"
      "        t5 = F.softmax(t4, dim=-1)\n"
      "        return t5\n",
      {{"A", "x.shape[0]"}, {"B", "x.shape[1]"}, {"m1", "self.layers[0]"}},
      {"x", "mask"}};
}

constexpr std::string_view kLines =
    "    i = ids(1024)\n    inside = i < N\n    v = ld(x + i, inside)\n";

// An elementwise kernel with `line` in it.
std::string KernelOf(const std::string& name, const std::string& line = "    v = v * 2.0\n",
                     const std::string& parameters = "x, o, N") {
  return fmt::format("# steps of {0}\n@kernel\ndef {0}({1}):\n{2}{3}    st(o + i, v, inside)\n\n",
                     name, parameters, kLines, line);
}

// A kernel that works, for t5.
const std::string kGood = KernelOf("good") + "t5 = torch.empty_like(x)\ngood(t4, t5)\n\n\n";

std::string Class(const std::string& decorator = "") {
  return "class ModelNew(Model):\n" + decorator + "    def forward(self, x, mask):\n        ...\n";
}

struct Made : SoundKernels {
  std::string file;
};

Made Fill(const std::string& code, const std::vector<LeftOut>& wrong = {}) {
  const KnownNames known = {{"ids", "rows", "cols", "ld", "st", "tl", "torch", "F", "cdiv",
                             "kernel", "replay", "pow2", "dot_nt", "with_bias"},
                            {"GROUPS"}};
  Made made;
  made.file = FilledIn(Module(), known, code, &made, wrong);
  return made;
}

// The kernel "bad" with its launch, in front of one that works.
Made FillBad(const std::string& bad, const std::string& launch) {
  return Fill(bad + launch + "\n\n" + kGood + Class());
}

MATCHER_P(LeavesOut, why, "") {
  *result_listener << arg.file << LeftOutText(arg.left_out);
  return arg.left_out == std::vector<LeftOut>{{"bad", why}} &&
         arg.file == FilledIn(Module(), kGood + Class());
}

MATCHER(LeavesNothingOut, "") {
  *result_listener << arg.file << LeftOutText(arg.left_out);
  return arg.left_out.empty();
}

constexpr char kLaunch[] = "t2 = torch.empty_like(x)\nbad(t1, t2)\n";

TEST(SoundKernels, ARightReplyStaysAsItIs) {
  const std::string code =
      "import math\n\nBLOCK = 64\n\n\n"
      "# t1 linear: x -> t1\n@kernel\n"
      "def dot(x, y, z, o, R, C, K):\n"
      "    row, col, total = dot_nt(\n        x, y,\n        R, C, K, 64, 32, 32,\n    )\n"
      "    total = with_bias(total, z, col, col < C)\n"
      "    for start in range(0, K, BLOCK):\n"
      "        k = start + tl.arange(0, 32)[:, None]\n"
      "        total += -k if K > 3 else ~k\n"
      "    if C > 4 and not R == 2:\n        total = total[:, None]\n"
      "    else: total = total * (1e-05 - 2.0) ** -1\n"
      "    p = o + row * C\n"
      "    p += col\n"
      "    st(p, total, (row < R) & (col < C))  # it's (all\n\n"
      "t1 = x.new_empty((A, B))\n"
      "dot[(cdiv(A, 64) * GROUPS,)](x, self.fc.weight, self.fc.bias, t1, A, K=B, C=B, "
      "num_warps=8)\n"
      "a2 = t1.view(A, -1)\n\n\n" +
      KernelOf("f2") + "t2 = torch.empty_like(a2)\nf2(a2, t2)\n\n" +
      "t3 = torch.empty_like(x)\nf2[A](t2, t3, x.shape[0] * B)\n" +
      "d3 = torch.empty_like(x)\nf2(m1.norm.weight, d3)\n\n\n" + kGood + Class("    @replay\n");
  const Made made = Fill(code);
  EXPECT_THAT(made, LeavesNothingOut());
  EXPECT_EQ(made.file, FilledIn(Module(), code));
}

TEST(SoundKernels, WhatIsNoPythonIsLeftOut) {
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"v = v)", "brackets do not match in \"v = v)\""},
           {"v = (v]", "brackets do not match in \"v = (v]\""},
           {"v = ld(x + i, inside", "a bracket is not closed in \"v = ld(x + i, inside\""},
           {"v = \"v", "a text has no end in \"v = \"v\""},
           {"v = v ? v", "a character of no Python in \"v = v ? v\""},
           {"v = ld(x i, inside)", "\"v = ld(x i, inside)\" is no Python"},
           {"v = 3x", "\"v = 3x\" is no Python"},
           {"v = v *", "\"v = v *\" is no Python"},
           {"v = (v +) * 2", "\"v = (v +) * 2\" is no Python"},
           {"v = ld(, inside)", "\"v = ld(, inside)\" is no Python"},
           {"v = v / * 2", "\"v = v / * 2\" is no Python"},
           {"v = v if v", "\"v = v if v\" is no Python"},
           {"v + 1 = v", "\"v + 1 = v\" is no Python"},
           {"v = tl.where(other=v, v)", "\"v = tl.where(other=v, v)\" is no Python"},
           {"v = lambda, v", "\"v = lambda, v\" is no Python"},
           {"else: v = v", "\"else: v = v\" is no Python"},
           {"if v: v = v\n       v = v", "wrong indentation of \"v = v\""},
           {"if v:\n    v = v", "wrong indentation of \"v = v\""}})
    EXPECT_THAT(FillBad(KernelOf("bad", "    " + line + "\n"), kLaunch), LeavesOut(why)) << line;
  EXPECT_THAT(FillBad(KernelOf("bad", "", "x, o, x, N"), kLaunch),
              LeavesOut("it has the parameter x twice"));
  EXPECT_THAT(FillBad(KernelOf("bad", "", "x, o N"), kLaunch),
              LeavesOut("\"def bad(x, o N):\" is no Python"));
}

TEST(SoundKernels, WhatReadsAnUnknownNameIsLeftOut) {
  EXPECT_THAT(FillBad(KernelOf("bad", "    v = v * t9\n"), kLaunch),
              LeavesOut("t9 is not defined"));
  EXPECT_THAT(FillBad(KernelOf("bad", "    v = v * u\n    u = v\n"), kLaunch),
              LeavesOut("u is not defined"));
  // Triton sees no globals of the task's file.
  EXPECT_THAT(FillBad(KernelOf("bad", "    v = v * GROUPS\n"), kLaunch),
              LeavesOut("GROUPS is not defined"));
}

TEST(SoundKernels, WhatStoresNothingIsLeftOut) {
  EXPECT_THAT(FillBad("@kernel\ndef bad(x, o, N):\n    v = ld(x, N)\n", kLaunch),
              LeavesOut("it stores nothing"));
  EXPECT_THAT(FillBad("@kernel\ndef bad(x, o, N):\n    i = ids(4)\n    st(i, 1, i < N)\n", kLaunch),
              LeavesOut("it stores nothing"));
}

TEST(SoundKernels, ALaunchGivesAllArguments) {
  const std::string memory = "t2 = torch.empty_like(x)\n";
  for (const auto& [launch, why] : std::vector<std::pair<std::string, std::string>>{
           {"bad(t1)", "a launch does not give N"},
           {"bad(t1, t2, A)", "a launch gives 4 arguments with the number of elements, it takes 3"},
           {"bad[A](t1, t2)", "a launch does not give N"},
           {"bad[A](t1, t2, A, B)", "a launch gives 4 arguments, it takes 3"},
           {"bad[A](t1, t2, x=t1)", "a launch gives x twice"},
           {"bad(t1, t2, num_warps=4)", "a launch without a grid takes no keywords"}})
    EXPECT_THAT(FillBad(KernelOf("bad"), memory + launch + "\n"), LeavesOut(why)) << launch;
  for (const char* launch : {"bad[A](t1, N=A, o=t2)", "bad[A](t1, t2, *x.shape)"})
    EXPECT_THAT(FillBad(KernelOf("bad"), memory + launch + "\n"), LeavesNothingOut()) << launch;
}

TEST(SoundKernels, ALaunchNamesWhatIsThere) {
  const std::string memory = "t2 = torch.empty_like(x)\n";
  for (const auto& [launch, why] : std::vector<std::pair<std::string, std::string>>{
           {"bad(t9, t2)", "t9 is not defined"},
           {"bad[Q](t1, t2, A)", "Q is not defined"},
           {"bad(a7, t2)\na7 = t1 * 2", "a7 is not defined"},
           {"bad(self.fcs.weight, t2)", "there is no self.fcs.weight"},
           {"bad(self.scale, t2)", "there is no self.scale"},
           {"bad(m1.norm2.bias, t2)", "there is no m1.norm2.bias"},
           {"bad(t1 t2)", "\"bad(t1 t2)\" is no Python"}})
    EXPECT_EQ(FillBad(KernelOf("bad"), memory + launch + "\n").left_out,
              (std::vector<LeftOut>{{"bad", why}}))
        << launch;
  for (const char* launch :
       {"bad(self.fc.weight.t(), t2)", "bad(self.layers[0].norm.running_mean, t2)",
        "bad[A](t1, t2, self.fc.weight.shape[0])", "bad[GROUPS](t1, t2, max(A, B))"})
    EXPECT_THAT(FillBad(KernelOf("bad"), memory + launch + "\n"), LeavesNothingOut()) << launch;
}

TEST(SoundKernels, ALaunchThatDoesNotEndTakesNoKernelWithIt) {
  const Made made = FillBad(KernelOf("bad"), "t2 = torch.empty_like(x)\nbad(t1, (t2\n");
  EXPECT_THAT(made.left_out,
              ElementsAre(LeftOut{"bad", "a bracket is not closed in \"bad(t1, (t2\""}));
  EXPECT_THAT(made.file, HasSubstr("        good(t4, t5)\n"));
}

TEST(SoundKernels, ReadersOfWhatIsLeftOutGoToo) {
  const std::string bad = KernelOf("bad", "    v = w\n");
  const Made made = FillBad(bad + "a2 = torch.empty_like(x)\nbad(t1, a2)\n\n\n" + KernelOf("next") +
                                "b2 = torch.empty_like(a2)\nnext(a2, b2)\n\n\n",
                            KernelOf("last") + "t2 = torch.empty_like(x)\nlast(b2, t2)\n");
  EXPECT_THAT(made.left_out,
              ElementsAre(LeftOut{"bad", "w is not defined"},
                          LeftOut{"next", "a2 is of bad, which was left out"},
                          LeftOut{"last", "b2 is not there: a2 is of bad, which was left out"}));
  EXPECT_EQ(made.file, FilledIn(Module(), kGood + Class()));
}

TEST(SoundKernels, ReadersOfStepsReadPyTorchs) {
  const Made made =
      FillBad(KernelOf("bad", "    v = w\n") + "t2 = torch.empty_like(x)\nbad(t1, t2)\n\n\n",
              KernelOf("next") + "t3 = torch.empty_like(x)\nnext(t2, t3)\n");
  EXPECT_THAT(made.left_out, ElementsAre(LeftOut{"bad", "w is not defined"}));
  EXPECT_THAT(made.file, HasSubstr("        t3 = torch.empty_like(x)\n"
                                   "        t1 = self.fc(x)\n"
                                   "        t2 = torch.relu(t1)\n"
                                   "        t2 = t2.contiguous()\n"
                                   "        next(t2, t3)\n"));
}

TEST(SoundKernels, AllLaunchesOfAKernelGo) {
  const Made made = FillBad(KernelOf("bad"),
                            "t2 = torch.empty_like(x)\nbad(t1, t2)\n"
                            "t4 = torch.empty_like(x)\nbad(t99, t4)\n");
  EXPECT_THAT(made, LeavesOut("t99 is not defined"));
}

TEST(SoundKernels, WhatCompletesALeftOutKernelsMemoryGoes) {
  const Made made =
      FillBad(KernelOf("bad", "    v = w\n") + kLaunch, KernelOf("rest") + "rest(x, t2)\n");
  EXPECT_THAT(made.left_out,
              ElementsAre(LeftOut{"bad", "w is not defined"},
                          LeftOut{"rest",
                                  "it completes what another kernel writes that was left "
                                  "out"}));
  EXPECT_EQ(made.file, FilledIn(Module(), kGood + Class()));
}

TEST(SoundKernels, ViewsOfWhatIsLeftOutGo) {
  const Made made = FillBad(KernelOf("bad", "    v = w\n"),
                            "a1 = t1.reshape(7, -1)\na2 = a1.t()\n" + std::string(kLaunch));
  EXPECT_THAT(made, LeavesOut("w is not defined"));
}

// A kernel that may be whole without the other one stays where no kernel would be left.
TEST(SoundKernels, WhatMayBeCompleteStaysAlone) {
  const Made made = Fill(kGood.substr(0, kGood.find("\n\n\n")) + "\n\n" +
                         KernelOf("bad", "    v = w\n") + "bad(t4, t5)\n\n\n" + Class());
  EXPECT_THAT(made.left_out, ElementsAre(LeftOut{"bad", "w is not defined"}));
  EXPECT_THAT(made.launched, ElementsAre("good"));
  EXPECT_THAT(made.file, HasSubstr("        good(t4, t5)\n        return t5\n"));
}

TEST(SoundKernels, MemoryOfNothingIsNone) {
  EXPECT_THAT(FillBad(KernelOf("bad"), "t2 = torch.empty_like()\nbad(t1, t2)\n"),
              LeavesOut("t2 has no memory"));
  EXPECT_THAT(FillBad(KernelOf("bad"), "a2 = t9.new_empty((A,))\nbad(t1, a2)\n"),
              LeavesOut("a2 is not there: t9 is not defined"));
  EXPECT_THAT(FillBad(KernelOf("bad"),
                      "a2 = torch.empty_like(x)\n"
                      "t2 = torch.empty_like(x)\nbad(a2, t2)\n"),
              LeavesOut("nothing writes a2"));
}

TEST(SoundKernels, PyTorchCountsBatchesWhereItNorms) {
  const std::string store = "    tl.store(o, v)\n    st(r + i, v, inside)\n";
  const std::string launch =
      "t3 = torch.empty_like(x)\nbad(t2, t3, m1.norm.running_mean)\n"
      "m1.norm.num_batches_tracked.add_(1)\n";
  EXPECT_THAT(FillBad(KernelOf("bad", store + "    v = w\n", "x, o, r, N"), launch),
              LeavesOut("w is not defined"));
  const Made made = FillBad(KernelOf("bad", store, "x, o, r, N"), launch);
  EXPECT_THAT(made, LeavesNothingOut());
  EXPECT_THAT(made.file, HasSubstr("num_batches_tracked"));
}

TEST(SoundKernels, ALineOfNoPythonGoes) {
  const Made made = Fill(kGood + "t5, t5)\n\n\n" + Class());
  EXPECT_THAT(made.left_out, ElementsAre(LeftOut{"", "brackets do not match in \"t5, t5)\""}));
  EXPECT_EQ(made.file, FilledIn(Module(), kGood + "\n\n" + Class()));
}

TEST(SoundKernels, ReplayNeedsTensors) {
  PlainForward plain = Module();
  plain.inputs = {"x"};
  SoundKernels sound;
  const std::string code = kGood + Class("    @replay\n");
  const KnownNames known = {{"ids", "ld", "st", "torch"}, {}};
  EXPECT_EQ(FilledIn(plain, known, code, &sound), FilledIn(plain, kGood + Class()));
  EXPECT_THAT(sound.left_out, ElementsAre(LeftOut{"@replay", "mask is no tensor"}));
}

TEST(SoundKernels, KernelsThatAreKnownToBeWrongGo) {
  const std::string code = KernelOf("bad") + kLaunch + "\n\n" + kGood + Class();
  EXPECT_THAT(Fill(code).launched, ElementsAre("bad", "good"));
  const Made made = Fill(code, {{"bad", "its values differ"}});
  EXPECT_THAT(made, LeavesOut("its values differ"));
  EXPECT_THAT(made.launched, ElementsAre("good"));
  const Made none = Fill(code, {{"bad", ""}, {"good", ""}});
  EXPECT_EQ(none.file, FilledIn(Module(), code));
  EXPECT_THAT(none.launched, IsEmpty());
}

TEST(SoundKernels, WithoutALaunchLeftTheReplyStays) {
  const std::string code = KernelOf("bad", "    v = w\n") + kLaunch + "\n\n" + Class();
  const Made made = Fill(code);
  EXPECT_THAT(made.left_out, IsEmpty());
  EXPECT_EQ(made.file, FilledIn(Module(), code));
}

TEST(SoundKernels, LaunchesInForwardStay) {
  const std::string bad = KernelOf("bad", "    v = w\n") + kGood.substr(0, kGood.find("t5 ="));
  for (const char* body : {"        bad(x, t5)\n        good(x, t5)\n",
                           "        bad(x, x)\n        good(x, x)\n        return x\n"}) {
    const std::string code =
        bad + "class ModelNew(Model):\n    def forward(self, x, mask):\n" + body;
    const Made made = Fill(code);
    EXPECT_THAT(made.left_out, IsEmpty());
    EXPECT_EQ(made.file, FilledIn(Module(), code));
  }
}

TEST(SoundKernels, WhatElseNamesAKernelKeepsIt) {
  const Made made = Fill(KernelOf("bad", "    v = w\n") + kLaunch + "\n\n" + kGood +
                         "class ModelNew(Model):\n    run = bad\n\n"
                         "    def forward(self, x, mask):\n        ...\n");
  EXPECT_THAT(made.left_out, IsEmpty());
}

TEST(LeftOutText, OneSentenceAKernel) {
  EXPECT_EQ(LeftOutText({{"f3", "t10 is not defined"}, {"@replay", "n is no tensor"}}),
            "f3 was left out: t10 is not defined. PyTorch computes its steps.\n"
            "@replay was left out: n is no tensor.");
  EXPECT_THAT(LeftOutText({{"", "\"x y\" is no Python"}}), HasSubstr("A line was left out: "));
  EXPECT_THAT(LeftOutText({}), Not(HasSubstr("out")));
}

}  // namespace
}  // namespace davinci::agent
