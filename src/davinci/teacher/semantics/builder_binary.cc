// Python's operators between tensors, numbers and sizes.
#include <fmt/format.h>

#include <cmath>

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {
namespace {

// The result for two known numbers; nothing where the operator is another one.
std::optional<double> Calculated(const std::string& op, double x, double y) {
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (op == "/") return x / y;
  if (op == "//") return std::floor(x / y);
  if (op == "**") return std::pow(x, y);
  if (op == "<") return x < y;
  if (op == ">") return x > y;
  return std::nullopt;
}

bool IsWhole(const Program& p, const Meaning& value) {
  return value.IsTensor() ? p[value.id].dtype == DType::kIndex
                          : value.number && *value.number == std::floor(*value.number);
}

// One of the two is known when forward runs.
Meaning OfNumbers(Builder& builder, const std::string& op, const Meaning& a, const Meaning& b) {
  Meaning result = Meaning::Number(0);
  result.number.reset();
  if (b.number && *b.number == 0 && (op == "+" || op == "-")) return a;
  const auto text = [](const Meaning& m) {
    return m.number ? fmt::format("{}", *m.number) : m.text;
  };
  result.text = fmt::format("({} {} {})", text(a), op, text(b));
  if (a.dim != synth::kNoDim && b.dim != synth::kNoDim && (op == "+" || op == "-" || op == "*"))
    result.dim = builder.p.graph.dims.Binary(op[0], a.dim, b.dim);
  if (op == "//" && a.dim != synth::kNoDim && b.number)
    result.dim =
        builder.p.graph.dims.Binary('/', a.dim, builder.Constant(static_cast<int64_t>(*b.number)));
  return result;
}

// Indices stay indices.
Result<Meaning> OfIndices(Builder& builder, const std::string& op, const Meaning& a,
                          const Meaning& b) {
  const auto whole = [&](const Meaning& value) {
    return value.IsTensor() ? value.id
                            : builder.p.Size(builder.Constant(static_cast<int64_t>(*value.number)));
  };
  const char* name = op == "+" ? "iadd" : op == "-" ? "isub" : "imul";
  DAVINCI_ASSIGN_OR_RETURN(const Id result, builder.Integer(name, whole(a), whole(b)));
  return Meaning::Tensor(result);
}

}  // namespace

Result<Meaning> Builder::Power(const Meaning& base, const Meaning& exponent) {
  if (exponent.kind != Meaning::Kind::kNumber || !exponent.number)
    return exponent.IsTensor() && base.number && *base.number == 2.0 ? Point("exp2", {exponent})
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

Result<Meaning> Builder::Binary(const std::string& op, const Meaning& a, const Meaning& b) {
  if (a.kind == Meaning::Kind::kNumber && b.kind == Meaning::Kind::kNumber) {
    if (!a.number || !b.number) return OfNumbers(*this, op, a, b);
    const auto known = Calculated(op, *a.number, *b.number);
    return known ? Meaning::Number(*known) : Result<Meaning>(Unknown(op));
  }
  // x + 0, x * 1: of definitions whose options have their usual value.
  if (b.number && ((*b.number == 0 && (op == "+" || op == "-")) ||
                   (*b.number == 1 && (op == "*" || op == "/"))))
    return a;
  if (a.number && *a.number == 1 && op == "*") return b;
  if ((op == "+" || op == "-" || op == "*") && IsWhole(p, a) && IsWhole(p, b))
    return OfIndices(*this, op, a, b);
  if (op == "**") return Power(a, b);
  static const std::map<std::string, std::string> names = {
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {">", "gt"},  {"<", "lt"},
      {">=", "ge"}, {"<=", "le"}, {"==", "eq"}, {"!=", "ne"}, {"&", "and"}, {"|", "or"}};
  const auto found = names.find(op);
  if (found == names.end()) return Unknown(op);
  return Point(found->second, {a, b});
}

}  // namespace davinci::teacher
