#include "davinci/teacher/semantics/evaluate.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using EKind = PythonExpression::Kind;

constexpr int kDeepest = 40;  // calls of table functions within each other

// "torch.nn.functional.relu" -> "relu", "nn.ReLU" stays.
std::string ShortName(const std::string& dotted) {
  if (dotted.starts_with("nn.") && dotted.find('.', 3) == std::string::npos) return dotted;
  for (const std::string_view prefix :
       {"torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.", "F.", "math."})
    if (dotted.starts_with(prefix)) return dotted.substr(prefix.size());
  return dotted;
}

std::string TextOf(const Meaning& value) {
  if (value.kind == Meaning::Kind::kNone) return "None";
  if (value.kind == Meaning::Kind::kText) return value.text;
  if (value.kind == Meaning::Kind::kNumber && value.number) {
    if (value.boolean) return *value.number != 0 ? "True" : "False";
    return fmt::format("{}", *value.number);
  }
  return "?";
}

}  // namespace

Id Evaluator::ToTensor(const Meaning& meaning) {
  if (meaning.kind == Meaning::Kind::kTensor) return meaning.id;
  return meaning.number ? p_->Scalar(*meaning.number) : p_->ScalarText(meaning.text);
}

std::vector<Id> Evaluator::Operands(const Meanings& meanings) {
  std::vector<Id> ids;
  for (const Meaning& meaning : meanings) ids.push_back(ToTensor(meaning));
  return ids;
}

