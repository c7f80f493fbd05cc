#include "davinci/teacher/semantics/exact_divisions.h"

#include <gtest/gtest.h>

#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {
namespace {

class ExactDivisions : public ::testing::Test {
 protected:
  Id Leaf(const char* name) {
    TensorValue value;
    value.text = name;
    return program_.Add(value);
  }
  Id Point(const char* name, std::vector<Id> operands) {
    TensorValue value;
    value.kind = TensorValue::Kind::kPoint;
    value.primitive = &tables_->primitives.at(name);
    value.operands = std::move(operands);
    return program_.Add(value);
  }
  Id Opaque(const char* text, std::vector<Id> operands) {
    TensorValue value;
    value.kind = TensorValue::Kind::kOpaque;
    value.text = text;
    value.operands = std::move(operands);
    return program_.Add(value);
  }
  // Whether the division is exact where `outputs` are the program's.
  bool IsExact(std::vector<Id> outputs) {
    program_.outputs = std::move(outputs);
    MakeDecidingDivisionsExact(tables_->primitives.at("div_rn"), &program_);
    return program_[ratio_].primitive->name == "div_rn";
  }

  Result<Tables> tables_ = LoadTables(std::string(DAVINCI_SOURCE_DIR) + "/synth/teacher");
  Program program_{synth::Graph(1)};
  const Id x_ = Leaf("x"), y_ = Leaf("y"), zero_ = program_.Scalar(0), one_ = program_.Scalar(1);
  const Id ratio_ = Point("div", {x_, y_});
  const Id change_ = Point("sub", {ratio_, one_});
};

TEST_F(ExactDivisions, NothingDecides) { EXPECT_FALSE(IsExact({Point("exp", {change_})})); }

TEST_F(ExactDivisions, ATruthValueThatLeaves) {
  EXPECT_TRUE(IsExact({Point("lt", {change_, zero_})}));
}

TEST_F(ExactDivisions, ATruthValueThatACallReads) {
  EXPECT_TRUE(IsExact({Opaque("{0}.long()", {Point("lt", {change_, zero_})})}));
}

TEST_F(ExactDivisions, ATruthValueAsNumber) {
  EXPECT_TRUE(IsExact({Point("float", {Point("lt", {change_, zero_})})}));
}

TEST_F(ExactDivisions, AChoiceOfTwoNumbers) {
  EXPECT_TRUE(IsExact({Point("where", {Point("lt", {change_, zero_}), zero_, one_})}));
}

TEST_F(ExactDivisions, AClampIsContinuous) {
  EXPECT_FALSE(IsExact({Point("where", {Point("lt", {change_, zero_}), zero_, change_})}));
}

TEST_F(ExactDivisions, Roundings) { EXPECT_TRUE(IsExact({Point("floor", {change_})})); }

TEST_F(ExactDivisions, ByASizeNot) {
  program_.values[static_cast<size_t>(y_)].dtype = DType::kIndex;
  EXPECT_FALSE(IsExact({Point("floor", {change_})}));
}

TEST_F(ExactDivisions, ACallOfPyTorchBeginsAnew) {
  EXPECT_FALSE(IsExact({Point("floor", {Opaque("torch.fft.fft({0})", {change_})})}));
}

}  // namespace
}  // namespace davinci::teacher
