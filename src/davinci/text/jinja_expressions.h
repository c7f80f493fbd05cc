// Expressions of a template: tokens to a tree. Internal to jinja*.cc.
#pragma once

#include <cstddef>

#include "davinci/text/jinja_token_stream.h"
#include "davinci/text/jinja_tree.h"

namespace davinci::text::jinja {

// Reads from a stream that its caller reads, too. JinjaError with the line.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream* tokens) : tokens_(*tokens) {}

  // A statement has so many operators: evaluation recurses.
  void BeginStatement() { chain_ = 0; }
  // a, b, c is a tuple.
  Expression::Pointer TupleOrExpression();
  Expression::Pointer Condition();
  // Without a condition behind it ("for x in HERE if …").
  Expression::Pointer Or();

 private:
  Expression::Pointer Binary(Expression::Pointer left, const Token& token,
                             Expression::Pointer right);
  Expression::Pointer And();
  Expression::Pointer Not();
  Expression::Pointer Compare();
  Expression::Pointer Arithmetic(size_t level);
  Expression::Pointer Unary(bool filters);
  Expression::Pointer Primary();
  Expression::Pointer Parenthesis(int line);
  void CountPostfix(int line);
  Expression::Pointer Postfix(Expression::Pointer value);
  Expression::Pointer Subscript(Expression::Pointer object, int line);
  void ReadArguments(Expression* call);
  Expression::Pointer Call(Expression::Pointer callee);
  Expression::Pointer Filters(Expression::Pointer value);

  TokenStream& tokens_;
  int chain_ = 0;
};

}  // namespace davinci::text::jinja