Result<Meaning> Evaluator::Point(const std::string& name, const Meanings& operands) {
  const auto found = tables_.primitives.find(name);
  if (found == tables_.primitives.end()) return Unknown("primitive " + name);
  const Primitive& primitive = found->second;
  // Steps between values would fall elsewhere: PyTorch rounds every result to the half type.
  if (p_->graph.precision != synth::Precision::kFp32 &&
      (name == "floor" || name == "ceil" || name == "round"))
    return Unknown("rounding in half precision");
  if (p_->graph.precision != synth::Precision::kFp32 && name == "finite")
    return Unknown("the largest number in half precision");
  if (operands.size() != static_cast<size_t>(primitive.arguments))
    return Unknown(name + " with other arguments");
  for (const Meaning& operand : operands)
    if (operand.kind != Meaning::Kind::kTensor && operand.kind != Meaning::Kind::kNumber)
      return Unknown(name + " of something else");
  // What numbers alone decide is decided here.
  const auto number = [&](size_t k) { return operands[k].number; };
  if (operands.size() == 1 && number(0) && name == "abs")
    return Meaning::Number(std::fabs(*number(0)));
  if (operands.size() == 2 && number(0) && number(1)) {
    const double a = *number(0), b = *number(1);
    if (name == "lt") return Meaning::Number(a < b);
    if (name == "gt") return Meaning::Number(a > b);
    if (name == "le") return Meaning::Number(a <= b);
    if (name == "ge") return Meaning::Number(a >= b);
  }
  if (name == "where" && operands.size() == 3 && number(0) &&
      operands[1].kind == Meaning::Kind::kTensor && operands[2].kind == Meaning::Kind::kTensor &&
      (*p_)[operands[1].id].shape == (*p_)[operands[2].id].shape)
    return operands[*number(0) != 0 ? 1 : 2];
  TensorValue value;
  value.kind = TensorValue::Kind::kPoint;
  value.primitive = &primitive;
  value.operands = Operands(operands);
  for (Id& operand : value.operands) operand = Readable(operand);
  const bool logic = name == "and" || name == "or" || name == "not";
  for (size_t k = 0; k < value.operands.size(); ++k) {
    const DType type = (*p_)[value.operands[k]].dtype;  // values move when one is added
    const bool counted =
        type == DType::kIndex && (*p_)[value.operands[k]].kind == TensorValue::Kind::kReduce;
    if (type == DType::kBool && !logic && name != "float" && !(name == "where" && k == 0)) {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning real,
                               Point("float", {Meaning::Tensor(value.operands[k])}));
      value.operands[k] = real.id;
    }
    if (counted && name != "float" && name != "index") {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning real,
                               Point("float", {Meaning::Tensor(value.operands[k])}));
      value.operands[k] = real.id;
    }
    if (type == DType::kFloat && logic) return Unknown("logic of numbers");
    if ((*p_)[value.operands[k]].dtype == DType::kIndex && !primitive.integer && name != "eq" &&
        name != "ge" && name != "le" && name != "lt" && name != "gt" && name != "position" &&
        !(name == "float" && counted))
      return Unknown("arithmetic of indices");
  }
  size_t rank = 0;
  for (const Id id : value.operands) rank = std::max(rank, (*p_)[id].shape.size());
  const DimId one = p_->graph.dims.Constant(1);
  value.shape.assign(rank, one);
  for (const Id id : value.operands) {
    const auto& shape = (*p_)[id].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      DimId& own = value.shape[rank - shape.size() + i];
      if (p_->IsOne(own)) {
        own = shape[i];
      } else if (!p_->IsOne(shape[i]) && !p_->Same(own, shape[i])) {
        return Unknown("shapes that do not broadcast");
      }
    }
  }
  value.dtype = primitive.gives_bool                   ? DType::kBool
                : name == "index" || primitive.integer ? DType::kIndex
                                                       : DType::kFloat;
  bool indices = false, others = false;
  for (const Id id : value.operands) {
    const TensorValue& operand = (*p_)[id];
    const bool index = operand.kind == TensorValue::Kind::kIota || operand.virtual_;
    indices = indices || index;
    others = others || (!index && operand.kind != TensorValue::Kind::kScalar);
  }
  value.virtual_ = indices && !others;
  if (name == "where" && (*p_)[value.operands[0]].dtype != DType::kBool)
    return Unknown("where of numbers");
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Result<Meaning> Evaluator::Power(const Meaning& base, const Meaning& exponent) {
  if (exponent.kind != Meaning::Kind::kNumber || !exponent.number)
    return exponent.kind == Meaning::Kind::kTensor && base.number && *base.number == 2.0
               ? Point("exp2", {exponent})
               : Unknown("a power");
  const double e = *exponent.number;
  if (e == 0.5) return Point("sqrt", {base});
  if (e == -0.5) return Point("rsqrt", {base});
  if (e == -1.0) return Point("div", {Meaning::Number(1), base});
  if (e == std::floor(e) && e >= 1 && e <= 4) {
    Meaning product = base;
    for (int k = 1; k < static_cast<int>(e); ++k) {
      DAVINCI_ASSIGN_OR_RETURN(product, Point("mul", {product, base}));
    }
    return product;
  }
  if (e == 1.5) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning root, Point("sqrt", {base}));
    return Point("mul", {base, root});
  }
  return Point("pow", {base, exponent});
}

