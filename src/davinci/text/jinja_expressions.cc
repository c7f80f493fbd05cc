#include "davinci/text/jinja_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "davinci/text/jinja_builtins.h"

namespace davinci::text::jinja {
namespace {

using Kind = Expression::Kind;

constexpr int kLongestChain = 1000;
// Binary operators, loosest first; "" is none.
constexpr std::array<std::array<std::string_view, 4>, 4> kArithmetic = {
    {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}};

Expression::Pointer Make(Kind kind, int line) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = line;
  return expression;
}

Expression::Pointer Literal(Value value, int line) {
  auto literal = Make(Kind::kLiteral, line);
  literal->literal = std::move(value);
  return literal;
}

bool TakesArgument(std::string_view test) {
  for (const std::string_view name :
       {"divisibleby", "eq", "equalto", "ge", "gt", "in", "le", "lt", "ne", "sameas"})
    if (test == name) return true;
  return false;
}

}  // namespace

Expression::Pointer ExpressionParser::TupleOrExpression() {
  auto first = Condition();
  if (!tokens_.IsOperator(",")) return first;
  auto list = Make(Kind::kList, first->line);
  list->children.push_back(std::move(first));
  while (tokens_.TakeOperator(",")) {
    if (tokens_.Peek().kind == Token::Kind::kEnd) break;
    list->children.push_back(Condition());
  }
  return list;
}

Expression::Pointer ExpressionParser::Condition() {
  const TokenStream::Level level(&tokens_);
  auto value = Or();
  while (tokens_.IsName("if")) {
    const int line = tokens_.Next().line;
    auto condition = Make(Kind::kCondition, line);
    condition->children.push_back(std::move(value));
    condition->children.push_back(Or());
    condition->children.push_back(tokens_.TakeName("else") ? Condition() : nullptr);
    value = std::move(condition);
  }
  return value;
}

Expression::Pointer ExpressionParser::Binary(Expression::Pointer left, const Token& token,
                                             Expression::Pointer right) {
  auto binary = Make(Kind::kBinary, token.line);
  binary->name = token.text;
  binary->children.push_back(std::move(left));
  binary->children.push_back(std::move(right));
  // A chain leans to the left and is evaluated by recursion.
  if (++chain_ > kLongestChain) Fail(token.line, "an expression with too many operators");
  return binary;
}

Expression::Pointer ExpressionParser::Or() {
  auto left = And();
  while (tokens_.IsName("or")) {
    const Token token = tokens_.Next();
    left = Binary(std::move(left), token, And());
  }
  return left;
}

Expression::Pointer ExpressionParser::And() {
  auto left = Not();
  while (tokens_.IsName("and")) {
    const Token token = tokens_.Next();
    left = Binary(std::move(left), token, Not());
  }
  return left;
}

Expression::Pointer ExpressionParser::Not() {
  if (!tokens_.IsName("not")) return Compare();
  const TokenStream::Level level(&tokens_);
  auto unary = Make(Kind::kUnary, tokens_.Next().line);
  unary->name = "not";
  unary->children.push_back(Not());
  return unary;
}

Expression::Pointer ExpressionParser::Compare() {
  auto first = Arithmetic(0);
  Expression::Pointer compare;
  for (;;) {
    std::string operation;
    for (const std::string_view text : {"==", "!=", "<=", ">=", "<", ">"})
      if (operation.empty() && tokens_.IsOperator(text)) operation = text;
    if (tokens_.IsName("in")) operation = "in";
    if (tokens_.IsName("not") && tokens_.IsName("in", 1)) operation = "not in";
    if (operation.empty()) return compare ? std::move(compare) : std::move(first);
    const int line = tokens_.Next().line;
    if (operation == "not in") tokens_.Next();
    if (!compare) {
      compare = Make(Kind::kCompare, line);
      compare->children.push_back(std::move(first));
    }
    compare->operators.push_back(operation);
    compare->children.push_back(Arithmetic(0));
  }
}

