#include "davinci/text/jinja_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "davinci/text/jinja_lexer.h"

namespace davinci::text::jinja {
namespace {

constexpr int kDeepestBlock = 100;

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Statement::Pointer> Run() {
    auto body = Body({});
    if (Peek().kind != Token::Kind::kEof) Fail(Peek().line, "unexpected end of a block");
    return body;
  }

 private:
  using Kind = Expression::Kind;

  // Recursion is bounded: a hostile template must not use up the stack.
  class Level {
   public:
    Level(int* depth, int line) : depth_(depth) {
      if (++*depth_ > kDeepestBlock) Fail(line, "nested too deeply");
    }
    ~Level() { --*depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int* depth_;
  };

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token Next() {
    Token token = Peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool IsOperator(std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == Token::Kind::kOperator && Peek(ahead).text == text;
  }
  bool IsName(std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == Token::Kind::kName && Peek(ahead).text == text;
  }
  bool TakeOperator(std::string_view text) {
    if (!IsOperator(text)) return false;
    Next();
    return true;
  }
  bool TakeName(std::string_view text) {
    if (!IsName(text)) return false;
    Next();
    return true;
  }
  void ExpectOperator(std::string_view text) {
    if (!TakeOperator(text))
      Fail(Peek().line, fmt::format("expected '{}', found '{}'", text, Peek().text));
  }
  std::string ExpectName(std::string_view what) {
    if (Peek().kind != Token::Kind::kName)
      Fail(Peek().line, fmt::format("expected {}, found '{}'", what, Peek().text));
    return Next().text;
  }
  void ExpectEnd() {
    if (Peek().kind != Token::Kind::kEnd)
      Fail(Peek().line, fmt::format("unexpected '{}'", Peek().text));
    Next();
  }

  static Expression::Pointer Make(Kind kind, int line) {
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->line = line;
    return expression;
  }

  // Statements up to a block tag whose name is one of `ends`; that tag is not consumed.
  std::vector<Statement::Pointer> Body(const std::vector<std::string_view>& ends) {
    const Level level(&depth_, Peek().line);
    std::vector<Statement::Pointer> body;
    for (;;) {
      const Token& token = Peek();
      if (token.kind == Token::Kind::kEof) {
        if (!ends.empty()) Fail(token.line, fmt::format("expected {}", ends.back()));
        return body;
      }
      auto statement = std::make_unique<Statement>();
      statement->line = token.line;
      chain_ = 0;
      if (token.kind == Token::Kind::kText) {
        statement->text = Next().text;
      } else if (token.text == "{{") {
        Next();
        statement->kind = Statement::Kind::kEmit;
        statement->expression = TupleOrExpression();
        ExpectEnd();
      } else {
        if (Peek(1).kind == Token::Kind::kName &&
            std::find(ends.begin(), ends.end(), Peek(1).text) != ends.end())
          return body;
        Next();
        Block(statement.get());
      }
      body.push_back(std::move(statement));
    }
  }

  // Consumes "{% <name>" that ended a body and returns the name.
  std::string EndTag() {
    Next();
    return Next().text;
  }

  void Block(Statement* statement) {
    const std::string name = ExpectName("a statement");
    if (name == "if") {
      If(statement);
    } else if (name == "for") {
      For(statement);
    } else if (name == "set") {
      Set(statement);
    } else if (name == "macro") {
      Macro(statement);
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) Fail(statement->line, fmt::format("{} outside a loop", name));
      statement->kind = name == "break" ? Statement::Kind::kBreak : Statement::Kind::kContinue;
      ExpectEnd();
    } else if (name == "generation") {
      statement->kind = Statement::Kind::kBlock;
      ExpectEnd();
      statement->body = Body({"endgeneration"});
      EndTag();
      ExpectEnd();
    } else {
      Fail(statement->line, fmt::format("the statement '{}' is not supported", name));
    }
  }

