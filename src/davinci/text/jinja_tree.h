// The tree of a template. Internal to jinja*.cc.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "davinci/text/jinja_value.h"

namespace davinci::text::jinja {

struct Expression {
  enum class Kind {
    kLiteral,
    kName,
    kList,
    kDict,       // children: key, value, key, value, …
    kAttribute,  // children[0] . name
    kIndex,      // children[0] [ children[1] ]
    kSlice,      // children: object, start, stop, step; null where left out
    kCall,       // children[0] is called; arguments
    kFilter,     // children[0] | name(arguments)
    kTest,       // children[0] is [not] name(arguments)
    kUnary,      // name: - + not
    kBinary,     // name: + - * / // % ** ~ and or
    kCompare,    // children[0] operators[0] children[1] operators[1] …
    kCondition,  // children[0] if children[1] else children[2], which may be null
  };
  using Pointer = std::unique_ptr<Expression>;

  Kind kind = Kind::kLiteral;
  int line = 0;
  std::string name;
  Value literal;
  bool negated = false;
  std::vector<std::string> operators;
  std::vector<Pointer> children;
  std::vector<Pointer> arguments;
  std::vector<std::pair<std::string, Pointer>> named;
};

struct Statement {
  enum class Kind {
    kText,
    kEmit,      // {{ expression }}
    kIf,        // branches; the last may have no condition
    kFor,       // names in expression if condition: body, otherwise
    kSet,       // names (or names[0].attribute) = expression
    kSetBlock,  // names[0] = body
    kMacro,     // text(names with defaults): body
    kBreak,
    kContinue,
    kBlock,  // body
  };
  using Pointer = std::unique_ptr<Statement>;
  struct Branch {
    Expression::Pointer condition;
    std::vector<Pointer> body;
  };

  Kind kind = Kind::kText;
  int line = 0;
  std::string text;
  std::vector<std::string> names;
  std::string attribute;
  Expression::Pointer expression;
  Expression::Pointer condition;
  std::vector<Expression::Pointer> defaults;  // of a macro's parameters; null: none
  std::vector<Branch> branches;
  std::vector<Pointer> body;
  std::vector<Pointer> otherwise;
};

}  // namespace davinci::text::jinja
