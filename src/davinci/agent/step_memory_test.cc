#include "davinci/agent/step_memory.h"

#include <gtest/gtest.h>

namespace davinci::agent {
namespace {

PlainForward NamedTensors() {
  PlainForward plain;
  plain.inputs = {"x"};
  plain.tensors = {{"x", {"", "A, B"}},          {"ids", {"int", "A"}},  {"t1", {"", "A, B * 2"}},
                   {"t2", {"bool", "A, B"}},     {"t3", {"", "A"}},      {"t4", {"", ""}},
                   {"self.w", {"", "B, B * 2"}}, {"t5", {"int", "A, B"}}};
  return plain;
}

std::string Mended(const std::string& line) {
  Forward reply;
  reply.parameters = {"self", "x", "ids", "boxes"};
  Statement statement{line, {}, {}};
  Describe(&statement);
  reply.body = {statement};
  MendStepMemory(NamedTensors(), &reply);
  return reply.body[0].text;
}

TEST(StepMemory, RightOnesStay) {
  for (const char* line :
       {"t1 = x.new_empty((A, B * 2))", "t1 = x.new_empty((A, 2 * B))", "t1 = x.new_empty(A, B*2)",
        "t1 = x.new_empty((8, 2 * B))", "t3 = x.new_empty((A,))", "t4 = x.new_empty(())",
        "t2 = torch.empty_like(x, dtype=torch.bool)", "a1 = x.new_empty((A, 7))",
        "t5 = torch.empty_like(x, dtype=torch.int32)", "t1 = self.fc.weight.new_empty((A, B * 2))",
        "t1 = torch.relu(x)", "t1 = x.new_empty((A, B * 2)).zero_()"})
    EXPECT_EQ(Mended(line), line);
}

TEST(StepMemory, ShapesAreTheSteps) {
  EXPECT_EQ(Mended("t1 = torch.empty_like(x)"), "t1 = x.new_empty((A, B * 2))");
  EXPECT_EQ(Mended("t1 = x.new_empty((A, B))"), "t1 = x.new_empty((A, B * 2))");
  EXPECT_EQ(Mended("t3 = x.new_empty((A, 1))"), "t3 = x.new_empty((A,))");
  EXPECT_EQ(Mended("t4 = torch.empty_like(x)"), "t4 = x.new_empty(())");
  EXPECT_EQ(Mended("t2 = x.new_empty((A,), dtype=torch.bool)"),
            "t2 = x.new_empty((A, B), dtype=torch.bool)");
}

TEST(StepMemory, TypesAreTheSteps) {
  EXPECT_EQ(Mended("t2 = torch.empty_like(x)"), "t2 = x.new_empty((A, B), dtype=torch.bool)");
  EXPECT_EQ(Mended("t5 = x.new_empty((A, B))"), "t5 = x.new_empty((A, B), dtype=torch.int64)");
  EXPECT_EQ(Mended("t5 = x.new_empty((A, B), dtype=torch.float32)"),
            "t5 = x.new_empty((A, B), dtype=torch.int64)");
  // The floating point type is the task's, which a number's name does not say.
  EXPECT_EQ(Mended("t3 = torch.empty_like(ids)"), "t3 = x.new_empty((A,))");
}

TEST(StepMemory, WhatIsNoTensorMakesNoMemory) {
  EXPECT_EQ(Mended("t3 = boxes.new_empty((A,))"), "t3 = x.new_empty((A,))");
  EXPECT_EQ(Mended("t3 = boxes[0].empty_like(t1)"), "t3 = x.new_empty((A,))");
  EXPECT_EQ(Mended("t2 = boxes.new_empty((A, B))"), "t2 = x.new_empty((A, B), dtype=torch.bool)");
}

}  // namespace
}  // namespace davinci::agent
