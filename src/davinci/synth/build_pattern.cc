// Bodies of patterns, executed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/graph_builder.h"

namespace davinci::synth {

std::optional<std::vector<ValueId>> Builder::Evaluate(const PatternTerm& term,
                                                      Environment* environment) {
  using Kind = PatternTerm::Kind;
  if (term.kind == Kind::kVariable) {
    const auto found = environment->values.find(term.name);
    if (found == environment->values.end()) {
      Reject(fmt::format("grammar: no value '{}'", term.name));
      return std::nullopt;
    }
    return std::vector<ValueId>{found->second};
  }
  std::vector<ValueId> arguments;
  for (const PatternTerm& argument : term.arguments) {
    const auto values = Evaluate(argument, environment);
    if (!values) return std::nullopt;
    arguments.push_back(values->front());
  }
  if (term.kind == Kind::kOperator) {
    const Operator* further = options_.further;
    const Operator& op = further != nullptr && further->name == term.name
                             ? *further
                             : grammar_.operators.find(term.name)->second;
    return Apply(op, arguments, term.named, *environment);
  }
  if (term.kind == Kind::kGroup) return ApplyGroup(term.name, arguments, term.named, *environment);
  if (term.kind == Kind::kPattern) return ApplyPattern(term, arguments, *environment);
  std::vector<const Operator*> used;
  std::vector<ValueId> current = arguments;
  const int64_t length =
      term.least +
      static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(term.most - term.least + 1)));
  for (int64_t i = 0; i < length; ++i) {
    auto next = ApplyGroup(term.name, {current.front()}, term.named, *environment, used);
    if (!next) {
      if (i == 0) return std::nullopt;
      break;
    }
    used.push_back(last_);
    current = *next;
    if (graph_.values[static_cast<size_t>(current[0])].dtype != DType::kFloat) break;
  }
  return std::vector<ValueId>{current.front()};
}

std::optional<std::vector<ValueId>> Builder::ApplyPattern(const PatternTerm& term,
                                                          const std::vector<ValueId>& arguments,
                                                          const Environment& outer) {
  const Pattern& pattern = grammar_.patterns.find(term.name)->second;
  if (++depth_ > 6) {
    Reject("grammar: patterns nest too deeply");
    return std::nullopt;
  }
  Environment environment;
  for (const auto& [name, choices] : term.named) {
    const auto dim = EvaluateDim(choices.front(), &graph_.dims,
                                 [&](std::string_view used) { return LookUp(used, outer.dims); });
    if (!dim) {
      Reject(fmt::format("grammar: {}={} has unknown names", name, choices.front().source));
      return std::nullopt;
    }
    environment.dims[name] = *dim;
    environment.given.insert(name);
  }
  const auto scope = static_cast<int32_t>(graph_.scopes.size());
  graph_.scopes.push_back({pattern.name, scope_, {}, {}, {}, {}});
  // All uses of a pattern within one graph make the same choices, so that one class serves all.
  SplitMix64 saved = rng_;
  rng_ = SplitMix64(HashBytes(pattern.name, options_.seed));
  const int32_t saved_scope = scope_;
  scope_ = scope;
  std::vector<DimId> star;
  bool star_bound = false;
  bool fine = true;
  for (size_t i = 0; i < pattern.inputs.size() && fine; ++i) {
    const InputSpec& spec = pattern.inputs[i];
    ValueId value = -1;
    if (i < arguments.size()) {
      value = arguments[i];
      const Value& given = graph_.values[static_cast<size_t>(value)];
      fine = !spec.any.empty() ||
             Match(spec.shape, given.shape, &environment.dims, &star, &star_bound);
      if (!fine) Reject("shape");
    } else {
      const auto made = NewInput(spec, &environment.dims, &star, star_bound);
      fine = made.has_value();
      if (fine) value = *made;
    }
    environment.values[spec.name] = value;
    graph_.scopes[static_cast<size_t>(scope)].inputs.push_back(value);
    graph_.scopes[static_cast<size_t>(scope)].input_names.push_back(spec.name);
  }
  graph_.scopes[static_cast<size_t>(scope)].formals = environment.dims;
  std::vector<ValueId> outputs;
  fine = fine && Block(pattern.body, &environment, &outputs);
  rng_ = saved;
  scope_ = saved_scope;
  --depth_;
  if (!fine || outputs.empty()) return std::nullopt;
  graph_.scopes[static_cast<size_t>(scope)].outputs = outputs;
  return outputs;
}