Result<Meaning> Evaluator::Binary(const std::string& op, const Meaning& a, const Meaning& b) {
  using Kind = Meaning::Kind;
  if (a.kind == Kind::kNumber && b.kind == Kind::kNumber) {
    if (a.number && b.number) {
      const double x = *a.number, y = *b.number;
      if (op == "+") return Meaning::Number(x + y);
      if (op == "-") return Meaning::Number(x - y);
      if (op == "*") return Meaning::Number(x * y);
      if (op == "/") return Meaning::Number(x / y);
      if (op == "//") return Meaning::Number(std::floor(x / y));
      if (op == "**") return Meaning::Number(std::pow(x, y));
      if (op == "<") return Meaning::Number(x < y);
      if (op == ">") return Meaning::Number(x > y);
      return Unknown(op);
    }
    Meaning result = Meaning::Number(0);
    result.number.reset();
    if (b.number && *b.number == 0 && (op == "+" || op == "-")) return a;
    const auto text = [](const Meaning& m) {
      return m.number ? fmt::format("{}", *m.number) : m.text;
    };
    result.text = fmt::format("({} {} {})", text(a), op, text(b));
    if (a.dim != synth::kNoDim && b.dim != synth::kNoDim && (op == "+" || op == "-" || op == "*"))
      result.dim = p_->graph.dims.Binary(op[0], a.dim, b.dim);
    if (op == "//" && a.dim != synth::kNoDim && b.number)
      result.dim = p_->graph.dims.Binary('/', a.dim,
                                         p_->graph.dims.Constant(static_cast<int64_t>(*b.number)));
    return result;
  }
  // x + 0, x * 1: of definitions whose options have their usual value.
  if (b.number && ((*b.number == 0 && (op == "+" || op == "-")) ||
                   (*b.number == 1 && (op == "*" || op == "/"))))
    return a;
  if (a.number && *a.number == 1 && op == "*") return b;
  // Indices stay indices.
  const auto index = [&](const Meaning& value) {
    return value.kind == Kind::kTensor ? (*p_)[value.id].dtype == DType::kIndex
                                       : value.number && *value.number == std::floor(*value.number);
  };
  if ((op == "+" || op == "-" || op == "*") && index(a) && index(b)) {
    const auto whole = [&](const Meaning& value) {
      return value.kind == Kind::kTensor
                 ? value.id
                 : p_->Size(p_->graph.dims.Constant(static_cast<int64_t>(*value.number)));
    };
    DAVINCI_ASSIGN_OR_RETURN(const Id result, Integer(op == "+"   ? "iadd"
                                                      : op == "-" ? "isub"
                                                                  : "imul",
                                                      whole(a), whole(b)));
    return Meaning::Tensor(result);
  }
  if (op == "@") {
    if (a.kind != Kind::kTensor || b.kind != Kind::kTensor) return Unknown("@");
    return Matmul(a.id, b.id);
  }
  if (op == "**") return Power(a, b);
  static const std::map<std::string, std::string> names = {
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {">", "gt"},  {"<", "lt"},
      {">=", "ge"}, {"<=", "le"}, {"==", "eq"}, {"!=", "ne"}, {"&", "and"}, {"|", "or"}};
  const auto found = names.find(op);
  if (found == names.end()) return Unknown(op);
  return Point(found->second, {a, b});
}

