// Rules and labels have one table each in the code. The documentation shows the same tables, and no
// other source spells a rule or a label.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "davinci/data/label.h"
#include "davinci/data/outcome.h"
#include "davinci/data/rule.h"

namespace davinci {
namespace {

using ::testing::IsEmpty;

constexpr const char* kTables[] = {"src/davinci/data/rule.cc", "src/davinci/data/label.cc"};

std::filesystem::path Root() { return DAVINCI_SOURCE_DIR; }

std::string Text(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The rows of the table whose head line this is.
std::vector<std::string> RowsBelow(const std::string& text, const std::string& head) {
  std::vector<std::string> rows;
  size_t at = text.find(head);
  EXPECT_NE(at, std::string::npos) << "no table with the head " << head;
  for (int line = 0; at != std::string::npos && text.compare(at, 1, "|") == 0; ++line) {
    const size_t end = text.find('\n', at);
    if (line >= 2) rows.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return rows;
}

std::string Row(std::initializer_list<std::string_view> cells) {
  std::string row = "|";
  for (const std::string_view cell : cells) row.append(" ").append(cell).append(" |");
  return row;
}

std::string Code(std::string_view text) { return "`" + std::string(text) + "`"; }

TEST(Words, TheRulesOfTheDocsAreThoseOfTheCode) {
  std::vector<std::string> rows;
  for (const RuleRow& row : Rules())
    rows.push_back(
        Row({Code(row.name), row.meaning, Code(OutcomeName(row.outcome)), RuleKindName(row.kind)}));
  EXPECT_EQ(RowsBelow(Text(Root() / "docs/judge.md"), "| rule | it is broken when |"), rows);
}

TEST(Words, TheLabelsOfTheDocsAreThoseOfTheCode) {
  std::vector<std::string> rows;
  for (const LabelRow& row : Labels())
    rows.push_back(Row({Code(row.text), row.meaning, LabelSourceName(row.source)}));
  EXPECT_EQ(RowsBelow(Text(Root() / "docs/labels.md"), "| label | it is set when |"), rows);
}

// String literals of a C++ source, without those in comments.
std::vector<std::string> Literals(std::string source) {
  std::vector<std::string> literals;
  for (size_t at = 0; (at = source.find("// ", at)) != std::string::npos;)
    source.erase(at, source.find('\n', at) - at);
  for (size_t at = 0; (at = source.find('"', at)) != std::string::npos; ++at) {
    size_t end = at + 1;
    while (end < source.size() && source[end] != '"' && source[end] != '\n')
      end += source[end] == '\\' ? 2 : 1;
    if (end >= source.size()) break;
    if (source[end] == '"') literals.push_back(source.substr(at + 1, end - at - 1));
    at = end;
  }
  return literals;
}

// Words of other vocabularies that are spelled alike.
bool IsOtherVocabulary(std::string_view source, std::string_view literal) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"src/davinci/sandbox/run", "disk_limit"},                  // how a sandboxed program ended
      {"src/davinci/judge/transcribed_process", "memory_limit"},  // a question of a transcript
      {"src/davinci/score/metrics", "own_kernel"}};               // a score
  return std::ranges::any_of(kOthers, [&](const auto& other) {
    return source.starts_with(other.first) && literal == other.second;
  });
}

// Rules of one word, which anything may be called.
bool IsCommonWord(std::string_view name) { return name.find('_') == std::string_view::npos; }

bool Spells(const std::string& literal) {
  const auto rule = ParseRule(literal);
  if (rule && !IsCommonWord(literal)) return true;
  const auto label = ParseLabel(literal);
  if (!label || label == Label::kCompileOnly) return false;  // an outcome has this name
  return literal.find(' ') != std::string::npos;
}

TEST(Words, NoOtherSourceSpellsARuleOrALabel) {
  EXPECT_TRUE(Spells("low coverage"));
  EXPECT_TRUE(Spells("vendor library: {}"));
  EXPECT_TRUE(Spells("late_writes"));
  std::vector<std::string> found;
  int sources = 0;
  for (const char* folder : {"src", "apps"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Root() / folder)) {
      const std::string name = std::filesystem::relative(entry.path(), Root()).string();
      const bool is_source = name.ends_with(".cc") || name.ends_with(".h");
      if (!is_source || name.ends_with("_test.cc") || std::ranges::count(kTables, name) > 0)
        continue;
      ++sources;
      for (const std::string& literal : Literals(Text(entry.path())))
        if (Spells(literal) && !IsOtherVocabulary(name, literal))
          found.push_back(name + ": \"" + literal + "\"");
    }
  EXPECT_GT(sources, 500);
  EXPECT_THAT(found, IsEmpty()) << "use LabelText(), HasLabel() and RuleName()";
}

TEST(Words, TheGoldenTablesOfTheCorpusUseThem) {
  int rows = 0;
  const auto check = [&](const nlohmann::json& row) {
    ++rows;
    for (const auto& status : row.at("status"))
      EXPECT_TRUE(ParseOutcome(status.get<std::string>())) << row;
    for (const auto& rule : row.at("rule"))
      EXPECT_TRUE(rule.is_null() || ParseRule(rule.get<std::string>())) << row;
    for (const char* key : {"labels", "labels_at_times"})
      for (const auto& label : row.at(key))
        EXPECT_TRUE(ParseLabel(label.get<std::string>())) << row;
  };
  for (const char* table : {"golden_cpu.json", "golden_cuda.json"}) {
    rows = 0;
    const auto golden = nlohmann::json::parse(Text(Root() / "tests/corpus" / table));
    for (const auto& [name, row] : golden.at("rows").items()) check(row);
    EXPECT_GT(rows, 50);
  }
}

}  // namespace
}  // namespace davinci
