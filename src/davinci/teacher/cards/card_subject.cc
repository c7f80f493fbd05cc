#include "davinci/teacher/cards/card_subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/hash.h"
#include "davinci/synth/render.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using synth::Operator;

// The style of the minimal modules: no text that costs tokens.
constexpr std::string_view kCardStyle = "terse";

std::optional<synth::SampledTask> MinimalOf(synth::Graph graph, const synth::Grammar& grammar,
                                            const synth::StyleBook& styles, uint64_t seed) {
  const auto style = std::find_if(styles.styles.begin(), styles.styles.end(),
                                  [](const synth::Style& one) { return one.name == kCardStyle; });
  if (style == styles.styles.end()) return std::nullopt;
  synth::SampledTask task;
  task.id = "card-" + graph.pattern->name;
  task.text = synth::RenderTask(graph, grammar, styles, *style, seed);
  task.graph = std::move(graph);
  task.style = &*style;
  // The style writes one class, which is all that a card shows.
  for (const std::string_view line : synth::Split(task.text.source, '\n'))
    if ((line.starts_with("def ") && !line.starts_with("def get_")) ||
        (line.starts_with("class ") && !line.starts_with("class " + task.text.entry + "(")))
      return std::nullopt;
  return task;
}

std::optional<synth::SampledTask> Minimal(const synth::Grammar& grammar,
                                          const synth::StyleBook& styles,
                                          const synth::Pattern& pattern, uint64_t attempt,
                                          const Operator* further = nullptr) {
  synth::BuildOptions build;
  build.seed = HashBytes(pattern.name, attempt);
  build.reach_cpu = 0.5;
  build.further = further;
  synth::BuildOutcome outcome = synth::BuildGraph(grammar, pattern, build);
  if (!outcome.graph) return std::nullopt;
  return MinimalOf(std::move(*outcome.graph), grammar, styles, build.seed);
}

// Spellings by other functions, those that say most first.
const std::vector<std::string>& SpellingsThatSay() {
  static const std::vector<std::string> kinds = {"hand",   "operator", "torch",
                                                 "method", "einsum",   "functional"};
  return kinds;
}

// Does a spelling leave no placeholder that only the renderer fills?
bool IsPlain(const std::string& form) {
  for (const char* placeholder : {"{kw:", "{opt:", "{out}", "{star}", "{all}", "{m}"})
    if (form.find(placeholder) != std::string::npos) return false;
  return true;
}

// The value that a call's form gives to a keyword as a literal: "1" of "{x}.norm(p=1, dim={dim})".
std::string LiteralOf(const std::string& form, const std::string& keyword) {
  for (const char* before : {"(", ", "}) {
    const std::string wanted = before + keyword + "=";
    const size_t at = form.find(wanted);
    if (at == std::string::npos) continue;
    const size_t begin = at + wanted.size(), end = form.find_first_of(",)", begin);
    std::string value = form.substr(begin, end - begin);
    return value.find('{') == std::string::npos ? value : "";
  }
  return "";
}

// The text of each parameter of a definition for an operator: a placeholder, the call's literal, or
// the default. Nothing: a parameter has none.
using Values = std::vector<std::pair<std::string, std::string>>;
std::optional<Values> ValuesOf(const Function& function, const Operator& op,
                               const std::string& call_form) {
  const size_t open = function.def.find('(');
  const std::string_view list(function.def.data() + open + 1, function.def.size() - open - 2);
  Values values;
  for (const std::string_view parameter : synth::SplitTop(list, ',')) {
    const size_t equals = parameter.find('=');
    const std::string name(synth::Trim(parameter.substr(0, equals)));
    std::string value;
    if (values.size() < op.inputs.size() && equals == std::string_view::npos) {
      value = "{" + op.inputs[values.size()].name + "}";
    } else {
      value = LiteralOf(call_form, name);
      for (const synth::AttrSpec& attr : op.attrs)
        if (attr.py == name) value = "{" + attr.name + "}";
      if (value.empty() && equals != std::string_view::npos)
        value = synth::Trim(parameter.substr(equals + 1));
    }
    if (value.empty()) return std::nullopt;
    values.emplace_back(name, value);
  }
  return values;
}

