#include "davinci/synth/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace davinci::synth {
namespace {

constexpr int kGroupTries = 12;
constexpr double kLargestFp16 = 2e4;
constexpr double kLargestFp32 = 1e18;

// Names that a pattern's text has bound.
struct Environment {
  std::map<std::string, ValueId, std::less<>> values;
  std::map<std::string, DimId, std::less<>> dims;
  std::set<std::string, std::less<>> given;  // dims that the caller of a sub-pattern has set
};

class Builder {
 public:
  Builder(const Grammar& grammar, const BuildOptions& options)
      : grammar_(grammar),
        options_(options),
        graph_(options.seed ^ 0x5eedull),
        rng_(options.seed) {}

  BuildOutcome Run(const Pattern& pattern) {
    graph_.pattern = &pattern;
    graph_.precision = options_.precision;
    graph_.mode = pattern.mode;
    graph_.scopes.push_back({pattern.name, -1, {}, {}, {}, {}});
    if (options_.precision != Precision::kFp32 && !pattern.half) return {std::nullopt, "half"};
    Environment environment;
    for (const InputSpec& spec : pattern.inputs) {
      const auto value = NewInput(spec, &environment.dims, nullptr);
      if (!value) return Rejected();
      environment.values[spec.name] = *value;
    }
    std::vector<ValueId> outputs;
    if (!Block(pattern.body, &environment, &outputs)) return Rejected();
    graph_.outputs = outputs;
    graph_.scopes[0].formals = environment.dims;
    if (outputs.empty() && Reject("grammar: nothing returned")) return Rejected();
    if (!Final()) return Rejected();
    return {std::move(graph_), ""};
  }

 private:
  BuildOutcome Rejected() { return {std::nullopt, why_.empty() ? "shape" : why_}; }
  bool Reject(std::string why) {
    if (why_.empty() || !why_.starts_with("grammar")) why_ = std::move(why);
    return true;
  }

  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[rng_.Below(from.size())];
  }

  // ---- sizes and inputs

  int64_t DrawSize(const SizeRole& role, size_t binding, int64_t multiple) {
    const auto [least, most] = role.range[binding];
    const double low = std::log(static_cast<double>(std::max<int64_t>(least, 1)));
    const double high = std::log(static_cast<double>(std::max<int64_t>(most, least)));
    const double reach = binding == static_cast<size_t>(Binding::kCuda)  ? options_.reach
                         : binding == static_cast<size_t>(Binding::kCpu) ? options_.reach_cpu
                                                                         : 1;
    const double exact = std::exp(low + (high - low) * rng_.Uniform() * reach);
    const double form = rng_.Uniform();
    double value = exact;
    if (binding != static_cast<size_t>(Binding::kVariant)) {
      if (form < role.power_of_two) {
        value = std::exp2(std::round(std::log2(exact)));
      } else if (form < role.power_of_two + role.round) {
        const double step = exact >= 2000 ? 500 : exact >= 200 ? 50 : exact >= 40 ? 8 : 4;
        value = std::max(step, std::round(exact / step) * step);
      }
    }
    auto size = std::clamp(static_cast<int64_t>(std::llround(value)), least, most);
    if (multiple > 1)
      size = std::max<int64_t>(multiple, (size + multiple / 2) / multiple * multiple);
    return size;
  }

  DimId NewSymbol(const std::string& role_name, std::string_view hint, int64_t multiple) {
    const auto found = grammar_.roles.find(role_name);
    if (found == grammar_.roles.end()) {
      Reject(fmt::format("grammar: no size role '{}' for {}", role_name, hint));
      return kNoDim;
    }
    const SizeRole& role = found->second;
    DimValues values{};
    if (!role.values.empty()) {
      // Alike under every binding.
      int64_t value = Pick(role.values);
      if (value % multiple != 0) value = (value / multiple + 1) * multiple;
      values.fill(value);
    } else {
      for (size_t i = 0; i < kNumBindings; ++i) values[i] = DrawSize(role, i, multiple);
    }
    return graph_.dims.Symbol(role_name, hint, multiple, values);
  }

  std::string RoleOfName(const std::string& name) const {
    const auto found = grammar_.role_of_name.find(name);
    return found == grammar_.role_of_name.end() ? "" : found->second;
  }

  std::optional<DimId> LookUp(std::string_view name,
                              const std::map<std::string, DimId, std::less<>>& dims) const {
    const auto found = dims.find(name);
    if (found == dims.end()) return std::nullopt;
    return found->second;
  }

