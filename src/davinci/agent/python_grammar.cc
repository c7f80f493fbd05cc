#include "davinci/agent/python_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "davinci/base/utf8.h"
#include "davinci/data/prelude.h"

namespace davinci::agent {
namespace {

// Bytes of a line that a message shows: a wrong line of a kernel mostly fits.
constexpr size_t kShownBytes = 80;

using Tokens = std::vector<Token>;

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Bytes of UTF-8 may belong to a name.
bool IsNameByte(char c) { return IsNamePart(c) || static_cast<unsigned char>(c) >= 0x80; }

std::string Shown(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.size() <= kShownBytes) return std::string(line);
  return std::string(line.substr(0, ValidUtf8Prefix(line.substr(0, kShownBytes)))) + "…";
}

std::string NoPython(const LogicalLine& line) {
  return fmt::format("\"{}\" is no Python", Shown(line.text));
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  PythonLines Run() {
    while (at_ < text_.size() && result_.problem.empty()) Step();
    if (result_.problem.empty() && !open_.empty()) Fail("a bracket is not closed", open_.back());
    Finish();
    return std::move(result_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      if (open_.empty()) Finish();
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
    } else if (c == '"' || c == '\'') {
      String(at_);
    } else if (IsDigit(c) || (c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]))) {
      Number();
    } else if (IsNameByte(c)) {
      size_t end = at_;
      while (end < text_.size() && IsNameByte(text_[end])) ++end;
      const bool quote = end < text_.size() && (text_[end] == '"' || text_[end] == '\'');
      const bool prefix =
          quote && end - at_ <= 2 &&
          text_.substr(at_, end - at_).find_first_not_of("rRbBuUfF") == std::string_view::npos;
      if (prefix)
        String(end);
      else
        Add(TokenKind::kName, end);
    } else {
      Operator();
    }
  }

  void String(size_t quote) {
    const std::string_view mark = text_.substr(quote).starts_with(std::string(3, text_[quote]))
                                      ? text_.substr(quote, 3)
                                      : text_.substr(quote, 1);
    size_t end = quote + mark.size();
    while (end < text_.size() && !text_.substr(end).starts_with(mark)) {
      if (text_[end] == '\n' && mark.size() == 1) return Fail("a text has no end", at_);
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size()) return Fail("a text has no end", at_);
    Add(TokenKind::kString, end + mark.size());
  }

  void Number() {
    size_t end = at_;
    const auto digits = [&](std::string_view more) {
      while (end < text_.size() &&
             (IsDigit(text_[end]) || more.find(text_[end]) != std::string_view::npos))
        ++end;
    };
    const std::string_view base = text_.substr(at_, 2);
    if (IsOneOf(base, {"0x", "0X", "0b", "0B", "0o", "0O"})) {
      end += 2;
      digits("_abcdefABCDEF");
    } else {
      digits("_");
      if (end < text_.size() && text_[end] == '.') ++end;
      digits("_");
      if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
        const size_t mark = end++;
        if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
        if (end < text_.size() && IsDigit(text_[end]))
          digits("_");
        else
          end = mark;
      }
      if (end < text_.size() && (text_[end] == 'j' || text_[end] == 'J')) ++end;
    }
    // A word directly behind a number: "1if x else y" is Python, "3x" is none.
    Add(TokenKind::kNumber, end);
  }

  void Operator() {
    constexpr std::string_view kLong[] = {
        "**=", "//=", ">>=", "<<=", "...", "!=", "==", "<=", ">=", "->", ":=", "**",
        "//",  "<<",  ">>",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "@="};
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view one : kLong)
      if (rest.starts_with(one)) return Add(TokenKind::kOperator, at_ + one.size());
    const char c = rest[0];
    if (std::string_view("+-*/%@&|^~<>=.,:;()[]{}").find(c) == std::string_view::npos)
      return Fail("a character of no Python", at_);
    if (c == '(' || c == '[' || c == '{') open_.push_back(at_);
    if (c == ')' || c == ']' || c == '}') {
      const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty() || text_[open_.back()] != opening)
        return Fail("brackets do not match", at_);
      open_.pop_back();
    }
    Add(TokenKind::kOperator, at_ + 1);
  }

  void Add(TokenKind kind, size_t end) {
    LogicalLine& line = line_;
    if (line.tokens.empty()) {
      begin_ = at_;
      const size_t start = text_.rfind('\n', at_) + 1;  // npos + 1 is 0
      line.indent = at_ - start;
      line.has_tab = text_.substr(start, line.indent).find('\t') != std::string_view::npos;
    }
    line.tokens.push_back({kind, text_.substr(at_, end - at_)});
    at_ = end;
  }

  void Finish() {
    if (line_.tokens.empty()) return;
    line_.text = text_.substr(begin_, at_ - begin_);
    result_.lines.push_back(std::move(line_));
    line_ = {};
  }

  void Fail(std::string_view what, size_t place) {
    const size_t start = text_.rfind('\n', place) + 1;
    result_.problem = fmt::format("{} in \"{}\"", what, Shown(text_.substr(start)));
  }

  const std::string_view text_;
  size_t at_ = 0, begin_ = 0;
  std::vector<size_t> open_;  // brackets
  LogicalLine line_;
  PythonLines result_;
};

