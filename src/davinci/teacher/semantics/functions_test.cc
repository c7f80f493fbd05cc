#include "davinci/teacher/semantics/functions.h"

#include <gtest/gtest.h>

#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {
namespace {

// No order of look-ups matters where each name is known once.
TEST(Functions, ANameIsKnownToTheRegistryOrToTheTables) {
  const auto tables = LoadTables(std::filesystem::path(DAVINCI_SOURCE_DIR) / "synth" / "teacher");
  ASSERT_TRUE(tables.ok()) << tables.status().ToString();
  const auto names = Functions().Names();
  EXPECT_GT(names.size(), 100u);
  for (const std::string& name : names)
    EXPECT_FALSE(tables->functions.contains(name)) << name << " has two meanings";
}

TEST(Functions, AreFoundByNameAlone) {
  ASSERT_NE(Functions().Find("max_pool2d"), nullptr);
  EXPECT_TRUE(Functions().Find("max_pool2d")->of_tensor);
  EXPECT_FALSE(Functions().Find("cat")->of_tensor);
  EXPECT_EQ(Functions().Find("max_pool2d_with_indices"), nullptr);
  EXPECT_NE(Functions().FindModule("nn.MaxPool2d"), nullptr);
  EXPECT_EQ(Functions().FindModule("max_pool2d"), nullptr);
}

TEST(FunctionRegistry, ANameThatIsAddedTwiceEndsTheProgram) {
  FunctionRegistry registry;
  const auto itself = [](const Call& call) -> Result<Meaning> { return call.arguments[0]; };
  registry.Add({"clone"}, itself);
  EXPECT_DEATH(registry.AddFree({"clone"}, itself), "");
}

TEST(Keywords, RememberWhatTheyWereAskedFor) {
  const Keywords keywords = {{"eps", Meaning::Number(1)}, {"bias", Meaning{}}};
  EXPECT_TRUE(keywords.contains("eps"));
  EXPECT_EQ(keywords.asked, std::set<std::string>{"eps"});
}

}  // namespace
}  // namespace davinci::teacher
