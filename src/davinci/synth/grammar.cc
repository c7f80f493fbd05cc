#include "davinci/synth/grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"
#include "davinci/config/toml_tree.h"
#include "davinci/synth/table_reader.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

using config::Json;

constexpr std::array<std::string_view, kNumBindings> kBindingNames = {"cuda", "cpu", "variant"};
constexpr std::array<std::string_view, 7> kSpellings = {"module",   "functional", "torch", "method",
                                                        "operator", "hand",       "einsum"};

Result<std::vector<Expression>> Expressions(const std::vector<std::string>& texts) {
  std::vector<Expression> parsed;
  for (const std::string& text : texts) {
    DAVINCI_ASSIGN_OR_RETURN(auto expression, Expression::Parse(text));
    parsed.push_back(std::move(expression));
  }
  return parsed;
}

Result<AttrSpec> ReadAttr(const std::string& name, TableReader row) {
  AttrSpec attr;
  attr.name = name;
  attr.py = row.Text("py", name);
  attr.multiple = row.Integer("multiple", 1);
  using Kind = AttrSpec::Kind;
  if (row.Has("ints")) {
    attr.kind = Kind::kInts;
    attr.numbers = row.Numbers("ints");
  } else if (row.Has("floats")) {
    attr.kind = Kind::kFloats;
    attr.numbers = row.Numbers("floats");
  } else if (row.Has("bools")) {
    attr.kind = Kind::kBools;
    attr.numbers = row.Numbers("bools");
  } else if (row.Has("words")) {
    attr.kind = Kind::kWords;
    attr.words = row.Texts("words");
  } else if (row.Has("size")) {
    attr.kind = Kind::kSize;
    attr.role = row.Text("size", "");
  } else if (row.Has("axis")) {
    attr.kind = Kind::kAxis;
    attr.words = row.Texts("axis");
  } else if (row.Has("axes")) {
    attr.kind = Kind::kAxes;
    attr.words = row.Texts("axes");
  } else if (row.Has("of")) {
    attr.kind = Kind::kDerived;
    DAVINCI_ASSIGN_OR_RETURN(attr.derived, Expressions(row.Texts("of")));
  } else {
    return row.Error("attribute needs one of ints, floats, bools, words, size, axis, axes, of");
  }
  if (row.Has("default")) {
    if (row.IsText("default"))
      attr.default_word = row.Text("default", "");
    else
      attr.default_number = row.Number("default", 0);
  }
  DAVINCI_RETURN_IF_ERROR(row.Finish());
  return attr;
}

Result<ParamSpec> ReadParam(std::string text, bool buffer) {
  ParamSpec param;
  param.buffer = buffer;
  if (const size_t question = text.find('?'); question != std::string::npos) {
    param.condition = Trim(std::string_view(text).substr(question + 1));
    text.resize(question);
  }
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos)
    return InvalidArgument(fmt::format("'{}': want name: shape: init", text));
  param.name = Trim(std::string_view(text).substr(0, first));
  DAVINCI_ASSIGN_OR_RETURN(
      param.shape, ParseShape(std::string_view(text).substr(first + 1, second - first - 1)));
  param.init = Trim(std::string_view(text).substr(second + 1));
  return param;
}

Result<OutputSpec> ReadOutput(std::string text) {
  OutputSpec output;
  if (const size_t colon = text.find(':'); colon != std::string::npos) {
    const std::string_view dtype = Trim(std::string_view(text).substr(colon + 1));
    if (dtype == "index")
      output.dtype = DType::kIndex;
    else if (dtype == "bool")
      output.dtype = DType::kBool;
    else
      return InvalidArgument(fmt::format("'{}': want index or bool behind the colon", text));
    text.resize(colon);
  }
  using Rule = OutputSpec::Rule;
  const std::string_view rule = Trim(text);
  const std::map<std::string_view, Rule> rules = {
      {"reduce", Rule::kReduce}, {"broadcast", Rule::kBroadcast}, {"concat", Rule::kConcat},
      {"swap", Rule::kSwap},     {"insert", Rule::kInsert},       {"move", Rule::kMove}};
  if (const auto found = rules.find(rule); found != rules.end()) {
    output.rule = found->second;
    return output;
  }
  DAVINCI_ASSIGN_OR_RETURN(output.shape, ParseShape(rule));
  return output;
}