// Follows a statement's tokens: an operand and an operator take turns.
class Expression {
 public:
  Expression(const Tokens& tokens, size_t begin, bool assigns)
      : tokens_(tokens), at_(begin), begin_(begin), assigns_(assigns) {}

  // The index where the expression ends: behind its last token, or at a ":" or ";" outside of
  // brackets. Nothing: it is no expression.
  std::optional<size_t> End() {
    for (; at_ < tokens_.size(); ++at_) {
      const std::string_view text = tokens_[at_].text;
      if (levels_.size() == 1 && text == ";") break;
      if (levels_.size() == 1 && text == ":") {
        if (!assigns_ || annotated_) break;
        annotated_ = true;
        if (!operand_) return std::nullopt;
        operand_ = false;
        continue;
      }
      if (!(operand_ ? AfterOperand() : BeforeOperand())) return std::nullopt;
    }
    // A comma at the end makes a tuple.
    const bool tuple = levels_.size() == 1 && at_ > begin_ + 1 && Before() == ",";
    if ((!operand_ && !tuple) || levels_.size() != 1 || !IsWhole(levels_[0])) return std::nullopt;
    return at_;
  }

 private:
  struct Level {
    std::string_view open;
    int ifs = 0, elses = 0, fors = 0;
    bool call = false;
    bool keyword = false, star = false;  // of this argument
    bool keywords = false;               // an argument before had a keyword
  };

  std::string_view Before() const { return at_ > begin_ ? tokens_[at_ - 1].text : ""; }
  static bool IsWhole(const Level& level) { return level.fors > 0 || level.ifs == level.elses; }

  static bool IsOperand(const Token& token) {
    if (token.kind != TokenKind::kName) return token.kind != TokenKind::kOperator;
    return !IsOneOf(token.text, {"and",     "or",       "in",     "is",     "not",      "if",
                                 "elif",    "else",     "for",    "while",  "lambda",   "def",
                                 "class",   "return",   "pass",   "break",  "continue", "import",
                                 "from",    "as",       "with",   "try",    "raise",    "except",
                                 "finally", "nonlocal", "global", "assert", "del",      "async"});
  }

  bool BeforeOperand() {
    const Token& token = tokens_[at_];
    const std::string_view text = token.text, before = Before();
    Level& level = levels_.back();
    const bool first = before.empty() || IsOneOf(before, {"(", "[", "{", ",", "=", "in", "return"});
    if (IsOperand(token) || text == "...") return operand_ = true;
    if (text == "lambda") return Lambda();
    if (IsOneOf(text, {"+", "-", "~", "not"})) return true;
    if (IsOneOf(text, {"*", "**"})) return first && (level.star = true);
    if (IsOneOf(text, {"(", "[", "{"})) return Open(false);
    const bool slice = level.open == "[" && IsOneOf(before, {"[", ",", ":"});
    if (IsOneOf(text, {")", "]", "}"})) {
      // "()" is empty, "(1,)" has a last comma, "[1:]" no last element.
      const bool empty = IsOneOf(before, {"(", "[", "{"});
      return (empty || before == "," || (slice && before == ":")) && Close();
    }
    if (text == ":") return slice;
    if (text == ",") return slice && before == ":";
    return false;
  }

