// Evaluates a PyTorch expression to values of a Program: functions by the registry of functions.h
// or by the definitions of the tables. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/semantics/call.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

class Evaluator : private Definitions {
 public:
  Evaluator(Program* program, const Tables& tables, const LowerOptions& options)
      : tables_(tables),
        builder_(program, tables, options),
        training_(program->graph.mode != "eval") {}

  // "module_(x)" calls this one, whose weights lie below `path`.
  void SetModule(PythonExpression constructor, std::string path) {
    constructor_ = std::move(constructor);
    path_ = std::move(path);
  }
  Result<Meaning> Evaluate(const PythonExpression& expression, const Names& names);

 private:
  Result<Meaning> Name(const std::string& name, const Names& names);
  Result<Meaning> Unary(const std::string& op, const Meaning& value);
  Result<Meaning> Attribute(const PythonExpression& attribute, const Names& names);
  Result<Meanings> EvaluateAll(const std::vector<PythonExpression>& expressions, size_t skipped,
                               const Names& names);
  Result<Keywords> EvaluateKeywords(const PythonExpression& call, const Names& names);
  Result<Meaning> CallOf(const PythonExpression& call, const Names& names);
  Result<Meaning> Module(const Meanings& inputs);
  Result<Meaning> Apply(const std::string& name, const Meanings& arguments) override {
    return Apply(name, arguments, {});
  }
  Result<Meaning> Apply(const std::string& name, const Meanings& arguments, Keywords keywords);
  Result<Meaning> ApplyTable(const std::vector<Function>& definitions, const Meanings& arguments,
                             const Keywords& keywords, const Names& more, const std::string& name);

  const Tables& tables_;
  Builder builder_;
  bool training_;
  std::optional<PythonExpression> constructor_;
  std::string path_;
  int depth_ = 0;  // of definitions within each other
};

}  // namespace davinci::teacher
