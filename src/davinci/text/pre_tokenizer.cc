#include "davinci/text/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>

namespace davinci::text {
namespace {

constexpr size_t kLongestPattern_bytes = 64 << 10;

struct MatchDataDeleter {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

std::string ErrorText(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

Result<std::string> ToPcre2(std::string_view pattern) {
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("pattern {}: {} is not supported", pattern, what));
  };
  std::string out;
  bool in_class = false;
  size_t class_begin = 0;
  size_t quantifier_end = std::string_view::npos;  // where the last {…} that is one ends
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      if (i + 1 == pattern.size()) return bad("a \\ at the end");
      const char e = pattern[++i];
      if (e == 's') {
        // PCRE2's own \s is another set: with U+180E, without U+0085.
        out += R"(\p{White_Space})";
      } else if (e == 'S') {
        out += R"(\P{White_Space})";
      } else if (e == 'd') {
        out += R"(\p{Nd})";
      } else if (e == 'p' || e == 'P') {
        const size_t close = pattern.find('}', i);
        if (i + 1 >= pattern.size() || pattern[i + 1] != '{' || close == std::string_view::npos)
          return bad("\\p without {…}");
        const std::string_view name = pattern.substr(i + 2, close - i - 2);
        if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_&^") !=
            std::string_view::npos)
          return bad(fmt::format("\\p{{{}}}", name));
        out += fmt::format("\\{}{{{}}}", e, name);
        i = close;
      } else if (e == 'r' || e == 'n' || e == 't' || (e >= '!' && e <= '/') ||
                 (e >= ':' && e <= '@') || (e >= '[' && e <= '`') || (e >= '{' && e <= '~')) {
        out += '\\';
        out += e;
      } else {
        return bad(fmt::format("\\{}", e));
      }
      continue;
    }
    if (in_class) {
      if (c == '[') return bad("a class inside a class");
      if (c == '&' && i + 1 < pattern.size() && pattern[i + 1] == '&') return bad("&&");
      if (c == ']' && i > class_begin) in_class = false;
      out += c;
      continue;
    }
    if (c == '[') {
      in_class = true;
      class_begin = i + 1;
      if (class_begin < pattern.size() && pattern[class_begin] == '^') ++class_begin;
      if (class_begin < pattern.size() && pattern[class_begin] == ']') return bad("[]");
    } else if (c == '(') {
      const std::string_view rest = pattern.substr(i);
      bool known = rest.size() > 1 && rest[1] != '?' && rest[1] != '*';
      for (const std::string_view group : {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"})
        known = known || rest.starts_with(group);
      if (!known) return bad("this kind of group");
    } else if (c == '.' || c == '^' || c == '$') {
      return bad(fmt::format("{}", c));
    } else if (c == '{' && i + 1 < pattern.size() && pattern[i + 1] == ',') {
      return bad("{,…}");  // literal in PCRE2
    } else if (c == '{') {
      quantifier_end = pattern.find('}', i);
    } else if (c == '+' && i == quantifier_end + 1 && i > 0) {
      return bad("{…}+");  // possessive in PCRE2, a repetition of the repetition in Oniguruma
    }
    out += c;
  }
  if (in_class) return bad("an open class");
  return out;
}

struct PreTokenizer::Pattern {
  pcre2_code* code = nullptr;
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() { pcre2_code_free(code); }
};

PreTokenizer::PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::Make(const std::vector<std::string>& patterns) {
  PreTokenizer result;
  for (const std::string& source : patterns) {
    if (source.size() > kLongestPattern_bytes)
      return InvalidArgument(fmt::format("a pattern of {} bytes", source.size()));
    DAVINCI_ASSIGN_OR_RETURN(const std::string translated, ToPcre2(source));
    auto pattern = std::make_unique<Pattern>();
    int error = 0;
    PCRE2_SIZE offset = 0;
    pattern->code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
    if (pattern->code == nullptr)
      return InvalidArgument(fmt::format("pattern {}: {} at {}", source, ErrorText(error), offset));
    // Where there is no JIT compiler the interpreter does the same, slower.
    (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
    result.patterns_.push_back(std::move(pattern));
  }
  return result;
}

Status PreTokenizer::Split(std::string_view text, std::vector<std::string_view>* pieces) const {
  std::vector<std::string_view> input;
  const size_t before = pieces->size();
  if (patterns_.empty() && !text.empty()) pieces->push_back(text);
  for (size_t step = 0; step < patterns_.size(); ++step) {
    if (step == 0) {
      input.assign(1, text);
    } else {
      input.assign(pieces->begin() + static_cast<std::ptrdiff_t>(before), pieces->end());
      pieces->resize(before);
    }
    const pcre2_code* code = patterns_[step]->code;
    const std::unique_ptr<pcre2_match_data, MatchDataDeleter> data(
        pcre2_match_data_create(1, nullptr));
    if (data == nullptr) return ResourceExhausted("no memory for matching a pattern");
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data.get());
    for (const std::string_view whole : input) {
      const auto* subject = reinterpret_cast<PCRE2_SPTR>(whole.data());
      size_t taken = 0;
      size_t at = 0;
      while (at < whole.size()) {
        int found =
            pcre2_match(code, subject, whole.size(), at, PCRE2_NO_UTF_CHECK, data.get(), nullptr);
        if (found == PCRE2_ERROR_JIT_STACKLIMIT)  // the interpreter's limit is memory
          found = pcre2_match(code, subject, whole.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                              data.get(), nullptr);
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0)
          return InvalidArgument(
              fmt::format("the tokenizer's pattern fails on this text: {}", ErrorText(found)));
        const size_t begin = bounds[0];
        const size_t end = bounds[1];
        if (end <= begin) {  // an empty match cuts nothing; go on behind the next character
          at = end + 1;
          while (at < whole.size() && (whole[at] & 0xc0) == 0x80) ++at;
          continue;
        }
        if (taken < begin) pieces->push_back(whole.substr(taken, begin - taken));
        pieces->push_back(whole.substr(begin, end - begin));
        taken = at = end;
      }
      if (taken < whole.size()) pieces->push_back(whole.substr(taken));
    }
  }
  return Status::Ok();
}

}  // namespace davinci::text