  void If(Statement* statement) {
    statement->kind = Statement::Kind::kIf;
    bool more = true;
    bool condition = true;
    while (more) {
      Statement::Branch branch;
      if (condition) branch.condition = TupleOrExpression();
      ExpectEnd();
      branch.body = condition ? Body({"elif", "else", "endif"}) : Body({"endif"});
      statement->branches.push_back(std::move(branch));
      const std::string end = EndTag();
      more = end != "endif";
      condition = end == "elif";
    }
    ExpectEnd();
  }

  void For(Statement* statement) {
    statement->kind = Statement::Kind::kFor;
    statement->names = Targets();
    if (!TakeName("in")) Fail(Peek().line, "expected 'in'");
    statement->expression = Or();
    if (TakeName("if")) statement->condition = Condition();
    if (IsName("recursive")) Fail(Peek().line, "recursive loops are not supported");
    ExpectEnd();
    ++loops_;
    statement->body = Body({"else", "endfor"});
    --loops_;
    if (EndTag() == "else") {
      ExpectEnd();
      statement->otherwise = Body({"endfor"});
      EndTag();
    }
    ExpectEnd();
  }

  std::vector<std::string> Targets() {
    std::vector<std::string> names;
    const bool parenthesis = TakeOperator("(");
    do {
      if (IsName("in") || IsOperator(")")) break;
      names.push_back(ExpectName("a variable"));
    } while (TakeOperator(","));
    if (parenthesis) ExpectOperator(")");
    if (names.empty()) Fail(Peek().line, "expected a variable");
    return names;
  }

  void Set(Statement* statement) {
    statement->kind = Statement::Kind::kSet;
    statement->names.push_back(ExpectName("a variable"));
    if (TakeOperator(".")) {
      statement->attribute = ExpectName("an attribute");
    } else {
      while (TakeOperator(",")) statement->names.push_back(ExpectName("a variable"));
    }
    if (TakeOperator("=")) {
      statement->expression = TupleOrExpression();
      ExpectEnd();
      return;
    }
    if (!statement->attribute.empty() || statement->names.size() > 1)
      Fail(Peek().line, "expected '='");
    statement->kind = Statement::Kind::kSetBlock;
    ExpectEnd();
    statement->body = Body({"endset"});
    EndTag();
    ExpectEnd();
  }

  void Macro(Statement* statement) {
    statement->kind = Statement::Kind::kMacro;
    statement->text = ExpectName("a macro's name");
    ExpectOperator("(");
    while (!IsOperator(")")) {
      statement->names.push_back(ExpectName("a parameter"));
      statement->defaults.push_back(TakeOperator("=") ? Condition() : nullptr);
      if (!TakeOperator(",")) break;
    }
    ExpectOperator(")");
    ExpectEnd();
    const int loops = std::exchange(loops_, 0);
    statement->body = Body({"endmacro"});
    loops_ = loops;
    EndTag();
    ExpectEnd();
  }

  // a, b, c is a tuple.
  Expression::Pointer TupleOrExpression() {
    auto first = Condition();
    if (!IsOperator(",")) return first;
    auto list = Make(Kind::kList, first->line);
    list->children.push_back(std::move(first));
    while (TakeOperator(",")) {
      if (Peek().kind == Token::Kind::kEnd) break;
      list->children.push_back(Condition());
    }
    return list;
  }

  Expression::Pointer Condition() {
    const Level level(&depth_, Peek().line);
    auto value = Or();
    while (IsName("if")) {
      const int line = Next().line;
      auto condition = Make(Kind::kCondition, line);
      condition->children.push_back(std::move(value));
      condition->children.push_back(Or());
      condition->children.push_back(TakeName("else") ? Condition() : nullptr);
      value = std::move(condition);
    }
    return value;
  }

  Expression::Pointer Binary(Expression::Pointer left, const Token& token,
                             Expression::Pointer right) {
    auto binary = Make(Kind::kBinary, token.line);
    binary->name = token.text;
    binary->children.push_back(std::move(left));
    binary->children.push_back(std::move(right));
    // A chain leans to the left and is evaluated by recursion.
    if (++chain_ > kLongestChain) Fail(token.line, "an expression with too many operators");
    return binary;
  }

  Expression::Pointer Or() {
    auto left = And();
    while (IsName("or")) {
      const Token token = Next();
      left = Binary(std::move(left), token, And());
    }
    return left;
  }