  // The sizes of a specification, made where they are not bound yet.
  std::optional<std::vector<DimId>> Instantiate(const ShapeSpec& spec,
                                                std::map<std::string, DimId, std::less<>>* dims,
                                                std::vector<DimId>* star, bool star_bound) {
    std::vector<DimId> shape;
    for (const ShapeToken& token : spec) {
      switch (token.kind) {
        case ShapeToken::Kind::kStar: {
          if (!star_bound && star != nullptr) {
            const auto drawn = DrawShape("any", dims);
            if (!drawn) return std::nullopt;
            *star = *drawn;
          }
          if (star != nullptr) shape.insert(shape.end(), star->begin(), star->end());
          break;
        }
        case ShapeToken::Kind::kStarOnes:
          if (star != nullptr) shape.insert(shape.end(), star->size(), graph_.dims.Constant(1));
          break;
        case ShapeToken::Kind::kBroadcast: {
          if (star == nullptr) return std::nullopt;
          const double form = rng_.Uniform();
          if (form < 0.6 || star->size() < 2) {
            shape = *star;
          } else if (form < 0.8) {
            shape = {star->back()};
          } else {
            shape = *star;
            shape[rng_.Below(shape.size())] = graph_.dims.Constant(1);
          }
          break;
        }
        case ShapeToken::Kind::kName: {
          auto found = dims->find(token.name);
          if (found == dims->end()) {
            DimId made = kNoDim;
            // "W~H": images are mostly square.
            if (token.name == "W" && dims->contains("H") && rng_.Uniform() < 0.6) {
              const DimId height = dims->find("H")->second;
              if (Divides(height, token.multiple)) made = height;
            }
            if (made == kNoDim)
              made = NewSymbol(RoleOfName(token.name), token.name, token.multiple);
            if (made == kNoDim) return std::nullopt;
            found = dims->emplace(token.name, made).first;
          }
          shape.push_back(found->second);
          break;
        }
        case ShapeToken::Kind::kExpression: {
          const auto value =
              EvaluateDim(token.expression, &graph_.dims,
                          [&](std::string_view name) { return LookUp(name, *dims); });
          if (!value) {
            Reject(fmt::format("grammar: size '{}' has unknown names", token.expression.source));
            return std::nullopt;
          }
          shape.push_back(*value);
          break;
        }
      }
    }
    return shape;
  }

  std::optional<std::vector<DimId>> DrawShape(const std::string& name,
                                              std::map<std::string, DimId, std::less<>>* dims) {
    const auto found = grammar_.shapes.find(name);
    if (found == grammar_.shapes.end()) {
      Reject(fmt::format("grammar: no shapes '{}'", name));
      return std::nullopt;
    }
    double total = 0;
    for (const auto& [spec, weight] : found->second) total += weight;
    double at = rng_.Uniform() * total;
    for (const auto& [spec, weight] : found->second) {
      at -= weight;
      if (at <= 0) return Instantiate(spec, dims, nullptr, false);
    }
    return Instantiate(found->second.back().first, dims, nullptr, false);
  }

  std::optional<ValueId> NewInput(const InputSpec& spec,
                                  std::map<std::string, DimId, std::less<>>* dims,
                                  std::vector<DimId>* star, bool star_bound = false) {
    const auto shape = spec.any.empty() ? Instantiate(spec.shape, dims, star, star_bound)
                                        : DrawShape(spec.any, dims);
    if (!shape) return std::nullopt;
    const InputKind& kind = grammar_.kinds.find(spec.kind)->second;
    Value value;
    value.origin = Value::Origin::kInput;
    value.hint = spec.name;
    value.shape = *shape;
    value.dtype = kind.dtype;
    value.kind = spec.kind;
    double total = 0;
    for (const DrawForm& draw : kind.draws) total += draw.weight;
    double at = rng_.Uniform() * total;
    for (size_t i = 0; i < kind.draws.size(); ++i) {
      value.draw = i;
      at -= kind.draws[i].weight;
      if (at <= 0) break;
    }
    value.lo = kind.draws[value.draw].lo;
    value.hi = kind.draws[value.draw].hi;
    if (spec.bound) {
      const std::string& bound_name = spec.bound->text;
      if (spec.bound->kind == Expression::Kind::kName && !dims->contains(bound_name) &&
          grammar_.role_of_name.contains(bound_name)) {
        const DimId made = NewSymbol(RoleOfName(bound_name), bound_name, 1);
        if (made == kNoDim) return std::nullopt;
        dims->emplace(bound_name, made);
      }
      const auto bound = EvaluateDim(*spec.bound, &graph_.dims,
                                     [&](std::string_view name) { return LookUp(name, *dims); });
      if (!bound) {
        Reject(fmt::format("grammar: bound '{}' of {} has unknown names", spec.bound->source,
                           spec.name));
        return std::nullopt;
      }
      value.bound = *bound;
      value.hi = static_cast<double>(graph_.dims.At(*bound, Binding::kCuda));
    }
    return AddInput(std::move(value));
  }

