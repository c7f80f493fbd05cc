// Operators as Python expressions: spellings, attributes, sizes, weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::synth {

std::string ClassWriter::ChooseSpelling(const Node& node, std::string* kind) {
  const auto& spell = node.op->spell;
  const bool function = g_.scopes[static_cast<size_t>(scope_)].pattern == "function";
  const auto module = spell.find("module");
  if (module != spell.end() && !node.weights.empty() && !function && s_->Chance(0.85)) {
    *kind = "module";
    return s_->Pick(module->second);
  }
  const auto preferred = spell.find(primary_);
  if (preferred != spell.end() && !(function && primary_ == "module") && s_->Chance(0.75)) {
    *kind = primary_;
    return s_->Pick(preferred->second);
  }
  static const std::map<std::string, double> usual = {
      {"module", 2},   {"functional", 3}, {"torch", 3},   {"method", 2.5},
      {"operator", 5}, {"hand", 0.7},     {"einsum", 0.8}};
  double total = 0;
  for (const auto& [name, forms] : spell)
    if (!(function && name == "module")) total += usual.at(name);
  double at = s_->rng.Uniform() * total;
  for (const auto& [name, forms] : spell) {
    if (function && name == "module") continue;
    at -= usual.at(name);
    if (at > 0) continue;
    *kind = name;
    return s_->Pick(forms);
  }
  *kind = spell.begin()->first;
  return s_->Pick(spell.begin()->second);
}

std::string ClassWriter::Fill(const Node& node, std::string_view form, bool init,
                              std::vector<ValueId>* reads, const std::string& module) {
  std::string text = WithPlaceholders(form, [&](const std::string& name, bool enclosed) {
    std::string value;
    if (name == "m") {
      value = module;
    } else if (name.starts_with("kw:")) {
      for (const std::string_view attr : Split(std::string_view(name).substr(3), ',')) {
        const AttrSpec* spec = node.op->Attr(attr);
        if (spec == nullptr) continue;
        const AttrValue& set = node.attrs.find(attr)->second;
        bool same = false;
        if (spec->default_number) {
          if (const auto* number = std::get_if<int64_t>(&set))
            same = static_cast<double>(*number) == *spec->default_number;
          if (const auto* real = std::get_if<double>(&set)) same = *real == *spec->default_number;
          if (const auto* flag = std::get_if<bool>(&set))
            same = *flag == (*spec->default_number != 0);
          if (const auto* axes = std::get_if<std::vector<int>>(&set))
            same = axes->size() == 1 && axes->front() == static_cast<int>(*spec->default_number);
        }
        if (const auto* word = std::get_if<std::string>(&set))
          same = spec->default_word && *word == *spec->default_word;
        if (same && !(s_->style.Is("kwargs", "verbose") && s_->Chance(0.5))) continue;
        value += fmt::format(", {}={}", spec->py, AttrText(node, *spec, init));
      }
    } else if (name.starts_with("opt:")) {
      const std::string weight = WeightText(node, std::string_view(name).substr(4));
      if (weight != "None") value = ", " + weight;
    } else if (name == "out" || name == "star") {
      const auto& shape =
          name == "out" ? g_.values[static_cast<size_t>(node.outputs[0])].shape : node.star;
      std::vector<std::string> parts;
      for (const DimId dim : shape) parts.push_back(DimText(dim, init));
      value = Join(parts, ", ");
    } else if (name == "all") {
      std::vector<std::string> parts;
      for (const ValueId input : node.inputs) {
        const Text_ used = Use(input, false);
        parts.push_back(used.text);
        reads->insert(reads->end(), used.reads.begin(), used.reads.end());
      }
      value = Join(parts, ", ");
    } else {
      bool found = false;
      for (size_t k = 0; k < node.op->inputs.size() && k < node.inputs.size(); ++k) {
        if (node.op->inputs[k].name != name) continue;
        const Text_ used = Use(node.inputs[k], CountOf(form, "{" + name + "}") > 1);
        value = used.atomic || enclosed ? used.text : "(" + used.text + ")";
        for (const ValueId read : used.reads)
          if (std::find(reads->begin(), reads->end(), read) == reads->end()) reads->push_back(read);
        found = true;
      }
      if (!found) {
        for (const ParamSpec& param : node.op->params) {
          if (param.name != name) continue;
          value = WeightText(node, name);
          found = true;
        }
      }
      if (const AttrSpec* spec = found ? nullptr : node.op->Attr(name)) {
        value = AttrText(node, *spec, init);
        if (!enclosed && !IsAtomic(value) &&
            !std::holds_alternative<double>(node.attrs.find(name)->second))
          value = "(" + value + ")";
        found = true;
      }
      if (const auto dim = found ? node.dims.end() : node.dims.find(name); dim != node.dims.end()) {
        value = DimText(dim->second, init);
        if (!enclosed && !IsAtomic(value)) value = "(" + value + ")";
        found = true;
      }
      if (!found) value = "?" + name;
    }
    return value;
  });
  text = Replaced(Replaced(text, "(, ", "("), " + -", " - ");
  if (text.find("F.") != std::string::npos) s_->uses_f = true;
  if (text.find("math.") != std::string::npos) s_->uses_math = true;
  return text;
}

