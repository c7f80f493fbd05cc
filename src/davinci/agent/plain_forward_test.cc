#include "davinci/agent/plain_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

PlainForward Plain() {
  return {
      "class ModelNew(Model):\n"
      "    def forward(self, x, batch):\n"
      "        y = batch['y']\n"
      "        m1 = self.layers[0]\n"
      "        t1 = m1(x)\n"
      "        A, B = x.shape\n"
      "        t2 = t1.reshape(A, B // 2, 2)\n"
      "        t3 = t2.transpose(1, 2)\n"
      "        t4 = torch.relu(t3)\n"
      "        t5 = F.softmax(t4, dim=-1)\n"
      "        return t5, y\n",
      {{"A", "x.shape[0]"}, {"B", "x.shape[1]"}, {"C", "x.shape[1] // 2"}}};
}

std::string WithForward(const std::string& body) {
  return "@kernel\ndef f1(x, o, N):\n    pass\n\n\n"
         "class ModelNew(Model):\n    def forward(self, x, batch):\n" +
         body;
}

TEST(FilledIn, WhatIsReadIsMadeInFrontOfItsFirstUse) {
  EXPECT_EQ(FilledIn(Plain(), WithForward("        t4 = x.new_empty((A, 2, C))\n"
                                          "        f1[cdiv(A, 8)](t3, t4, C)\n")),
            WithForward("        A = x.shape[0]\n"
                        "        C = x.shape[1] // 2\n"
                        "        t4 = x.new_empty((A, 2, C))\n"
                        "        m1 = self.layers[0]\n"
                        "        t1 = m1(x)\n"
                        "        B = x.shape[1]\n"
                        "        t2 = t1.reshape(A, B // 2, 2)\n"
                        "        t3 = t2.transpose(1, 2)\n"
                        "        t3 = t3.contiguous()\n"
                        "        f1[cdiv(A, 8)](t3, t4, C)\n"
                        "        t5 = F.softmax(t4, dim=-1)\n"
                        "        y = batch['y']\n"
                        "        return t5, y\n"));
}

TEST(FilledIn, LinesBehindKernelsAreForwards) {
  const std::string kernels = "@kernel\ndef f1(x, o, N):\n    pass\n";
  const std::string rest = "\n\nBLOCK = 64\n\n\n";
  const std::string head =
      "class ModelNew(Model):\n    @replay\n    def forward(self, x, batch):\n";
  EXPECT_EQ(FilledIn(Plain(),
                     kernels + "\nt4 = x.new_empty((A, 2, C))\nf1[(\n    cdiv(A, 8),)](x, t4)\n" +
                         rest + head + "        ...\n"),
            kernels + "\n" + rest + head +
                "        A = x.shape[0]\n"
                "        C = x.shape[1] // 2\n"
                "        t4 = x.new_empty((A, 2, C))\n"
                "        f1[(\n"
                "            cdiv(A, 8),)](x, t4)\n"
                "        t5 = F.softmax(t4, dim=-1)\n"
                "        y = batch['y']\n"
                "        return t5, y\n");
}

TEST(FilledIn, InputsOfKernelsAreContiguous) {
  PlainForward plain = Plain();
  plain.inputs = {"x"};
  const std::string launch = "        t5 = torch.empty_like(x)\n        f1(x, batch, t5)\n";
  EXPECT_THAT(FilledIn(plain, WithForward(launch)),
              HasSubstr("        x = x.contiguous()\n        t5 = torch.empty_like(x)\n"
                        "        f1(x, batch, t5)\n"));
  const std::string whole = WithForward(launch + "        return t5\n");
  EXPECT_EQ(FilledIn(plain, whole), whole);
}

TEST(FilledIn, TheReplysOwnLinesWin) {
  const std::string whole = WithForward(
      "        t1 = torch.empty_like(x)\n"
      "        f1(x, t1)\n"
      "        A = 7\n"
      "        for t3 in range(A):\n"
      "            t5 = t3\n"
      "        return t5, t1\n");
  EXPECT_EQ(FilledIn(Plain(), whole), whole);
}

