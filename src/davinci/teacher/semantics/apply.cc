// Functions and modules by name: from the registry, from the definitions of the tables, or of
// numbers alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/teacher/semantics/evaluator.h"
#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

constexpr int kDeepest = 40;  // calls of table functions within each other

std::string TextOf(const Meaning& value) {
  if (value.IsNone()) return "None";
  if (value.kind == Meaning::Kind::kText) return value.text;
  if (value.kind == Meaning::Kind::kNumber && value.number) {
    if (value.boolean) return *value.number != 0 ? "True" : "False";
    return fmt::format("{}", *value.number);
  }
  return "?";
}

// A function of one number, as Python's math has it; nothing: it is none of these.
std::optional<Result<Meaning>> OfNumber(const std::string& name, const Meaning& x) {
  if (name != "sqrt" && name != "log") return std::nullopt;
  if (x.number) return Meaning::Number(name == "sqrt" ? std::sqrt(*x.number) : std::log(*x.number));
  if (name == "log") return Result<Meaning>(Unknown("log of a size"));
  Meaning result = x;
  result.text = fmt::format("({} ** 0.5)", x.text);
  result.dim = synth::kNoDim;
  return Result<Meaning>(result);
}

// Lists are of tensors: cat, stack, einsum.
bool HasListOfNumbers(const Meanings& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Meaning& list) {
    return list.IsSequence() &&
           std::any_of(list.items.begin(), list.items.end(),
                       [](const Meaning& item) { return !item.filled.empty(); });
  });
}

// The definition's name for a keyword: its own, or the one that PyTorch has for the same; "": none.
std::string ParameterFor(const Function& definition, const std::string& keyword) {
  static const std::map<std::string, std::string> renamed = {
      {"input", "x"}, {"other", "y"}, {"target", "y"}, {"a_min", "min"}};
  const auto has = [&](const std::string& parameter) {
    return std::find(definition.parameters.begin(), definition.parameters.end(), parameter) !=
           definition.parameters.end();
  };
  if (has(keyword)) return keyword;
  const auto other = renamed.find(keyword);
  return other != renamed.end() && has(other->second) ? other->second : "";
}

}  // namespace

Result<Meaning> Evaluator::Apply(const std::string& name, const Meanings& arguments,
                                 Keywords keywords) {
  if (name.starts_with("prim_")) return builder_.Point(name.substr(5), arguments);
  if (arguments.size() == 1 && keywords.empty() && arguments[0].kind == Meaning::Kind::kNumber)
    if (auto result = OfNumber(name, arguments[0])) return std::move(*result);
  if (HasListOfNumbers(arguments)) return Unknown(name + " of numbers");
  const auto* known = Functions().Find(name);
  if (known != nullptr) {
    if (known->of_tensor && (arguments.empty() || !arguments[0].IsTensor())) return Unknown(name);
    const Call call{builder_, *this, name, arguments, std::move(keywords)};
    auto result = known->function(call);
    // Generated tasks have only the keywords that their grammar has. A tensor's device is that of
    // the inputs, or the tensor is foreign.
    if (result.ok() && builder_.p.graph.pattern == nullptr)
      for (const auto& [keyword, value] : call.keywords)
        if (!value.IsNone() && keyword != "device" && !call.keywords.asked.contains(keyword))
          return Unknown(name + " with " + keyword);
    return result;
  }
  const auto found = tables_.functions.find(name);
  if (found == tables_.functions.end()) return Unknown(name);
  return ApplyTable(found->second, arguments, keywords, {}, name);
}

Result<Meaning> Evaluator::ApplyTable(const std::vector<Function>& definitions,
                                      const Meanings& arguments, const Keywords& keywords,
                                      const Names& more, const std::string& name) {
  if (depth_ > kDeepest) return Unknown("so deep a nest");
  const Function& first = definitions[0];
  Names bound = more;
  if (arguments.size() > first.parameters.size()) return Unknown(name + " with so many arguments");
  for (size_t i = 0; i < arguments.size(); ++i) bound[first.parameters[i]] = arguments[i];
  const auto by_position = [&](const std::string& parameter) {
    const auto end = first.parameters.begin() + static_cast<std::ptrdiff_t>(arguments.size());
    return std::find(first.parameters.begin(), end, parameter) != end;
  };
  for (const auto& [keyword, value] : keywords) {
    const std::string parameter = ParameterFor(first, keyword);
    if (keyword == "inplace") continue;
    if (parameter.empty() || by_position(parameter)) return Unknown(name + " with " + keyword);
    bound[parameter] = value;
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

Result<Meaning> Evaluator::Module(const Meanings& inputs) {
  if (!constructor_ || constructor_->kind != PythonExpression::Kind::kCall || inputs.empty() ||
      !inputs[0].IsTensor())
    return Unknown("this module");
  const std::string name = constructor_->parts[0].DottedName();
  DAVINCI_ASSIGN_OR_RETURN(const Meanings arguments, EvaluateAll(constructor_->parts, 1, {}));
  DAVINCI_ASSIGN_OR_RETURN(const Keywords keywords, EvaluateKeywords(constructor_.value(), {}));
  if (const auto module = Functions().FindModule(name))
    return module({builder_, *this, name, arguments, keywords, inputs, path_, training_});
  const auto found = tables_.functions.find(name);
  if (found == tables_.functions.end()) return Unknown(name);
  Names names;
  static const char* const kInputs[] = {"x", "y", "z"};
  if (inputs.size() > 3) return Unknown(name);
  for (size_t i = 0; i < inputs.size(); ++i) names[kInputs[i]] = inputs[i];
  return ApplyTable(found->second, arguments, keywords, names, name);
}

}  // namespace davinci::teacher
