#include "davinci/teacher/semantics/steps.h"

#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

TEST(Steps, EachCallHasALine) {
  EXPECT_EQ(StepsOf("class ModelNew(Model):\n"
                    "    def forward(self, x, mask=None):\n"
                    "        y = F.relu(self.conv(x) + 1.0) * self.scale\n"
                    "        return torch.cat([y, -x], dim=1)\n"),
            "forward(x, mask=None):\n"
            "t1 = self.conv(x)\n"
            "t2 = t1 + 1.0\n"
            "t3 = F.relu(t2)\n"
            "t4 = t3 * self.scale\n"
            "t5 = -x\n"
            "t6 = torch.cat((t4, t5), dim=1)\n"
            "return t6\n");
}

TEST(Steps, SizesAndNumbersStay) {
  EXPECT_EQ(
      StepsOf("def forward(self, x):\n"
              "    A, B = x.shape\n"
              "    return x.reshape(A, -1, (B - 1) // 2).mean(dim=(0, 1)) / x.size(0) ** 0.5\n"),
      "forward(x):\n"
      "A, B = x.shape\n"
      "t1 = x.reshape(A, -1, (B - 1) // 2)\n"
      "t2 = t1.mean(dim=(0, 1))\n"
      "t3 = t2 / x.size(0) ** 0.5\n"
      "return t3\n");
}

TEST(Steps, ResultsHaveNamesInOrder) {
  EXPECT_EQ(StepsOf("def forward(self, t2):\n"
                    "    left, right = t2.chunk(2, 1)\n"
                    "    same = right\n"
                    "    out = self.blocks[0].gru(left * same)[0]\n"
                    "    return {\"out\": out, \"right\": right}\n"),
            "forward(t2):\n"
            "t1, t3 = t2.chunk(2, 1)\n"
            "t4 = t1 * t3\n"
            "t5 = self.blocks[0].gru(t4)\n"
            "t6 = t5[0]\n"
            "return {\"out\": t6, \"right\": t3}\n");
}

TEST(Steps, SlicesKeepTheirForm) {
  EXPECT_EQ(StepsOf("def forward(self, x):\n"
                    "    return x[:, 1:, ::2] - x[..., None][:, :-1].sum(\n"
                    "        -1)\n"),
            "forward(x):\n"
            "t1 = x[:, 1:, ::2]\n"
            "t2 = x[..., None]\n"
            "t3 = t2[:, :-1]\n"
            "t4 = t3.sum(-1)\n"
            "t5 = t1 - t4\n"
            "return t5\n");
}

}  // namespace
}  // namespace davinci::teacher