Result<Meaning> Evaluator::Matmul(Id a, Id b) {
  const std::vector<DimId> x = (*p_)[a].shape, y = (*p_)[b].shape;
  if (auto cheaper = Structured(a, b)) return std::move(*cheaper);
  // Products with a vector are bound by memory: products of elements and a sum.
  if (y.size() == 1 && !x.empty() && p_->Same(x.back(), y[0]) && (*p_)[a].dtype == DType::kFloat &&
      (*p_)[b].dtype == DType::kFloat) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                             Binary("*", Meaning::Tensor(a), Meaning::Tensor(b)));
    return Reduce(ReduceKind::kSum, scaled.id, Meaning::Number(-1), false);
  }
  if (x.size() < 2 || y.size() < 2 || !p_->Same(x.back(), y[y.size() - 2]))
    return Unknown("a product of these shapes");
  if ((*p_)[a].dtype != DType::kFloat || (*p_)[b].dtype != DType::kFloat)
    return Unknown("a product of these types");
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.text = "torch.matmul({0}, {1})";
  value.what = "matmul";
  value.operands = {a, b};
  const auto& longer = x.size() >= y.size() ? x : y;
  const auto& shorter = x.size() >= y.size() ? y : x;
  value.shape.assign(longer.begin(), longer.end() - 2);
  for (size_t i = 0; i + 2 < shorter.size(); ++i) {
    const DimId own = value.shape[value.shape.size() - 1 - i];
    const DimId other = shorter[shorter.size() - 3 - i];
    if (!p_->Same(own, other)) return Unknown("a product that broadcasts");
  }
  value.shape.push_back(x[x.size() - 2]);
  value.shape.push_back(y.back());
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Result<Meaning> Evaluator::Evaluate(const Expression& e, const Names& names) {
  switch (e.kind) {
    case EKind::kNumber:
      return Meaning::Number(std::stod(e.text));
    case EKind::kString: {
      Meaning text;
      text.kind = Meaning::Kind::kText;
      text.text = e.text;
      return text;
    }
    case EKind::kNone:
      return Meaning{};
    case EKind::kName: {
      if (const auto found = names.find(e.text); found != names.end()) return found->second;
      if (e.text == "None") return Meaning{};
      if (e.text == "True" || e.text == "False") {
        Meaning flag = Meaning::Number(e.text == "True");
        flag.boolean = true;
        return flag;
      }
      if (e.text.starts_with("dimid_"))
        return Size(static_cast<DimId>(std::stol(e.text.substr(6))));
      return Unknown(e.text);
    }
    case EKind::kSequence: {
      Meaning all;
      all.kind = Meaning::Kind::kSequence;
      for (const Expression& part : e.parts) {
        DAVINCI_ASSIGN_OR_RETURN(Meaning item, Evaluate(part, names));
        all.items.push_back(std::move(item));
      }
      return all;
    }
    case EKind::kUnary: {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
      if (e.text == "+") return value;
      if (e.text == "~") return Point("not", {value});
      if (value.kind == Meaning::Kind::kNumber) {
        if (value.number) return Meaning::Number(-*value.number);
        Meaning negative = value;
        negative.text = "(-" + value.text + ")";
        return negative;
      }
      return Point("neg", {value});
    }
    case EKind::kBinary: {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning a, Evaluate(e.parts[0], names));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning b, Evaluate(e.parts[1], names));
      return Binary(e.text, a, b);
    }
    case EKind::kCall:
      return Call(e, names);
    case EKind::kSubscript:
      return Subscript(e, names);
    case EKind::kAttribute: {
      if (e.text == "pi" && e.DottedName() == "math.pi") return Meaning::Number(M_PI);
      if (e.DottedName().starts_with("torch.")) {  // of types
        Meaning type;
        type.kind = Meaning::Kind::kText;
        type.text = e.DottedName();
        return type;
      }
      DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
      if (value.kind == Meaning::Kind::kSequence && !value.items.empty()) {
        if (e.text == "values") return value.id >= 0 ? Meaning::Tensor(value.id) : value.items[0];
        if (e.text == "indices" && value.items.size() == 2) return value.items[1];
        return Unknown(e.text);
      }
      if (value.kind != Meaning::Kind::kTensor) return Unknown(e.text);
      if (e.text == "shape") {
        Meaning all;
        all.kind = Meaning::Kind::kSequence;
        const auto shape = (*p_)[value.id].shape;
        for (const DimId dim : shape) all.items.push_back(Size(dim));
        return all;
      }
      if (e.text == "T") return Apply("t", {value}, {});
      if (e.text == "dtype" || e.text == "device") {
        Meaning same;
        same.kind = Meaning::Kind::kText;
        same.text = e.text;
        return same;
      }
      return Unknown(e.text);
    }
    case EKind::kSlice:
      break;
  }
  return Unknown("this expression");
}

Result<Meaning> Evaluator::Call(const Expression& call, const Names& names) {
  const Expression& function = call.parts[0];
  Meanings arguments;
  Keywords keywords;
  std::string name = function.DottedName();
  const bool free = function.kind == EKind::kName || name.starts_with("torch.") ||
                    name.starts_with("F.") || name.starts_with("math.") || name.starts_with("nn.");
  if (function.kind == EKind::kAttribute && !free) {
    DAVINCI_ASSIGN_OR_RETURN(Meaning self, Evaluate(function.parts[0], names));
    arguments.push_back(std::move(self));
    name = function.text;
  }
  for (size_t i = 1; i < call.parts.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Meaning argument, Evaluate(call.parts[i], names));
    arguments.push_back(std::move(argument));
  }
  for (const auto& [keyword, value] : call.keywords) {
    DAVINCI_ASSIGN_OR_RETURN(keywords[keyword], Evaluate(value, names));
  }
  if (name == "module_") return Module({}, arguments);
  if (function.kind == EKind::kCall) {  // nn.ReLU()(x)
    return Unknown("a call of a call");
  }
  if (name == "float" && arguments.size() == 1 && arguments[0].kind == Meaning::Kind::kText)
    return Meaning::Number(arguments[0].text == "-inf" ? -INFINITY : INFINITY);
  return Apply(ShortName(name), std::move(arguments), std::move(keywords));
}

