#include "davinci/agent/proposal_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

#include "davinci/llm/tools.h"

namespace davinci::agent {
namespace {

constexpr size_t kMaxName = 64;  // the rule of Agent Skills

// A library that could do the work instead of a kernel; stands for <library> below.
constexpr std::string_view kLibrary =
    R"((?:(?:the )?(?:plain |native |built-?in |stock |standard |existing )?)"
    R"((?:pytorch|torch|aten|cublas(?:lt)?|cudnn|cutlass|onednn|mkl(?:-?dnn)?|openblas|numpy|)"
    R"((?:vendor|library|framework|eager))(?:'s)?(?:[.:][\w.:]+)*(?: \w+){0,2}?))";

// Patterns of lazy advice, one per idea, tried on single sentences.
constexpr std::array<std::string_view, 10> kLazyAdvice = {
    // The work goes back to a library.
    R"(\b(?:fall(?:ing)?|drop|revert|switch|go) back (?:on |to |onto )<library>)",
    R"(\bfallback to <library>)",
    R"(\b(?:use|call|prefer|keep|(?:leave|delegate|dispatch|hand|defer|pass) (?:\w+ ){0,4}to|rely on) <library>)"
    R"( (?:instead|rather than|for (?:the )?(?:heavy|whole|entire|main|actual)|)"
    R"(operators?|op|implementation|version|routine)\b)",
    R"(\b(?:let|have) <library> (?:do|handle|compute|take|run)\b)",
    // A compiler writes the kernel.
    R"(\b(?:use|call|wrap|apply|decorate|rely on|try)\b.{0,40}\btorch\.(?:compile|jit)\b)",
    R"(\btorch\.compile\b.{0,40}\b(?:instead|is enough|will fuse|does the)\b)",
    // Advice against a kernel of one's own.
    R"(\b(?:skip|avoid|drop|remove|omit|bypass|do without|no need for|no need to write)\b (?:\w+ ){0,2})"
    R"((?:custom|hand-?written|own|triton|cuda|c\+\+) kernels?\b(?! launch| overhead| call| boundar))",
    R"(\b(?:without|instead of|rather than) (?:writing |using |having )?(?:a |any |your )?)"
    R"((?:custom|hand-?written|own|triton|cuda) kernels?\b(?! launch| call))",
    // The answer is not computed.
    R"(\b(?:cache|memoi[sz]e|store|reuse|return)\b.{0,30}\b(?:previous|last|earlier|cached|precomputed) )"
    R"((?:outputs?|results?|answers?)\b)",
    // The judge is the audience.
    R"(\b(?:detect|recogni[sz]e|special-?case)\b.{0,40}\b(?:benchmark|judge|grader|test inputs?)\b)",
};

const std::vector<std::regex>& LazyPatterns() {
  static const auto* patterns = [] {
    auto* compiled = new std::vector<std::regex>;
    for (std::string source : std::vector<std::string>(kLazyAdvice.begin(), kLazyAdvice.end())) {
      constexpr std::string_view kPlace = "<library>";
      if (const size_t at = source.find(kPlace); at != std::string::npos)
        source.replace(at, kPlace.size(), kLibrary);
      compiled->emplace_back(source, std::regex::icase | std::regex::optimize);
    }
    return compiled;
  }();
  return *patterns;
}

// "Do not fall back …", "never call cuBLAS": the opposite of lazy.
const std::regex& Negation() {
  static const auto* negation = new std::regex(
      R"(\b(?:do not|don't|never|must not|should not|shouldn't|cannot|can't|avoid|no longer|rather than|instead of|without)\b)",
      std::regex::icase | std::regex::optimize);
  return *negation;
}

// The prose: no fenced blocks, no inline code marks.
std::string Prose(std::string_view markdown) {
  std::string prose;
  bool in_code = false;
  for (size_t at = 0; at < markdown.size();) {
    const size_t end = std::min(markdown.find('\n', at), markdown.size());
    const std::string_view line = markdown.substr(at, end - at);
    const size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string_view::npos && (line.substr(first).starts_with("```") ||
                                                           line.substr(first).starts_with("~~~"));
    if (fence) in_code = !in_code;
    if (!fence && !in_code) {
      // A line break inside a paragraph is a space; headings, lists and blank lines end a sentence.
      const bool breaks = first == std::string_view::npos || line[first] == '#' ||
                          line[first] == '-' || line[first] == '*' || line[first] == '|';
      prose += breaks ? ".\n" : " ";
      prose += line;
      if (first != std::string_view::npos && line[first] == '#') prose += ".\n";
    }
    at = end + 1;
  }
  std::erase(prose, '`');
  return prose;
}

// At full stops followed by white space, and at ';': "torch.compile" is not the end of anything.
std::vector<std::string> Sentences(const std::string& prose) {
  std::vector<std::string> sentences(1);
  for (size_t i = 0; i < prose.size(); ++i) {
    const char c = prose[i];
    const bool stop = c == '.' || c == '!' || c == '?';
    if (c == ';' ||
        (stop && (i + 1 == prose.size() || prose[i + 1] == ' ' || prose[i + 1] == '\n')))
      sentences.emplace_back();
    else if (c != '\n' || !sentences.back().empty())
      sentences.back() += c == '\n' ? ' ' : c;
  }
  return sentences;
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" -*");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string KebabCase(std::string_view name) {
  std::string kebab;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      kebab += c;
    } else if (c >= 'A' && c <= 'Z') {
      kebab += static_cast<char>(c - 'A' + 'a');
    } else if (!kebab.empty() && kebab.back() != '-') {
      kebab += '-';
    }
  }
  if (kebab.size() > kMaxName) kebab.resize(kMaxName);
  while (!kebab.empty() && kebab.back() == '-') kebab.pop_back();
  return kebab;
}

