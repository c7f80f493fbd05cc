#include "davinci/teacher/semantics/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/form_filler.h"
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/plain_call.h"
#include "davinci/teacher/semantics/step_lines.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using Keyword = PythonExpression::Keyword;
using EKind = PythonExpression::Kind;
using synth::ValueId;

constexpr std::array<std::string_view, 4> kNoTensors = {"torch.finfo", "torch.iinfo", "torch.Size",
                                                        "torch.device"};

// "self.blocks[0].gru": a place below self.
bool IsPlace(const Expression& e) {
  if (e.kind == EKind::kName) return e.text == "self";
  return (e.kind == EKind::kAttribute || e.kind == EKind::kSubscript) && IsPlace(e.parts[0]);
}

Expression Subtracted(const char* number) {
  return {EKind::kUnary, "-", {{EKind::kNumber, number, {}, {}}}, {}};
}

// Names in the expression are replaced by what they stand for, but for names of functions.
Expression Substituted(Expression e, const std::map<std::string, Expression>& bound) {
  if (const auto found = bound.find(e.text); e.kind == EKind::kName && found != bound.end())
    return found->second;
  for (size_t i = 0; i < e.parts.size(); ++i)
    if (i > 0 || e.kind != EKind::kCall || e.parts[0].kind != EKind::kName)
      e.parts[i] = Substituted(std::move(e.parts[i]), bound);
  for (Keyword& keyword : e.keywords) keyword.value = Substituted(std::move(keyword.value), bound);
  return e;
}

// The expression of one node: what computes tensors gets lines.
class NodeSteps {
 public:
  NodeSteps(const Tables& tables, const LowerOptions& options, bool training, StepLines* lines)
      : tables_(tables),
        training_(training),
        lines_(*lines),
        evaluator_(&lines->program(), tables, options) {}

  // "module_(x)" calls the layer at `path` that this makes.
  void SetModule(Expression constructor, std::string path) {
    evaluator_.SetModule(constructor, path);
    constructor_ = std::move(constructor);
    path_ = std::move(path);
  }