Result<Operator> ReadOperator(TableReader row, std::string_view family) {
  Operator op;
  op.name = row.Text("name", "");
  op.family = row.Text("family", family);
  op.title = row.Text("title", Replaced(op.name, "_", " "));
  op.means = row.Text("means", "");
  op.groups = row.Texts("groups");
  for (const std::string& text : row.Texts("in")) {
    DAVINCI_ASSIGN_OR_RETURN(auto input, ParseInput(text));
    op.inputs.push_back(std::move(input));
  }
  if (row.Has("attrs")) {
    for (auto& [name, attr] : row.Tables("attrs")) {
      DAVINCI_ASSIGN_OR_RETURN(auto parsed, ReadAttr(name, attr));
      op.attrs.push_back(std::move(parsed));
    }
  }
  // Derived attributes use the others.
  std::stable_sort(op.attrs.begin(), op.attrs.end(), [](const AttrSpec& a, const AttrSpec& b) {
    return (a.kind == AttrSpec::Kind::kDerived) < (b.kind == AttrSpec::Kind::kDerived);
  });
  for (const bool buffer : {false, true}) {
    for (const std::string& text : row.Texts(buffer ? "buffers" : "params")) {
      DAVINCI_ASSIGN_OR_RETURN(auto param, ReadParam(text, buffer));
      op.params.push_back(std::move(param));
    }
  }
  for (const std::string& text : row.Texts("out")) {
    DAVINCI_ASSIGN_OR_RETURN(auto output, ReadOutput(text));
    op.outputs.push_back(std::move(output));
  }
  DAVINCI_ASSIGN_OR_RETURN(op.require, Expressions(row.Texts("require")));
  DAVINCI_ASSIGN_OR_RETURN(op.needs, Expressions(row.Texts("needs")));
  if (row.Has("range")) {
    DAVINCI_ASSIGN_OR_RETURN(auto range, Expressions(row.Texts("range")));
    if (range.size() != 2) return row.Error("range wants [least, most]");
    op.lo = std::move(range[0]);
    op.hi = std::move(range[1]);
  }
  if (row.Has("flops")) {
    DAVINCI_ASSIGN_OR_RETURN(op.flops, Expression::Parse(row.Text("flops", "")));
  }
  for (const std::string_view spelling : kSpellings) {
    const std::string style(spelling);
    if (row.Has(style)) op.spell[style] = row.Texts(style);
  }
  op.call = row.Text("call", "");
  op.names = row.Texts("names");
  op.vars = row.Texts("vars");
  op.mode = row.Text("mode", "");
  op.weight = row.Number("weight", 1);
  op.half = row.Number("half", 1) != 0;
  op.saturates = row.Number("saturates", 0) != 0;
  static const std::set<std::string, std::less<>> spreading = {"norm",      "matmul",    "conv",
                                                               "attention", "recurrent", "mixture"};
  op.keeps_saturation = op.params.empty() && !spreading.contains(op.family);
  op.view = row.Number("view", 0) != 0;
  if (op.name.empty()) return row.Error("operator has no name");
  if (op.spell.empty()) return row.Error("operator has no spelling");
  if (op.outputs.empty()) return row.Error("operator has no out");
  DAVINCI_RETURN_IF_ERROR(row.Finish());
  return op;
}

Result<Pattern> ReadPattern(TableReader row, std::string_view family) {
  Pattern pattern;
  pattern.name = row.Text("name", "");
  pattern.family = row.Text("family", family);
  pattern.title = row.Text("title", "");
  pattern.weight = row.Number("weight", 1);
  pattern.mode = row.Text("mode", "");
  pattern.half = row.Number("half", 1) != 0;
  for (const std::string& text : row.Texts("in")) {
    DAVINCI_ASSIGN_OR_RETURN(auto input, ParseInput(text));
    pattern.inputs.push_back(std::move(input));
  }
  auto body = ParseBody(row.Text("body", ""));
  if (!body.ok()) return row.Error(fmt::format("body: {}", body.status().message()));
  pattern.body = std::move(*body);
  if (pattern.name.empty() || pattern.body.empty()) return row.Error("pattern needs name and body");
  DAVINCI_RETURN_IF_ERROR(row.Finish());
  return pattern;
}

