#include "davinci/teacher/cards/composite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render.h"
#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/cards/index_form.h"
#include "davinci/teacher/cards/names.h"
#include "davinci/teacher/cards/veil.h"

namespace davinci::teacher {
namespace {

using synth::AttrSpec;
using synth::Expression;
using synth::Graph;
using synth::Node;
using synth::Operator;
using synth::OutputSpec;

constexpr std::string_view kFamily = "composite";
constexpr int kDefinitionTries = 12, kTaskTries = 6;
constexpr size_t kLeastOperators = 2, kMostOperators = 5;
constexpr size_t kMostCharacters = 150;  // of a definition: a card has room for it and its kernel
constexpr size_t kMostNamedNumbers = 2;  // arguments beside tensors and axes
constexpr double kLargestResult = 1e4;   // further operators shall see numbers of usual size
constexpr double kNamedNumber = 0.5;     // share of a definition's numbers that are arguments
constexpr double kNamedAxis = 0.6;       // share of reductions whose axis is an argument
constexpr double kNamedKeepdim = 0.35;   // share of results along an axis with keepdim
constexpr double kOfIndices = 0.5;       // share of operators that move elements
constexpr double kCompound = 0.5;        // share of names that are made of known words
constexpr double kMoved = 0.5;           // share of what moves elements that says so
constexpr double kBefore = 0.35;         // share of tasks with an operator before the call
constexpr double kAlone = 0.35;          // share with none behind it

bool Chance(SplitMix64* rng, double share) { return rng->Uniform() < share; }

template <typename T>
const T& AnyOf(const std::vector<T>& from, SplitMix64* rng) {
  return from[rng->Below(from.size())];
}

// The kinds of inputs of a pattern in synth/patterns/composite.toml.
enum class Inputs { kAnyShape, kPairs, kAsTheyStand };

Inputs InputsOf(const synth::Pattern& pattern) {
  std::string names;
  for (const synth::ShapeToken& token : pattern.inputs[0].shape) names += token.name + " ";
  return names == "R D "     ? Inputs::kAnyShape
         : names == "M Q D " ? Inputs::kPairs
                             : Inputs::kAsTheyStand;
}

// May a definition have the operator: its text alone says what it computes?
bool MayBePart(const synth::Grammar& grammar, const Operator& op) {
  if (grammar.held_out_families.contains(op.family)) return false;
  if (!op.params.empty() || !op.mode.empty() || op.outputs.size() != 1) return false;
  return std::all_of(op.attrs.begin(), op.attrs.end(), [](const AttrSpec& attr) {
    return attr.kind == AttrSpec::Kind::kFloats || attr.name == "dim" || attr.name == "keepdim" ||
           attr.name == "unbiased";
  });
}

// Definitions close to those of the held-out families: norms of differences, and products that are
// divided by norms.
bool ResemblesHeldOut(const Graph& graph) {
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return std::find(names.begin(), names.end(), node.op->name) != names.end();
    });
  };
  const bool norm = has({"norm_l2", "norm_l1", "norm_inf", "std"});
  if (has({"sub"}) && graph.inputs.size() > 1)
    return norm || has({"square", "abs", "hypot", "sqrt_abs", "log_abs"});
  return has({"mul"}) && norm && graph.inputs.size() > 1;
}

class Composer {
 public:
  Composer(const Graph& graph, Inputs inputs, SplitMix64* rng)
      : graph_(graph), inputs_(inputs), rng_(*rng) {}

  // False: no operator comes of the graph.
  bool Run() {
    if (!SetOutput() || !SetAxis()) return false;
    definition_ = Text(graph_.outputs[0]);
    return !failed_ && definition_.size() <= kMostCharacters;
  }