  Expression::Pointer And() {
    auto left = Not();
    while (IsName("and")) {
      const Token token = Next();
      left = Binary(std::move(left), token, Not());
    }
    return left;
  }

  Expression::Pointer Not() {
    if (!IsName("not")) return Compare();
    const Level level(&depth_, Peek().line);
    auto unary = Make(Kind::kUnary, Next().line);
    unary->name = "not";
    unary->children.push_back(Not());
    return unary;
  }

  Expression::Pointer Compare() {
    auto first = Sum();
    Expression::Pointer compare;
    for (;;) {
      std::string operation;
      for (const std::string_view text : {"==", "!=", "<=", ">=", "<", ">"})
        if (operation.empty() && IsOperator(text)) operation = text;
      if (IsName("in")) operation = "in";
      if (IsName("not") && IsName("in", 1)) operation = "not in";
      if (operation.empty()) return compare ? std::move(compare) : std::move(first);
      const int line = Next().line;
      if (operation == "not in") Next();
      if (!compare) {
        compare = Make(Kind::kCompare, line);
        compare->children.push_back(std::move(first));
      }
      compare->operators.push_back(operation);
      compare->children.push_back(Sum());
    }
  }

  Expression::Pointer Sum() {
    auto left = Concatenation();
    while (IsOperator("+") || IsOperator("-")) {
      const Token token = Next();
      left = Binary(std::move(left), token, Concatenation());
    }
    return left;
  }

  Expression::Pointer Concatenation() {
    auto left = Product();
    while (IsOperator("~")) {
      const Token token = Next();
      left = Binary(std::move(left), token, Product());
    }
    return left;
  }

  Expression::Pointer Product() {
    auto left = Power();
    while (IsOperator("*") || IsOperator("/") || IsOperator("//") || IsOperator("%")) {
      const Token token = Next();
      left = Binary(std::move(left), token, Power());
    }
    return left;
  }

  Expression::Pointer Power() {
    auto left = Unary(true);
    while (IsOperator("**")) {
      const Token token = Next();
      left = Binary(std::move(left), token, Unary(true));
    }
    return left;
  }

  Expression::Pointer Unary(bool filters) {
    const Level level(&depth_, Peek().line);
    Expression::Pointer value;
    if (IsOperator("-") || IsOperator("+")) {
      const Token token = Next();
      value = Make(Kind::kUnary, token.line);
      value->name = token.text;
      value->children.push_back(Unary(false));
    } else {
      value = Primary();
    }
    value = Postfix(std::move(value));
    return filters ? Filters(std::move(value)) : std::move(value);
  }

  Expression::Pointer Literal(Value value, int line) {
    auto literal = Make(Kind::kLiteral, line);
    literal->literal = std::move(value);
    return literal;
  }

