#include "davinci/skill/reference_query.h"

#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

TEST(ReferenceQuery, IsTheOperatorsOfTheReferenceWithoutTheLayout) {
  EXPECT_EQ(QueryFromReference(R"py(
"""Softmax of a linear layer; words of this text do not count."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, WIDTH = 128, 4096  # sizes

class Model(nn.Module):
    """Args: nothing."""
    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        scores = self.linear(x) @ x.transpose(-1, -2)  # matmul by symbol
        return F.log_softmax(scores ** 2, dim=-1)

def get_inputs():
    return [torch.rand(BATCH, WIDTH)]

def get_init_inputs():
    return [WIDTH]
)py"),
            "width linear Linear x scores matmul transpose F log_softmax pow dim");
}

TEST(ReferenceQuery, WhatFollowsTheInputFunctionsCountsAgain) {
  EXPECT_EQ(QueryFromReference("def get_inputs():\n    return [\n        torch.randn(3)\n    ]\n\n"
                               "def normalize(x):\n    return x.cumsum(0)\n"),
            "normalize x cumsum");
}

TEST(ReferenceQuery, DecoratorsAndKeywordArgumentsAreNoOperators) {
  EXPECT_EQ(QueryFromReference("@cached\ndef f(*args, **kwargs):\n  return g(**kwargs)\n"),
            "cached f args kwargs g");
}

TEST(ReferenceQuery, TextInQuotesNeverCounts) {
  EXPECT_EQ(QueryFromReference("y = f('it\\'s', \"a # b\", '''c\nd''')  # e\nz.g(y)\n"), "z g y");
}

TEST(ReferenceQuery, AnyTextIsAccepted) {
  EXPECT_EQ(QueryFromReference(""), "");
  EXPECT_EQ(QueryFromReference("'never closed\nsoftmax"), "never closed softmax");
  EXPECT_EQ(QueryFromReference("\"\"\"never closed softmax"), "never closed softmax");
  EXPECT_EQ(QueryFromReference("'ends on a backslash\\"), "ends on a backslash");
}

}  // namespace
}  // namespace davinci::skill