// Binary operators from this level on; those of a later one bind more tightly.
Expression::Pointer ExpressionParser::Arithmetic(size_t level) {
  if (level == std::size(kArithmetic)) return Unary(true);
  auto left = Arithmetic(level + 1);
  const auto here = [&] {
    return std::ranges::any_of(kArithmetic[level], [&](std::string_view text) {
      return !text.empty() && tokens_.IsOperator(text);
    });
  };
  while (here()) {
    const Token token = tokens_.Next();
    left = Binary(std::move(left), token, Arithmetic(level + 1));
  }
  return left;
}

Expression::Pointer ExpressionParser::Unary(bool filters) {
  const TokenStream::Level level(&tokens_);
  Expression::Pointer value;
  if (tokens_.IsOperator("-") || tokens_.IsOperator("+")) {
    const Token token = tokens_.Next();
    value = Make(Kind::kUnary, token.line);
    value->name = token.text;
    value->children.push_back(Unary(false));
  } else {
    value = Primary();
  }
  value = Postfix(std::move(value));
  return filters ? Filters(std::move(value)) : std::move(value);
}

Expression::Pointer ExpressionParser::Primary() {
  const Token token = tokens_.Next();
  switch (token.kind) {
    case Token::Kind::kString: {
      std::string text = token.text;
      while (tokens_.Peek().kind == Token::Kind::kString) text += tokens_.Next().text;
      return Literal(std::move(text), token.line);
    }
    case Token::Kind::kInteger: {
      int64_t number = 0;
      const auto [end, error] =
          std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      if (error != std::errc()) Fail(token.line, "an integer above 2^63");
      return Literal(number, token.line);
    }
    case Token::Kind::kFloat: {
      double number = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      return Literal(number, token.line);
    }
    case Token::Kind::kName: {
      if (token.text == "true" || token.text == "True") return Literal(true, token.line);
      if (token.text == "false" || token.text == "False") return Literal(false, token.line);
      if (token.text == "none" || token.text == "None") return Literal(None{}, token.line);
      auto name = Make(Kind::kName, token.line);
      name->name = token.text;
      return name;
    }
    case Token::Kind::kOperator:
      break;
    default:
      Fail(token.line, fmt::format("unexpected '{}'", token.text));
  }
  if (token.text == "(") return Parenthesis(token.line);
  if (token.text == "[") {
    auto list = Make(Kind::kList, token.line);
    while (!tokens_.IsOperator("]")) {
      list->children.push_back(Condition());
      if (!tokens_.TakeOperator(",")) break;
    }
    tokens_.ExpectOperator("]");
    return list;
  }
  if (token.text == "{") {
    auto dict = Make(Kind::kDict, token.line);
    while (!tokens_.IsOperator("}")) {
      dict->children.push_back(Condition());
      tokens_.ExpectOperator(":");
      dict->children.push_back(Condition());
      if (!tokens_.TakeOperator(",")) break;
    }
    tokens_.ExpectOperator("}");
    return dict;
  }
  Fail(token.line, fmt::format("unexpected '{}'", token.text));
}

Expression::Pointer ExpressionParser::Parenthesis(int line) {
  auto list = Make(Kind::kList, line);
  bool tuple = false;
  while (!tokens_.IsOperator(")")) {
    list->children.push_back(Condition());
    if (!tokens_.TakeOperator(",")) break;
    tuple = true;
  }
  tokens_.ExpectOperator(")");
  if (!tuple && list->children.size() == 1) return std::move(list->children[0]);
  return list;
}

void ExpressionParser::CountPostfix(int line) {
  if (++chain_ > kLongestChain) Fail(line, "an expression with too many operators");
}