  ValueId AddInput(Value value) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(std::move(value));
    graph_.inputs.push_back(id);
    return id;
  }

  // ---- matching

  bool Divides(DimId dim, int64_t multiple) const {
    const Dim& size = graph_.dims[dim];
    for (const int64_t value : size.at)
      if (value % multiple != 0) return false;
    for (const auto& probe : size.probe)
      if (probe % multiple != 0) return false;
    return true;
  }

  bool Match(const ShapeSpec& spec, const std::vector<DimId>& shape,
             std::map<std::string, DimId, std::less<>>* dims, std::vector<DimId>* star,
             bool* star_bound) {
    if (spec.size() == 1 && spec[0].kind == ShapeToken::Kind::kBroadcast) {
      if (shape.size() > star->size()) return false;
      for (size_t i = 0; i < shape.size(); ++i) {
        const DimId other = (*star)[star->size() - shape.size() + i];
        if (!graph_.dims.IsConstant(shape[i], 1) && !graph_.dims.Equal(shape[i], other))
          return false;
      }
      return true;
    }
    size_t at = 0;
    for (size_t t = 0; t < spec.size(); ++t) {
      const ShapeToken& token = spec[t];
      if (token.kind == ShapeToken::Kind::kStar) {
        const size_t rest = spec.size() - t - 1;
        if (shape.size() < at + rest) return false;
        const size_t length = shape.size() - at - rest;
        if (*star_bound) {
          if (star->size() != length) return false;
          for (size_t i = 0; i < length; ++i)
            if (!graph_.dims.Equal((*star)[i], shape[at + i])) return false;
        } else {
          star->assign(shape.begin() + static_cast<ptrdiff_t>(at),
                       shape.begin() + static_cast<ptrdiff_t>(at + length));
          *star_bound = true;
        }
        at += length;
        continue;
      }
      if (token.kind == ShapeToken::Kind::kStarOnes) {
        for (size_t i = 0; i < star->size(); ++i, ++at)
          if (at >= shape.size() || !graph_.dims.IsConstant(shape[at], 1)) return false;
        continue;
      }
      if (at >= shape.size()) return false;
      const DimId dim = shape[at++];
      if (token.kind == ShapeToken::Kind::kName) {
        const auto [found, added] = dims->try_emplace(token.name, dim);
        if (!added && !graph_.dims.Equal(found->second, dim)) return false;
        if (token.multiple > 1 && !Divides(dim, token.multiple)) return false;
      } else {
        const auto value = EvaluateDim(token.expression, &graph_.dims,
                                       [&](std::string_view name) { return LookUp(name, *dims); });
        if (!value || !graph_.dims.Equal(*value, dim)) return false;
      }
    }
    return at == shape.size();
  }

  // ---- operators

  std::optional<double> NumberOf(std::string_view name, const Node& node, size_t binding) const {
    if (const auto attr = node.attrs.find(name); attr != node.attrs.end()) {
      if (const auto* number = std::get_if<int64_t>(&attr->second))
        return static_cast<double>(*number);
      if (const auto* real = std::get_if<double>(&attr->second)) return *real;
      if (const auto* flag = std::get_if<bool>(&attr->second)) return *flag;
      if (const auto* size = std::get_if<SizeAttr>(&attr->second))
        return static_cast<double>(graph_.dims[size->dim].at[binding]);
    }
    if (const auto dim = node.dims.find(name); dim != node.dims.end())
      return static_cast<double>(graph_.dims[dim->second].at[binding]);
    if (name == "inf") return HUGE_VAL;
    if (name == "axis_size") return AxisSize(node, binding);
    if (name == "saturated")
      return !node.inputs.empty() && graph_.values[static_cast<size_t>(node.inputs[0])].saturated;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& value = graph_.values[static_cast<size_t>(node.inputs[i])];
      const std::string suffix = i == 0 ? "" : std::to_string(i);
      if (name == "lo" + suffix) return value.lo;
      if (name == "hi" + suffix) return value.hi;
      if (name == "m" + suffix) return std::max(std::abs(value.lo), std::abs(value.hi));
      if (name == "rank" + suffix) return static_cast<double>(value.shape.size());
    }
    return std::nullopt;
  }

  // Elements along what the node's axis attribute names.
  double AxisSize(const Node& node, size_t binding) const {
    if (node.inputs.empty()) return 1;
    const auto& shape = graph_.values[static_cast<size_t>(node.inputs[0])].shape;
    double product = 1;
    const auto attr = node.attrs.find("dim");
    const auto* axes =
        attr == node.attrs.end() ? nullptr : std::get_if<std::vector<int>>(&attr->second);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (axes != nullptr &&
          std::find(axes->begin(), axes->end(), static_cast<int>(i)) == axes->end())
        continue;
      product *= static_cast<double>(graph_.dims[shape[i]].at[binding]);
    }
    return product;
  }

  NumberLookup LookupOf(const Node& node, size_t binding) const {
    NumberLookup lookup;
    lookup.number = [this, &node, binding](std::string_view name) {
      return NumberOf(name, node, binding);
    };
    lookup.word = [&node](std::string_view name) -> std::optional<std::string> {
      const auto attr = node.attrs.find(name);
      if (attr == node.attrs.end()) return std::nullopt;
      if (const auto* word = std::get_if<std::string>(&attr->second)) return *word;
      return std::nullopt;
    };
    return lookup;
  }

  std::optional<std::vector<int>> DrawAxes(const std::string& word, size_t rank, bool many) {
    const int r = static_cast<int>(rank);
    const auto range = [](int from, int to) {
      std::vector<int> axes;
      for (int i = from; i < to; ++i) axes.push_back(i);
      return axes;
    };
    if (r == 0) return std::nullopt;
    if (word == "any") return std::vector<int>{static_cast<int>(rng_.Below(rank))};
    if (word == "last") return std::vector<int>{r - 1};
    if (word == "first") return std::vector<int>{0};
    if (word == "channel" && r >= 2) return std::vector<int>{1};
    if (word == "inner" && r >= 2) {
      if (!many) return std::vector<int>{1 + static_cast<int>(rng_.Below(rank - 1))};
      return range(1, r);
    }
    if (word == "spatial" && r >= 3) return range(2, r);
    if (word == "last2" && r >= 2) return range(r - 2, r);
    if (word == "but_channel" && r >= 3) {
      auto axes = range(2, r);
      axes.insert(axes.begin(), 0);
      return axes;
    }
    if (word == "some" && r >= 2) {
      std::vector<int> axes;
      for (int i = 0; i < r; ++i)
        if (rng_.Below(2) == 0) axes.push_back(i);
      if (axes.empty()) axes.push_back(r - 1);
      return axes;
    }
    return std::nullopt;
  }

  // Draws every attribute that `node` does not have yet.
  bool DrawAttrs(const Operator& op, size_t rank, Node* node) {
    using Kind = AttrSpec::Kind;
    for (const AttrSpec& spec : op.attrs) {
      if (node->attrs.contains(spec.name)) continue;
      AttrValue value;
      switch (spec.kind) {
        case Kind::kInts:
          value = static_cast<int64_t>(Pick(spec.numbers));
          break;
        case Kind::kFloats:
          value = Pick(spec.numbers);
          break;
        case Kind::kBools:
          value = Pick(spec.numbers) != 0;
          break;
        case Kind::kWords:
          value = Pick(spec.words);
          break;
        case Kind::kSize: {
          const auto bound = node->dims.find(spec.name);  // by the shape of an input
          const DimId dim = bound != node->dims.end()
                                ? bound->second
                                : NewSymbol(spec.role, spec.py, spec.multiple);
          if (dim == kNoDim) return false;
          value = SizeAttr{dim};
          break;
        }
        case Kind::kAxis:
        case Kind::kAxes: {
          std::optional<std::vector<int>> axes;
          for (int i = 0; i < 4 && !axes; ++i)
            axes = DrawAxes(Pick(spec.words), rank, spec.kind == Kind::kAxes);
          if (!axes) return !Reject("shape");
          value = *axes;
          break;
        }
        case Kind::kDerived: {
          const auto number = EvaluateNumber(Pick(spec.derived),
                                             LookupOf(*node, static_cast<size_t>(Binding::kCuda)));
          if (!number)
            return !Reject(
                fmt::format("grammar: attribute {} of {} has unknown names", spec.name, op.name));
          value = static_cast<int64_t>(*number);
          break;
        }
      }
      node->attrs[spec.name] = std::move(value);
    }
    return true;
  }

  std::optional<std::vector<DimId>> OutputShape(const OutputSpec& spec, Node* node) {
    using Rule = OutputSpec::Rule;
    std::map<std::string, DimId, std::less<>> dims = node->dims;
    if (spec.rule == Rule::kShape) return Instantiate(spec.shape, &dims, &node->star, true);
    const auto& first = graph_.values[static_cast<size_t>(node->inputs[0])].shape;
    const auto axes_of = [&](std::string_view name) -> std::vector<int> {
      const auto attr = node->attrs.find(name);
      if (attr == node->attrs.end()) return {};
      const auto* axes = std::get_if<std::vector<int>>(&attr->second);
      return axes == nullptr ? std::vector<int>() : *axes;
    };
    if (spec.rule == Rule::kReduce) {
      const auto axes = axes_of("dim");
      const auto keep = node->attrs.find("keepdim");
      const bool keepdim = keep != node->attrs.end() && std::get<bool>(keep->second);
      std::vector<DimId> shape;
      for (size_t i = 0; i < first.size(); ++i) {
        const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
        if (!reduced) shape.push_back(first[i]);
        if (reduced && keepdim) shape.push_back(graph_.dims.Constant(1));
      }
      return shape;
    }
    if (spec.rule == Rule::kConcat) {
      const auto axes = axes_of("dim");
      std::vector<DimId> shape = first;
      const auto at = static_cast<size_t>(axes.at(0));
      for (size_t i = 1; i < node->inputs.size(); ++i) {
        const auto& other = graph_.values[static_cast<size_t>(node->inputs[i])].shape;
        if (other.size() != shape.size()) return std::nullopt;
        for (size_t d = 0; d < shape.size(); ++d) {
          if (d == at)
            shape[d] = graph_.dims.Binary('+', shape[d], other[d]);
          else if (!graph_.dims.Equal(shape[d], other[d]))
            return std::nullopt;
        }
      }
      return shape;
    }
    if (spec.rule == Rule::kSwap) {
      const auto a = axes_of("dim0"), b = axes_of("dim1");
      std::vector<DimId> shape = first;
      if (a.empty() || b.empty() || a == b) return std::nullopt;
      std::swap(shape[static_cast<size_t>(a[0])], shape[static_cast<size_t>(b[0])]);
      return shape;
    }
    if (spec.rule == Rule::kInsert) {
      const auto axes = axes_of("dim");
      std::vector<DimId> shape = first;
      shape.insert(shape.begin() + axes.at(0), graph_.dims.Constant(1));
      return shape;
    }
    // kBroadcast: of all inputs.
    std::vector<DimId> shape = first;
    for (const ValueId input : node->inputs) {
      const auto& other = graph_.values[static_cast<size_t>(input)].shape;
      while (shape.size() < other.size()) shape.insert(shape.begin(), graph_.dims.Constant(1));
      for (size_t i = 0; i < other.size(); ++i) {
        DimId& mine = shape[shape.size() - other.size() + i];
        if (graph_.dims.IsConstant(mine, 1))
          mine = other[i];
        else if (!graph_.dims.IsConstant(other[i], 1) && !graph_.dims.Equal(mine, other[i]))
          return std::nullopt;
      }
    }
    return shape;
  }

  struct Mark {
    size_t values, nodes, inputs;
  };
  Mark Now() const { return {graph_.values.size(), graph_.nodes.size(), graph_.inputs.size()}; }
  void Undo(const Mark& mark) {
    graph_.values.erase(graph_.values.begin() + static_cast<ptrdiff_t>(mark.values),
                        graph_.values.end());
    graph_.nodes.resize(mark.nodes);
    graph_.inputs.resize(mark.inputs);
  }

  using Named = std::map<std::string, std::vector<Expression>>;

  std::optional<std::vector<ValueId>> Apply(const Operator& op,
                                            const std::vector<ValueId>& arguments,
                                            const Named& named, const Environment& environment) {
    if (options_.allowed && !options_.allowed(op)) {
      Reject("held_out");
      return std::nullopt;
    }
    if (options_.precision != Precision::kFp32 && !op.half) {
      Reject("half");
      return std::nullopt;
    }
    if (!op.mode.empty() && !graph_.mode.empty() && graph_.mode != op.mode) {
      Reject("mode");
      return std::nullopt;
    }
    const Mark mark = Now();
    auto made = ApplyOrFail(op, arguments, named, environment);
    if (!made) {
      Undo(mark);
      return std::nullopt;
    }
    if (!op.mode.empty()) graph_.mode = op.mode;
    return made;
  }

  bool SetNamed(const Operator& op, const Named& named, const Environment& environment, Node* node,
                size_t rank) {
    for (const auto& [name, choices] : named) {
      const Expression& expression = Pick(choices);
      const AttrSpec* attr = op.Attr(name);
      const auto dim = [&] {
        return EvaluateDim(expression, &graph_.dims,
                           [&](std::string_view used) { return LookUp(used, environment.dims); });
      };
      if (attr == nullptr || attr->kind == AttrSpec::Kind::kSize) {
        const auto size = dim();
        if (!size)
          return !Reject(fmt::format("grammar: {}={} has unknown names", name, expression.source));
        if (attr == nullptr)
          node->dims[name] = *size;
        else
          node->attrs[name] = SizeAttr{*size};
        continue;
      }
      if (attr->kind == AttrSpec::Kind::kWords) {
        node->attrs[name] = expression.text;
        continue;
      }
      if (attr->kind == AttrSpec::Kind::kAxis || attr->kind == AttrSpec::Kind::kAxes) {
        if (expression.kind == Expression::Kind::kWord) {
          const auto axes = DrawAxes(expression.text, rank, attr->kind == AttrSpec::Kind::kAxes);
          if (!axes) return !Reject("shape");
          node->attrs[name] = *axes;
          continue;
        }
        const auto number =
            EvaluateNumber(expression, {[](std::string_view) { return std::nullopt; }, {}});
        if (!number) return !Reject("grammar: axis is no number");
        const int axis = static_cast<int>(*number);
        node->attrs[name] = std::vector<int>{axis < 0 ? axis + static_cast<int>(rank) : axis};
        continue;
      }
      NumberLookup lookup;
      lookup.number = [&](std::string_view used) -> std::optional<double> {
        const auto size = LookUp(used, environment.dims);
        if (!size || !graph_.dims.IsConstant(*size)) return std::nullopt;
        return static_cast<double>(graph_.dims.At(*size, Binding::kCuda));
      };
      const auto number = EvaluateNumber(expression, lookup);
      if (!number)
        return !Reject(fmt::format("grammar: {}={} is no number", name, expression.source));
      if (attr->kind == AttrSpec::Kind::kBools)
        node->attrs[name] = *number != 0;
      else if (attr->kind == AttrSpec::Kind::kFloats)
        node->attrs[name] = *number;
      else
        node->attrs[name] = static_cast<int64_t>(*number);
    }
    return true;
  }

  std::optional<std::vector<ValueId>> ApplyOrFail(const Operator& op,
                                                  const std::vector<ValueId>& arguments,
                                                  const Named& named,
                                                  const Environment& environment) {
    if (arguments.size() > op.inputs.size() && op.outputs[0].rule != OutputSpec::Rule::kConcat) {
      Reject(fmt::format("grammar: {} takes {} inputs, not {}", op.name, op.inputs.size(),
                         arguments.size()));
      return std::nullopt;
    }
    Node node;
    node.op = &op;
    node.scope = scope_;
    const size_t rank =
        arguments.empty() ? 0 : graph_.values[static_cast<size_t>(arguments[0])].shape.size();
    if (!SetNamed(op, named, environment, &node, rank)) return std::nullopt;
    // Sizes that attributes bring may stand in the shapes.
    const auto bind_sizes = [&] {
      for (const auto& [name, value] : node.attrs) {
        if (const auto* size = std::get_if<SizeAttr>(&value)) node.dims.emplace(name, size->dim);
        if (const auto* number = std::get_if<int64_t>(&value))
          node.dims.emplace(name, graph_.dims.Constant(*number));
      }
    };
    bind_sizes();
    bool star_bound = false;
    for (size_t i = 0; i < std::max(op.inputs.size(), arguments.size()); ++i) {
      const InputSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
      if (i < arguments.size()) {
        const Value& value = graph_.values[static_cast<size_t>(arguments[i])];
        const DType want = grammar_.kinds.find(spec.kind)->second.dtype;
        if (value.dtype != want ||
            (i < op.inputs.size() &&
             !Match(spec.shape, value.shape, &node.dims, &node.star, &star_bound))) {
          Reject("shape");
          return std::nullopt;
        }
        node.inputs.push_back(arguments[i]);
        continue;
      }
      // Attributes may stand in the shape of what is made here.
      if (i == arguments.size() && !node.inputs.empty()) {
        if (!DrawAttrs(op, rank, &node)) return std::nullopt;
        bind_sizes();
      } else if (i == 0) {
        Node sizes_only = node;
        if (!DrawSizes(op, &sizes_only)) return std::nullopt;
        node.attrs = sizes_only.attrs;
        bind_sizes();
      }
      const auto made = NewInput(spec, &node.dims, &node.star, star_bound);
      if (!made) return std::nullopt;
      star_bound = star_bound ||
                   std::any_of(spec.shape.begin(), spec.shape.end(),
                               [](const auto& t) { return t.kind == ShapeToken::Kind::kStar; });
      node.inputs.push_back(*made);
    }
    const size_t first_rank =
        node.inputs.empty() ? 0 : graph_.values[static_cast<size_t>(node.inputs[0])].shape.size();
    if (!DrawAttrs(op, first_rank, &node)) return std::nullopt;
    bind_sizes();
    for (size_t binding = 0; binding < kNumBindings; ++binding) {
      const NumberLookup lookup = LookupOf(node, binding);
      for (const Expression& condition : op.require) {
        const auto holds = EvaluateNumber(condition, lookup);
        if (!holds) {
          Reject(fmt::format("grammar: condition '{}' of {} has unknown names", condition.source,
                             op.name));
          return std::nullopt;
        }
        if (*holds == 0) {
          Reject("require");
          return std::nullopt;
        }
      }
    }
    const NumberLookup lookup = LookupOf(node, static_cast<size_t>(Binding::kCuda));
    for (const Expression& condition : op.needs) {
      const auto holds = EvaluateNumber(condition, lookup);
      if (!holds) {
        Reject(
            fmt::format("grammar: need '{}' of {} has unknown names", condition.source, op.name));
        return std::nullopt;
      }
      if (*holds == 0) {
        Reject("range");
        return std::nullopt;
      }
    }
    double lo = node.inputs.empty() ? -1 : graph_.values[static_cast<size_t>(node.inputs[0])].lo;
    double hi = node.inputs.empty() ? 1 : graph_.values[static_cast<size_t>(node.inputs[0])].hi;
    if (op.lo) {
      const auto low = EvaluateNumber(*op.lo, lookup);
      const auto high = EvaluateNumber(*op.hi, lookup);
      if (!low || !high) {
        Reject(fmt::format("grammar: range of {} has unknown names", op.name));
        return std::nullopt;
      }
      lo = *low;
      hi = *high;
    }
    const double largest = options_.precision == Precision::kFp16 ? kLargestFp16 : kLargestFp32;
    if (!(lo <= hi) || !(std::abs(lo) <= largest) || !(std::abs(hi) <= largest)) {
      Reject("range");
      return std::nullopt;
    }
    const auto node_index = static_cast<int32_t>(graph_.nodes.size());
    for (const ParamSpec& spec : op.params) {
      if (!spec.condition.empty()) {
        const auto attr = node.attrs.find(spec.condition);
        if (attr == node.attrs.end() || !std::get<bool>(attr->second)) continue;
      }
      auto dims = node.dims;
      const auto shape = Instantiate(spec.shape, &dims, &node.star, true);
      if (!shape) return std::nullopt;
      Value weight;
      weight.origin = spec.buffer ? Value::Origin::kBuffer : Value::Origin::kParameter;
      weight.hint = spec.name;
      weight.shape = *shape;
      weight.node = node_index;
      weight.param = &spec;
      node.weights.push_back(static_cast<ValueId>(graph_.values.size()));
      graph_.values.push_back(std::move(weight));
    }
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const auto shape = OutputShape(op.outputs[i], &node);
      if (!shape) {
        Reject("shape");
        return std::nullopt;
      }
      for (const DimId dim : *shape) {
        for (const int64_t size : graph_.dims[dim].at) {
          if (size > 0) continue;
          Reject("require");
          return std::nullopt;
        }
      }
      Value value;
      value.hint = op.vars.empty() ? "" : op.vars[std::min(i, op.vars.size() - 1)];
      value.shape = *shape;
      value.dtype = op.outputs[i].dtype;
      value.lo = lo;
      value.hi = hi;
      value.saturated = op.saturates;
      if (op.keeps_saturation)
        for (const ValueId input : node.inputs)
          value.saturated = value.saturated || graph_.values[static_cast<size_t>(input)].saturated;
      value.node = node_index;
      value.output = static_cast<int32_t>(i);
      node.outputs.push_back(static_cast<ValueId>(graph_.values.size()));
      graph_.values.push_back(std::move(value));
    }
    auto outputs = node.outputs;
    graph_.nodes.push_back(std::move(node));
    return outputs;
  }

  // The sizes and integers alone, for an operator that makes all its inputs.
  bool DrawSizes(const Operator& op, Node* node) {
    for (const AttrSpec& spec : op.attrs) {
      if (node->attrs.contains(spec.name)) continue;
      if (spec.kind == AttrSpec::Kind::kSize) {
        const DimId dim = NewSymbol(spec.role, spec.py, spec.multiple);
        if (dim == kNoDim) return false;
        node->attrs[spec.name] = SizeAttr{dim};
      } else if (spec.kind == AttrSpec::Kind::kInts) {
        node->attrs[spec.name] = static_cast<int64_t>(Pick(spec.numbers));
      }
    }
    return true;
  }

  std::optional<std::vector<ValueId>> ApplyGroup(const std::string& group,
                                                 const std::vector<ValueId>& arguments,
                                                 const Named& named, const Environment& environment,
                                                 const std::vector<const Operator*>& avoid = {}) {
    const auto& members = grammar_.groups.find(group)->second;
    double total = 0;
    for (const Operator* op : members) total += op->weight;
    for (int attempt = 0; attempt < kGroupTries; ++attempt) {
      double at = rng_.Uniform() * total;
      const Operator* chosen = members.back();
      for (const Operator* op : members) {
        at -= op->weight;
        if (at > 0) continue;
        chosen = op;
        break;
      }
      if (std::find(avoid.begin(), avoid.end(), chosen) != avoid.end()) continue;
      if (arguments.size() > chosen->inputs.size() &&
          chosen->outputs[0].rule != OutputSpec::Rule::kConcat)
        continue;
      Named fitting;
      for (const auto& [name, choices] : named)
        if (chosen->Attr(name) != nullptr) fitting[name] = choices;
      if (auto made = Apply(*chosen, arguments, fitting, environment)) {
        last_ = chosen;
        return made;
      }
      if (why_.starts_with("grammar")) return std::nullopt;
    }
    Reject("group");
    return std::nullopt;
  }

  // ---- patterns

  std::optional<std::vector<ValueId>> Evaluate(const PatternTerm& term, Environment* environment) {
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
    if (term.kind == Kind::kOperator)
      return Apply(grammar_.operators.find(term.name)->second, arguments, term.named, *environment);
    if (term.kind == Kind::kGroup)
      return ApplyGroup(term.name, arguments, term.named, *environment);
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

  std::optional<std::vector<ValueId>> ApplyPattern(const PatternTerm& term,
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

  // False: rejected.
  bool Block(const std::vector<PatternStatement>& body, Environment* environment,
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

  bool One(const PatternStatement& statement, Environment* environment,
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

  bool Final() {
    // Results that nothing uses are not computed; a graph that has them is a pattern's mistake
    // only where a whole node is unused.
    const auto uses = graph_.UsesOfValues();
    for (const Node& node : graph_.nodes) {
      bool used = false;
      for (const ValueId output : node.outputs)
        used = used || uses[static_cast<size_t>(output)] > 0;
      if (!used) return !Reject("unused");
    }
    for (const ValueId input : graph_.inputs)
      if (uses[static_cast<size_t>(input)] == 0) return !Reject("unused");
    for (size_t i = 0; i < kNumBindings; ++i) {
      const Budget& budget = grammar_.budgets[i];
      if (graph_.Elements(static_cast<Binding>(i)) > budget.elements ||
          graph_.Flops(static_cast<Binding>(i)) > budget.flops)
        return !Reject(i == 0 ? "budget_cuda" : i == 1 ? "budget_cpu" : "budget_variant");
    }
    return true;
  }

  const Grammar& grammar_;
  const BuildOptions& options_;
  Graph graph_;
  SplitMix64 rng_;
  std::string why_;
  int32_t scope_ = 0;
  int depth_ = 0;
  const Operator* last_ = nullptr;
};

}  // namespace

BuildOutcome BuildGraph(const Grammar& grammar, const Pattern& pattern,
                        const BuildOptions& options) {
  return Builder(grammar, options).Run(pattern);
}

}  // namespace davinci::synth
