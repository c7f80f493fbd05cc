#include "davinci/synth/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace davinci::synth {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression> Run() {
    auto parsed = Or();
    if (error_.empty() && (Skip(), at_ != text_.size()))
      Fail(fmt::format("unexpected '{}'", text_.substr(at_, 10)));
    if (!error_.empty()) return InvalidArgument(fmt::format("\"{}\": {}", text_, error_));
    parsed.source = text_;
    return parsed;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  void Fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  bool Take(std::string_view token) {
    Skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    if (std::isalpha(static_cast<unsigned char>(token[0])) && at_ + token.size() < text_.size() &&
        IsName(text_[at_ + token.size()]))
      return false;
    at_ += token.size();
    return true;
  }
  static bool IsName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  static Expression Make(std::string op, Expression a, Expression b) {
    Expression made;
    made.kind = Expression::Kind::kBinary;
    made.text = std::move(op);
    made.parts.push_back(std::move(a));
    made.parts.push_back(std::move(b));
    return made;
  }

  template <typename Next>
  Expression Chain(std::initializer_list<std::string_view> ops, Next next) {
    Expression left = next();
    for (bool found = true; found && error_.empty();) {
      found = false;
      for (const std::string_view op : ops) {
        if (!Take(op)) continue;
        left = Make(std::string(op), std::move(left), next());
        found = true;
        break;
      }
    }
    return left;
  }
  Expression Or() {
    return Chain({"or"}, [&] { return And(); });
  }
  Expression And() {
    return Chain({"and"}, [&] { return Compare(); });
  }
  Expression Compare() {
    return Chain({"==", "!=", "<=", ">=", "<", ">"}, [&] { return Sum(); });
  }
  Expression Sum() {
    return Chain({"+", "-"}, [&] { return Product(); });
  }
  Expression Product() {
    return Chain({"//", "*", "/", "%"}, [&] { return Unary(); });
  }
  Expression Unary() {
    if (Take("-")) {
      Expression made;
      made.kind = Expression::Kind::kUnary;
      made.parts.push_back(Unary());
      return made;
    }
    return Atom();
  }
  Expression Atom() {
    Skip();
    Expression made;
    if (at_ == text_.size()) {
      Fail("ends too early");
      return made;
    }
    const char c = text_[at_];
    if (Take("(")) {
      made = Or();
      if (!Take(")")) Fail("missing )");
      return made;
    }
    if (c == '\'') {
      const size_t end = text_.find('\'', at_ + 1);
      if (end == std::string_view::npos) {
        Fail("missing '");
        return made;
      }
      made.kind = Expression::Kind::kWord;
      made.text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return made;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      const std::string rest(text_.substr(at_));
      char* end = nullptr;
      made.number = std::strtod(rest.c_str(), &end);
      at_ += static_cast<size_t>(end - rest.c_str());
      if (end == rest.c_str()) Fail("not a number");
      return made;
    }
    if (!IsName(c)) {
      Fail(fmt::format("unexpected '{}'", c));
      return made;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    made.kind = Expression::Kind::kName;
    made.text = text_.substr(begin, at_ - begin);
    if (!Take("(")) return made;
    made.kind = Expression::Kind::kCall;
    if (Take(")")) return made;
    do made.parts.push_back(Or());
    while (Take(","));
    if (!Take(")")) Fail("missing )");
    return made;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

Result<Expression> Expression::Parse(std::string_view text) { return Parser(text).Run(); }

std::optional<DimId> EvaluateDim(const Expression& expression, DimTable* dims,
                                 const DimLookup& lookup) {
  using Kind = Expression::Kind;
  switch (expression.kind) {
    case Kind::kNumber:
      return dims->Constant(static_cast<int64_t>(expression.number));
    case Kind::kName:
      return lookup(expression.text);
    case Kind::kUnary: {
      const auto value = EvaluateDim(expression.parts[0], dims, lookup);
      if (!value) return std::nullopt;
      return dims->Binary('-', dims->Constant(0), *value);
    }
    case Kind::kBinary: {
      const auto a = EvaluateDim(expression.parts[0], dims, lookup);
      const auto b = EvaluateDim(expression.parts[1], dims, lookup);
      if (!a || !b) return std::nullopt;
      const std::string& op = expression.text;
      if (op != "+" && op != "-" && op != "*" && op != "/" && op != "//") return std::nullopt;
      const DimId made = dims->Binary(op[0], *a, *b);
      if (made == kNoDim) return std::nullopt;
      return made;
    }
    case Kind::kCall: {
      if (expression.text != "ceil_div" || expression.parts.size() != 2) return std::nullopt;
      const auto a = EvaluateDim(expression.parts[0], dims, lookup);
      const auto b = EvaluateDim(expression.parts[1], dims, lookup);
      if (!a || !b) return std::nullopt;
      const DimId made =
          dims->Binary('/', dims->Binary('-', dims->Binary('+', *a, *b), dims->Constant(1)), *b);
      if (made == kNoDim) return std::nullopt;
      return made;
    }
    case Kind::kWord:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> EvaluateNumber(const Expression& expression, const NumberLookup& lookup) {
  using Kind = Expression::Kind;
  const auto part = [&](size_t i) { return EvaluateNumber(expression.parts[i], lookup); };
  const auto word = [&](const Expression& side) -> std::optional<std::string> {
    if (side.kind == Kind::kWord) return side.text;
    if (side.kind == Kind::kName && lookup.word) return lookup.word(side.text);
    return std::nullopt;
  };
  switch (expression.kind) {
    case Kind::kNumber:
      return expression.number;
    case Kind::kName:
      return lookup.number(expression.text);
    case Kind::kWord:
      return std::nullopt;
    case Kind::kUnary: {
      const auto value = part(0);
      if (!value) return std::nullopt;
      return -*value;
    }
    case Kind::kBinary: {
      const std::string& op = expression.text;
      if (op == "==" || op == "!=") {
        const auto left = word(expression.parts[0]);
        const auto right = word(expression.parts[1]);
        if (left && right) return (*left == *right) == (op == "==");
      }
      const auto a = part(0);
      if (!a) return std::nullopt;
      if (op == "and" && *a == 0) return 0;
      if (op == "or" && *a != 0) return 1;
      const auto b = part(1);
      if (!b) return std::nullopt;
      if (op == "and" || op == "or") return *b != 0;
      if (op == "+") return *a + *b;
      if (op == "-") return *a - *b;
      if (op == "*") return *a * *b;
      if (op == "/") return *a / *b;
      if (op == "//") return std::floor(*a / *b);
      if (op == "%") return *b == 0 ? 1 : *a - std::floor(*a / *b) * *b;
      if (op == "==") return *a == *b;
      if (op == "!=") return *a != *b;
      if (op == "<=") return *a <= *b;
      if (op == ">=") return *a >= *b;
      if (op == "<") return *a < *b;
      return *a > *b;
    }
    case Kind::kCall: {
      std::vector<double> values;
      for (size_t i = 0; i < expression.parts.size(); ++i) {
        const auto value = part(i);
        if (!value) return std::nullopt;
        values.push_back(*value);
      }
      const std::string& f = expression.text;
      if (values.size() == 1) {
        const double x = values[0];
        if (f == "abs") return std::abs(x);
        if (f == "exp") return std::exp(x);
        if (f == "log") return std::log(x);
        if (f == "sqrt") return std::sqrt(x);
        if (f == "tanh") return std::tanh(x);
        if (f == "sin") return std::sin(x);
        if (f == "floor") return std::floor(x);
        if (f == "isinf") return std::isinf(x);
      }
      if (values.empty()) return std::nullopt;
      if (f == "pow" && values.size() == 2) return std::pow(values[0], values[1]);
      if (f == "min" || f == "max") {
        double best = values[0];
        for (const double value : values)
          best = f == "min" ? std::min(best, value) : std::max(best, value);
        return best;
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace davinci::synth