Expression::Pointer ExpressionParser::Postfix(Expression::Pointer value) {
  for (;;) {
    const int line = tokens_.Peek().line;
    if (tokens_.TakeOperator(".")) {
      auto attribute = Make(Kind::kAttribute, line);
      if (tokens_.Peek().kind == Token::Kind::kInteger) {
        attribute->kind = Kind::kIndex;
        attribute->children.push_back(std::move(value));
        attribute->children.push_back(Primary());
      } else {
        attribute->name = tokens_.ExpectName("an attribute");
        attribute->children.push_back(std::move(value));
      }
      value = std::move(attribute);
    } else if (tokens_.TakeOperator("[")) {
      value = Subscript(std::move(value), line);
    } else if (tokens_.IsOperator("(")) {
      value = Call(std::move(value));
    } else {
      return value;
    }
    CountPostfix(line);
  }
}

Expression::Pointer ExpressionParser::Subscript(Expression::Pointer object, int line) {
  auto index = Make(Kind::kIndex, line);
  index->children.push_back(std::move(object));
  Expression::Pointer parts[3];
  size_t part = 0;
  bool slice = false;
  while (!tokens_.IsOperator("]")) {
    if (tokens_.TakeOperator(":")) {
      slice = true;
      if (++part > 2) Fail(line, "a slice with more than three parts");
      continue;
    }
    if (parts[part]) Fail(tokens_.Peek().line, "expected ']'");
    parts[part] = Condition();
  }
  tokens_.ExpectOperator("]");
  if (slice) {
    index->kind = Kind::kSlice;
    for (auto& one : parts) index->children.push_back(std::move(one));
  } else {
    if (!parts[0]) Fail(line, "an empty index");
    index->children.push_back(std::move(parts[0]));
  }
  return index;
}

void ExpressionParser::ReadArguments(Expression* call) {
  tokens_.ExpectOperator("(");
  while (!tokens_.IsOperator(")")) {
    if (tokens_.Peek().kind == Token::Kind::kName && tokens_.IsOperator("=", 1)) {
      std::string name = tokens_.Next().text;
      tokens_.Next();
      call->named.emplace_back(std::move(name), Condition());
    } else {
      if (!call->named.empty())
        Fail(tokens_.Peek().line, "a positional argument behind a named one");
      call->arguments.push_back(Condition());
    }
    if (!tokens_.TakeOperator(",")) break;
  }
  tokens_.ExpectOperator(")");
}

Expression::Pointer ExpressionParser::Call(Expression::Pointer callee) {
  auto call = Make(Kind::kCall, tokens_.Peek().line);
  call->children.push_back(std::move(callee));
  ReadArguments(call.get());
  return call;
}

Expression::Pointer ExpressionParser::Filters(Expression::Pointer value) {
  for (;;) {
    const int line = tokens_.Peek().line;
    if (tokens_.TakeOperator("|")) {
      auto filter = Make(Kind::kFilter, line);
      filter->name = tokens_.ExpectName("a filter");
      if (!IsKnownFilter(filter->name))
        Fail(line, fmt::format("the filter '{}' is not supported", filter->name));
      filter->children.push_back(std::move(value));
      if (tokens_.IsOperator("(")) ReadArguments(filter.get());
      value = std::move(filter);
    } else if (tokens_.TakeName("is")) {
      auto test = Make(Kind::kTest, line);
      test->negated = tokens_.TakeName("not");
      test->name = tokens_.ExpectName("a test");
      if (!IsKnownTest(test->name))
        Fail(line, fmt::format("the test '{}' is not supported", test->name));
      test->children.push_back(std::move(value));
      if (tokens_.IsOperator("(")) {
        ReadArguments(test.get());
      } else if (TakesArgument(test->name)) {
        test->arguments.push_back(Postfix(Primary()));
      }
      value = std::move(test);
    } else if (tokens_.IsOperator("(")) {
      value = Call(std::move(value));
    } else {
      return value;
    }
    CountPostfix(line);
  }
}

}  // namespace davinci::text::jinja
