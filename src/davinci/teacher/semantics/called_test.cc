#include "davinci/teacher/semantics/called.h"

#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

using Names = std::vector<std::string>;

CallKinds Kinds() {
  auto kinds = LoadCallKinds(std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth" / "teacher" /
                             "families.toml");
  EXPECT_TRUE(kinds.ok()) << kinds.status().ToString();
  return kinds.ok() ? *kinds : CallKinds();
}

Names CalledIn(const std::string& text, const std::string& made_by = "") {
  const auto expression = PythonExpression::Parse(text);
  EXPECT_TRUE(expression.ok()) << text;
  return expression.ok() ? CalledFunctions(*expression, made_by) : Names();
}

TEST(CalledFunctions, AreNamedFromTheOutside) {
  EXPECT_EQ(CalledIn("torch.nn.functional.conv2d(in_0, in_1, padding=1)"), Names{"conv2d"});
  EXPECT_EQ(CalledIn("F.softmax(in_0 @ in_1.T, dim=-1)"), (Names{"softmax", "__matmul__", "T"}));
  EXPECT_EQ(CalledIn("in_0.mean(1).flatten(1)"), (Names{"flatten", "mean"}));
  EXPECT_EQ(CalledIn("in_0[..., :8]"), Names{"slice"});
  EXPECT_EQ(CalledIn("in_0[in_1]"), Names{"__getitem__"});
  EXPECT_EQ(CalledIn("in_0.to(torch.float16)"), Names{"to"});
  EXPECT_EQ(CalledIn("in_0"), Names{"identity"});
}

TEST(CalledFunctions, SpellingsOfOneFunctionHaveOneName) {
  EXPECT_EQ(CalledIn("F.softmax(-in_0, dim=1)")[0], "softmin");
  EXPECT_EQ(CalledIn("in_0.diagonal().sum()")[0], "trace");
  for (const char* text : {"in_0[:, None] * in_1[None, :]", "in_0.unsqueeze(1) * in_1"}) {
    const auto expression = PythonExpression::Parse(text);
    ASSERT_TRUE(expression.ok());
    EXPECT_EQ(CalledFunctions(*expression, "", {"in_0"})[0], "outer") << text;
    EXPECT_EQ(CalledFunctions(*expression, "")[0], "__mul__") << text;
  }
}

TEST(CalledFunctions, AModuleIsKnownByItsConstructor) {
  EXPECT_EQ(CalledIn("module_(in_0)[0]", "nn.LSTM"), (Names{"slice", "nn.LSTM"}));
  for (const char* text : {"self.gate(in_0)", "self.layers[0](in_0)", "getattr(self, '0')(in_0)"})
    EXPECT_EQ(CalledIn(text), Names{"module"}) << text;
}

TEST(CalledFunctions, ATextThatCannotBeParsedCountsByItsFirstName) {
  EXPECT_EQ(CalledFunctions("changed(in_0, lambda t: t.zero_())"), Names{"changed"});
}

TEST(KindOfCall, IsThatOfTheOutermostFunctionThatComputes) {
  const CallKinds kinds = Kinds();
  EXPECT_EQ(KindOfCall(CalledIn("F.adaptive_avg_pool2d(in_0, 1).flatten(1)"), kinds), "pool");
  EXPECT_EQ(KindOfCall(CalledIn("module_(in_0)[0]", "nn.LSTM"), kinds), "recurrent");
  EXPECT_EQ(KindOfCall(CalledIn("in_0.transpose(1, 2)"), kinds), "view");
  EXPECT_EQ(KindOfCall(CalledIn("in_0[in_1]"), kinds), "gather");
  EXPECT_EQ(KindOfCall(CalledIn("torch.special.airy_ai(in_0)"), kinds), "other");
  EXPECT_EQ(KindOfCall({"module"}, kinds), "module");
}

std::string Product(const std::string& text, size_t left = 2, size_t right = 2) {
  const auto expression = PythonExpression::Parse(text);
  EXPECT_TRUE(expression.ok()) << text;
  if (!expression.ok()) return "";
  const auto product = ProductOf(*expression, {{"a", left}, {"b", right}, {"c", 1}});
  if (!product) return "none";
  return product->left + (product->left_transposed ? "'" : "") + " " + product->right +
         (product->right_transposed ? "'" : "") +
         (product->bias.empty() ? "" : " + " + product->bias);
}

TEST(ProductOf, GoesByTheFunctionThatIsCalled) {
  EXPECT_EQ(Product("a @ b"), "a b");
  EXPECT_EQ(Product("torch.mm(a.t(), b)"), "a' b");
  EXPECT_EQ(Product("a.matmul(b.T)"), "a b'");
  EXPECT_EQ(Product("torch.bmm(a, b.transpose(1, 2))", 3, 3), "a b'");
  EXPECT_EQ(Product("a @ b.transpose(-1, -2)", 3, 3), "a b'");
  EXPECT_EQ(Product("F.linear(a, b)"), "a b'");
  EXPECT_EQ(Product("torch.nn.functional.linear(a, b, c)", 3, 2), "a b' + c");
}

TEST(ProductOf, AnotherCallIsNone) {
  for (const char* text : {"a * b", "a @ c", "torch.add(a, b)", "a.transpose(0, 1) @ b @ b",
                           "torch.matmul(a.relu(), b)"})
    EXPECT_EQ(Product(text), "none") << text;
  EXPECT_EQ(Product("a @ b", 2, 3), "none");                  // it broadcasts
  EXPECT_EQ(Product("a.T @ b", 3, 3), "none");                // .T turns all axes
  EXPECT_EQ(Product("a.transpose(0, 1) @ b", 3, 3), "none");  // not the last two
}

}  // namespace
}  // namespace davinci::teacher