std::string ClassWriter::AttrText(const Node& node, const AttrSpec& spec, bool init) {
  const AttrValue& value = node.attrs.find(spec.name)->second;
  const bool number =
      std::holds_alternative<double>(value) ||
      (std::holds_alternative<int64_t>(value) && spec.kind != AttrSpec::Kind::kDerived);
  const std::string& attrs = s_->style["attrs"];
  if (!number || attrs == "literal" || scope_ != 0) return ValueText(spec, value, node, init);
  const std::string key = fmt::format("{}:{}", static_cast<const void*>(&node), spec.name);
  auto found = lifted_.find(key);
  if (found == lifted_.end()) {
    if (!s_->Chance(0.75)) return ValueText(spec, value, node, init);
    std::string base = spec.py;
    std::string name = base;
    const auto taken = [&] {
      return s_->names.contains(name) ||
             std::any_of(arguments_.begin(), arguments_.end(),
                         [&](const ClassArgument& argument) { return argument.name == name; });
    };
    if (attrs == "constant") {
      for (char& c : base) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      name = base;
      for (int n = 2; taken(); ++n) name = fmt::format("{}_{}", base, n);
      s_->names.insert(name);
      s_->constants.emplace_back(name, ValueText(spec, value, node, true));
    } else {
      for (int n = 2; taken(); ++n) name = fmt::format("{}{}", base, n);
      arguments_.push_back(
          {name, kNoDim, ValueText(spec, value, node, true), Replaced(spec.py, "_", " ")});
    }
    found = lifted_.emplace(key, name).first;
  }
  if (attrs == "constant" || init) return found->second;
  const auto [member, added] = lifted_members_.try_emplace(key, "");
  if (added) {
    member->second = AttributeName({found->second}, found->second);
    init_.push_back(fmt::format("self.{} = {}", member->second, found->second));
  }
  return "self." + member->second;
}

std::string ClassWriter::ValueText(const AttrSpec& spec, const AttrValue& value, const Node& node,
                                   bool init) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return FloatText(*real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* word = std::get_if<std::string>(&value)) return s_->Quoted(*word);
  if (const auto* size = std::get_if<SizeAttr>(&value)) return DimText(size->dim, init);
  const auto& axes = std::get<std::vector<int>>(value);
  const int rank =
      node.inputs.empty()
          ? 0
          : static_cast<int>(g_.values[static_cast<size_t>(node.inputs[0])].shape.size());
  const bool inserts = node.op->outputs[0].rule == OutputSpec::Rule::kInsert;
  auto& sign = axis_sign_[&node][spec.name];
  if (sign.empty()) {
    sign = s_->style["axis_sign"];
    if (sign == "mixed") sign = s_->Chance(0.5) ? "negative" : "positive";
    // Negative counting is for the last axes.
    if (axes.empty() || axes.front() < rank - 2 || inserts) sign = "positive";
  }
  std::vector<std::string> texts;
  for (const int axis : axes)
    texts.push_back(std::to_string(sign == "negative" ? axis - rank : axis));
  if (axes.size() == 1) return texts[0];
  return "(" + Join(texts, ", ") + ")";
}

std::string ClassWriter::WeightText(const Node& node, std::string_view name) {
  for (const ValueId id : node.weights) {
    const Value& weight = g_.values[static_cast<size_t>(id)];
    if (weight.hint != name) continue;
    const auto found = weight_names_.find(id);
    if (found != weight_names_.end()) return "self." + found->second;
    std::vector<std::string> shape_parts;
    for (const DimId dim : weight.shape) shape_parts.push_back(DimText(dim, true));
    const std::string shape = Join(shape_parts, ", ");
    std::string form = weight.param->init.find('(') != std::string::npos
                           ? weight.param->init
                           : s_->Pick(s_->grammar.inits.find(weight.param->init)->second);
    form = Replaced(form, "{shape}", shape);
    std::vector<ValueId> none;
    form = Fill(node, form, true, &none);
    const std::string member = AttributeName({std::string(name)}, name);
    weight_names_[id] = member;
    s_->has_state = true;
    if (weight.origin == Value::Origin::kBuffer)
      init_.push_back(fmt::format("self.register_buffer({}, {})", s_->Quoted(member), form));
    else
      init_.push_back(fmt::format("self.{} = nn.Parameter({})", member, form));
    return "self." + member;
  }
  return "None";
}

std::string ClassWriter::Constructor(const Node& node, std::string_view form) {
  std::vector<ValueId> none;
  s_->has_state = true;
  return Fill(node, form, true, &none);
}