  bool AfterOperand() {
    const Token& token = tokens_[at_];
    const std::string_view text = token.text;
    Level& level = levels_.back();
    if (token.kind == TokenKind::kString) return tokens_[at_ - 1].kind == TokenKind::kString;
    if (IsOneOf(text, {"(", "["})) {
      const bool number = tokens_[at_ - 1].kind == TokenKind::kNumber;
      return !number && Open(text == "(");
    }
    if (IsOneOf(text, {")", "]", "}"})) return Close();
    if (text == ".") {
      if (at_ + 1 >= tokens_.size() || tokens_[at_ + 1].kind != TokenKind::kName) return false;
      ++at_;
      return true;
    }
    operand_ = false;
    if (text == ",") return EndArgument();
    if (text == ":") return level.open == "[" || level.open == "{";
    if (text == "=") return level.open.empty() ? Assign() : Keyword();
    if (text == "if") return ++level.ifs;
    if (text == "else") return ++level.elses <= level.ifs;
    if (text == "for") return !level.open.empty() && ++level.fors;
    if (text == "not") return at_ + 1 < tokens_.size() && tokens_[++at_].text == "in";
    if (text == ":=") return tokens_[at_ - 1].kind == TokenKind::kName;
    if (text.size() > 1 && text.ends_with("=") && !IsOneOf(text, {"==", "!=", "<=", ">="}))
      return level.open.empty() && Assign();
    return IsOneOf(text, {"+",  "-", "*", "/",  "//", "%",  "**", "@",   "&",  "|",  "^", "<<",
                          ">>", "<", ">", "<=", ">=", "==", "!=", "and", "or", "in", "is"});
  }

  bool Open(bool call) {
    levels_.push_back({.open = tokens_[at_].text, .call = call});
    operand_ = false;
    return true;
  }

  bool Close() {
    if (levels_.size() == 1) return false;
    const bool last = operand_;  // an argument, not the comma behind one
    if (last && !EndArgument()) return false;
    levels_.pop_back();
    operand_ = true;
    return true;
  }

  // A call's keywords are its last arguments.
  bool EndArgument() {
    Level& level = levels_.back();
    if (!IsWhole(level)) return false;
    if (level.call && level.keywords && !level.keyword && !level.star) return false;
    level.keywords = level.keywords || level.keyword;
    level.keyword = level.star = false;
    level.ifs = level.elses = level.fors = 0;
    return true;
  }

  bool Keyword() {
    Level& level = levels_.back();
    if (!level.call || tokens_[at_ - 1].kind != TokenKind::kName) return false;
    return IsOneOf(tokens_[at_ - 2].text, {"(", ","}) && (level.keyword = true);
  }

  // In front of it stand names, attributes and elements alone.
  bool Assign() {
    if (!assigns_) return false;
    int depth = 0;
    for (size_t i = begin_; i < at_; ++i) {
      const Token& token = tokens_[i];
      if (IsOneOf(token.text, {")", "]", "}"})) --depth;
      const bool name = IsOperand(token) && token.kind == TokenKind::kName &&
                        !IsOneOf(token.text, {"None", "True", "False"});
      if (depth == 0 && !name &&
          !IsOneOf(token.text, {".", ",", "(", ")", "[", "]", "*", ":", "="}))
        return annotated_;
      if (IsOneOf(token.text, {"(", "[", "{"})) ++depth;
    }
    return Before() != ")" || tokens_[begin_].text == "(";
  }

  bool Lambda() {
    for (size_t i = at_ + 1; i < tokens_.size(); ++i) {
      const std::string_view text = tokens_[i].text;
      if (IsOneOf(text, {")", "]", "}"})) return false;
      if (IsOneOf(text, {"(", "[", "{"})) i = BehindBracket(tokens_, i) - 1;
      if (text != ":") continue;
      at_ = i;
      return true;
    }
    return false;
  }