bool Builder::Block(const std::vector<PatternStatement>& body, Environment* environment,
                    std::vector<ValueId>* outputs) {
  for (const PatternStatement& statement : body) {
    if (!One(statement, environment, outputs)) {
      if (why_.starts_with("grammar") && why_.find("body of") == std::string::npos)
        why_ += fmt::format(" (line {} of the body of {})", statement.line,
                            graph_.scopes[static_cast<size_t>(scope_)].pattern);
      return false;
    }
    if (!outputs->empty()) return true;
  }
  return true;
}

bool Builder::One(const PatternStatement& statement, Environment* environment,
                  std::vector<ValueId>* outputs) {
  using Kind = PatternStatement::Kind;
  const auto lookup = [&](std::string_view name) { return LookUp(name, environment->dims); };
  switch (statement.kind) {
    case Kind::kAssign: {
      const auto values = Evaluate(statement.terms[0], environment);
      if (!values) return false;
      if (values->size() < statement.names.size())
        return !Reject(fmt::format("grammar: {} results for {} names", values->size(),
                                   statement.names.size()));
      for (size_t i = 0; i < statement.names.size(); ++i) {
        environment->values[statement.names[i]] = (*values)[i];
        Value& value = graph_.values[static_cast<size_t>((*values)[i])];
        if (value.hint.empty() && value.origin == Value::Origin::kNode)
          value.hint = statement.names[i];
      }
      return true;
    }
    case Kind::kLet: {
      if (environment->given.contains(statement.names[0])) return true;
      // pick(a, b, …)
      const Expression* expression = &statement.expression;
      if (expression->kind == Expression::Kind::kCall && expression->text == "pick")
        expression = &Pick(expression->parts);
      const auto dim = EvaluateDim(*expression, &graph_.dims, lookup);
      if (!dim)
        return !Reject(fmt::format("grammar: let {} has unknown names", statement.names[0]));
      environment->dims[statement.names[0]] = *dim;
      return true;
    }
    case Kind::kNew: {
      if (environment->given.contains(statement.names[0])) return true;
      const DimId dim = NewSymbol(statement.role, statement.names[0], statement.multiple);
      if (dim == kNoDim) return false;
      environment->dims[statement.names[0]] = dim;
      return true;
    }
    case Kind::kDims: {
      const auto found = environment->values.find(statement.dims.name);
      if (found == environment->values.end())
        return !Reject(fmt::format("grammar: no value '{}'", statement.dims.name));
      std::vector<DimId> star;
      bool star_bound = false;
      for (const ShapeToken& token : statement.dims.shape)
        if (token.kind == ShapeToken::Kind::kName) environment->dims.erase(token.name);
      if (!Match(statement.dims.shape, graph_.values[static_cast<size_t>(found->second)].shape,
                 &environment->dims, &star, &star_bound))
        return !Reject("shape");
      return true;
    }
    case Kind::kRepeat: {
      const auto times = statement.least + static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(
                                               statement.most - statement.least + 1)));
      for (int64_t i = 0; i < times; ++i)
        if (!Block(statement.bodies[0], environment, outputs)) return false;
      return true;
    }
    case Kind::kMaybe:
      return rng_.Uniform() >= statement.probability ||
             Block(statement.bodies[0], environment, outputs);
    case Kind::kChoose:
      return Block(Pick(statement.bodies), environment, outputs);
    case Kind::kReturn:
      for (const PatternTerm& term : statement.terms) {
        const auto values = Evaluate(term, environment);
        if (!values) return false;
        outputs->push_back(values->front());
      }
      return true;
  }
  return false;
}

}  // namespace davinci::synth
