#include "davinci/agent/prompt_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace davinci::agent {
namespace {

using ::testing::HasSubstr;

constexpr char kHeader[] =
    "---\n"
    "about: A test.\n"
    "variables:\n"
    "  name: who\n"
    "  extra: may be empty\n"
    "---\n";

Result<PromptTemplate> Parse(const std::string& body) {
  return PromptTemplate::Parse(kHeader + body, "p.md");
}

std::string Render(const std::string& body, const std::string& name, const std::string& extra) {
  const auto parsed = Parse(body);
  if (!parsed.ok()) return parsed.status().message();
  const auto text = parsed->Render({{"name", name}, {"extra", extra}});
  return text.ok() ? *text : text.status().message();
}

TEST(PromptTemplate, ReplacesVariablesAndStripsBlankEnds) {
  EXPECT_EQ(Render("\n\nHello {{name}}, {{name}}.\n\n", "Ada", ""), "Hello Ada, Ada.");
}

TEST(PromptTemplate, NeverLooksIntoAValue) {
  EXPECT_EQ(Render("{{name}}", "{{extra}} {{#name}}", "x"), "{{extra}} {{#name}}");
}

TEST(PromptTemplate, SectionsDependOnEmptinessOnly) {
  const std::string body = "{{#extra}}with {{extra}}{{/extra}}{{^extra}}without{{/extra}}";
  EXPECT_EQ(Render(body, "", "0"), "with 0");
  EXPECT_EQ(Render(body, "", ""), "without");
}

TEST(PromptTemplate, SectionsNest) {
  const std::string body = "a{{#extra}}b{{#name}}c{{/name}}d{{/extra}}e";
  EXPECT_EQ(Render(body, "x", "x"), "abcde");
  EXPECT_EQ(Render(body, "", "x"), "abde");
  EXPECT_EQ(Render(body, "x", ""), "ae");
}

TEST(PromptTemplate, ATagAloneOnItsLineTakesTheLineWithIt) {
  EXPECT_EQ(Render("one\n{{#extra}}\n\ntwo\n{{/extra}}\nthree", "", "x"), "one\n\ntwo\nthree");
  EXPECT_EQ(Render("one\n{{#extra}}\n\ntwo\n{{/extra}}\nthree", "", ""), "one\nthree");
}

struct Bad {
  const char* text;
  const char* message;
};
class BadTemplate : public ::testing::TestWithParam<Bad> {};

TEST_P(BadTemplate, IsAnErrorWithFileAndLine) {
  const auto parsed = PromptTemplate::Parse(GetParam().text, "p.md");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(parsed.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTemplate,
    ::testing::Values(
        Bad{"Hello", "p.md:1: a prompt begins with a header"},
        Bad{"---\nabout: x\n", "p.md:1: the header is not closed"},
        Bad{"---\nabuot: x\n---\n", "p.md:2: unknown key \"abuot\""},
        Bad{"---\nvariables: a, b\n---\n", "p.md:2: variables are listed below"},
        Bad{"---\nvariables:\n  Bad-Name: x\n---\n", "p.md:3: \"Bad-Name\" is no variable name"},
        Bad{"---\nvariables:\n  a: x\n  a: y\n---\n", "p.md:4: a is declared twice"},
        Bad{"---\nvariables:\n  name: x\n---\nok\n{{nmae}}",
            "p.md:6: nmae is not declared in the header (did you mean \"name\"?)"},
        Bad{"---\nvariables:\n  a: x\n---\n{{#a}}\n\nx", "p.md:5: the section of a is not closed"},
        Bad{"---\nvariables:\n  a: x\n---\n{{#a}}\n{{/a}}\n{{/a}}",
            "p.md:7: {{/a}} closes nothing"},
        Bad{"---\nvariables:\n  a: x\n  b: x\n---\n{{#a}}{{#b}}{{/a}}{{/b}}",
            "p.md:6: {{/a}} closes nothing"},
        Bad{"---\nvariables:\n  a: x\n---\n\n{{a + 1}}", "p.md:6: \"{{\" opens a tag"},
        Bad{"---\nvariables:\n  a: x\n---\n{{a", "p.md:5: \"{{\" opens a tag"}));

TEST(PromptTemplate, RenderingRefusesMissingAndUnknownValues) {
  const auto parsed = Parse("{{name}}");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->Render({{"name", "x"}}).status().message(),
              HasSubstr("p.md:5: no value for extra"));
  EXPECT_THAT(parsed->Render({{"name", ""}, {"extra", ""}, {"more", ""}}).status().message(),
              HasSubstr("p.md:6: a value for more"));
}

TEST(PromptTemplate, DeclarationsAndContractAreOneList) {
  const auto parsed = Parse("{{name}}");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->CheckDeclares({"extra", "name"}).ok());
  EXPECT_THAT(parsed->CheckDeclares({"name", "extras"}).message(),
              HasSubstr("p.md:5: there is no variable extra for this prompt"));
  EXPECT_THAT(parsed->CheckDeclares({"name", "extra", "device"}).message(),
              HasSubstr("p.md:6: the header must declare device"));
}

}  // namespace
}  // namespace davinci::agent
