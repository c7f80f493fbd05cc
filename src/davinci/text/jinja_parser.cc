#include "davinci/text/jinja_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "davinci/text/jinja_expressions.h"
#include "davinci/text/jinja_lexer.h"
#include "davinci/text/jinja_token_stream.h"

namespace davinci::text::jinja {
namespace {

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Statement::Pointer> Run() {
    auto body = Body({});
    if (tokens_.Peek().kind != Token::Kind::kEof)
      Fail(tokens_.Peek().line, "unexpected end of a block");
    return body;
  }

 private:
  // Statements up to a block tag whose name is one of `ends`; that tag is not consumed.
  std::vector<Statement::Pointer> Body(const std::vector<std::string_view>& ends) {
    const TokenStream::Level level(&tokens_);
    std::vector<Statement::Pointer> body;
    for (;;) {
      const Token& token = tokens_.Peek();
      if (token.kind == Token::Kind::kEof) {
        if (!ends.empty()) Fail(token.line, fmt::format("expected {}", ends.back()));
        return body;
      }
      auto statement = std::make_unique<Statement>();
      statement->line = token.line;
      expressions_.BeginStatement();
      if (token.kind == Token::Kind::kText) {
        statement->text = tokens_.Next().text;
      } else if (token.text == "{{") {
        tokens_.Next();
        statement->kind = Statement::Kind::kEmit;
        statement->expression = expressions_.TupleOrExpression();
        tokens_.ExpectEnd();
      } else {
        if (tokens_.Peek(1).kind == Token::Kind::kName &&
            std::find(ends.begin(), ends.end(), tokens_.Peek(1).text) != ends.end())
          return body;
        tokens_.Next();
        Block(statement.get());
      }
      body.push_back(std::move(statement));
    }
  }

  // Consumes "{% <name>" that ended a body and returns the name.
  std::string EndTag() {
    tokens_.Next();
    return tokens_.Next().text;
  }

  void Block(Statement* statement) {
    const std::string name = tokens_.ExpectName("a statement");
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
      tokens_.ExpectEnd();
    } else if (name == "generation") {
      statement->kind = Statement::Kind::kBlock;
      tokens_.ExpectEnd();
      statement->body = Body({"endgeneration"});
      EndTag();
      tokens_.ExpectEnd();
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
      if (condition) branch.condition = expressions_.TupleOrExpression();
      tokens_.ExpectEnd();
      branch.body = condition ? Body({"elif", "else", "endif"}) : Body({"endif"});
      statement->branches.push_back(std::move(branch));
      const std::string end = EndTag();
      more = end != "endif";
      condition = end == "elif";
    }
    tokens_.ExpectEnd();
  }

  void For(Statement* statement) {
    statement->kind = Statement::Kind::kFor;
    statement->names = Targets();
    if (!tokens_.TakeName("in")) Fail(tokens_.Peek().line, "expected 'in'");
    statement->expression = expressions_.Or();
    if (tokens_.TakeName("if")) statement->condition = expressions_.Condition();
    if (tokens_.IsName("recursive")) Fail(tokens_.Peek().line, "recursive loops are not supported");
    tokens_.ExpectEnd();
    ++loops_;
    statement->body = Body({"else", "endfor"});
    --loops_;
    if (EndTag() == "else") {
      tokens_.ExpectEnd();
      statement->otherwise = Body({"endfor"});
      EndTag();
    }
    tokens_.ExpectEnd();
  }

  std::vector<std::string> Targets() {
    std::vector<std::string> names;
    const bool parenthesis = tokens_.TakeOperator("(");
    do {
      if (tokens_.IsName("in") || tokens_.IsOperator(")")) break;
      names.push_back(tokens_.ExpectName("a variable"));
    } while (tokens_.TakeOperator(","));
    if (parenthesis) tokens_.ExpectOperator(")");
    if (names.empty()) Fail(tokens_.Peek().line, "expected a variable");
    return names;
  }

  void Set(Statement* statement) {
    statement->kind = Statement::Kind::kSet;
    statement->names.push_back(tokens_.ExpectName("a variable"));
    if (tokens_.TakeOperator(".")) {
      statement->attribute = tokens_.ExpectName("an attribute");
    } else {
      while (tokens_.TakeOperator(","))
        statement->names.push_back(tokens_.ExpectName("a variable"));
    }
    if (tokens_.TakeOperator("=")) {
      statement->expression = expressions_.TupleOrExpression();
      tokens_.ExpectEnd();
      return;
    }
    if (!statement->attribute.empty() || statement->names.size() > 1)
      Fail(tokens_.Peek().line, "expected '='");
    statement->kind = Statement::Kind::kSetBlock;
    tokens_.ExpectEnd();
    statement->body = Body({"endset"});
    EndTag();
    tokens_.ExpectEnd();
  }

  void Macro(Statement* statement) {
    statement->kind = Statement::Kind::kMacro;
    statement->text = tokens_.ExpectName("a macro's name");
    tokens_.ExpectOperator("(");
    while (!tokens_.IsOperator(")")) {
      statement->names.push_back(tokens_.ExpectName("a parameter"));
      statement->defaults.push_back(tokens_.TakeOperator("=") ? expressions_.Condition() : nullptr);
      if (!tokens_.TakeOperator(",")) break;
    }
    tokens_.ExpectOperator(")");
    tokens_.ExpectEnd();
    const int loops = std::exchange(loops_, 0);
    statement->body = Body({"endmacro"});
    loops_ = loops;
    EndTag();
    tokens_.ExpectEnd();
  }

  TokenStream tokens_;
  ExpressionParser expressions_{&tokens_};
  int loops_ = 0;
};

}  // namespace

std::vector<Statement::Pointer> ParseTemplate(std::string_view source) {
  return StatementParser(Tokenize(source)).Run();
}

}  // namespace davinci::text::jinja