Result<Meaning> Evaluator::Apply(const std::string& name, Meanings arguments, Keywords keywords) {
  if (name.starts_with("prim_")) return Point(name.substr(5), arguments);
  bool numbers = !arguments.empty() && keywords.empty();
  for (const Meaning& argument : arguments)
    numbers = numbers && argument.kind == Meaning::Kind::kNumber;
  if (numbers && arguments.size() == 1) {
    const Meaning& x = arguments[0];
    if (x.number && name == "sqrt") return Meaning::Number(std::sqrt(*x.number));
    if (x.number && name == "log") return Meaning::Number(std::log(*x.number));
    if (!x.number && (name == "sqrt" || name == "log")) {
      Meaning result = x;
      result.text = fmt::format("({} ** 0.5)", x.text);
      if (name == "log") return Unknown("log of a size");
      result.dim = synth::kNoDim;
      return result;
    }
  }
  keywords.asked.clear();
  if (auto native = Native(name, arguments, keywords)) {
    // Generated tasks have only the keywords that their grammar has.
    if (native->ok() && p_->graph.pattern == nullptr)
      for (const auto& [keyword, value] : keywords)
        if (value.kind != Meaning::Kind::kNone && !keywords.asked.contains(keyword))
          return Unknown(name + " with " + keyword);
    return std::move(*native);
  }
  const auto found = tables_.functions.find(name);
  if (found == tables_.functions.end()) return Unknown(name);
  return ApplyTable(found->second, std::move(arguments), std::move(keywords), {}, name);
}

Result<Meaning> Evaluator::ApplyTable(const std::vector<Function>& definitions, Meanings arguments,
                                      Keywords keywords, const Names& more,
                                      const std::string& name) {
  if (depth_ > kDeepest) return Unknown("so deep a nest");
  const Function& first = definitions[0];
  Names bound = more;
  if (arguments.size() > first.parameters.size()) return Unknown(name + " with so many arguments");
  for (size_t i = 0; i < arguments.size(); ++i) bound[first.parameters[i]] = arguments[i];
  static const std::map<std::string, std::string> renamed = {
      {"input", "x"},     {"other", "y"},      {"target", "y"}, {"p", "p"},
      {"correction", ""}, {"output_size", ""}, {"a_min", "min"}};
  for (auto& [keyword, value] : keywords) {
    std::string key = keyword;
    const auto has = [&](const std::string& parameter) {
      return std::find(first.parameters.begin(), first.parameters.end(), parameter) !=
             first.parameters.end();
    };
    if (!has(key))
      if (const auto other = renamed.find(key); other != renamed.end()) key = other->second;
    if (key == "inplace") continue;
    if (!has(key)) return Unknown(name + " with " + keyword);
    bound[key] = value;
  }
  for (const std::string& parameter : first.parameters) {
    if (bound.contains(parameter)) continue;
    const auto value = first.defaults.find(parameter);
    if (value == first.defaults.end()) return Unknown(name + " without " + parameter);
    DAVINCI_ASSIGN_OR_RETURN(bound[parameter], Evaluate(value->second, {}));
  }
  for (const Function& definition : definitions) {
    bool fits = true;
    for (const auto& [parameter, text] : definition.when)
      fits = fits && TextOf(bound[parameter]) == text;
    if (!fits) continue;
    ++depth_;
    auto result = Evaluate(definition.body, bound);
    --depth_;
    return result;
  }
  return Unknown(name + " with these arguments");
}

}  // namespace davinci::teacher