Status ReadSizes(TableReader root, Grammar* grammar) {
  for (auto& [name, row] : root.Tables("role")) {
    SizeRole role;
    for (size_t i = 0; i < kNumBindings; ++i) {
      const auto range = row.Numbers(std::string(kBindingNames[i]));
      if (range.size() == 2)
        role.range[i] = {static_cast<int64_t>(range[0]), static_cast<int64_t>(range[1])};
    }
    for (const double value : row.Numbers("values"))
      role.values.push_back(static_cast<int64_t>(value));
    role.power_of_two = row.Number("power_of_two", 0.5);
    role.round = row.Number("round", 0.3);
    role.names = row.Texts("names");
    role.text = row.Text("text", name);
    for (const std::string& used : row.Texts("of")) grammar->role_of_name[used] = name;
    if (role.names.empty()) return row.Error("role has no names");
    DAVINCI_RETURN_IF_ERROR(row.Finish());
    grammar->roles[name] = std::move(role);
  }
  for (auto& [name, row] : root.Tables("shapes")) {
    for (const std::string& key : row.Keys()) {
      DAVINCI_ASSIGN_OR_RETURN(auto shape, ParseShape(key));
      grammar->shapes[name].emplace_back(std::move(shape), row.Number(key, 1));
    }
    DAVINCI_RETURN_IF_ERROR(row.Finish());
  }
  for (auto& [name, row] : root.Tables("budget")) {
    for (size_t i = 0; i < kNumBindings; ++i) {
      if (name != kBindingNames[i]) continue;
      grammar->budgets[i] = {row.Number("elements", 0), row.Number("flops", 0)};
    }
    DAVINCI_RETURN_IF_ERROR(row.Finish());
  }
  return root.Finish();
}

Status ReadInputs(TableReader root, Grammar* grammar) {
  for (auto& [name, row] : root.Tables("kind")) {
    InputKind kind;
    const std::string dtype = row.Text("dtype", "float");
    kind.dtype = dtype == "index" ? DType::kIndex : dtype == "bool" ? DType::kBool : DType::kFloat;
    kind.names = row.Texts("names");
    kind.text = row.Text("text", "");
    for (auto& draw : row.Rows("draw")) {
      kind.draws.push_back({draw.Text("call", ""), draw.Number("lo", 0), draw.Number("hi", 0),
                            draw.Number("weight", 1)});
      DAVINCI_RETURN_IF_ERROR(draw.Finish());
    }
    if (kind.draws.empty()) return row.Error("input kind has no draw");
    DAVINCI_RETURN_IF_ERROR(row.Finish());
    grammar->kinds[name] = std::move(kind);
  }
  for (auto& [name, row] : root.Tables("init")) {
    grammar->inits[name] = row.Texts("call");
    DAVINCI_RETURN_IF_ERROR(row.Finish());
  }
  return root.Finish();
}

// Every name that a body uses exists.
class NameCheck {
 public:
  NameCheck(const Grammar& grammar, const Pattern& pattern)
      : grammar_(grammar), pattern_(pattern) {}

  Status Run() { return Block(pattern_.body); }

 private:
  Status Block(const std::vector<PatternStatement>& body) {
    for (const PatternStatement& statement : body) {
      for (const PatternTerm& term : statement.terms)
        DAVINCI_RETURN_IF_ERROR(Term(term, statement.line));
      if (statement.kind == PatternStatement::Kind::kNew &&
          !grammar_.roles.contains(statement.role))
        return Unknown("size role", statement.role, statement.line, Names(grammar_.roles));
      for (const auto& inner : statement.bodies) DAVINCI_RETURN_IF_ERROR(Block(inner));
    }
    return Status::Ok();
  }

  Status Term(const PatternTerm& term, int line) {
    using Kind = PatternTerm::Kind;
    for (const PatternTerm& argument : term.arguments)
      DAVINCI_RETURN_IF_ERROR(Term(argument, line));
    if (term.kind == Kind::kOperator && !grammar_.operators.contains(term.name))
      return Unknown("operator", term.name, line, Names(grammar_.operators));
    if ((term.kind == Kind::kGroup || term.kind == Kind::kChain) &&
        !grammar_.groups.contains(term.name))
      return Unknown("group", term.name, line, Names(grammar_.groups));
    if (term.kind == Kind::kPattern && !grammar_.patterns.contains(term.name))
      return Unknown("pattern", term.name, line, Names(grammar_.patterns));
    if (term.kind == Kind::kOperator) {
      const Operator& op = grammar_.operators.find(term.name)->second;
      for (const auto& [name, values] : term.named) {
        bool known = op.Attr(name) != nullptr;
        for (const InputSpec& input : op.inputs)
          for (const ShapeToken& token : input.shape) known = known || token.name == name;
        if (!known)
          return InvalidArgument(fmt::format("pattern {}, line {} of its body: {} has no {}",
                                             pattern_.name, line, term.name, name));
      }
    }
    return Status::Ok();
  }

  template <typename Map>
  static std::vector<std::string> Names(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
  }