  const Tokens& tokens_;
  size_t at_;
  const size_t begin_;
  const bool assigns_;
  bool operand_ = false, annotated_ = false;
  std::vector<Level> levels_ = {{}};  // open brackets; the first is the statement
};

bool IsUnchecked(std::string_view word) {
  return IsOneOf(
      word, {"def", "class", "with", "try", "except", "finally", "import", "from", "global",
             "nonlocal", "del", "raise", "async", "yield", "await", "match", "case", "type", "@"});
}

bool IsHeader(const LogicalLine& line) {
  return IsOneOf(line.tokens[0].text, {"if", "elif", "else", "for", "while"});
}

bool IsStatement(const Tokens& tokens) {
  size_t at = 0;
  const std::string_view word = tokens[0].text;
  if (word == "else") {
    if (tokens.size() < 2 || tokens[1].text != ":") return false;
    at = 2;
  } else if (IsOneOf(word, {"if", "elif", "while", "for"})) {
    const auto end = Expression(tokens, 1, false).End();
    if (!end || *end >= tokens.size() || tokens[*end].text != ":") return false;
    const bool in = std::any_of(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(*end),
                                [](const Token& token) { return token.text == "in"; });
    if (word == "for" && !in) return false;
    at = *end + 1;
  }
  while (at < tokens.size()) {
    const std::string_view first = tokens[at].text;
    if (IsUnchecked(first)) return true;
    size_t begin = at;
    if (IsOneOf(first, {"return", "assert", "pass", "break", "continue"})) ++begin;
    const bool ends = begin == tokens.size() || tokens[begin].text == ";";
    if (begin > at && first != "return" && first != "assert") {
      if (!ends) return false;
    } else if (begin == at || !ends) {
      const auto end = Expression(tokens, begin, begin == at).End();
      if (!end) return false;
      begin = *end;
    }
    if (begin < tokens.size() && tokens[begin].text != ";") return false;
    at = begin + 1;
  }
  return true;
}

// Whether an inline body or a block follows the header.
bool OpensBlock(const LogicalLine& line) { return line.tokens.back().text == ":"; }

}  // namespace

PythonLines LogicalLines(std::string_view text) { return Tokenizer(text).Run(); }