TEST(FilledIn, WithoutAReturnTheModulesLinesWin) {
  EXPECT_EQ(FilledIn(Plain(), WithForward("        A = x.shape\n"
                                          "        t1 = torch.expand(x)\n"
                                          "        t2 = x.new_empty((A, A))\n"
                                          "        a2 = x.new_empty((A, 2))\n"
                                          "        t5 = x.new_empty((A, 2))\n"
                                          "        f1(t1, t5, A)\n")),
            WithForward("        A = x.shape[0]\n"
                        "        a2 = x.new_empty((A, 2))\n"
                        "        t5 = x.new_empty((A, 2))\n"
                        "        m1 = self.layers[0]\n"
                        "        t1 = m1(x)\n"
                        "        t1 = t1.contiguous()\n"
                        "        f1(t1, t5, A)\n"
                        "        y = batch['y']\n"
                        "        return t5, y\n"));
}

TEST(FilledIn, AttributesKeywordsAndTextsAreNoNames) {
  const std::string filled =
      FilledIn(Plain(), WithForward("        return self.t1(x.t2, t3=2, u='t4')  # t5\n"));
  EXPECT_EQ(filled, WithForward("        return self.t1(x.t2, t3=2, u='t4')  # t5\n"));
}

TEST(FilledIn, AReturnWithinABlockIsTheReplysOwn) {
  const std::string whole = WithForward("        if x.is_cuda:\n            return t1\n");
  EXPECT_EQ(FilledIn(Plain(), whole),
            WithForward("        m1 = self.layers[0]\n        t1 = m1(x)\n"
                        "        if x.is_cuda:\n            return t1\n"));
}

TEST(FilledIn, TheLastForwardIsTheCandidates) {
  const std::string helper =
      "class Part(nn.Module):\n    def forward(self, t1):\n        return t1\n\n\n";
  const std::string filled = FilledIn(Plain(), helper + WithForward("        f1(x, t1)\n"));
  EXPECT_TRUE(filled.starts_with(helper)) << filled;
  EXPECT_TRUE(filled.ends_with("        return t5, y\n")) << filled;
}

TEST(FilledIn, LinesOfOneStatementStayTogether) {
  const std::string filled = FilledIn(Plain(), WithForward("        f1(\n"
                                                           "            t1,\n"
                                                           "    B)\n"
                                                           "        return t4\n"));
  EXPECT_THAT(filled, HasSubstr("        B = x.shape[1]\n"
                                "        t1 = t1.contiguous()\n"
                                "        f1(\n"));
  EXPECT_THAT(filled, HasSubstr("        t4 = torch.relu(t3)\n        return t4\n"));
}

TEST(FilledIn, WhatFollowsTheClassStays) {
  const std::string tail = "\n\ndef helper(t1):\n    return t1\n";
  const std::string filled = FilledIn(Plain(), WithForward("        f1(x, t1)\n") + tail);
  EXPECT_TRUE(filled.ends_with("        return t5, y\n" + tail)) << filled;
}

// The plain forward may call functions that the prelude does not have.
TEST(FilledIn, FunctionsOfThePlainForwardStand) {
  PlainForward plain = Plain();
  const std::string function = "def changed(t):\n    return t\n\n\n";
  plain.code = function + plain.code;
  const std::string without = FilledIn(Plain(), WithForward("        f1(x, t1)\n"));
  EXPECT_EQ(FilledIn(plain, WithForward("        f1(x, t1)\n")), without);
  const size_t call = plain.code.find("torch.relu(t3)");
  ASSERT_NE(call, std::string::npos);
  plain.code.replace(call, std::string("torch.relu(t3)").size(), "changed(t3)");
  const std::string filled = FilledIn(plain, WithForward("        f1(x, t1)\n"));
  EXPECT_TRUE(filled.starts_with(function)) << filled;
  EXPECT_THAT(filled, HasSubstr("        t4 = changed(t3)\n"));
  // The reply's own one is the one.
  const std::string own = "def changed(t):\n    return t + 1\n\n\n";
  EXPECT_TRUE(FilledIn(plain, own + WithForward("        f1(x, t1)\n")).starts_with(own));
}

