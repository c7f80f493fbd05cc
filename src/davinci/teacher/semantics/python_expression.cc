#include "davinci/teacher/semantics/python_expression.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <span>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using EKind = PythonExpression::Kind;

// The text, and how far it is read. The first problem stays.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

 protected:
  void Problem(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  void Space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool Ahead(std::string_view what) {
    Space();
    return text_.substr(at_).starts_with(what);
  }
  bool Take(std::string_view what) {
    if (!Ahead(what)) return false;
    at_ += what.size();
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!Ahead(word)) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && IsName(text_[end])) return false;
    at_ = end;
    return true;
  }
  static bool IsName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  std::string Name() {
    Space();
    const size_t begin = at_;
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    if (at_ == begin) Problem("want a name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string problem_;
};

class Parser : private Scanner {
 public:
  using Scanner::Scanner;

  Result<PythonExpression> Run() {
    PythonExpression result = Sequence('\0');
    Space();
    if (problem_.empty() && at_ != text_.size()) Problem("text behind the expression");
    if (!problem_.empty())
      return InvalidArgument(fmt::format("{} at {} of: {}", problem_, at_, text_));
    return result;
  }

 private:
  static PythonExpression Binary(std::string op, PythonExpression a, PythonExpression b) {
    return {EKind::kBinary, std::move(op), {std::move(a), std::move(b)}, {}};
  }

  // One expression, or several with commas up to `close`.
  PythonExpression Sequence(char close) {
    PythonExpression first = Comparison();
    if (!Ahead(",")) return first;
    PythonExpression sequence{EKind::kSequence, "", {std::move(first)}, {}};
    while (problem_.empty() && Take(",")) {
      Space();
      if (at_ == text_.size() || (close != '\0' && text_[at_] == close)) break;
      sequence.parts.push_back(Comparison());
    }
    return sequence;
  }

  PythonExpression Comparison() {
    PythonExpression left = BitOr();
    for (;;) {
      std::string op;
      for (const char* candidate : {"==", "!=", "<=", ">=", "<", ">"})
        if (op.empty() && Ahead(candidate)) op = candidate;
      if (op.empty()) return left;
      Take(op);
      left = Binary(op, std::move(left), BitOr());
    }
  }
  PythonExpression BitOr() {
    PythonExpression left = BitAnd();
    while (Take("|")) left = Binary("|", std::move(left), BitAnd());
    return left;
  }
  PythonExpression BitAnd() {
    PythonExpression left = Sum();
    while (Take("&")) left = Binary("&", std::move(left), Sum());
    return left;
  }
  PythonExpression Sum() {
    PythonExpression left = Product();
    for (;;) {
      if (Take("+"))
        left = Binary("+", std::move(left), Product());
      else if (Take("-"))
        left = Binary("-", std::move(left), Product());
      else
        return left;
    }
  }
  PythonExpression Product() {
    PythonExpression left = Unary();
    for (;;) {
      if (Ahead("**")) return left;
      std::string op;
      for (const char* candidate : {"//", "*", "/", "%", "@"})
        if (op.empty() && Ahead(candidate)) op = candidate;
      if (op.empty()) return left;
      Take(op);
      left = Binary(op, std::move(left), Unary());
    }
  }
  PythonExpression Unary() {
    for (const char* op : {"-", "~", "+"})
      if (Take(op)) return {EKind::kUnary, op, {Unary()}, {}};
    return Power();
  }
  PythonExpression Power() {
    PythonExpression base = Postfix();
    if (Take("**")) return Binary("**", std::move(base), Unary());
    return base;
  }

  PythonExpression Postfix() {
    PythonExpression value = Primary();
    while (problem_.empty()) {
      if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        value = {EKind::kAttribute, Name(), {std::move(value)}, {}};
      } else if (at_ < text_.size() && text_[at_] == '(') {
        ++at_;
        value = Call(std::move(value));
      } else if (at_ < text_.size() && text_[at_] == '[') {
        ++at_;
        PythonExpression subscript{EKind::kSubscript, "", {std::move(value)}, {}};
        do {
          if (Ahead("]")) break;
          subscript.parts.push_back(SubscriptItem());
        } while (problem_.empty() && Take(","));
        if (!Take("]")) Problem("want ]");
        value = std::move(subscript);
      } else {
        return value;
      }
    }
    return value;
  }

  PythonExpression SubscriptItem() {
    if (Take("...")) return {EKind::kName, "...", {}, {}};
    PythonExpression slice{EKind::kSlice, "", {{}, {}, {}}, {}};
    bool is_slice = false;
    size_t part = 0;
    for (;;) {
      if (Take(":")) {
        is_slice = true;
        if (++part > 2) Problem("a slice has three parts");
        if (!problem_.empty()) return slice;
        continue;
      }
      if (Ahead("]") || Ahead(",")) break;
      slice.parts[part] = Comparison();
      if (!problem_.empty()) return slice;
      if (!Ahead(":")) break;
    }
    return is_slice ? slice : slice.parts[0];
  }

  PythonExpression Call(PythonExpression function) {
    PythonExpression call{EKind::kCall, "", {std::move(function)}, {}};
    while (problem_.empty() && !Take(")")) {
      const size_t begin = at_;
      Space();
      const bool name_first =
          at_ < text_.size() &&
          (std::isalpha(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_');
      if (name_first) {
        std::string name = Name();
        if (Ahead("=") && !Ahead("==")) {
          Take("=");
          call.keywords.push_back({std::move(name), Comparison()});
          if (!Take(",") && !Ahead(")")) Problem("want , or )");
          continue;
        }
        at_ = begin;
      }
      call.parts.push_back(Comparison());
      if (!Take(",") && !Ahead(")")) Problem("want , or )");
    }
    return call;
  }

  PythonExpression Primary() {
    Space();
    if (at_ == text_.size()) {
      Problem("want a value");
      return {};
    }
    const char c = text_[at_];
    if (c == '(' || c == '[') {
      ++at_;
      const char close = c == '(' ? ')' : ']';
      PythonExpression inner{EKind::kSequence, "", {}, {}};
      if (!Ahead(std::string_view(&close, 1))) {
        inner = Sequence(close);
        if (c == '[' && inner.kind != EKind::kSequence)
          inner = {EKind::kSequence, "", {std::move(inner)}, {}};
      }
      if (!Take(std::string_view(&close, 1))) Problem("want a closing bracket");
      return inner;
    }
    if (c == '"' || c == '\'') {
      const size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) {
        Problem("text without an end");
        return {};
      }
      PythonExpression text{
          EKind::kString, std::string(text_.substr(at_ + 1, end - at_ - 1)), {}, {}};
      at_ = end + 1;
      return text;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      const size_t begin = at_;
      while (at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
              text_[at_] == 'e' ||
              ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e')))
        ++at_;
      return {EKind::kNumber, std::string(text_.substr(begin, at_ - begin)), {}, {}};
    }
    return {EKind::kName, Name(), {}, {}};
  }
};

// How tightly the outermost operator binds.
int LevelOf(const PythonExpression& e) {
  if (e.kind == EKind::kUnary) return 6;
  if (e.kind != EKind::kBinary) return 8;
  static const std::map<std::string, int> levels = {{"|", 2}, {"&", 3}, {"+", 4}, {"-", 4},
                                                    {"*", 5}, {"/", 5}, {"%", 5}, {"//", 5},
                                                    {"@", 5}, {"**", 7}};
  const auto found = levels.find(e.text);
  return found == levels.end() ? 1 : found->second;
}

std::string OperandText(const PythonExpression& e, int least) {
  return LevelOf(e) < least ? "(" + e.Text() + ")" : e.Text();
}

std::string ListText(std::span<const PythonExpression> parts) {
  std::vector<std::string> texts;
  for (const PythonExpression& part : parts) texts.push_back(part.Text());
  return synth::Join(texts, ", ");
}

std::string CallText(const PythonExpression& e) {
  std::string arguments = ListText(std::span(e.parts).subspan(1));
  for (const auto& [name, value] : e.keywords)
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value.Text());
  return fmt::format("{}({})", OperandText(e.parts[0], 8), arguments);
}

}  // namespace