size_t BehindBracket(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (IsOneOf(tokens[i].text, {"(", "[", "{"})) ++depth;
    if (IsOneOf(tokens[i].text, {")", "]", "}"}) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

std::string SyntaxProblem(const std::vector<LogicalLine>& lines) {
  const bool tabs = std::ranges::any_of(lines, &LogicalLine::has_tab);
  struct Block {
    size_t indent;
    std::string_view last;  // the first word of its last line
  };
  std::vector<Block> blocks;
  bool opens = false;  // the line before opens a block
  for (const LogicalLine& line : lines) {
    if (!IsStatement(line.tokens)) return NoPython(line);
    if (tabs) continue;
    const std::string wrong = fmt::format("wrong indentation of \"{}\"", Shown(line.text));
    if (blocks.empty() || opens) {
      if (!blocks.empty() && line.indent <= blocks.back().indent) return wrong;
      blocks.push_back({line.indent, ""});
    } else {
      if (line.indent > blocks.back().indent) return wrong;
      while (!blocks.empty() && line.indent < blocks.back().indent) blocks.pop_back();
      if (blocks.empty() || line.indent != blocks.back().indent) return wrong;
    }
    const std::string_view word = line.tokens[0].text, last = blocks.back().last;
    if (word == "elif" && last != "if" && last != "elif") return NoPython(line);
    if (word == "else" && !IsOneOf(last, {"if", "elif", "for", "while", "try", "except"}))
      return NoPython(line);
    blocks.back().last = word;
    opens = (IsHeader(line) || IsUnchecked(word)) && OpensBlock(line);
  }
  if (opens && !tabs) return fmt::format("nothing follows \"{}\"", Shown(lines.back().text));
  return "";
}

NamesOfLine NamesOf(const LogicalLine& line) {
  static const auto* const kWords = new std::set<std::string_view>{
      "and",    "or",     "in",     "is",     "not",      "if",      "elif",  "else",  "for",
      "while",  "True",   "lambda", "None",   "return",   "pass",    "break", "False", "continue",
      "with",   "try",    "as",     "assert", "from",     "finally", "raise", "del",   "global",
      "except", "import", "def",    "class",  "nonlocal", "async",   "await", "yield"};
  const Tokens& tokens = line.tokens;
  NamesOfLine names;
  std::set<std::string_view> local;  // of lambdas and comprehensions
  size_t assigned = 0;               // behind the last "="
  bool augmented = false;
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (IsOneOf(text, {"(", "[", "{"})) ++depth;
    if (IsOneOf(text, {")", "]", "}"})) --depth;
    if (depth == 0 && tokens[i].kind == TokenKind::kOperator && text.ends_with("=") &&
        !IsOneOf(text, {"==", "!=", "<=", ">=", ":="})) {
      assigned = i;
      augmented = text != "=";
    }
    if (text == "lambda" || (text == "for" && i > 0))
      for (size_t k = i + 1; k < tokens.size() && tokens[k].text != ":" && tokens[k].text != "in";
           ++k)
        local.insert(tokens[k].text);
  }
  const bool loop = tokens[0].text == "for";
  const bool imports = IsOneOf(tokens[0].text, {"import", "from"});
  if (loop)
    for (assigned = 0; assigned < tokens.size() && tokens[assigned].text != "in";) ++assigned;
  depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (IsOneOf(text, {"(", "[", "{"})) ++depth;
    if (IsOneOf(text, {")", "]", "}"})) --depth;
    const std::string_view before = i > 0 ? tokens[i - 1].text : "";
    const std::string_view after = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    if (tokens[i].kind != TokenKind::kName || kWords->contains(text) || before == ".") continue;
    if (depth > 0 && after == "=") continue;
    const bool target = (i < assigned && !IsOneOf(after, {".", "[", "("}) &&
                         (depth == 0 || tokens[0].text == "(" || loop)) ||
                        (depth == 0 && after == "=");
    const bool annotated = i == 0 && after == ":";
    if (target || annotated || imports || before == "as" || after == ":=") {
      names.binds.emplace_back(text);
      if (!augmented) continue;
    }
    if (!local.contains(text)) names.reads.emplace_back(text);
  }
  return names;
}

Parameters ParametersOf(const LogicalLine& def) {
  Parameters found;
  const Tokens& tokens = def.tokens;
  const auto fail = [&] {
    found.problem = NoPython(def);
    return found;
  };
  if (tokens.size() < 5 || tokens[0].text != "def" || tokens[1].kind != TokenKind::kName ||
      tokens[2].text != "(")
    return fail();
  const size_t end = BehindBracket(tokens, 2);
  if (end >= tokens.size() || !IsOneOf(tokens[end].text, {":", "->"})) return fail();
  if (tokens[end].text == "->" && tokens.back().text != ":") return fail();
  std::set<std::string_view> names;
  for (size_t at = 3; at + 1 < end;) {
    size_t next = at;  // the comma behind the parameter
    while (next + 1 < end && tokens[next].text != ",")
      next = IsOneOf(tokens[next].text, {"(", "[", "{"}) ? BehindBracket(tokens, next) : next + 1;
    if (IsOneOf(tokens[at].text, {"*", "**", "/"})) {
      found.star = true;
    } else {
      if (next == at || tokens[at].kind != TokenKind::kName) return fail();
      Parameter parameter{std::string(tokens[at].text), false};
      if (!names.insert(tokens[at].text).second) {
        found.problem = fmt::format("it has the parameter {} twice", parameter.name);
        return found;
      }
      size_t part = at + 1;
      if (part < next && !IsOneOf(tokens[part].text, {":", "="})) return fail();
      for (; part < next; ++part) parameter.has_default |= tokens[part].text == "=";
      if (!parameter.has_default && !found.star && !found.list.empty() &&
          found.list.back().has_default)
        return fail();
      found.list.push_back(std::move(parameter));
    }
    at = next + 1;
  }
  return found;
}

}  // namespace davinci::agent