  // `op` as the graph computes it; null: its inputs cannot be said.
  std::shared_ptr<Operator> Invented(const synth::Pattern& pattern,
                                     std::shared_ptr<Operator> op) const {
    for (size_t i = 0; i < pattern.inputs.size(); ++i) {
      const synth::InputSpec& spec = pattern.inputs[i];
      auto input = synth::ParseInput(fmt::format("{}: {} : {}", spec.name, ShapeOf(i), spec.kind));
      if (!input.ok()) return nullptr;
      op->inputs.push_back(std::move(*input));
    }
    op->attrs = attrs_;
    std::stable_partition(op->attrs.begin(), op->attrs.end(),
                          [](const AttrSpec& attr) { return !attr.default_number; });
    OutputSpec output;
    output.rule = reduces_ && axis_named_ ? OutputSpec::Rule::kReduce : OutputSpec::Rule::kShape;
    output.shape = *synth::ParseShape(OutputShape());
    op->outputs = {output};
    SetRanges(op.get());
    op->half = std::all_of(graph_.nodes.begin(), graph_.nodes.end(),
                           [](const Node& node) { return node.op->half; });
    return op;
  }

  const std::string& definition() const { return definition_; }

 private:
  const synth::Value& ValueAt(synth::ValueId id) const {
    return graph_.values[static_cast<size_t>(id)];
  }

  std::string ShapeOf(size_t input) const {
    if (inputs_ == Inputs::kAnyShape) return along_axis_ && !axis_named_ ? "* D" : "*";
    if (inputs_ == Inputs::kPairs) return input == 0 ? "M D" : "Q D";
    return input == 0 ? "M K" : "K P";
  }

  std::string OutputShape() const {
    if (inputs_ == Inputs::kPairs) return "M Q";
    if (inputs_ == Inputs::kAsTheyStand) return "M P";
    return reduces_ ? "*" : ShapeOf(0);
  }

  bool SetOutput() {
    const auto& shape = ValueAt(graph_.outputs[0]).shape;
    const size_t rank = ValueAt(graph_.inputs[0]).shape.size();
    for (const synth::DimId dim : shape)
      if (graph_.dims.IsConstant(dim)) return false;
    reduces_ = shape.size() + 1 == rank;
    if (inputs_ == Inputs::kPairs) return reduces_;
    return reduces_ || shape.size() == rank;
  }

  // All operators along an axis go along the last one.
  bool SetAxis() {
    for (const Node& node : graph_.nodes) {
      const auto dim = node.attrs.find("dim");
      if (dim == node.attrs.end()) continue;
      const auto* axes = std::get_if<std::vector<int>>(&dim->second);
      const size_t rank = ValueAt(node.inputs[0]).shape.size();
      if (axes == nullptr || axes->size() != 1 || axes->front() + 1 != static_cast<int>(rank))
        return false;
      along_axis_ = true;
    }
    if (inputs_ != Inputs::kAnyShape || !along_axis_) return true;
    axis_named_ = Chance(&rng_, kNamedAxis);
    if (!axis_named_) return true;
    AttrSpec dim;
    dim.name = dim.py = "dim";
    dim.kind = AttrSpec::Kind::kAxis;
    dim.words = {"any", "last", "channel", "first"};
    attrs_.push_back(dim);
    if (!reduces_ || !Chance(&rng_, kNamedKeepdim)) return true;
    AttrSpec keepdim;
    keepdim.name = keepdim.py = "keepdim";
    keepdim.kind = AttrSpec::Kind::kBools;
    keepdim.numbers = {0, 1, 1};
    keepdim.default_number = 0;
    attrs_.push_back(keepdim);
    keepdim_named_ = true;
    return true;
  }