  Status Unknown(std::string_view what, const std::string& name, int line,
                 const std::vector<std::string>& known) {
    return InvalidArgument(fmt::format("pattern {}, line {} of its body: no {} '{}'{}",
                                       pattern_.name, line, what, name, DidYouMean(name, known)));
  }

  const Grammar& grammar_;
  const Pattern& pattern_;
};

Status CheckRoles(const Grammar& grammar) {
  for (const auto& [name, op] : grammar.operators) {
    for (const InputSpec& input : op.inputs)
      if (!grammar.kinds.contains(input.kind))
        return InvalidArgument(fmt::format("operator {}: no input kind '{}'", name, input.kind));
    for (const AttrSpec& attr : op.attrs)
      if (attr.kind == AttrSpec::Kind::kSize && !grammar.roles.contains(attr.role))
        return InvalidArgument(fmt::format("operator {}: no size role '{}'", name, attr.role));
    for (const ParamSpec& param : op.params)
      if (param.init.find('(') == std::string::npos && !grammar.inits.contains(param.init))
        return InvalidArgument(fmt::format("operator {}: no init '{}'", name, param.init));
  }
  for (const auto& [name, pattern] : grammar.patterns)
    for (const InputSpec& input : pattern.inputs)
      if (!grammar.kinds.contains(input.kind))
        return InvalidArgument(fmt::format("pattern {}: no input kind '{}'", name, input.kind));
  return Status::Ok();
}

}  // namespace

const AttrSpec* Operator::Attr(std::string_view attr) const {
  for (const AttrSpec& spec : attrs)
    if (spec.name == attr) return &spec;
  return nullptr;
}

Result<Grammar> LoadGrammar(const std::filesystem::path& folder) {
  Grammar grammar;
  for (const std::string_view name : {"sizes", "inputs", "splits"}) {
    DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(folder / fmt::format("{}.toml", name)));
    TableReader root(tree);
    if (name == "sizes") {
      DAVINCI_RETURN_IF_ERROR(ReadSizes(root, &grammar));
    } else if (name == "inputs") {
      DAVINCI_RETURN_IF_ERROR(ReadInputs(root, &grammar));
    } else {
      for (const std::string& family : root.Texts("held_out_families"))
        grammar.held_out_families.insert(family);
      grammar.combination_percent = static_cast<int>(root.Integer("combination_percent", 8));
      grammar.reinforcement_percent = static_cast<int>(root.Integer("reinforcement_percent", 8));
      DAVINCI_RETURN_IF_ERROR(root.Finish());
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(auto operator_files, ListFiles(folder / "operators", ".toml"));
  for (const auto& file : operator_files) {
    DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(file));
    TableReader root(tree);
    const std::string family = root.Text("family", file.stem().string());
    for (auto& row : root.Rows("op")) {
      auto op = ReadOperator(row, family);
      if (!op.ok())
        return op.status().message().starts_with(row.Where()) ? op.status()
                                                              : op.status().Annotate(row.Where());
      if (grammar.operators.contains(op->name))
        return row.Error(fmt::format("operator {} exists already", op->name));
      grammar.operators.emplace(op->name, std::move(*op));
    }
    DAVINCI_RETURN_IF_ERROR(root.Finish());
  }
  for (const auto& [name, op] : grammar.operators) {
    for (const std::string& group : op.groups) grammar.groups[group].push_back(&op);
    grammar.groups["family_" + op.family].push_back(&op);
  }
  DAVINCI_ASSIGN_OR_RETURN(auto pattern_files, ListFiles(folder / "patterns", ".toml"));
  for (const auto& file : pattern_files) {
    DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(file));
    TableReader root(tree);
    const std::string family = root.Text("family", file.stem().string());
    for (auto& row : root.Rows("pattern")) {
      auto pattern = ReadPattern(row, family);
      if (!pattern.ok())
        return pattern.status().message().starts_with(row.Where())
                   ? pattern.status()
                   : pattern.status().Annotate(row.Where());
      if (grammar.patterns.contains(pattern->name))
        return row.Error(fmt::format("pattern {} exists already", pattern->name));
      grammar.patterns.emplace(pattern->name, std::move(*pattern));
    }
    DAVINCI_RETURN_IF_ERROR(root.Finish());
  }
  for (const auto& [name, pattern] : grammar.patterns)
    DAVINCI_RETURN_IF_ERROR(NameCheck(grammar, pattern).Run());
  DAVINCI_RETURN_IF_ERROR(CheckRoles(grammar));
  return grammar;
}

}  // namespace davinci::synth