  Expression::Pointer Primary() {
    const Token token = Next();
    switch (token.kind) {
      case Token::Kind::kString: {
        std::string text = token.text;
        while (Peek().kind == Token::Kind::kString) text += Next().text;
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
      while (!IsOperator("]")) {
        list->children.push_back(Condition());
        if (!TakeOperator(",")) break;
      }
      ExpectOperator("]");
      return list;
    }
    if (token.text == "{") {
      auto dict = Make(Kind::kDict, token.line);
      while (!IsOperator("}")) {
        dict->children.push_back(Condition());
        ExpectOperator(":");
        dict->children.push_back(Condition());
        if (!TakeOperator(",")) break;
      }
      ExpectOperator("}");
      return dict;
    }
    Fail(token.line, fmt::format("unexpected '{}'", token.text));
  }

  Expression::Pointer Parenthesis(int line) {
    auto list = Make(Kind::kList, line);
    bool tuple = false;
    while (!IsOperator(")")) {
      list->children.push_back(Condition());
      if (!TakeOperator(",")) break;
      tuple = true;
    }
    ExpectOperator(")");
    if (!tuple && list->children.size() == 1) return std::move(list->children[0]);
    return list;
  }

  void CountPostfix(int line) {
    if (++chain_ > kLongestChain) Fail(line, "an expression with too many operators");
  }

  Expression::Pointer Postfix(Expression::Pointer value) {
    for (;;) {
      const int line = Peek().line;
      if (TakeOperator(".")) {
        auto attribute = Make(Kind::kAttribute, line);
        if (Peek().kind == Token::Kind::kInteger) {
          attribute->kind = Kind::kIndex;
          attribute->children.push_back(std::move(value));
          attribute->children.push_back(Primary());
        } else {
          attribute->name = ExpectName("an attribute");
          attribute->children.push_back(std::move(value));
        }
        value = std::move(attribute);
      } else if (TakeOperator("[")) {
        value = Subscript(std::move(value), line);
      } else if (IsOperator("(")) {
        value = Call(std::move(value));
      } else {
        return value;
      }
      CountPostfix(line);
    }
  }

  Expression::Pointer Subscript(Expression::Pointer object, int line) {
    auto index = Make(Kind::kIndex, line);
    index->children.push_back(std::move(object));
    Expression::Pointer parts[3];
    size_t part = 0;
    bool slice = false;
    while (!IsOperator("]")) {
      if (TakeOperator(":")) {
        slice = true;
        if (++part > 2) Fail(line, "a slice with more than three parts");
        continue;
      }
      if (parts[part]) Fail(Peek().line, "expected ']'");
      parts[part] = Condition();
    }
    ExpectOperator("]");
    if (slice) {
      index->kind = Kind::kSlice;
      for (auto& one : parts) index->children.push_back(std::move(one));
    } else {
      if (!parts[0]) Fail(line, "an empty index");
      index->children.push_back(std::move(parts[0]));
    }
    return index;
  }

  void ReadArguments(Expression* call) {
    ExpectOperator("(");
    while (!IsOperator(")")) {
      if (Peek().kind == Token::Kind::kName && IsOperator("=", 1)) {
        std::string name = Next().text;
        Next();
        call->named.emplace_back(std::move(name), Condition());
      } else {
        if (!call->named.empty()) Fail(Peek().line, "a positional argument behind a named one");
        call->arguments.push_back(Condition());
      }
      if (!TakeOperator(",")) break;
    }
    ExpectOperator(")");
  }

  Expression::Pointer Call(Expression::Pointer callee) {
    auto call = Make(Kind::kCall, Peek().line);
    call->children.push_back(std::move(callee));
    ReadArguments(call.get());
    return call;
  }

  Expression::Pointer Filters(Expression::Pointer value) {
    for (;;) {
      const int line = Peek().line;
      if (TakeOperator("|")) {
        auto filter = Make(Kind::kFilter, line);
        filter->name = ExpectName("a filter");
        if (!IsKnownFilter(filter->name))
          Fail(line, fmt::format("the filter '{}' is not supported", filter->name));
        filter->children.push_back(std::move(value));
        if (IsOperator("(")) ReadArguments(filter.get());
        value = std::move(filter);
      } else if (TakeName("is")) {
        auto test = Make(Kind::kTest, line);
        test->negated = TakeName("not");
        test->name = ExpectName("a test");
        if (!IsKnownTest(test->name))
          Fail(line, fmt::format("the test '{}' is not supported", test->name));
        test->children.push_back(std::move(value));
        if (IsOperator("(")) {
          ReadArguments(test.get());
        } else if (TakesArgument(test->name)) {
          test->arguments.push_back(Postfix(Primary()));
        }
        value = std::move(test);
      } else if (IsOperator("(")) {
        value = Call(std::move(value));
      } else {
        return value;
      }
      CountPostfix(line);
    }
  }

  static bool TakesArgument(std::string_view test) {
    for (const std::string_view name :
         {"divisibleby", "eq", "equalto", "ge", "gt", "in", "le", "lt", "ne", "sameas"})
      if (test == name) return true;
    return false;
  }

  static constexpr int kLongestChain = 1000;  // of one statement: evaluation recurses
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
  int chain_ = 0;
};

}  // namespace

std::vector<Statement::Pointer> ParseTemplate(std::string_view source) {
  return Parser(Tokenize(source)).Run();
}

}  // namespace davinci::text::jinja