  // Ranges for which the definition was drawn.
  void SetRanges(Operator* op) const {
    const auto add = [](std::vector<Expression>* to, const std::string& text) {
      if (auto parsed = Expression::Parse(text); parsed.ok()) to->push_back(std::move(*parsed));
    };
    constexpr double kRoom = 1.3;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const synth::Value& value = ValueAt(graph_.inputs[i]);
      const std::string suffix = i == 0 ? "" : std::to_string(i);
      add(&op->needs, fmt::format("hi{} <= {:.6f}", suffix, value.hi * kRoom));
      if (value.lo >= 0) add(&op->needs, fmt::format("lo{} >= {:.6f}", suffix, value.lo / kRoom));
      if (value.lo < 0) add(&op->needs, fmt::format("m{} <= {:.6f}", suffix, -value.lo * kRoom));
      if (value.lo < 0 && i == 0) add(&op->needs, "lo < 0");
    }
    add(&op->needs, "saturated == 0");
    if (along_axis_) add(&op->require, "axis_size > 1");
    const synth::Value& result = ValueAt(graph_.outputs[0]);
    op->lo = *Expression::Parse(fmt::format("0 - {:.6f}", -result.lo));
    op->hi = *Expression::Parse(fmt::format("0 + {:.6f}", result.hi));
    if (result.lo > 0) op->lo = *Expression::Parse(fmt::format("0 + {:.6f}", result.lo));
    if (result.hi < 0) op->hi = *Expression::Parse(fmt::format("0 - {:.6f}", -result.hi));
    op->saturates = result.saturated;
  }

  // A spelling that repeats no long text of an input.
  std::string FormOf(const Node& node, const std::vector<std::string>& inputs) {
    std::vector<std::string> forms;
    for (const auto& [kind, spelled] : node.op->spell) {
      if (kind == "module" || kind == "einsum") continue;
      for (const std::string& form : spelled) {
        bool fits = true;
        for (const char* other : {"{opt:", "{out}", "{star}", "{all}", "{m}", "float("})
          fits = fits && form.find(other) == std::string::npos;
        for (size_t i = 0; i < inputs.size(); ++i)
          fits = fits && (ValueAt(node.inputs[i]).origin == synth::Value::Origin::kInput ||
                          synth::CountOf(form, "{" + node.op->inputs[i].name + "}") < 2);
        if (fits) forms.push_back(form);
      }
    }
    if (forms.empty()) return "";
    return AnyOf(forms, &rng_);
  }

  std::string Text(synth::ValueId id) {
    const synth::Value& value = ValueAt(id);
    if (value.origin == synth::Value::Origin::kInput) {
      const bool first = id == graph_.inputs[0];
      return "{" + value.hint + "}" +
             (inputs_ != Inputs::kPairs ? ""
              : first                   ? "[:, None]"
                                        : "[None]");
    }
    const Node& node = graph_.nodes[static_cast<size_t>(value.node)];
    std::vector<std::string> inputs;
    for (const synth::ValueId input : node.inputs) inputs.push_back(Text(input));
    const std::string form = FormOf(node, inputs);
    if (form.empty()) failed_ = true;
    std::string text = synth::WithPlaceholders(form, [&](const std::string& name, bool enclosed) {
      return Placeholder(node, name, inputs, enclosed);
    });
    return synth::Replaced(std::move(text), "(, ", "(");
  }

  std::string Placeholder(const Node& node, const std::string& name,
                          const std::vector<std::string>& inputs, bool enclosed) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node.op->inputs[i].name == name)
        return enclosed || synth::IsAtomic(inputs[i]) ? inputs[i] : "(" + inputs[i] + ")";
    if (name.starts_with("kw:")) {
      std::string all;
      for (const std::string_view attr : synth::Split(std::string_view(name).substr(3), ','))
        if (const AttrSpec* spec = node.op->Attr(attr)) all += Keyword(node, *spec);
      return all;
    }
    if (name == "dim") return axis_named_ ? "{dim}" : "-1";
    const AttrSpec* spec = node.op->Attr(name);
    if (spec == nullptr) {
      failed_ = true;
      return "";
    }
    const std::string number = Number(node, *spec);
    return number.starts_with('-') && !enclosed ? "(" + number + ")" : number;
  }

  std::string Keyword(const Node& node, const AttrSpec& spec) {
    const auto& value = node.attrs.find(spec.name)->second;
    if (const auto* flag = std::get_if<bool>(&value)) {
      // Results along an axis are the last ones of their kind.
      if (spec.name == "keepdim" && !*flag && keepdim_named_) return ", keepdim={keepdim}";
      if (spec.default_number && (*spec.default_number != 0) == *flag) return "";
      return fmt::format(", {}={}", spec.py, *flag ? "True" : "False");
    }
    return fmt::format(", {}={}", spec.py, Number(node, spec));
  }

  // A number of the definition, or the argument that gives it.
  std::string Number(const Node& node, const AttrSpec& spec) {
    const auto* real = std::get_if<double>(&node.attrs.find(spec.name)->second);
    if (real == nullptr) {
      failed_ = true;
      return "";
    }
    const auto taken = [&](const AttrSpec& attr) { return attr.name == spec.py; };
    const bool free = std::none_of(attrs_.begin(), attrs_.end(), taken);
    const auto numbers = std::count_if(attrs_.begin(), attrs_.end(), [](const AttrSpec& attr) {
      return attr.kind == AttrSpec::Kind::kFloats;
    });
    if (!free || numbers >= static_cast<std::ptrdiff_t>(kMostNamedNumbers) || *real == 0 ||
        !Chance(&rng_, kNamedNumber))
      return synth::FloatText(Chance(&rng_, 0.5) ? OtherNumber(*real, &rng_) : *real);
    AttrSpec attr;
    attr.name = attr.py = spec.py;
    attr.kind = AttrSpec::Kind::kFloats;
    const double value = OtherNumber(*real, &rng_);
    attr.numbers = {value, value, *real, OtherNumber(*real, &rng_)};
    if (Chance(&rng_, 0.8)) attr.default_number = value;
    attrs_.push_back(attr);
    return "{" + attr.name + "}";
  }

  const Graph& graph_;
  const Inputs inputs_;
  SplitMix64& rng_;
  std::string definition_;
  std::vector<AttrSpec> attrs_;
  bool along_axis_ = false;  // some operator goes along an axis
  bool axis_named_ = false, keepdim_named_ = false;
  bool reduces_ = false;
  bool failed_ = false;
};

