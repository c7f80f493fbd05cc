#include "davinci/synth/render_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

constexpr size_t kLongestInline = 72;

// Whether a Python expression needs brackets as an operand.
bool IsAtomic(std::string_view text) {
  int depth = 0;
  if (text.starts_with('-')) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && c == ' ') return false;
  }
  return true;
}

// Whether `form`'s placeholder at [begin, end) stands alone between brackets or commas.
bool Enclosed(std::string_view form, size_t begin, size_t end) {
  size_t before = begin;
  while (before > 0 && form[before - 1] == ' ') --before;
  const bool left = before > 0 && (form[before - 1] == '(' || form[before - 1] == ',' ||
                                   form[before - 1] == '[' || form[before - 1] == '=');
  size_t after = end;
  while (after < form.size() && form[after] == ' ') ++after;
  const std::string_view rest = form.substr(after);
  const bool right = rest.starts_with(')') || rest.starts_with(',') || rest.starts_with(']') ||
                     rest.starts_with("{kw:") || rest.starts_with("{opt:");
  return (left && right) || (begin == 0 && end == form.size());
}

size_t CountOf(std::string_view form, const std::string& name) {
  const std::string placeholder = "{" + name + "}";
  size_t count = 0;
  for (size_t at = 0; (at = form.find(placeholder, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string FloatText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string CamelCase(std::string_view snake) {
  std::string camel;
  bool up = true;
  for (const char c : snake) {
    if (c == '_') {
      up = true;
      continue;
    }
    camel += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return camel;
}

std::string RenderState::ConstantName(DimId symbol) const {
  std::string name = symbol_names.at(symbol);
  if (style.Is("const_case", "upper"))
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string RenderState::Quoted(std::string_view text) const {
  const char quote = style.Is("quotes", "single") ? '\'' : '"';
  return quote + std::string(text) + quote;
}

std::string RenderState::ShapeText(const std::vector<DimId>& shape) const {
  std::string text;
  for (const DimId dim : shape) {
    if (!text.empty()) text += ", ";
    text += graph.dims.Python(dim, [&](DimId part) -> std::string {
      const auto found = symbol_names.find(part);
      return found == symbol_names.end() ? "" : found->second;
    });
  }
  return text;
}

ClassWriter::ClassWriter(RenderState* state, int32_t scope)
    : s_(state), g_(state->graph), scope_(scope) {
  formals_ = g_.scopes[static_cast<size_t>(scope)].formals;
  primary_ = s_->style["spelling"];
  // Also the module's names: a local variable would hide a constant that the function reads.
  variables_ = s_->names;
  variables_.insert({"self", "F", "nn", "torch", "math", "layer"});
}

// Whether the nodes of `scope` are written where it is used.
bool ClassWriter::Inline(int32_t scope) const {
  const Scope& inner = g_.scopes[static_cast<size_t>(scope)];
  if (inner.pattern == "function") return false;
  return s_->style.Is("helpers", "inline");
}

void ClassWriter::Collect() {
  std::map<int32_t, size_t> item_of_scope;
  for (size_t i = 0; i < g_.nodes.size(); ++i) {
    // The scope below ours that the node belongs to, if any, and whether it is ours at all.
    std::vector<int32_t> chain;
    for (int32_t s = g_.nodes[i].scope; s != -1; s = g_.scopes[static_cast<size_t>(s)].parent) {
      chain.push_back(s);
      if (s == scope_) break;
    }
    if (chain.empty() || chain.back() != scope_) continue;
    int32_t call = -1;
    for (size_t k = chain.size() - 1; k-- > 0;) {
      if (Inline(chain[k])) continue;
      call = chain[k];
      break;
    }
    if (call == -1) {
      items_.push_back({static_cast<int>(i), -1, {}});
      continue;
    }
    const auto [found, added] = item_of_scope.try_emplace(call, items_.size());
    if (added) items_.push_back({-1, call, {}});
    items_[found->second].nodes.push_back(static_cast<int>(i));
  }
  const Scope& scope = g_.scopes[static_cast<size_t>(scope_)];
  if (scope_ == 0) {
    reads_ = g_.inputs;
    results_ = g_.outputs;
  } else {
    std::set<ValueId> made;
    std::vector<ValueId> read;
    const auto visit = [&](int index) {
      const Node& node = g_.nodes[static_cast<size_t>(index)];
      for (const ValueId input : node.inputs)
        if (!made.contains(input) && std::find(read.begin(), read.end(), input) == read.end())
          read.push_back(input);
      made.insert(node.outputs.begin(), node.outputs.end());
    };
    for (const Item& item : items_) {
      if (item.node >= 0) visit(item.node);
      for (const int node : item.nodes) visit(node);
    }
    for (const ValueId input : scope.inputs)
      if (std::find(read.begin(), read.end(), input) != read.end()) reads_.push_back(input);
    for (const ValueId input : read)
      if (std::find(reads_.begin(), reads_.end(), input) == reads_.end()) reads_.push_back(input);
    results_ = scope.outputs;
  }
  remaining_.assign(g_.values.size(), 0);
  for (const Item& item : items_) {
    std::set<ValueId> made;
    std::set<ValueId> counted;
    const auto visit = [&](int index) {
      const Node& node = g_.nodes[static_cast<size_t>(index)];
      std::set<ValueId> own;
      for (const ValueId input : node.inputs) {
        if (made.contains(input) || !own.insert(input).second) continue;
        if (item.scope == -1 || counted.insert(input).second)
          ++remaining_[static_cast<size_t>(input)];
      }
      made.insert(node.outputs.begin(), node.outputs.end());
    };
    if (item.node >= 0) visit(item.node);
    for (const int node : item.nodes) visit(node);
  }
  for (const ValueId result : results_) ++remaining_[static_cast<size_t>(result)];
  // Names of forward's arguments.
  for (const ValueId read : reads_) {
    const Value& value = g_.values[static_cast<size_t>(read)];
    std::string hint = value.hint.empty() ? "x" : value.hint;
    if (value.origin == Value::Origin::kInput && scope_ == 0 && s_->Chance(0.35)) {
      const auto& names = s_->grammar.kinds.find(value.kind)->second.names;
      if (!names.empty()) hint = s_->Pick(names);
    }
    if (scope_ != 0 && value.origin == Value::Origin::kNode) hint = "x";
    if (const auto at = std::find(scope.inputs.begin(), scope.inputs.end(), read);
        scope_ != 0 && at != scope.inputs.end() &&
        static_cast<size_t>(at - scope.inputs.begin()) < scope.input_names.size())
      hint = scope.input_names[static_cast<size_t>(at - scope.inputs.begin())];
    std::string name = hint;
    for (int n = 2; variables_.contains(name); ++n) name = fmt::format("{}{}", hint, n);
    variables_.insert(name);
    read_names_.push_back(name);
    variable_of_[read] = name;
    texts_[read] = {name, true, true, {read}};
  }
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
  const std::string argument = ArgumentFor(dim);
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
  if (reserved.contains(base)) base += "_";
  std::string name = base;
  const bool digit = !base.empty() && std::isdigit(static_cast<unsigned char>(base.back()));
  for (int n = 2; members_.contains(name); ++n)
    name = fmt::format("{}{}{}", base, digit ? "_" : "", n);
  members_.insert(name);
  return name;
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

std::string ClassWriter::Fill(const Node& node, std::string_view form, bool init,
                              std::vector<ValueId>* reads, const std::string& module) {
  std::string text;
  for (size_t i = 0; i < form.size();) {
    if (form[i] != '{') {
      text += form[i++];
      continue;
    }
    const size_t end = form.find('}', i);
    const std::string name(form.substr(i + 1, end - i - 1));
    const bool enclosed = Enclosed(form, i, end + 1);
    i = end + 1;
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
        const Text_ used = Use(node.inputs[k], CountOf(form, name) > 1);
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
    text += value;
  }
  text = Replaced(Replaced(text, "(, ", "("), " + -", " - ");
  if (text.find("F.") != std::string::npos) s_->uses_f = true;
  if (text.find("math.") != std::string::npos) s_->uses_math = true;
  return text;
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

void ClassWriter::Adopt(const std::map<int, NodeText>& inner, const std::string& prefix) {
  for (const auto& [index, text] : inner) {
    NodeText& own = node_texts_[index] = text;
    if (!own.module.empty()) own.module = prefix + own.module;
    for (auto& [name, path] : own.weights) path = prefix + path;
  }
}

std::string ClassWriter::ModuleCall(const Node& node, const std::string& member,
                                    std::vector<ValueId>* reads) {
  return Fill(node, CallForm(node), false, reads, member);
}

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

ClassWriter::Text_ ClassWriter::Use(ValueId value, bool plain) {
  Text_& text = texts_[value];
  if (!plain || text.variable) return text;
  // Used more than once in one expression: computed once, into a variable.
  const std::vector<ValueId> reads = text.reads;
  for (const ValueId read : reads) --remaining_[static_cast<size_t>(read)];
  const std::string name = NewVariable(g_.values[static_cast<size_t>(value)].hint);
  Emit(fmt::format("{} = {}", name, text.text));
  variable_of_[value] = name;
  text = {name, true, true, {value}};
  return text;
}

std::string ClassWriter::NewVariable(const std::string& hint) {
  std::string base = hint;
  if (base.empty() || s_->style.Is("vars", "reuse") || s_->Chance(0.3))
    base = s_->Word("generic_vars");
  std::string name = base;
  for (int n = 2; variables_.contains(name); ++n) name = fmt::format("{}{}", base, n);
  variables_.insert(name);
  return name;
}

std::string ClassWriter::Description(const Node& node) const {
  std::string text = node.op->title;
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

void ClassWriter::Define(const std::vector<ValueId>& outputs, Text_ text, bool last_item,
                         int uses_inside, const std::string& comment) {
  const ValueId first = outputs[0];
  const std::string& vars = s_->style["vars"];
  if (outputs.size() == 1 && uses_inside == 1) {
    const double chance = vars == "nested" ? 0.9 : vars == "reuse" ? 0.12 : 0.2;
    const bool inline_it =
        last_item ? s_->Chance(vars == "nested" ? 1.0 : 0.55) : s_->Chance(chance);
    if (inline_it && text.text.size() < kLongestInline) {
      texts_[first] = std::move(text);
      return;
    }
  }
  for (const ValueId read : text.reads) --remaining_[static_cast<size_t>(read)];
  std::vector<std::string> names;
  for (const ValueId output : outputs) {
    if (outputs.size() > 1 && remaining_[static_cast<size_t>(output)] == 0) {
      names.emplace_back("_");
      continue;
    }
    std::string name;
    if (outputs.size() == 1 && (vars == "reuse" || (vars == "nested" && s_->Chance(0.5)))) {
      for (const ValueId read : text.reads) {
        if (remaining_[static_cast<size_t>(read)] > 0) continue;
        name = variable_of_[read];
        break;
      }
    }
    if (name.empty()) name = NewVariable(g_.values[static_cast<size_t>(output)].hint);
    variable_of_[output] = name;
    texts_[output] = {name, true, true, {output}};
    names.push_back(name);
  }
  const std::string& comments = s_->style["comments"];
  if (comments == "steps" && !comment.empty() && s_->Chance(0.6))
    Emit("# " + Replaced(s_->Word("step_comments"), "{what}", comment));
  std::string line = fmt::format("{} = {}", Join(names, ", "), text.text);
  if (comments == "shapes" && s_->Chance(0.7) && line.size() < 70)
    line += fmt::format("  # ({})", s_->ShapeText(g_.values[static_cast<size_t>(first)].shape));
  Emit(line);
}

void ClassWriter::WriteNode(size_t index) {
  const Node& node = g_.nodes[static_cast<size_t>(items_[index].node)];
  std::string kind;
  const std::string form = ChooseSpelling(node, &kind);
  Text_ text;
  if (kind == "module") {
    const std::string constructor = Constructor(node, form);
    const std::string member = AttributeName(node.op->names, node.op->name);
    init_.push_back(fmt::format("self.{} = {}", member, constructor));
    text.text = ModuleCall(node, "self." + member, &text.reads);
    node_texts_[items_[index].node] = {CallForm(node), form, member, {}};
  } else {
    text.text = Fill(node, form, false, &text.reads);
    node_texts_[items_[index].node] = {form, "", "", {}};
  }
  text.atomic = IsAtomic(text.text);
  const bool last = index + 1 == items_.size();
  Define(node.outputs, std::move(text), last, remaining_[static_cast<size_t>(node.outputs[0])],
         Description(node));
}

// One past the last item of a run that starts at `first` and can be an nn.Sequential; `first` where
// there is none.
size_t ClassWriter::SequentialEnd(size_t first) {
  size_t end = first;
  for (size_t i = first; i < items_.size(); ++i) {
    if (items_[i].node < 0) break;
    const Node& node = g_.nodes[static_cast<size_t>(items_[i].node)];
    if (!node.op->spell.contains("module") || node.inputs.size() != 1 || node.outputs.size() != 1 ||
        !node.op->call.empty())
      break;
    if (i > first) {
      const Node& previous = g_.nodes[static_cast<size_t>(items_[i - 1].node)];
      if (node.inputs[0] != previous.outputs[0] ||
          remaining_[static_cast<size_t>(previous.outputs[0])] != 1)
        break;
    }
    end = i + 1;
  }
  return end - first >= 2 ? end : first;
}

void ClassWriter::WriteSequential(size_t first, size_t last) {
  std::vector<std::string> lines, forms;
  std::string what;
  for (size_t i = first; i < last; ++i) {
    const Node& node = g_.nodes[static_cast<size_t>(items_[i].node)];
    forms.push_back(s_->Pick(node.op->spell.find("module")->second));
    lines.push_back(Constructor(node, forms.back()));
    if (what.empty()) what = Description(node);
  }
  const std::string member = AttributeName(s_->book.words.at("sequential_names"), "net");
  for (size_t i = first; i < last; ++i)
    node_texts_[items_[i].node] = {CallForm(g_.nodes[static_cast<size_t>(items_[i].node)]),
                                   forms[i - first],
                                   fmt::format("{}[{}]", member, i - first),
                                   {}};
  init_.push_back(fmt::format("self.{} = nn.Sequential(", member));
  for (const std::string& line : lines) init_.push_back("    " + line + ",");
  init_.push_back(")");
  const Node& head = g_.nodes[static_cast<size_t>(items_[first].node)];
  const Node& tail = g_.nodes[static_cast<size_t>(items_[last - 1].node)];
  const Text_ input = Use(head.inputs[0], false);
  Text_ text{fmt::format("self.{}({})", member, input.text), true, false, input.reads};
  Define(tail.outputs, std::move(text), last == items_.size(),
         remaining_[static_cast<size_t>(tail.outputs[0])], what);
}

void ClassWriter::WriteCall(size_t index, size_t* last) {
  const int32_t scope = items_[index].scope;
  const Scope& inner = g_.scopes[static_cast<size_t>(scope)];
  const bool function = inner.pattern == "function";
  std::vector<std::map<int, NodeText>> inner_texts;  // of the uses that are called together
  const auto render = [&](int32_t id, std::vector<std::string>* arguments,
                          std::vector<ValueId>* reads) {
    // The same random choices for every use of a pattern, so that the texts agree.
    const SplitMix64 saved = s_->rng;
    s_->rng = SplitMix64(HashBytes(g_.scopes[static_cast<size_t>(id)].pattern, 77));
    ClassWriter writer(s_, id);
    writer.primary_ = primary_ == "module" && function ? "functional" : primary_;
    writer.Write();
    const std::string body = writer.Text("{NAME}", "");
    s_->rng = saved;
    for (const ClassArgument& argument : writer.arguments())
      arguments->push_back(DimText(argument.dim, true));
    *reads = writer.reads();
    inner_texts.push_back(writer.node_texts());
    auto [found, added] = s_->classes.try_emplace(body, "");
    if (added) {
      std::string base = function ? s_->Word("function_names")
                                  : CamelCase(g_.scopes[static_cast<size_t>(id)].pattern);
      std::string name = base;
      for (int n = 2; s_->names.contains(name); ++n)
        name = fmt::format("{}{}{}", base, function ? "_" : "", n);
      s_->names.insert(name);
      found->second = name;
      s_->definitions.push_back(Replaced(body, "{NAME}", name));
    }
    return found->second;
  };
  std::vector<std::string> arguments;
  std::vector<ValueId> reads;
  const std::string name = render(scope, &arguments, &reads);
  // A chain of uses that are built alike may become a list of layers.
  size_t end = index + 1;
  const bool loops = !function && !s_->style.Is("loops", "each");
  while (loops && end < items_.size() && items_[end].scope >= 0 && reads.size() == 1) {
    const Scope& next = g_.scopes[static_cast<size_t>(items_[end].scope)];
    const ValueId previous = g_.scopes[static_cast<size_t>(items_[end - 1].scope)].outputs[0];
    if (next.pattern != inner.pattern || remaining_[static_cast<size_t>(previous)] != 1 ||
        g_.scopes[static_cast<size_t>(items_[end - 1].scope)].outputs.size() != 1)
      break;
    std::vector<std::string> next_arguments;
    std::vector<ValueId> next_reads;
    const size_t known = s_->definitions.size();
    const std::string next_name = render(items_[end].scope, &next_arguments, &next_reads);
    if (next_name != name || next_arguments != arguments || next_reads.size() != 1 ||
        next_reads[0] != previous || s_->definitions.size() != known)
      break;
    ++end;
  }
  const Scope& tail = g_.scopes[static_cast<size_t>(items_[end - 1].scope)];
  inner_texts.resize(end - index);  // the last one may not be part of the list
  if (function) Adopt(inner_texts[0], "");
  Text_ text;
  std::string call = name;
  if (!function) {
    s_->has_state = true;
    const std::string constructor = fmt::format("{}({})", name, Join(arguments, ", "));
    if (end - index > 1) {
      const std::string member = AttributeName(s_->book.words.at("list_names"), "layers");
      for (size_t k = 0; k < inner_texts.size(); ++k)
        Adopt(inner_texts[k], fmt::format("{}[{}].", member, k));
      const bool list = s_->style.Is("loops", "list");
      init_.push_back(fmt::format("self.{} = nn.{}[{} for _ in range({})]{}", member,
                                  list ? "ModuleList(" : "Sequential(*", constructor, end - index,
                                  ")"));
      if (list) {
        const Text_ input = Use(reads[0], true);
        for (const ValueId read : input.reads) --remaining_[static_cast<size_t>(read)];
        std::string variable = input.text;
        if (remaining_[static_cast<size_t>(reads[0])] > 0) {
          variable = NewVariable("");
          Emit(fmt::format("{} = {}", variable, input.text));
        }
        Emit(fmt::format("for layer in self.{}:", member));
        Emit(fmt::format("    {0} = layer({0})", variable));
        const ValueId output = tail.outputs[0];
        variable_of_[output] = variable;
        texts_[output] = {variable, true, true, {output}};
        *last = end - 1;
        return;
      }
      call = "self." + member;
    } else {
      std::string base = Lower(inner.pattern);
      if (base.size() > 12) {
        const auto words = Split(base, '_');
        base = words.back();
      }
      const std::string member = AttributeName({base}, base);
      Adopt(inner_texts[0], member + ".");
      init_.push_back(fmt::format("self.{} = {}", member, constructor));
      call = "self." + member;
    }
  }
  std::vector<std::string> inputs;
  for (const ValueId read : reads) {
    const Text_ used = Use(read, false);
    inputs.push_back(used.text);
    for (const ValueId id : used.reads)
      if (std::find(text.reads.begin(), text.reads.end(), id) == text.reads.end())
        text.reads.push_back(id);
  }
  text.text = fmt::format("{}({})", call, Join(inputs, ", "));
  *last = end - 1;
  Define(tail.outputs, std::move(text), end == items_.size(),
         remaining_[static_cast<size_t>(tail.outputs[0])], Replaced(inner.pattern, "_", " "));
}

void ClassWriter::Write() {
  Collect();
  const bool function = g_.scopes[static_cast<size_t>(scope_)].pattern == "function";
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].scope >= 0) {
      WriteCall(i, &i);
      continue;
    }
    if (s_->style.Is("sequential", "yes") && !function) {
      if (const size_t end = SequentialEnd(i); end > i) {
        WriteSequential(i, end);
        i = end - 1;
        continue;
      }
    }
    WriteNode(i);
  }
  for (const Item& item : items_) {
    if (item.node < 0) continue;
    for (const ValueId id : g_.nodes[static_cast<size_t>(item.node)].weights)
      if (const auto found = weight_names_.find(id); found != weight_names_.end())
        node_texts_[item.node].weights[g_.values[static_cast<size_t>(id)].hint] = found->second;
  }
  std::vector<std::string> texts;
  for (const ValueId result : results_) texts.push_back(Use(result, false).text);
  if (texts.size() == 1) {
    return_text_ = texts[0];
  } else if (scope_ == 0 && s_->style.Is("returns", "dict")) {
    std::vector<std::string> pairs;
    std::set<std::string> keys;
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string key = g_.values[static_cast<size_t>(results_[i])].hint;
      if (key.empty() || !keys.insert(key).second) keys.insert(key = fmt::format("out{}", i));
      pairs.push_back(fmt::format("{}: {}", s_->Quoted(key), texts[i]));
      result_keys_.push_back(key);
    }
    return_text_ = "{" + Join(pairs, ", ") + "}";
  } else if (scope_ == 0 && s_->style.Is("returns", "list")) {
    return_text_ = "[" + Join(texts, ", ") + "]";
  } else {
    return_text_ = Join(texts, ", ");
  }
  // Axes of the arguments come first, before a variable is written again.
  std::vector<std::string> head;
  for (size_t r = 0; r < reads_.size(); ++r) {
    if (!unpacked_.contains(reads_[r])) continue;
    const auto& names = unpack_[reads_[r]];
    std::string used;
    for (const std::string& line : forward_) used += line + "\n";
    used += return_text_;
    std::vector<std::string> shown;
    size_t count = 0;
    for (const std::string& name : names) {
      bool found = false;
      for (size_t at = 0; (at = used.find(name, at)) != std::string::npos; ++at) {
        const auto word = [&](size_t k) {
          return k < used.size() &&
                 (std::isalnum(static_cast<unsigned char>(used[k])) || used[k] == '_');
        };
        found =
            found || !((at > 0 && (word(at - 1) || used[at - 1] == '.')) || word(at + name.size()));
      }
      shown.push_back(found ? name : "_");
      count += found;
    }
    if (s_->style.Is("dims", "size") || count == 1) {
      const bool method = s_->Chance(0.5);
      for (size_t i = 0; i < shown.size(); ++i)
        if (shown[i] != "_")
          head.push_back(method ? fmt::format("{} = {}.size({})", shown[i], read_names_[r], i)
                                : fmt::format("{} = {}.shape[{}]", shown[i], read_names_[r], i));
    } else {
      head.push_back(fmt::format("{} = {}.shape", Join(s_->Chance(0.5) ? names : shown, ", "),
                                 read_names_[r]));
    }
  }
  forward_.insert(forward_.begin(), head.begin(), head.end());
}

std::string ClassWriter::Text(const std::string& name, const std::string& summary) {
  const bool hints = s_->style.Is("hints", "full");
  const bool function = g_.scopes[static_cast<size_t>(scope_)].pattern == "function";
  const std::string& docstring = s_->style["docstring"];
  std::string text;
  std::vector<std::string> inputs;
  for (const std::string& read : read_names_)
    inputs.push_back(hints ? read + ": torch.Tensor" : read);
  if (function) {
    text =
        fmt::format("def {}({}){}:\n", name, Join(inputs, ", "), hints ? " -> torch.Tensor" : "");
    for (const std::string& line : forward_) text += "    " + line + "\n";
    return text + "    return " + return_text_ + "\n";
  }
  text = fmt::format("class {}(nn.Module):\n", name);
  const std::string quotes =
      s_->style.Is("quotes", "single") && s_->rng.Below(2) ? "'''" : "\"\"\"";
  if (!summary.empty() && docstring != "none")
    text += fmt::format(
        "    {0}{1}{0}\n\n", quotes,
        docstring == "line" || s_->Chance(0.5) ? summary : "\n    " + summary + "\n    ");
  std::vector<std::string> parameters = {"self"};
  const bool defaults =
      scope_ == 0 && s_->style.Is("init_default", "yes") && s_->style.Is("sizes", "literal");
  for (const ClassArgument& argument : arguments_) {
    std::string parameter = argument.name;
    const bool real =
        argument.dim == kNoDim && argument.literal.find_first_of(".e") != std::string::npos;
    if (hints) parameter += real ? ": float" : ": int";
    if (defaults) {
      parameter += hints ? " = " : "=";
      parameter += argument.dim != kNoDim ? std::to_string(g_.dims.At(argument.dim, s_->literal))
                                          : argument.literal;
    }
    parameters.push_back(parameter);
  }
  if (scope_ == 0 && s_->style.Is("unused", "yes") && s_->Chance(0.4))
    parameters.push_back(s_->Word("unused_arguments"));
  std::string init;
  const bool super_named = s_->style.Is("super", "named");
  init += fmt::format("    def __init__({}){}:\n", Join(parameters, ", "),
                      hints && s_->Chance(0.5) ? " -> None" : "");
  if (docstring == "full" && scope_ == 0 && !arguments_.empty() && !summary.empty()) {
    init += fmt::format("        {0}\n        Args:\n", quotes);
    for (const ClassArgument& argument : arguments_)
      init += fmt::format("            {} ({}): {}.\n", argument.name,
                          argument.dim == kNoDim && argument.literal.find('.') != std::string::npos
                              ? "float"
                              : "int",
                          argument.text);
    init += fmt::format("        {0}\n", quotes);
  }
  init += super_named ? fmt::format("        super({}, self).__init__()\n", name)
                      : "        super().__init__()\n";
  for (const std::string& line : init_) init += "        " + line + "\n";
  if (scope_ == 0 && s_->graph.precision != Precision::kFp32 && s_->has_state) {
    const bool half = s_->graph.precision == Precision::kFp16;
    init += s_->Chance(0.5)
                ? fmt::format("        self.to(torch.{})\n", half ? "float16" : "bfloat16")
                : fmt::format("        self.{}()\n", half ? "half" : "bfloat16");
  }
  // People leave an empty constructor away, sometimes.
  const bool keep_init = !init_.empty() || parameters.size() > 1 || s_->Chance(0.7);
  if (keep_init) text += init + "\n";
  std::vector<std::string> forward_inputs = inputs;
  forward_inputs.insert(forward_inputs.begin(), "self");
  const std::string result = results_.size() == 1                             ? "torch.Tensor"
                             : s_->style.Is("returns", "dict") && scope_ == 0 ? "dict"
                             : s_->style.Is("returns", "list") && scope_ == 0 ? "list"
                                                                              : "tuple";
  text += fmt::format("    def forward({}){}:\n", Join(forward_inputs, ", "),
                      hints ? " -> " + result : "");
  if ((docstring == "args" || docstring == "full") && scope_ == 0 && !summary.empty()) {
    text += fmt::format("        {0}{1}\n\n        Args:\n", quotes, s_->Word("forward_docstring"));
    for (size_t i = 0; i < reads_.size(); ++i) {
      const Value& value = g_.values[static_cast<size_t>(reads_[i])];
      text +=
          fmt::format("            {} (torch.Tensor): {} of shape ({}).\n", read_names_[i],
                      s_->grammar.kinds.find(value.kind)->second.text, s_->ShapeText(value.shape));
    }
    text += "\n        Returns:\n";
    if (results_.size() == 1)
      text += fmt::format("            torch.Tensor: output of shape ({}).\n",
                          s_->ShapeText(g_.values[static_cast<size_t>(results_[0])].shape));
    else
      text += fmt::format("            {} tensors.\n", results_.size());
    text += fmt::format("        {0}\n", quotes);
  }
  for (const std::string& line : forward_) text += "        " + line + "\n";
  text += "        return " + return_text_ + "\n";
  return text;
}

}  // namespace davinci::synth