std::string ClassWriter::CallForm(const Node& node) {
  std::string form = node.op->call;
  if (form.empty()) {
    std::vector<std::string> inputs;
    for (const InputSpec& input : node.op->inputs) inputs.push_back("{" + input.name + "}");
    form = "{m}(" + Join(inputs, ", ") + ")";
  }
  return form;
}

std::string ClassWriter::ModuleCall(const Node& node, const std::string& member,
                                    std::vector<ValueId>* reads) {
  return Fill(node, CallForm(node), false, reads, member);
}

std::string ClassWriter::ArgumentFor(DimId dim) {
  for (const ClassArgument& argument : arguments_)
    if (argument.dim != kNoDim && g_.dims.Equal(argument.dim, dim)) return argument.name;
  std::string name, text = "size";
  const Dim& size = g_.dims[dim];
  std::string role = size.role;
  if (const auto named = s_->symbol_names.find(dim); named != s_->symbol_names.end())
    name = named->second;
  if (scope_ != 0) {
    // The same argument names for every use of a class: by the pattern's own letters.
    for (const auto& [letter, formal] : formals_) {
      if (!g_.dims.Equal(formal, dim)) continue;
      const auto of = s_->grammar.role_of_name.find(letter);
      if (of != s_->grammar.role_of_name.end()) {
        role = of->second;
        name = s_->grammar.roles.find(role)->second.names[0];
      } else {
        name = Lower(letter);
      }
      break;
    }
  }
  if (const auto found = s_->grammar.roles.find(role); found != s_->grammar.roles.end())
    text = found->second.text;
  const std::string base = name.empty() ? "size" : name;
  name = base;
  const auto taken = [&] {
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [&](const ClassArgument& argument) { return argument.name == name; });
  };
  for (int n = 2; taken(); ++n) name = fmt::format("{}{}", base, n);
  arguments_.push_back({name, dim, "", text});
  return name;
}

std::string ClassWriter::NameOfDim(DimId dim, bool init) {
  const bool symbol = g_.dims[dim].kind == Dim::Kind::kSymbol;
  bool formal = false;
  if (scope_ != 0)
    for (const auto& [letter, id] : formals_) formal = formal || g_.dims.Equal(id, dim);
  const bool literal = s_->style.Is("sizes", "literal");
  if (!init && !s_->style.Is("dims", "self")) {
    for (size_t r = 0; r < reads_.size(); ++r) {
      const Value& value = g_.values[static_cast<size_t>(reads_[r])];
      for (size_t i = 0; i < value.shape.size(); ++i) {
        if (g_.dims.IsConstant(value.shape[i]) || !g_.dims.Equal(value.shape[i], dim)) continue;
        auto& names = unpack_[reads_[r]];
        if (names.empty()) {
          for (size_t k = 0; k < value.shape.size(); ++k) {
            std::string base = fmt::format("dim{}", k);
            const DimId size = value.shape[k];
            const auto found = s_->grammar.roles.find(g_.dims[size].role);
            if (g_.dims[size].kind == Dim::Kind::kSymbol && found != s_->grammar.roles.end())
              base = s_->Pick(found->second.names);
            base = Lower(base);
            std::string name = base;
            for (int n = 2; variables_.contains(name); ++n) name = fmt::format("{}{}", base, n);
            variables_.insert(name);
            names.push_back(name);
          }
        }
        unpacked_.insert(reads_[r]);
        return names[i];
      }
    }
  }
  if (!formal && !symbol) return "";
  if (literal && !formal) return std::to_string(g_.dims.At(dim, s_->literal));
  if (s_->style.Is("sizes", "module") && !formal) return s_->ConstantName(dim);
  std::string argument = ArgumentFor(dim);
  if (init) return argument;
  auto [stored, added] = stored_.try_emplace(dim, "");
  if (added) {
    for (const auto& [other, name] : stored_)
      if (other != dim && !name.empty() && g_.dims.Equal(other, dim)) stored->second = name;
    if (stored->second.empty()) {
      stored->second = AttributeName({argument}, argument);
      init_.push_back(fmt::format("self.{} = {}", stored->second, argument));
    }
  }
  return "self." + stored->second;
}

std::string ClassWriter::DimText(DimId dim, bool init) {
  return g_.dims.Python(dim, [&](DimId part) { return NameOfDim(part, init); });
}

std::string ClassWriter::AttributeName(const std::vector<std::string>& names,
                                       std::string_view otherwise) {
  std::string base(otherwise);
  if (!names.empty()) base = s_->Pick(names);
  static const std::set<std::string, std::less<>> reserved = {"forward", "train",  "eval",  "half",
                                                              "float",   "double", "type",  "to",
                                                              "cpu",     "cuda",   "apply", "T"};
  if (reserved.contains(base)) base += '_';
  std::string name = base;
  const bool digit = !base.empty() && std::isdigit(static_cast<unsigned char>(base.back()));
  for (int n = 2; members_.contains(name); ++n)
    name = fmt::format("{}{}{}", base, digit ? "_" : "", n);
  members_.insert(name);
  return name;
}

}  // namespace davinci::synth