// The arguments as a signature has them.
std::string Arguments(const Operator& op) {
  std::string text;
  for (const AttrSpec& attr : op.attrs) {
    text += ", " + attr.py;
    if (!attr.default_number) continue;
    const double value = *attr.default_number;
    text += attr.kind == AttrSpec::Kind::kBools  ? (value != 0 ? "=True" : "=False")
            : attr.kind == AttrSpec::Kind::kInts ? fmt::format("={}", static_cast<int64_t>(value))
                                                 : "=" + synth::FloatText(value);
  }
  return text;
}

// The names by which tasks call the operator, and how. PyTorch has a function of most modules.
void Spell(Operator* op, InventedOperator* invented, SplitMix64* rng) {
  std::vector<std::string> inputs, names;
  for (const synth::InputSpec& input : op->inputs) {
    inputs.push_back("{" + input.name + "}");
    names.push_back(input.name);
  }
  std::string keywords;
  bool axis = false;
  for (const AttrSpec& attr : op->attrs) {
    axis = axis || attr.name == "dim";
    if (attr.name != "dim") keywords += (keywords.empty() ? "" : ",") + attr.name;
  }
  const std::string other = keywords.empty() ? "" : "{kw:" + keywords + "}";
  std::vector<std::string> given = {(axis ? ", dim={dim}" : "") + other};
  if (axis) given.push_back(", {dim}" + other);
  const std::string arguments = Arguments(*op), klass = synth::CamelCase(op->name);
  const auto add = [&](const std::string& kind, const std::string& call, bool module) {
    for (const std::string& rest : given) {
      op->spell[kind].push_back(module ? synth::Replaced(call + "(" + rest + ")", "(, ", "(")
                                       : call + "(" + synth::Join(inputs, ", ") + rest + ")");
    }
    const std::string called = "(" + synth::Join(names, ", ");
    invented->calls.push_back(call);
    invented->signatures.push_back(
        module ? synth::Replaced(call + "(" + arguments + ")", "(, ", "(") + called + ")"
               : call + called + arguments + ")");
  };
  const double kind = rng->Uniform();
  if (kind < 0.85) add("functional", "F." + op->name, false);
  if (kind >= 0.85) add("torch", "torch." + op->name, false);
  if (kind < 0.65) add("module", "nn." + klass, true);
}