TEST(FilledIn, NumbersOfOneShapeServeThatShapeAlone) {
  PlainForward plain = Plain();
  plain.one_shape = "if not (x.shape == (4, 8)): return super().forward(x, batch)";
  const std::string kernels = "@kernel\ndef f1(x, o, N):\n    pass\n\n\n";
  const std::string launch = "        t4 = torch.empty_like(x)\n        f1(x, t4)\n";
  const std::string head = "class ModelNew(Model):\n    def forward(self, x, batch):\n";
  EXPECT_THAT(
      FilledIn(plain, kernels + head + launch),
      HasSubstr(head + "        if not (x.shape == (4, 8)): return super().forward(x, batch)\n"
                       "        t4 = torch.empty_like(x)\n"));
}

// A batch norm that is a function of its statistics has a line that counts.
TEST(FilledIn, BatchesAreCountedOnce) {
  const std::string first = "m1[0].num_batches_tracked.add_(1)\n";
  const std::string second = "self.layers[1].num_batches_tracked.add_(1)\n";
  PlainForward plain = Plain();
  const size_t end = plain.code.find("        return");
  ASSERT_NE(end, std::string::npos);
  plain.code.insert(end, "        " + first + "        " + second);
  const std::string both = FilledIn(plain, WithForward("        f1(x, t1)\n"));
  for (const std::string& count : {first, second})
    EXPECT_NE(both.find("\n        " + count), std::string::npos) << both;
  EXPECT_EQ(FilledIn(plain, WithForward("        f1(x, t1)\n        " + second)), both);
  // Those of a module's call count by themselves; a kernel's line is the reply's.
  EXPECT_THAT(FilledIn(Plain(), WithForward("        f1(x, t1)\n        " + second)),
              HasSubstr("        " + second));
}

TEST(FilledIn, CodeWithoutAForwardStays) {
  EXPECT_EQ(FilledIn(Plain(), "x = 1\n"), "x = 1\n");
  EXPECT_EQ(FilledIn(Plain(), "class ModelNew(Model):\n    def forward(self, x"),
            "class ModelNew(Model):\n    def forward(self, x");
  EXPECT_EQ(FilledIn({}, WithForward("        f1(t1)\n")), WithForward("        f1(t1)\n"));
}

TEST(WithoutPlainLines, KernelsAndTheirTensorsStay) {
  EXPECT_THAT(WithoutPlainLines({"A, B, _ = x.shape", "m1 = self.fc", "t1 = m1(x).contiguous()",
                                 "t2 = torch.empty_like(x)", "a2 = t1.view(A, -1)",
                                 "f1[A * B](t1, a2, t2, m1.weight)", "b2 = a2 + 1",
                                 "t3 = t2.transpose(0, 1)", "return t3"},
                                {"A", "B", "m1", "t1", "t2", "t3"}, {"t2"}),
              ElementsAre("t2 = torch.empty_like(x)", "a2 = t1.view(A, -1)",
                          "f1[A * B](t1, a2, t2, m1.weight)"));
}

TEST(WithoutPlainLines, AForwardThatChangesSomethingStaysWhole) {
  for (const char* line : {"self.count.add_(1)", "t1 = t1.mul_(2)"}) {
    const std::vector<std::string> lines = {"A, B = x.shape", "t1 = self.fc(x)", line, "f1(t1)",
                                            "return t1"};
    EXPECT_EQ(WithoutPlainLines(lines, {"A", "B", "t1"}, {}), lines) << line;
  }
  const std::vector<std::string> lines = {"t1 = self.fc(x)", "f1(t1, self.mean)", "return t1"};
  EXPECT_EQ(WithoutPlainLines(lines, {"t1"}, {"self.mean"}), lines);
}

}  // namespace
}  // namespace davinci::agent
