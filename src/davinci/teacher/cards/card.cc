#include "davinci/teacher/cards/card.h"

#include <algorithm>

#include "davinci/llm/token_count.h"
#include "davinci/teacher/cards/card_text.h"

namespace davinci::teacher {
namespace {

// Drawn subjects of one name, of which one is kept: sizes that differ let a kernel show which is
// which; then the shortest card.
constexpr uint64_t kDraws = 4, kMostDraws = 16;

davinci::Language ShownLanguage(Language language) {
  return language == Language::kCpp    ? davinci::Language::kCpp
         : language == Language::kCuda ? davinci::Language::kCuda
                                       : davinci::Language::kTriton;
}

// The text has the lines of the steps that name tensors, then the kernels. It leaves out the class,
// whose forward is empty.
std::string BesideSteps(const std::string& steps, const std::string& reply) {
  constexpr std::string_view kEmptyForward = "        ...\n";
  std::string text;
  for (const std::string_view line : synth::Split(steps, '\n'))
    if (line.find(": ") < line.find(' ') || (line.starts_with('t') && line.find(" = ") < 5))
      text += std::string(line) + '\n';
  const size_t behind = reply.ends_with(kEmptyForward) ? reply.rfind("\n\n\nclass ") : reply.size();
  return text + '\n' + reply.substr(0, behind) + (behind < reply.size() ? "\n" : "");
}

// A delta reply without the lines that name the operators of its kernels.
std::string WithoutComments(const std::string& reply) {
  std::string text;
  for (const std::string_view line : synth::Split(reply, '\n'))
    if (!line.starts_with("    # ")) text += std::string(line) + '\n';
  text.pop_back();
  return text;
}

}  // namespace

bool HasEqualSizes(const synth::Graph& graph) {
  for (const synth::ValueId input : graph.inputs) {
    const auto& shape = graph.values[static_cast<size_t>(input)].shape;
    for (size_t i = 0; i < shape.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (!graph.dims.IsConstant(shape[i]) && graph.dims.Equal(shape[i], shape[k])) return true;
  }
  return false;
}

CardDeck::CardDeck(const synth::Grammar& grammar, const synth::StyleBook& styles,
                   const Teacher& teacher, CardSettings settings)
    : grammar_(grammar), styles_(styles), teacher_(teacher), settings_(settings) {
  const auto wanted = [&](const std::string& family) {
    const bool held = grammar_.held_out_families.contains(family);
    return settings_.families == CardFamilies::kAll ||
           held == (settings_.families == CardFamilies::kHeldOut);
  };
  for (const auto& [name, op] : grammar_.operators)
    if (!op.view && op.family != synth::kMixedFamily && wanted(op.family))
      places_[name] = std::make_unique<Place>();
  for (const auto& [name, pattern] : grammar_.patterns)
    if (pattern.weight > 0 && wanted(pattern.family) && !places_.contains(name))
      places_[name] = std::make_unique<Place>();
  for (const auto& [name, place] : places_) names_.push_back(name);
  for (const auto& [name, op] : grammar_.operators) {
    if (!grammar_.held_out_families.contains(op.family)) continue;
    for (const auto& [kind, forms] : op.spell)
      for (const std::string& form : forms)
        if (const std::string call = CallOfForm(form); !call.empty())
          held_out_calls_.push_back(call + "(");
  }
}

CardDeck::~CardDeck() = default;

bool CardDeck::ShowsHeldOut(const CardSubject& subject) const {
  const auto held = [&](const synth::Operator& op) {
    return grammar_.held_out_families.contains(op.family);
  };
  for (const synth::Node& node : subject.task.graph.nodes)
    if (held(*node.op)) return true;
  const auto shown = [&](const std::string& call) {
    return subject.task.text.source.find(call) != std::string::npos ||
           subject.form.find(call) != std::string::npos;
  };
  return std::any_of(held_out_calls_.begin(), held_out_calls_.end(), shown);
}

std::optional<CardSubject> CardDeck::Shortest(const std::string& name) const {
  std::optional<CardSubject> best;
  std::pair<bool, size_t> least;
  const auto op = grammar_.operators.find(name);
  for (uint64_t draw = 0; draw < kMostDraws && (draw < kDraws || !best || least.first); ++draw) {
    auto subject = op != grammar_.operators.end()
                       ? SubjectOf(grammar_, styles_, teacher_.tables(), op->second, draw)
                       : SubjectOf(grammar_, styles_, grammar_.patterns.find(name)->second, draw);
    if (!subject) continue;
    if (settings_.families == CardFamilies::kTrain && ShowsHeldOut(*subject)) continue;
    const auto card = Write(*subject, Plain());
    if (!card) continue;
    const std::pair worth(HasEqualSizes(subject->task.graph), card->skill.content.size());
    if (best && worth >= least) continue;
    least = worth;
    best = std::move(subject);
  }
  return best;
}

const CardSubject* CardDeck::Find(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return nullptr;
  Place& place = *found->second;
  std::call_once(place.made, [&] { place.subject = Shortest(name); });
  return place.subject ? &*place.subject : nullptr;
}

std::optional<Card> CardDeck::Write(const CardSubject& subject, const CardForm& form) const {
  Card card;
  card.task = subject.task;
  if (form.veil != nullptr) ApplyNumbers(subject, *form.veil, &card.task);
  if (settings_.steps) {
    NamedOperators named;
    if (form.veil != nullptr) named[subject.op] = form.veil->function;
    if (subject.invented != nullptr) named[subject.op] = subject.name;
    auto steps = teacher_.StepsOf(card.task.graph, card.task.text, settings_.language, named);
    if (!steps.ok()) return std::nullopt;
    card.steps = std::move(*steps);
  }
  auto candidate =
      teacher_.Write(card.task.graph, card.task.text, settings_.language, form.rules,
                     {settings_.reply, card.steps ? &*card.steps : nullptr}, form.launch);
  if (!candidate.ok() || candidate->own_kernels == 0) return std::nullopt;
  card.candidate = std::move(*candidate);
  // The card's own name says what its kernels compute.
  card.candidate.source = WithoutComments(card.candidate.source);
  std::string example = form.veil == nullptr ? card.candidate.source
                                             : Veiled(card.candidate.source, subject, *form.veil);
  if (card.steps) example = BesideSteps(card.steps->text, example);
  for (const bool shortened : {false, true}) {
    card.skill = CardSkill(subject, card.task, example, settings_.language, form.veil, shortened);
    const std::string shown = skill::RenderSkill(card.skill, ShownLanguage(settings_.language));
    if (settings_.reply == ReplyForm::kFile || llm::EstimateTokens(shown) <= kMostCardTokens)
      return card;
  }
  return std::nullopt;
}

}  // namespace davinci::teacher
