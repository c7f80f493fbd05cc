#include "davinci/teacher/semantics/evaluator.h"

#include <fmt/format.h>

#include <cmath>

#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/matmul.h"
#include "davinci/teacher/semantics/subscript.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using EKind = PythonExpression::Kind;

Result<Meaning> MemberOf(const Meaning& pair, const std::string& member) {
  if (member == "values") return pair.id >= 0 ? Meaning::Tensor(pair.id) : pair.items[0];
  if (member == "indices" && pair.items.size() == 2) return pair.items[1];
  return Unknown(member);
}

}  // namespace

Result<Meaning> Evaluator::Name(const std::string& name, const Names& names) {
  if (const auto found = names.find(name); found != names.end()) return found->second;
  if (name == "None") return Meaning{};
  if (name == "True" || name == "False") {
    Meaning flag = Meaning::Number(name == "True");
    flag.boolean = true;
    return flag;
  }
  if (name.starts_with("dimid_"))
    return builder_.Size(static_cast<DimId>(std::stol(name.substr(6))));
  return Unknown(name);
}

Result<Meaning> Evaluator::Unary(const std::string& op, const Meaning& value) {
  if (op == "+") return value;
  if (op == "~") return builder_.Point("not", {value});
  if (value.kind != Meaning::Kind::kNumber) return builder_.Point("neg", {value});
  if (value.number) return Meaning::Number(-*value.number);
  Meaning negative = value;
  negative.text = "(-" + value.text + ")";
  return negative;
}

Result<Meaning> Evaluator::Attribute(const Expression& e, const Names& names) {
  const std::string dotted = e.DottedName();
  if (dotted == "math.pi") return Meaning::Number(M_PI);
  if (dotted.starts_with("torch.")) return Meaning::Text(dotted);  // of types
  DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
  if (value.IsSequence() && !value.items.empty()) return MemberOf(value, e.text);
  if (!value.IsTensor()) return Unknown(e.text);
  if (e.text == "shape") {
    Meaning all = Meaning::Sequence({});
    const auto shape = builder_.p[value.id].shape;
    for (const DimId dim : shape) all.items.push_back(builder_.Size(dim));
    return all;
  }
  if (e.text == "T") return Apply("t", {value}, {});
  if (e.text == "dtype" || e.text == "device") return Meaning::Text(e.text);
  return Unknown(e.text);
}

Result<Meanings> Evaluator::EvaluateAll(const std::vector<Expression>& expressions, size_t skipped,
                                        const Names& names) {
  Meanings all;
  for (size_t i = skipped; i < expressions.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(all.emplace_back(), Evaluate(expressions[i], names));
  }
  return all;
}

Result<Keywords> Evaluator::EvaluateKeywords(const Expression& call, const Names& names) {
  Keywords keywords;
  for (const auto& [keyword, value] : call.keywords) {
    DAVINCI_ASSIGN_OR_RETURN(keywords[keyword], Evaluate(value, names));
  }
  return keywords;
}

Result<Meaning> Evaluator::Evaluate(const Expression& e, const Names& names) {
  switch (e.kind) {
    case EKind::kNumber:
      return Meaning::Number(std::stod(e.text));
    case EKind::kString:
      return Meaning::Text(e.text);
    case EKind::kNone:
      return Meaning{};
    case EKind::kName:
      return Name(e.text, names);
    case EKind::kSequence: {
      DAVINCI_ASSIGN_OR_RETURN(Meanings items, EvaluateAll(e.parts, 0, names));
      return Meaning::Sequence(std::move(items));
    }
    case EKind::kUnary: {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
      return Unary(e.text, value);
    }
    case EKind::kBinary: {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning a, Evaluate(e.parts[0], names));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning b, Evaluate(e.parts[1], names));
      if (e.text != "@") return builder_.Binary(e.text, a, b);
      return a.IsTensor() && b.IsTensor() ? Matmul(builder_, a.id, b.id) : Unknown("@");
    }
    case EKind::kCall:
      return CallOf(e, names);
    case EKind::kSubscript: {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
      return Subscript(builder_, value, e,
                       [&](const Expression& part) { return Evaluate(part, names); });
    }
    case EKind::kAttribute:
      return Attribute(e, names);
    case EKind::kSlice:
      break;
  }
  return Unknown("this expression");
}

Result<Meaning> Evaluator::CallOf(const Expression& call, const Names& names) {
  const Expression& function = call.parts[0];
  Meanings arguments;
  std::string name = function.DottedName();
  if (function.kind == EKind::kAttribute && !IsFreeFunction(function, name)) {
    DAVINCI_ASSIGN_OR_RETURN(arguments.emplace_back(), Evaluate(function.parts[0], names));
    name = function.text;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meanings given, EvaluateAll(call.parts, 1, names));
  arguments.insert(arguments.end(), given.begin(), given.end());
  DAVINCI_ASSIGN_OR_RETURN(Keywords keywords, EvaluateKeywords(call, names));
  if (name == "module_") return Module(arguments);
  if (function.kind == EKind::kCall) return Unknown("a call of a call");  // nn.ReLU()(x)
  if (name == "float" && arguments.size() == 1 && arguments[0].kind == Meaning::Kind::kText)
    return Meaning::Number(arguments[0].text == "-inf" ? -INFINITY : INFINITY);
  return Apply(ShortFunctionName(name), arguments, std::move(keywords));
}

}  // namespace davinci::teacher