// Do a definition's conditions hold? A placeholder decides none.
bool Holds(const Function& function, const Values& values) {
  const auto plain = [](std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '\''), text.end());
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  return std::all_of(values.begin(), values.end(), [&](const auto& value) {
    const auto wanted = function.when.find(value.first);
    return wanted == function.when.end() || plain(value.second) == plain(wanted->second);
  });
}

// The first of the tables' definitions whose conditions hold, with the operator's placeholders in
// the place of its parameters; "": there is none.
std::string FormOf(const std::vector<Function>& definitions, const Operator& op,
                   const std::string& call_form) {
  const auto mark = [](size_t position) { return fmt::format("\x01{}\x02", position); };
  for (const Function& function : definitions) {
    const auto values = ValuesOf(function, op, call_form);
    if (!values || !Holds(function, *values)) continue;
    std::string form = function.is;
    for (size_t i = 0; i < values->size(); ++i)
      form = synth::WithWord(form, (*values)[i].first, mark(i));
    for (size_t i = 0; i < values->size(); ++i)
      form = synth::Replaced(form, mark(i), (*values)[i].second);
    return form;
  }
  return "";
}

void FindForm(const Tables& tables, CardSubject* subject) {
  const Operator& op = *subject->op;
  for (const std::string& kind : SpellingsThatSay()) {
    const auto spelled = op.spell.find(kind);
    if (spelled == op.spell.end()) continue;
    for (const std::string& form : spelled->second) {
      if (!CallOfForm(form).empty() || !IsPlain(form)) continue;
      subject->form = form;
      subject->form_is_python = true;
      return;
    }
  }
  for (size_t i = 0; i < subject->calls.size(); ++i) {
    const std::string& call = subject->calls[i];
    const auto found = tables.functions.find(call.substr(call.rfind('.') + 1));
    if (found == tables.functions.end()) continue;
    subject->form = FormOf(found->second, op, subject->call_forms[i]);
    if (!subject->form.empty()) return;
  }
}

// The module that is one call of the operator.
std::shared_ptr<synth::Pattern> PatternOf(const Operator& op) {
  auto body = synth::ParseBody("return " + op.name + "()");
  if (!body.ok()) return nullptr;
  auto pattern = std::make_shared<synth::Pattern>();
  pattern->name = op.name;
  pattern->family = op.family;
  pattern->mode = op.mode;
  pattern->body = std::move(*body);
  return pattern;
}

// One tensor, element by element, and nothing else that a spelling has to say.
bool IsPlainActivation(const Operator& op) {
  return std::find(op.groups.begin(), op.groups.end(), "act") != op.groups.end() &&
         op.attrs.empty() && op.params.empty() && op.mode.empty() && op.inputs.size() == 1;
}

}  // namespace

std::string CallOfForm(std::string_view form) {
  size_t end = 0;
  while (end < form.size() && (synth::IsWordChar(form[end]) || form[end] == '.')) ++end;
  const std::string_view name = form.substr(0, end);
  const bool known =
      name.starts_with("F.") || name.starts_with("nn.") || name.starts_with("torch.");
  if (!known || end == form.size() || form[end] != '(') return "";
  int depth = 0;
  for (size_t i = end; i < form.size(); ++i) {
    depth += form[i] == '(' ? 1 : form[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < form.size()) return "";
  }
  // A call of calls is more than a call, apart from shapes in brackets.
  const std::string_view arguments = form.substr(end + 1);
  for (size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i] == '(' && synth::IsWordChar(arguments[i - 1])) return "";
  for (const std::string_view sign : {" + ", " - ", " * ", " / ", " ** "})
    if (arguments.find(sign) != std::string_view::npos) return "";
  return std::string(name);
}

