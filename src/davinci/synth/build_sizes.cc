// Sizes: drawn for every target, bound by shapes, and inputs that have them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/graph_builder.h"

namespace davinci::synth {

int64_t Builder::DrawSize(const SizeRole& role, size_t binding, int64_t multiple) {
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
  if (multiple > 1) size = std::max<int64_t>(multiple, (size + multiple / 2) / multiple * multiple);
  return size;
}

DimId Builder::NewSymbol(const std::string& role_name, std::string_view hint, int64_t multiple) {
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

std::string Builder::RoleOfName(const std::string& name) const {
  const auto found = grammar_.role_of_name.find(name);
  return found == grammar_.role_of_name.end() ? "" : found->second;
}

std::optional<DimId> Builder::LookUp(std::string_view name,
                                     const std::map<std::string, DimId, std::less<>>& dims) const {
  const auto found = dims.find(name);
  if (found == dims.end()) return std::nullopt;
  return found->second;
}

bool Builder::Divides(DimId dim, int64_t multiple) const {
  const Dim& size = graph_.dims[dim];
  for (const int64_t value : size.at)
    if (value % multiple != 0) return false;
  for (const auto& probe : size.probe)
    if (probe % multiple != 0) return false;
  return true;
}

std::optional<std::vector<DimId>> Builder::DrawShape(
    const std::string& name, std::map<std::string, DimId, std::less<>>* dims) {
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

std::optional<std::vector<DimId>> Builder::Instantiate(
    const ShapeSpec& spec, std::map<std::string, DimId, std::less<>>* dims,
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
          if (made == kNoDim) made = NewSymbol(RoleOfName(token.name), token.name, token.multiple);
          if (made == kNoDim) return std::nullopt;
          found = dims->emplace(token.name, made).first;
        }
        shape.push_back(found->second);
        break;
      }
      case ShapeToken::Kind::kExpression: {
        const auto value = EvaluateDim(token.expression, &graph_.dims,
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

std::optional<ValueId> Builder::NewInput(const InputSpec& spec,
                                         std::map<std::string, DimId, std::less<>>* dims,
                                         std::vector<DimId>* star, bool star_bound) {
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

ValueId Builder::AddInput(Value value) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back(std::move(value));
  graph_.inputs.push_back(id);
  return id;
}

bool Builder::Match(const ShapeSpec& spec, const std::vector<DimId>& shape,
                    std::map<std::string, DimId, std::less<>>* dims, std::vector<DimId>* star,
                    bool* star_bound) {
  if (spec.size() == 1 && spec[0].kind == ShapeToken::Kind::kBroadcast) {
    if (shape.size() > star->size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      const DimId other = (*star)[star->size() - shape.size() + i];
      if (!graph_.dims.IsConstant(shape[i], 1) && !graph_.dims.Equal(shape[i], other)) return false;
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

}  // namespace davinci::synth