std::optional<std::string> LazyAdvice(const skill::Skill& skill) {
  // Characters. Bounds the time of a regular expression; longer sentences are cut.
  constexpr size_t kMaxSentence = 600;
  std::string name = skill.name;
  std::ranges::replace(name, '-', ' ');
  const std::string text = name + ".\n" + skill.description + ".\n" + Prose(skill.content);
  for (const std::string& sentence : Sentences(text)) {
    const std::string bounded = sentence.substr(0, kMaxSentence);
    for (const std::regex& pattern : LazyPatterns()) {
      std::smatch match;
      if (!std::regex_search(bounded, match, pattern)) continue;
      // Negated just before the advice; the pattern's own words ("avoid", "instead of") are inside.
      const auto begin = static_cast<size_t>(match.position(0));
      const std::string before =
          bounded.substr(begin > 40 ? begin - 40 : 0, std::min<size_t>(begin, 40));
      if (std::regex_search(before, Negation())) continue;
      return Trimmed(bounded);
    }
  }
  return std::nullopt;
}

std::string CheckProposal(const skill::Skill& skill) {
  std::vector<std::string> problems;
  if (const Status status = skill::Validate(skill, skill::Strictness::kAuthored); !status.ok())
    problems.push_back(status.message());
  if (const size_t length = Characters(skill.description); length > llm::kMaxSkillDescriptionChars)
    problems.push_back(fmt::format("the description has {} characters, {} are allowed", length,
                                   llm::kMaxSkillDescriptionChars));
  const auto num_tags = static_cast<int>(skill.tags.size());
  if (num_tags < llm::kMinSkillTags || num_tags > llm::kMaxSkillTags)
    problems.push_back(fmt::format("{} tags, {} to {} are wanted", num_tags, llm::kMinSkillTags,
                                   llm::kMaxSkillTags));
  if (const size_t length = Characters(skill.content); length > kMaxSkillContentChars)
    problems.push_back(fmt::format("the content has {} characters, {} are allowed", length,
                                   kMaxSkillContentChars));
  if (const auto lazy = LazyAdvice(skill))
    problems.push_back(fmt::format("it advises to leave the work to others: \"{}\"", *lazy));
  return fmt::format("{}", fmt::join(problems, "; "));
}

}  // namespace davinci::agent
