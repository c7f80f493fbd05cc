#include "davinci/synth/render_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

constexpr size_t kLongestInline = 72;

// Returns the name of the class or function with this body, which is defined once.
std::string DefinedName(RenderState* state, const std::string& body, const std::string& pattern,
                        bool function) {
  auto [found, added] = state->classes.try_emplace(body, "");
  if (!added) return found->second;
  const std::string base = function ? state->Word("function_names") : CamelCase(pattern);
  std::string name = base;
  for (int n = 2; state->names.contains(name); ++n)
    name = fmt::format("{}{}{}", base, function ? "_" : "", n);
  state->names.insert(name);
  found->second = name;
  state->definitions.push_back(Replaced(body, "{NAME}", name));
  return name;
}

}  // namespace

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

std::string ClassWriter::Description(const Node& node) const {
  std::string text = node.op->title;
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
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

void ClassWriter::Adopt(const std::map<int, NodeText>& inner, const std::string& prefix) {
  for (const auto& [index, text] : inner) {
    NodeText& own = node_texts_[index] = text;
    if (!own.module.empty()) own.module = prefix + own.module;
    for (auto& [name, path] : own.weights) path = prefix + path;
  }
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
    return DefinedName(s_, body, g_.scopes[static_cast<size_t>(id)].pattern, function);
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

}  // namespace davinci::synth