Result<PythonExpression> PythonExpression::Parse(std::string_view text) {
  return Parser(text).Run();
}

std::string PythonExpression::DottedName() const {
  if (kind == EKind::kName) return text;
  if (kind != EKind::kAttribute) return "";
  const std::string left = parts[0].DottedName();
  return left.empty() ? "" : left + "." + text;
}

std::string PythonExpression::Text() const {
  switch (kind) {
    case EKind::kNumber:
    case EKind::kName:
      return text;
    case EKind::kString:
      return '"' + text + '"';
    case EKind::kAttribute:
      return OperandText(parts[0], 8) + "." + text;
    case EKind::kCall:
      return CallText(*this);
    case EKind::kSubscript:
      return fmt::format("{}[{}]", OperandText(parts[0], 8), ListText(std::span(parts).subspan(1)));
    case EKind::kSlice: {
      std::string slice = parts[0].Text() + ":" + parts[1].Text();
      if (parts[2].kind != EKind::kNone) slice += ":" + parts[2].Text();
      return slice;
    }
    case EKind::kNone:
      return "";
    case EKind::kUnary:
      return text + OperandText(parts[0], 6);
    case EKind::kBinary: {
      const int level = LevelOf(*this);
      const bool power = text == "**";
      return fmt::format("{} {} {}", OperandText(parts[0], power ? 8 : level), text,
                         OperandText(parts[1], power ? 6 : level + 1));
    }
    case EKind::kSequence:
      return fmt::format("({}{})", ListText(parts), parts.size() == 1 ? "," : "");
  }
  return "";
}

}  // namespace davinci::teacher