std::string NameOf(const synth::Grammar& grammar, const synth::Corpus& corpus,
                   std::string_view text, SplitMix64* rng, double moved = 0) {
  std::string name;
  do {
    name = Chance(rng, moved)       ? InventedMove(corpus, text, rng)
           : Chance(rng, kCompound) ? InventedCompound(corpus, text, rng)
                                    : InventedName(corpus, text, rng);
  } while (grammar.operators.contains(name));
  return name;
}

// An operator of these names, whose inputs and results are still to be said.
std::shared_ptr<Operator> Named(const std::string& name) {
  auto op = std::make_shared<Operator>();
  op->name = name;
  op->family = kFamily;
  op->title = synth::Replaced(name, "_", " ");
  op->names = {name, name.substr(name.rfind('_') + 1) + "_op", "op"};
  op->vars = {name.substr(name.rfind('_') + 1)};
  return op;
}

std::optional<Composite> OfIndices(const synth::Grammar& grammar, const synth::Corpus& corpus,
                                   std::string_view text, SplitMix64* rng) {
  const IndexForm form = DrawIndexForm(rng);
  const auto op = Named(NameOf(grammar, corpus, text, rng, kMoved));
  auto input = synth::ParseInput(fmt::format("x: {} : normal", form.input));
  auto shape = synth::ParseShape(form.output);
  auto lo = Expression::Parse(form.lo), hi = Expression::Parse(form.hi);
  if (!input.ok() || !shape.ok() || !lo.ok() || !hi.ok()) return std::nullopt;
  op->inputs = {std::move(*input)};
  OutputSpec output;
  output.rule = OutputSpec::Rule::kShape;
  output.shape = std::move(*shape);
  op->outputs = {output};
  op->lo = std::move(*lo);
  op->hi = std::move(*hi);
  op->attrs = form.attrs;
  // Those without a default come first, as in signatures.
  std::ranges::stable_partition(
      op->attrs, [](const AttrSpec& attr) { return !attr.default_number.has_value(); });
  // Halves are rounded between its operators, and a threshold behind the call would show that.
  op->half = false;
  Composite made;
  Spell(op.get(), &made.invented, rng);
  made.invented.op = op;
  made.invented.definition = form.definition;
  made.invented.means = form.means;
  return made;
}

std::optional<Composite> Compose(const synth::Grammar& grammar, const synth::Pattern& pattern,
                                 const synth::Corpus& corpus, std::string_view text,
                                 SplitMix64* rng) {
  synth::BuildOptions build;
  build.seed = rng->Next();
  build.reach = 0.3;
  build.allowed = [&](const Operator& op) { return MayBePart(grammar, op); };
  const auto outcome = synth::BuildGraph(grammar, pattern, build);
  if (!outcome.graph) return std::nullopt;
  const Graph& graph = *outcome.graph;
  if (graph.inputs.size() != pattern.inputs.size() || graph.nodes.size() < kLeastOperators ||
      graph.nodes.size() > kMostOperators || ResemblesHeldOut(graph))
    return std::nullopt;
  const synth::Value& result = graph.values[static_cast<size_t>(graph.outputs[0])];
  if (result.dtype != synth::DType::kFloat ||
      std::max(std::abs(result.lo), std::abs(result.hi)) > kLargestResult)
    return std::nullopt;
  Composer composer(graph, InputsOf(pattern), rng);
  if (!composer.Run()) return std::nullopt;
  const auto op = composer.Invented(pattern, Named(NameOf(grammar, corpus, text, rng)));
  if (op == nullptr) return std::nullopt;
  Composite made;
  Spell(op.get(), &made.invented, rng);
  made.invented.op = op;
  made.invented.definition = composer.definition();
  made.nodes = graph.nodes;
  return made;
}