std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const Tables& tables, const Operator& op, uint64_t attempt) {
  if (op.view) return std::nullopt;
  CardSubject subject;
  subject.name = op.name;
  subject.title = op.title;
  subject.op = &op;
  subject.means = op.means;
  for (const auto& [kind, forms] : op.spell)
    for (const std::string& form : forms) {
      const std::string call = CallOfForm(form);
      if (call.empty() ||
          std::find(subject.calls.begin(), subject.calls.end(), call) != subject.calls.end())
        continue;
      subject.calls.push_back(call);
      subject.call_forms.push_back(form);
    }
  if (op.means.empty()) FindForm(tables, &subject);
  const auto pattern = PatternOf(op);
  if (pattern == nullptr) return std::nullopt;
  subject.pattern = pattern;
  auto task = Minimal(grammar, styles, *pattern, attempt);
  if (!task) return std::nullopt;
  subject.task = std::move(*task);
  return subject;
}

std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const synth::Pattern& pattern, uint64_t attempt) {
  auto task = Minimal(grammar, styles, pattern, attempt);
  if (!task || task->graph.OperatorSequence().size() < 2) return std::nullopt;
  CardSubject subject;
  subject.name = pattern.name;
  subject.title = pattern.title.empty() ? synth::Replaced(pattern.name, "_", " ") : pattern.title;
  subject.task = std::move(*task);
  return subject;
}

std::optional<CardSubject> BlockOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                   const synth::SampledTask& task, std::string name,
                                   SplitMix64* rng) {
  constexpr double kOtherActivation = 0.35;
  synth::Graph graph = task.graph;
  if (graph.pattern == nullptr || graph.OperatorSequence().size() < 2) return std::nullopt;
  std::vector<const Operator*> activations;
  for (const auto& [known, op] : grammar.operators)
    if (IsPlainActivation(op)) activations.push_back(&op);
  for (synth::Node& node : graph.nodes) {
    if (!IsPlainActivation(*node.op) || rng->Uniform() >= kOtherActivation) continue;
    node.op = activations[rng->Below(activations.size())];
    node.label = node.op->name;
  }
  // Another combination may be one that is held out.
  if (synth::SplitOf(grammar, graph, *task.style) != task.split) return std::nullopt;
  auto minimal = MinimalOf(std::move(graph), grammar, styles, rng->Next());
  if (!minimal) return std::nullopt;
  CardSubject subject;
  subject.title = synth::Replaced(name, "_", " ");
  subject.name = std::move(name);
  subject.task = std::move(*minimal);
  return subject;
}

void InventedOperator::Define(synth::SampledTask* task) const {
  for (size_t i = 0; i < task->graph.nodes.size(); ++i) {
    if (task->graph.nodes[i].op != op.get()) continue;
    synth::NodeText& text = task->text.parts.nodes[i];
    text.form = definition;
    text.constructor.clear();
    text.module.clear();
  }
}

std::optional<CardSubject> SubjectOf(const synth::Grammar& grammar, const synth::StyleBook& styles,
                                     const InventedOperator& invented, uint64_t attempt) {
  const auto pattern = PatternOf(*invented.op);
  if (pattern == nullptr) return std::nullopt;
  auto task = Minimal(grammar, styles, *pattern, attempt, invented.op.get());
  if (!task) return std::nullopt;
  invented.Define(&*task);
  CardSubject subject;
  subject.name = invented.op->name;
  subject.title = invented.op->title;
  subject.op = invented.op.get();
  subject.calls = invented.calls;
  subject.call_forms = invented.signatures;
  subject.form = invented.definition;
  subject.means = invented.means;
  subject.form_is_python = invented.means.empty();
  subject.task = std::move(*task);
  subject.pattern = pattern;
  subject.invented = invented.op;
  return subject;
}

}  // namespace davinci::teacher