  // The tensor's name, or the expression of something else.
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
        if (lines_.IsTensor(e.parts[0])) return Emit(e, e);
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
        if (!lines_.HasTensor(e)) return Folded(std::move(e));
        // A number stands on the right, as tracing has it.
        if ((e.text == "+" || e.text == "*") && e.parts.size() == 2 &&
            !lines_.HasTensor(e.parts[0]) && lines_.HasTensor(e.parts[1])) {
          Expression swapped = e;
          std::swap(swapped.parts[0], swapped.parts[1]);
          return Emit(swapped, e);
        }
        return Emit(e, e);
      default:
        Children(&e);
        return e;
    }
  }
  // A line for `written`, which says what `meant` says to the evaluator.
  Expression Emit(const Expression& written, const Expression& meant) {
    return lines_.Add(written, meant, &evaluator_);
  }

 private:
  void Children(Expression* e) {
    for (Expression& part : e->parts) part = Value(std::move(part));
    for (Keyword& keyword : e->keywords) keyword.value = Value(std::move(keyword.value));
  }

  // The size that the expression is, "x.shape[0]"; else the expression.
  Expression SizeOr(Expression e) {
    const auto meaning = evaluator_.Evaluate(e, lines_.names());
    const bool size =
        meaning.ok() && meaning->kind == Meaning::Kind::kNumber && meaning->dim != synth::kNoDim;
    return size ? NameOf(fmt::format("dimid_{}", meaning->dim)) : e;
  }
  // A number that is known, or a size, as it is.
  Expression Folded(Expression e) {
    if (e.kind == EKind::kUnary && e.parts[0].kind == EKind::kNumber) return e;
    const auto meaning = evaluator_.Evaluate(e, lines_.names());
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
    if (!lines_.IsTensor(e.parts[0])) return e;
    if (e.text == "values" || e.text == "indices")
      return Value({EKind::kSubscript,
                    "",
                    {e.parts[0], {EKind::kNumber, e.text == "values" ? "0" : "1", {}, {}}},
                    {}});
    if (e.text == "T") return Plain("t", {e.parts[0]}, {});
    if (e.text == "mT")
      return Plain("transpose", {e.parts[0], Subtracted("2"), Subtracted("1")}, {});
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
        place ||
        (!IsFactCall(name) && std::ranges::find(kNoTensors, dotted) == kNoTensors.end() &&
         (dotted.starts_with("torch.") ||
          std::ranges::any_of(arguments, [&](const auto& a) { return lines_.HasTensor(a); }) ||
          std::ranges::any_of(call.keywords,
                              [&](const Keyword& k) { return lines_.HasTensor(k.value); })));
    if (!tensor || place || (method && !lines_.IsTensor(arguments[0]))) {
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
    if (auto other = OtherLayer(name, arguments, keywords)) return std::move(*other);
    if (name == "layer_norm" || name == "rms_norm") NameNormalizedSizes(&arguments);
    if (name == "rms_norm") NameRmsEps(&arguments, &keywords);
    return Emit(Spelled(name, std::move(arguments), std::move(keywords)), meant);
  }

  // Layers call functions of other names: nn.ReLU6 is a hardtanh, nn.RReLU at rest a leaky ReLU.
  std::optional<Expression> OtherLayer(const std::string& name,
                                       const std::vector<Expression>& arguments,
                                       const std::vector<Keyword>& keywords) {
    const auto given = [&](size_t i, const char* keyword) -> const Expression* {
      if (i < arguments.size()) return &arguments[i];
      const auto found = std::ranges::find(keywords, keyword, &Keyword::name);
      return found == keywords.end() ? nullptr : &found->value;
    };
    const auto number = [&](size_t i, const char* keyword) -> std::optional<double> {
      const Expression* value = given(i, keyword);
      const auto meaning = value ? evaluator_.Evaluate(*value, lines_.names()) : Unknown("");
      return meaning.ok() ? meaning->number : std::nullopt;
    };
    if (name == "hardtanh" && number(1, "min_val") == 0.0 && number(2, "max_val") == 6.0)
      return Plain("relu6", {arguments[0]}, {});
    if (name != "rrelu") return std::nullopt;
    const auto lower = number(1, "lower"), upper = number(2, "upper");
    const Expression* training = given(3, "training");
    if (!lower || !upper || (training && training->text != "False")) return std::nullopt;
    const std::string slope = synth::FloatText((*lower + *upper) / 2);
    return Plain("leaky_relu", {arguments[0], {EKind::kNumber, slope, {}, {}}}, {});
  }

  // The sizes that a norm is told are its input's last ones.
  void NameNormalizedSizes(std::vector<Expression>* arguments) {
    if (arguments->size() < 2 || (*arguments)[1].kind != EKind::kSequence) return;
    const auto input = evaluator_.Evaluate((*arguments)[0], lines_.names());
    std::vector<Expression>& sizes = (*arguments)[1].parts;
    if (!input.ok() || !input->IsTensor()) return;
    const auto& shape = lines_.program()[input->id].shape;
    for (size_t i = 0; i < sizes.size() && sizes.size() <= shape.size(); ++i)
      if (sizes[i].kind == EKind::kNumber)
        sizes[i] = SizeOr(NameOf(fmt::format("dimid_{}", shape[shape.size() - sizes.size() + i])));
  }

  // A kernel needs the number that PyTorch has in the place of no eps.
  void NameRmsEps(std::vector<Expression>* arguments, std::vector<Keyword>* keywords) const {
    const auto given = std::ranges::find(*keywords, "eps", &Keyword::name);
    const Expression* eps = arguments->size() > 3      ? &(*arguments)[3]
                            : given != keywords->end() ? &given->value
                                                       : nullptr;
    const auto number = DefaultRmsEps(lines_.program().graph.precision);
    if (!number || (eps && eps->text != "None")) return;
    if (arguments->size() > 3) arguments->resize(3);
    if (given != keywords->end()) keywords->erase(given);
    keywords->push_back({"eps", {EKind::kNumber, synth::FloatText(*number), {}, {}}});
  }

  Expression Spelled(const std::string& name, std::vector<Expression> arguments,
                     std::vector<Keyword> keywords) {
    for (Expression& argument : arguments) argument = lines_.WithWeights(std::move(argument));
    for (Keyword& keyword : keywords) keyword.value = lines_.WithWeights(std::move(keyword.value));
    return PlainCall(tables_, name, std::move(arguments), std::move(keywords),
                     [&](const Expression& e) { return lines_.Rank(e); });
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
      return Emit(
          Spelled(function, std::move(inputs), ArgumentsOfLayer(tables_, sized, path_, training_)),
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

  const Tables& tables_;
  const bool training_;
  StepLines& lines_;
  Evaluator evaluator_;
  std::optional<Expression> constructor_;  // of the node's module, at path_
  std::string path_;
};

std::set<std::string> Arguments(const synth::ClassParts& parts) {
  std::set<std::string> names(parts.inputs.begin(), parts.inputs.end());
  if (parts.imported)
    names.insert(parts.imported->arguments.begin(), parts.imported->arguments.end());
  return names;
}

class StepWriter {
 public:
  StepWriter(const synth::Graph& graph, const synth::ClassParts& parts, const Tables& tables,
             const NamedOperators& named)
      : graph_(graph),
        parts_(parts),
        tables_(tables),
        named_(named),
        lines_(graph, Arguments(parts)) {}

  Result<Steps> Run(synth::Binding binding) {
    Steps steps;
    std::string head =
        fmt::format("forward({})\n", parts_.imported ? parts_.imported->signature
                                                     : synth::Join(parts_.inputs, ", "));
    if (parts_.imported) head += parts_.imported->first_lines;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      lines_.Know(graph_.inputs[i], parts_.inputs[i]);
      head += fmt::format("{}: {}\n", parts_.inputs[i], lines_.TypeOf(graph_.inputs[i]));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      DAVINCI_RETURN_IF_ERROR(NodeLines(i));
      steps.of_nodes.push_back(lines_.NewSteps());
    }
    std::vector<std::string> lines = lines_.Text(binding);
    lines.push_back("return " + ResultText());
    steps.members = ChooseMemberNames(lines);
    steps.text = head + (lines[0].empty() ? "" : lines[0] + "\n");
    lines.erase(lines.begin());
    for (const MemberName& member : steps.members)
      steps.text += fmt::format("{} = {}\n", member.name, member.path);
    for (std::string& line : lines)
      steps.text += WithMemberNames(std::move(line), steps.members) + "\n";
    lines_.Tell(&steps);
    return steps;
  }
  // With the sizes that functions gave.
  const synth::Graph& graph() { return lines_.program().graph; }

 private:
  // Weights of the node, by the names of its spelling.
  std::map<std::string, ValueId> WeightsOf(const synth::Node& node, const synth::NodeText& text) {
    const auto own = [&](ValueId id) -> std::string {
      const auto found =
          std::ranges::find(parts_.weights, id, &std::pair<ValueId, std::string>::first);
      return found == parts_.weights.end() ? "" : found->second;
    };
    for (const ValueId input : node.inputs)
      if (const std::string name = own(input); !name.empty()) lines_.KnowWeight(input, name);
    std::map<std::string, ValueId> weights;
    for (const ValueId id : node.weights) {
      const std::string& hint = graph_.values[static_cast<size_t>(id)].hint;
      const auto path = text.weights.find(hint);
      const std::string name = own(id);
      lines_.KnowWeight(id, !name.empty()                ? name
                            : path != text.weights.end() ? "self." + path->second
                                                         : "self." + text.module + "." + hint);
      weights[hint] = id;
    }
    return weights;
  }

  std::vector<std::string> Texts(const std::vector<ValueId>& values) const {
    std::vector<std::string> texts;
    for (const ValueId value : values) texts.push_back(lines_.TextOf(value));
    return texts;
  }

  Status NodeLines(size_t index) {
    const synth::Node& node = graph_.nodes[index];
    const synth::NodeText& text = parts_.nodes[index];
    if (text.form.empty()) return InvalidArgument("a node without text");
    const auto weights = WeightsOf(node, text);
    const FormFiller meant{lines_.program(), node, text, true},
        written{lines_.program(), node, text, false};
    if (node.effect) {
      // That a batch norm counts its batches goes without saying.
      const std::string line = Filled(written.Fill(text.form), Texts(node.inputs));
      if (line.find(".num_batches_tracked.add_(") == std::string::npos) lines_.AddEffect(line);
      return Status::Ok();
    }
    std::map<std::string, Expression> names;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      names[meant.Input(i)] = NameOf(KeyOf(node.inputs[i]));
    for (const auto& [hint, id] : weights) names["w_" + hint] = NameOf(KeyOf(id));
    NodeSteps steps(tables_, options_, graph_.mode != "eval", &lines_);
    if (const auto named = named_.find(node.op); node.op != nullptr && named != named_.end()) {
      const Expression call = NamedCall(named->second, node, text);
      Give(node, text, steps.Emit(call, call), &steps);
      return Status::Ok();
    }
    if (!text.module.empty())
      if (auto made = Expression::Parse(meant.Fill(text.constructor));
          made.ok() && made->kind == EKind::kCall)
        steps.SetModule(*made, "self." + text.module);
    auto parsed = Expression::Parse(meant.Fill(text.form));
    const Expression whole = NameOf(Filled(written.Fill(text.form), Texts(node.inputs)));
    Give(node, text,
         parsed.ok() ? steps.Value(Substituted(std::move(*parsed), names))
                     : steps.Emit(whole, whole),
         &steps);
    return Status::Ok();
  }

  // "soft_ramp(t1, self.fc, dim=1)": numbers that are the operator's defaults are left out.
  Expression NamedCall(const std::string& name, const synth::Node& node,
                       const synth::NodeText& text) const {
    Expression call{EKind::kCall, "", {NameOf(name)}, {}};
    for (const ValueId input : node.inputs) call.parts.push_back(NameOf(KeyOf(input)));
    if (!text.module.empty() && !node.weights.empty()) {
      call.parts.push_back(NameOf("self." + text.module));
    } else {
      for (const ValueId weight : node.weights) call.parts.push_back(NameOf(KeyOf(weight)));
    }
    for (const synth::AttrSpec& attr : node.op->attrs) {
      const auto value = node.attrs.find(attr.name);
      if (value == node.attrs.end()) continue;
      if (const auto given = AttributeText(attr, value->second); !given.empty())
        call.keywords.push_back({attr.py, NameOf(given)});
    }
    return call;
  }

  // The result is empty where the value is the default.
  static std::string AttributeText(const synth::AttrSpec& attr, const synth::AttrValue& value) {
    const auto usual = [&](double number) { return attr.default_number == number; };
    if (const auto* real = std::get_if<double>(&value))
      return usual(*real) ? "" : synth::FloatText(*real);
    if (const auto* whole = std::get_if<int64_t>(&value))
      return usual(static_cast<double>(*whole)) ? "" : std::to_string(*whole);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "";
    if (const auto* word = std::get_if<std::string>(&value))
      return attr.default_word == *word ? "" : fmt::format("\"{}\"", *word);
    if (const auto* axes = std::get_if<std::vector<int>>(&value))
      return fmt::format(fmt::runtime(axes->size() == 1 ? "{}" : "({})"), fmt::join(*axes, ", "));
    if (const auto* size = std::get_if<synth::SizeAttr>(&value))
      return fmt::format("dimid_{}", size->dim);
    return "";
  }

  // The node's results are those of `result`.
  void Give(const synth::Node& node, const synth::NodeText& text, const Expression& result,
            NodeSteps* steps) {
    const auto item = [&](size_t i) {
      if (i < text.items.size()) return text.items[i];
      return node.outputs.size() == 1 ? std::string() : fmt::format("[{}]", i);
    };
    const bool each = result.kind == EKind::kSequence && result.parts.size() == node.outputs.size();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs.size() > 1 && uses_[static_cast<size_t>(node.outputs[i])] == 0) continue;
      Expression e = each ? result.parts[i] : result;
      // The subscript tells the evaluator which of several results this is.
      if (!each && item(i) == fmt::format("[{}]", i))
        e = {EKind::kSubscript, "", {result, {EKind::kNumber, std::to_string(i), {}, {}}}, {}};
      else if (!each && !item(i).empty())
        e = NameOf(lines_.Written(result).Text() + item(i));
      lines_.Name(node.outputs[i], lines_.IsTensor(e) ? e : steps->Emit(e, e));
    }
  }

  std::string ResultText() const {
    const std::vector<std::string> texts = Texts(graph_.outputs);
    if (parts_.imported) return Filled(parts_.imported->result, texts);
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
  const NamedOperators named_;
  const LowerOptions options_;
  const std::vector<int> uses_ = graph_.UsesOfValues();
  StepLines lines_;
};

}  // namespace

Result<synth::Graph> WithInferredSizes(const synth::Graph& graph, const synth::RenderedTask& task,
                                       const Tables& tables) {
  StepWriter writer(graph, task.parts, tables, {});
  DAVINCI_RETURN_IF_ERROR(writer.Run(synth::Binding::kCpu).status());
  return writer.graph();
}

Result<Steps> StepsOf(const synth::Graph& graph, const synth::RenderedTask& task,
                      const Tables& tables, synth::Binding binding, const NamedOperators& named) {
  return StepWriter(graph, task.parts, tables, named)
      .Run(task.fixed_sizes ? synth::Binding::kCpu : binding);
}

}  // namespace davinci::teacher