bool IsSameShape(const synth::ShapeSpec& a, const synth::ShapeSpec& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.kind != synth::ShapeToken::Kind::kExpression && x.name == y.name;
  });
}

// The body of a task: the call, and operators around it.
std::string Body(const Operator& op, SplitMix64* rng) {
  const bool before = Chance(rng, kBefore);
  const bool like_input = op.outputs[0].rule == OutputSpec::Rule::kShape && !before &&
                          op.inputs[0].shape[0].kind == synth::ShapeToken::Kind::kStar &&
                          IsSameShape(op.outputs[0].shape, op.inputs[0].shape);
  std::string body = before ? "a = @pointwise(x)\n" : "a = x\n";
  body += "b = " + op.name + "(a)\n";
  if (Chance(rng, kAlone)) return body + "return b";
  if (like_input && Chance(rng, 0.3)) return body + "return @binary(b, x)";
  return body + (Chance(rng, 0.7) ? "return @pointwise(b)" : "return chain(b, 2..3, pointwise)");
}

}  // namespace

std::optional<Composite> DrawComposite(const synth::Grammar& grammar, const synth::Corpus& corpus,
                                       std::string_view text, SplitMix64* rng) {
  std::vector<const synth::Pattern*> patterns;
  for (const auto& [name, pattern] : grammar.patterns)
    if (pattern.family == kFamily) patterns.push_back(&pattern);
  if (patterns.empty()) return std::nullopt;
  if (Chance(rng, kOfIndices)) return OfIndices(grammar, corpus, text, rng);
  for (int tries = 0; tries < kDefinitionTries; ++tries)
    if (auto made = Compose(grammar, *AnyOf(patterns, rng), corpus, text, rng)) return made;
  return std::nullopt;
}

std::optional<CompositeTask> TaskOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                    const Composite& composite, const synth::SampledTask& like,
                                    SplitMix64* rng) {
  const Operator& op = *composite.invented.op;
  auto pattern = std::make_shared<synth::Pattern>();
  pattern->name = pattern->family = kFamily;
  pattern->inputs = {op.inputs[0]};
  if (op.inputs[0].shape[0].kind == synth::ShapeToken::Kind::kStar) pattern->inputs[0].any = "any";
  synth::BuildOptions build;
  build.precision = op.half ? like.graph.precision : synth::Precision::kFp32;
  build.further = &op;
  build.allowed = [&](const Operator& one) {
    return !grammar.held_out_families.contains(one.family);
  };
  for (int tries = 0; tries < kTaskTries; ++tries) {
    auto body = synth::ParseBody(Body(op, rng));
    if (!body.ok()) return std::nullopt;
    pattern->body = std::move(*body);
    build.seed = rng->Next();
    auto outcome = synth::BuildGraph(grammar, *pattern, build);
    if (!outcome.graph) {
      build.reach *= 0.75;
      build.reach_cpu *= 0.75;
      continue;
    }
    // Splits go by what is computed.
    Graph whole(0);
    whole.pattern = pattern.get();
    whole.nodes = composite.nodes;
    for (const Node& node : outcome.graph->nodes)
      if (node.op != &op) whole.nodes.push_back(node);
    if (synth::SplitOf(grammar, whole, *like.style) != like.split) continue;
    CompositeTask made;
    made.task.id = like.id;
    made.task.split = like.split;
    made.task.style = like.style;
    made.task.text = synth::RenderTask(*outcome.graph, grammar, styles, *like.style, rng->Next());
    made.task.text.sidecar =
        fmt::format("split = \"{}\"\n{}", synth::SplitName(like.split), made.task.text.sidecar);
    made.task.graph = std::move(*outcome.graph);
    composite.invented.Define(&made.task);
    made.pattern = pattern;
    return made;
  }
  return std::nullopt;
}

}  // namespace davinci::teacher
