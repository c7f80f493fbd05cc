#include "davinci/teacher/semantics/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/evaluator.h"
#include "davinci/teacher/semantics/form_filler.h"
#include "davinci/teacher/semantics/plain_call.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using Keyword = PythonExpression::Keyword;
using EKind = PythonExpression::Kind;
using synth::ValueId;

// What PyTorch's tensors say of themselves, which is no tensor.
constexpr std::array<std::string_view, 5> kFacts = {"shape", "dtype", "device", "ndim", "is_cuda"};
constexpr std::array<std::string_view, 5> kFactCalls = {"size", "dim", "numel", "item", "stride"};
constexpr std::array<std::string_view, 4> kNoTensors = {"torch.finfo", "torch.iinfo", "torch.Size",
                                                        "torch.device"};

template <typename List>
bool IsIn(const List& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Expression NameOf(std::string text) { return {EKind::kName, std::move(text), {}, {}}; }

// "self.blocks[0].gru": a place below self.
bool IsPlace(const Expression& e) {
  if (e.kind == EKind::kName) return e.text == "self";
  return (e.kind == EKind::kAttribute || e.kind == EKind::kSubscript) && IsPlace(e.parts[0]);
}

class StepWriter {
 public:
  StepWriter(const synth::Graph& graph, const synth::RenderedTask& task, const Tables& tables,
             synth::Binding binding)
      : graph_(graph),
        parts_(task.parts),
        tables_(tables),
        binding_(task.fixed_sizes ? synth::Binding::kCpu : binding),
        program_(graph) {}

  Result<std::string> Run() {
    for (const std::string& name : parts_.inputs) taken_.insert(name);
    if (parts_.imported)
      for (const std::string& name : parts_.imported->arguments) taken_.insert(name);
    std::string head =
        fmt::format("forward({})\n", parts_.imported ? parts_.imported->signature
                                                     : synth::Join(parts_.inputs, ", "));
    if (parts_.imported) head += parts_.imported->first_lines;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      Know(graph_.inputs[i], parts_.inputs[i]);
      head += fmt::format("{}: {}\n", parts_.inputs[i], TypeOf(ValueOf(graph_.inputs[i])));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) DAVINCI_RETURN_IF_ERROR(NodeLines(i));
    const std::string result = ResultText();
    std::string text = head + SizesLine();
    std::string body;
    for (const Line& line : lines_) body += line.Text();
    // A layer's vectors go without saying.
    for (const auto& [name, type, axes] : weights_)
      if (axes > 1 || synth::HasWord(body, name)) text += fmt::format("{}: {}\n", name, type);
    return text + body + "return " + result + "\n";
  }

 private:
  struct Line {
    std::string name;  // "": no result
    std::string type;  // "[A, B]", or "": not known
    std::string expression;
    std::string Text() const {
      if (name.empty()) return expression + "\n";
      return fmt::format("{}{}{} = {}\n", name, type.empty() ? "" : ": ", type, expression);
    }
  };

  const synth::Value& ValueOf(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  static std::string KeyOf(ValueId id) { return fmt::format("v{}", id); }

  // ---- sizes -----------------------------------------------------------------------------------

  std::string NewLetter(DimId dim) {
    for (;; ++letter_) {
      std::string name(1, static_cast<char>('A' + letter_ % 26));
      if (letter_ >= 26) name += std::to_string(letter_ / 26);
      if (taken_.contains(name)) continue;
      ++letter_;
      letters_.emplace_back(dim, name);
      return name;
    }
  }

  // Letters, products and sums of them. What takes a division to say has a letter of its own.
  std::string DimText(DimId dim) {
    bool unknown = false;
    const std::string text = program_.graph.dims.Python(dim, [&](DimId part) -> std::string {
      if (program_.graph.dims.IsConstant(part)) return "";
      for (const auto& [known, letter] : letters_)
        if (program_.graph.dims.Equal(known, part)) return letter;
      if (program_.graph.dims[part].kind != synth::Dim::Kind::kSymbol) return "";
      unknown = true;
      return "?";
    });
    return unknown || text.find_first_of("/-") != std::string::npos ? NewLetter(dim) : text;
  }

  std::string TypeText(const std::vector<DimId>& shape, DType dtype) {
    std::vector<std::string> sizes;
    for (const DimId dim : shape) sizes.push_back(DimText(dim));
    const char* const kind = dtype == DType::kBool ? "bool" : dtype == DType::kIndex ? "int" : "";
    return fmt::format("{}[{}]", kind, synth::Join(sizes, ", "));
  }
  std::string TypeOf(const synth::Value& value) { return TypeText(value.shape, value.dtype); }

  std::string SizesLine() const {
    std::vector<std::string> sizes;
    for (const auto& [dim, letter] : letters_)
      sizes.push_back(fmt::format("{} = {}", letter, program_.graph.dims.At(dim, binding_)));
    return sizes.empty() ? "" : synth::Join(sizes, ", ") + "\n";
  }

  // ---- values ----------------------------------------------------------------------------------

  // A tensor of the graph has this Python text from now on.
  void Know(ValueId id, const std::string& text) {
    TensorValue leaf;
    leaf.text = text;
    leaf.shape = ValueOf(id).shape;
    leaf.dtype = ValueOf(id).dtype;
    names_[KeyOf(id)] = Meaning::Tensor(program_.Add(std::move(leaf)));
    texts_[KeyOf(id)] = text;
  }

  void KnowWeight(ValueId id, const std::string& text) {
    if (texts_.contains(KeyOf(id))) return;
    Know(id, text);
    keys_[text] = KeyOf(id);
    weights_.push_back({text, TypeOf(ValueOf(id)), ValueOf(id).shape.size()});
  }

  // Weights of the node, by the names of its spelling.
  std::map<std::string, ValueId> WeightsOf(const synth::Node& node, const synth::NodeText& text) {
    std::map<std::string, ValueId> weights;
    for (const ValueId id : node.weights) {
      const auto own =
          std::ranges::find(parts_.weights, id, &std::pair<ValueId, std::string>::first);
      const std::string& hint = ValueOf(id).hint;
      const auto path = text.weights.find(hint);
      const std::string below =
          path != text.weights.end() ? path->second : text.module + "." + hint;
      KnowWeight(id, own != parts_.weights.end() ? own->second : "self." + below);
      weights[hint] = id;
    }
    return weights;
  }

  bool IsTensor(const Expression& e) const {
    return e.kind == EKind::kName && texts_.contains(e.text);
  }
  std::optional<size_t> Rank(const Expression& e) const {
    if (e.kind != EKind::kName) return std::nullopt;
    const auto weight = keys_.find(e.text);
    const auto found = names_.find(weight == keys_.end() ? e.text : weight->second);
    if (found == names_.end() || !found->second.IsTensor()) return std::nullopt;
    return program_[found->second.id].shape.size();
  }

  // Names as they are written.
  Expression Written(Expression e) {
    if (e.kind == EKind::kName) {
      if (const auto found = texts_.find(e.text); found != texts_.end())
        return NameOf(found->second);
      if (e.text.starts_with("dimid_")) {
        const std::string size = DimText(static_cast<DimId>(std::stol(e.text.substr(6))));
        auto parsed = Expression::Parse(size);
        return parsed.ok() ? *parsed : NameOf(size);
      }
    }
    for (Expression& part : e.parts) part = Written(std::move(part));
    for (Keyword& keyword : e.keywords) keyword.value = Written(std::move(keyword.value));
    return e;
  }

  std::string NewName() {
    std::string name;
    do {
      name = fmt::format("t{}", ++count_);
    } while (taken_.contains(name));
    return name;
  }

  // A line for `written`; its result. `meant` says the same to the evaluator, for the shape.
  Expression Emit(const Expression& written, const Expression& meant) {
    const std::string expression = Written(written).Text();
    if (const auto same = made_.find(expression); same != made_.end()) return NameOf(same->second);
    const std::string key = fmt::format("s{}", lines_.size());
    std::string type;
    if (node_evaluator_) {
      auto meaning = node_evaluator_->Evaluate(meant, names_);
      if (meaning.ok() && meaning->IsTensor()) {
        // Later ranks are those of the result, whatever computes it.
        type = TypeText(program_[meaning->id].shape, program_[meaning->id].dtype);
        names_[key] = *meaning;
      }
    }
    const std::string name = NewName();
    texts_[key] = name;
    made_[expression] = key;
    lines_.push_back({name, type, expression});
    return NameOf(key);
  }

  // ---- expressions -----------------------------------------------------------------------------

  void Children(Expression* e) {
    for (Expression& part : e->parts) part = Value(std::move(part));
    for (Keyword& keyword : e->keywords) keyword.value = Value(std::move(keyword.value));
  }

  // "x.shape", "x.size(0)": of a tensor, and none.
  static bool IsFact(const Expression& e) {
    if (e.kind == EKind::kAttribute) return IsIn(kFacts, e.text);
    return e.kind == EKind::kCall && e.parts[0].kind == EKind::kAttribute &&
           IsIn(kFactCalls, e.parts[0].text);
  }
  bool HasTensor(const Expression& e) const {
    if (IsFact(e)) return false;
    return IsTensor(e) ||
           std::ranges::any_of(e.parts, [&](const auto& p) { return HasTensor(p); }) ||
           std::ranges::any_of(e.keywords, [&](const auto& k) { return HasTensor(k.value); });
  }

  // What computes tensors gets lines; gives the tensor's name, or the expression of something else.
  Expression Value(Expression e) {
    switch (e.kind) {
      case EKind::kNumber:
        if (e.text.find_first_of(".e") != std::string::npos)
          e.text = synth::FloatText(std::stod(e.text));
        return e;
      case EKind::kCall:
        return Call(std::move(e));
      case EKind::kAttribute:
        return Attribute(std::move(e));
      case EKind::kSubscript: {
        if (IsPlace(e)) return e;
        Children(&e);
        if (IsTensor(e.parts[0])) return Emit(e, e);
        if (IsFact(e.parts[0])) return SizeOr(std::move(e));
        if (e.parts[0].kind == EKind::kSequence && e.parts.size() == 2 &&
            e.parts[1].kind == EKind::kNumber) {
          const size_t at = std::stoul(e.parts[1].text);
          if (at < e.parts[0].parts.size()) return e.parts[0].parts[at];
        }
        return e;
      }
      case EKind::kUnary:
      case EKind::kBinary:
        Children(&e);
        if (!HasTensor(e)) return Folded(std::move(e));
        // A number stands on the right, as tracing has it.
        if ((e.text == "+" || e.text == "*") && e.parts.size() == 2 && !HasTensor(e.parts[0]) &&
            HasTensor(e.parts[1]))
          std::swap(e.parts[0], e.parts[1]);
        return Emit(e, e);
      default:
        Children(&e);
        return e;
    }
  }

  // The size that the expression is, "x.shape[0]"; else the expression.
  Expression SizeOr(Expression e) {
    const auto meaning = node_evaluator_->Evaluate(e, names_);
    const bool size =
        meaning.ok() && meaning->kind == Meaning::Kind::kNumber && meaning->dim != synth::kNoDim;
    return size ? NameOf(fmt::format("dimid_{}", meaning->dim)) : e;
  }
  // A number that is known, or a size, as it is.
  Expression Folded(Expression e) {
    if (e.kind == EKind::kUnary && e.parts[0].kind == EKind::kNumber) return e;
    const auto meaning = node_evaluator_->Evaluate(e, names_);
    if (!meaning.ok() || !meaning->number || meaning->boolean) return SizeOr(std::move(e));
    const double value = *meaning->number;
    const bool whole = e.Text().find_first_of(".e/") == std::string::npos;
    const std::string text =
        whole ? fmt::format("{}", std::abs(value)) : synth::FloatText(std::abs(value));
    const Expression number{EKind::kNumber, text, {}, {}};
    return value < 0 ? Expression{EKind::kUnary, "-", {number}, {}} : number;
  }

  Expression Attribute(Expression e) {
    if (IsPlace(e) || e.DottedName().starts_with("torch.") || e.DottedName() == "math.pi") return e;
    Children(&e);
    if (!IsTensor(e.parts[0])) return e;
    if (e.text == "values" || e.text == "indices")
      return Value({EKind::kSubscript,
                    "",
                    {e.parts[0], {EKind::kNumber, e.text == "values" ? "0" : "1", {}, {}}},
                    {}});
    if (e.text == "T") return Plain("t", {e.parts[0]}, {});
    if (e.text == "mT") {
      const Expression one{EKind::kNumber, "1", {}, {}}, two{EKind::kNumber, "2", {}, {}};
      return Plain("transpose",
                   {e.parts[0], {EKind::kUnary, "-", {two}, {}}, {EKind::kUnary, "-", {one}, {}}},
                   {});
    }
    return e;
  }

  Expression Call(Expression call) {
    const Expression function = call.parts[0];
    const std::string dotted = function.DottedName();
    const bool method = function.kind == EKind::kAttribute && !IsPlace(function) &&
                        !IsFreeFunction(function, dotted);
    std::vector<Expression> arguments;
    if (method) arguments.push_back(Value(function.parts[0]));
    for (size_t i = 1; i < call.parts.size(); ++i)
      arguments.push_back(Value(std::move(call.parts[i])));
    for (Keyword& keyword : call.keywords) keyword.value = Value(std::move(keyword.value));
    if (dotted == "module_" && constructor_) return Layer(*constructor_, std::move(arguments));
    if (function.kind == EKind::kCall)  // nn.ReLU()(x)
      return Layer(function, std::move(arguments));
    const std::string name = method ? function.text : ShortFunctionName(dotted);
    const bool place = IsPlace(function);
    const bool tensor =
        place || (!IsIn(kFactCalls, name) && !IsIn(kNoTensors, dotted) &&
                  (dotted.starts_with("torch.") ||
                   std::ranges::any_of(arguments, [&](const auto& a) { return HasTensor(a); }) ||
                   std::ranges::any_of(call.keywords,
                                       [&](const Keyword& k) { return HasTensor(k.value); })));
    if (!tensor || place || (method && !IsTensor(arguments[0]))) {
      Expression same{EKind::kCall, "", {function}, std::move(call.keywords)};
      if (method) same.parts[0].parts[0] = arguments[0];
      same.parts.insert(same.parts.end(), arguments.begin() + (method ? 1 : 0), arguments.end());
      return tensor ? Emit(same, same) : SizeOr(std::move(same));
    }
    return Plain(name, std::move(arguments), std::move(call.keywords));
  }

  Expression Plain(const std::string& name, std::vector<Expression> arguments,
                   std::vector<Keyword> keywords) {
    Expression meant{EKind::kCall, "", {NameOf(name)}, keywords};
    meant.parts.insert(meant.parts.end(), arguments.begin(), arguments.end());
    return Emit(Spelled(name, std::move(arguments), std::move(keywords)), meant);
  }

  Expression Spelled(const std::string& name, std::vector<Expression> arguments,
                     std::vector<Keyword> keywords) {
    for (Expression& argument : arguments) argument = WithWeights(std::move(argument));
    for (Keyword& keyword : keywords) keyword.value = WithWeights(std::move(keyword.value));
    return PlainCall(tables_, name, std::move(arguments), std::move(keywords),
                     [&](const Expression& e) { return Rank(e); });
  }

  // Weights by their Python names, which say whose they are.
  Expression WithWeights(Expression e) const {
    if (const auto text = texts_.find(e.text);
        e.kind == EKind::kName && text != texts_.end() && text->second.starts_with("self."))
      return NameOf(text->second);
    return e;
  }

  // The call of a layer that `constructor` makes.
  Expression Layer(const Expression& constructor, std::vector<Expression> inputs) {
    const std::string made_by = constructor.parts[0].DottedName();
    Expression meant{EKind::kCall, "", {NameOf("module_")}, {}};
    meant.parts.insert(meant.parts.end(), inputs.begin(), inputs.end());
    if (const auto found = tables_.functions.find(made_by);
        found != tables_.functions.end() && inputs.size() <= 3)
      if (auto body = Body(found->second[0], constructor, inputs)) return Value(std::move(*body));
    const std::string function = FunctionOfLayer(made_by);
    if (!function.empty()) {
      Expression sized = constructor;
      for (Expression& part : sized.parts) part = Value(std::move(part));
      for (Keyword& keyword : sized.keywords) keyword.value = Value(std::move(keyword.value));
      return Emit(Spelled(function, std::move(inputs),
                          ArgumentsOfLayer(tables_, sized, path_, graph_.mode != "eval")),
                  meant);
    }
    Expression call{EKind::kCall, "", {NameOf(path_)}, {}};
    call.parts.insert(call.parts.end(), inputs.begin(), inputs.end());
    return Emit(call, meant);
  }

  // A layer of functions.toml as the call that it is.
  static std::optional<Expression> Body(const Function& function, const Expression& constructor,
                                        const std::vector<Expression>& inputs) {
    std::map<std::string, Expression> bound(function.defaults.begin(), function.defaults.end());
    if (constructor.parts.size() - 1 > function.parameters.size()) return std::nullopt;
    for (size_t i = 1; i < constructor.parts.size(); ++i)
      bound[function.parameters[i - 1]] = constructor.parts[i];
    for (const Keyword& keyword : constructor.keywords) bound[keyword.name] = keyword.value;
    constexpr std::array<const char*, 3> kInputs = {"x", "y", "z"};
    for (size_t i = 0; i < inputs.size(); ++i) bound[kInputs[i]] = inputs[i];
    return Substituted(function.body, bound);
  }
  static Expression Substituted(Expression e, const std::map<std::string, Expression>& bound) {
    if (const auto found = bound.find(e.text); e.kind == EKind::kName && found != bound.end())
      return found->second;
    for (Expression& part : e.parts) part = Substituted(std::move(part), bound);
    for (Keyword& keyword : e.keywords)
      keyword.value = Substituted(std::move(keyword.value), bound);
    return e;
  }

  // ---- nodes -----------------------------------------------------------------------------------

  static Expression Renamed(Expression e, const std::map<std::string, std::string>& names) {
    if (const auto found = names.find(e.text); e.kind == EKind::kName && found != names.end())
      e.text = found->second;
    for (Expression& part : e.parts) part = Renamed(std::move(part), names);
    for (Keyword& keyword : e.keywords) keyword.value = Renamed(std::move(keyword.value), names);
    return e;
  }

  // The text with inputs in the places of {0}, {1}, …; {{ and }} are braces.
  std::string Filled(const std::string& form, const std::vector<ValueId>& values) const {
    std::string filled;
    for (size_t i = 0; i < form.size(); ++i) {
      if ((form[i] == '{' || form[i] == '}') && i + 1 < form.size() && form[i + 1] == form[i]) {
        filled += form[i++];
        continue;
      }
      const size_t end = form[i] == '{' ? form.find('}', i) : std::string::npos;
      if (end == std::string::npos || !std::isdigit(static_cast<unsigned char>(form[i + 1]))) {
        filled += form[i];
        continue;
      }
      const size_t at = std::stoul(form.substr(i + 1, end - i - 1));
      const auto text = at < values.size() ? texts_.find(KeyOf(values[at])) : texts_.end();
      filled += text == texts_.end() ? "?" : text->second;
      i = end;
    }
    return filled;
  }

  Status NodeLines(size_t index) {
    const synth::Node& node = graph_.nodes[index];
    const synth::NodeText& text = parts_.nodes[index];
    if (text.form.empty()) return InvalidArgument("a node without text");
    for (const ValueId input : node.inputs) {
      const auto own =
          std::ranges::find(parts_.weights, input, &std::pair<ValueId, std::string>::first);
      if (own != parts_.weights.end()) KnowWeight(input, own->second);
    }
    const auto weights = WeightsOf(node, text);
    const FormFiller meant{program_, node, text, true}, written{program_, node, text, false};
    std::map<std::string, std::string> names;
    for (size_t i = 0; i < node.inputs.size(); ++i) names[meant.Input(i)] = KeyOf(node.inputs[i]);
    for (const auto& [hint, id] : weights) names["w_" + hint] = KeyOf(id);
    if (node.effect) {
      // That a batch norm counts its batches goes without saying.
      const std::string line = Filled(written.Fill(text.form), node.inputs);
      if (line.find(".num_batches_tracked.add_(") == std::string::npos)
        lines_.push_back({"", "", line});
      return Status::Ok();
    }
    constructor_.reset();
    path_ = "self." + text.module;
    node_evaluator_.emplace(&program_, tables_, options_);
    if (!text.module.empty()) {
      if (auto made = Expression::Parse(meant.Fill(text.constructor));
          made.ok() && made->kind == EKind::kCall) {
        constructor_ = *made;
        node_evaluator_->SetModule(*made, path_);
      }
    }
    auto parsed = Expression::Parse(meant.Fill(text.form));
    Expression result;
    if (parsed.ok()) {
      result = Value(Renamed(std::move(*parsed), names));
    } else {
      const Expression raw = NameOf(Filled(written.Fill(text.form), node.inputs));
      result = Emit(raw, raw);
    }
    Give(node, text, std::move(result));
    return Status::Ok();
  }

  // The node's results are those of `result`.
  void Give(const synth::Node& node, const synth::NodeText& text, Expression result) {
    const auto item = [&](size_t i) {
      if (i < text.items.size()) return text.items[i];
      return node.outputs.size() == 1 ? std::string() : fmt::format("[{}]", i);
    };
    if (result.kind == EKind::kSequence && result.parts.size() == node.outputs.size()) {
      for (size_t i = 0; i < node.outputs.size(); ++i) Is(node.outputs[i], result.parts[i]);
      return;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs.size() > 1 && uses_[static_cast<size_t>(node.outputs[i])] == 0) continue;
      if (item(i).empty()) {
        Is(node.outputs[i], result);
        continue;
      }
      const Expression part = NameOf(Written(result).Text() + item(i));
      Is(node.outputs[i], Emit(part, part));
    }
  }

  // The graph's value is what the expression names; its type is known.
  void Is(ValueId id, const Expression& e) {
    const Expression named = IsTensor(e) ? e : Emit(e, e);
    const std::string text = texts_.at(named.text);
    Know(id, text);
    for (Line& line : lines_)
      if (line.name == text) line.type = TypeOf(ValueOf(id));
    names_[named.text] = names_[KeyOf(id)];
  }

  std::string ResultText() const {
    std::vector<std::string> texts;
    for (const ValueId output : graph_.outputs) texts.push_back(texts_.at(KeyOf(output)));
    if (parts_.imported) return Filled(parts_.imported->result, graph_.outputs);
    if (texts.size() == 1) return texts[0];
    if (parts_.result == "dict") {
      std::vector<std::string> items;
      for (size_t i = 0; i < texts.size() && i < parts_.result_keys.size(); ++i)
        items.push_back(fmt::format("\"{}\": {}", parts_.result_keys[i], texts[i]));
      return "{" + synth::Join(items, ", ") + "}";
    }
    const bool list = parts_.result == "list";
    return fmt::format("{}{}{}", list ? "[" : "(", synth::Join(texts, ", "), list ? "]" : ")");
  }

  const synth::Graph& graph_;
  const synth::ClassParts& parts_;
  const Tables& tables_;
  const synth::Binding binding_;
  const std::vector<int> uses_ = graph_.UsesOfValues();
  Program program_;  // for the evaluator, whose shapes the lines have
  const LowerOptions options_;
  std::optional<Evaluator> node_evaluator_;
  std::optional<Expression> constructor_;  // of the node's module, at path_
  std::string path_;
  Names names_;                               // shapes, by key
  std::map<std::string, std::string> texts_;  // what is written, by key: tensors alone
  std::map<std::string, std::string> made_;   // key of each expression that has a line
  std::set<std::string, std::less<>> taken_;  // names of arguments
  std::vector<std::pair<DimId, std::string>> letters_;
  int letter_ = 0, count_ = 0;
  struct Weight {
    std::string name, type;
    size_t axes;
  };
  std::vector<Weight> weights_;
  std::map<std::string, std::string> keys_;  // of weights, by their Python names
  std::vector<Line> lines_;
};

}  // namespace

Result<std::string> StepsOf(const synth::Graph& graph, const synth::RenderedTask& task,
                            const Tables& tables, synth::Binding binding) {
  return StepWriter(graph, task, tables, binding).Run();
}

}  // namespace davinci::teacher
