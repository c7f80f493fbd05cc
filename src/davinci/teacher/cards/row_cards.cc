#include "davinci/teacher/cards/row_cards.h"

#include <algorithm>
#include <set>

#include "davinci/base/hash.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/cards/names.h"

namespace davinci::teacher {
namespace {

// Shares of rows with right cards that vary so.
constexpr double kOtherWords = 0.4, kOtherRules = 0.25, kOtherLaunch = 0.25;
constexpr double kComposite = 0.4;       // half of the four of five rows that hide an operator
constexpr double kOfBlock = 0.3;         // of the other rows whose task has several operators
constexpr double kVeiled = 2.0 / 3;      // of the cards of other rows
constexpr double kOfPattern = 0.35;      // where the pattern has a card: it is shown first
constexpr double kOtherComposite = 0.2;  // of cards that are not the task's
constexpr int kCompositeTries = 4;
// Rules of a whole forward, which say nothing about a kernel.
const RuleSet kOfForward{Rule::kDirectLaunch, Rule::kReplayGraph};
constexpr uint64_t kCompositeDraws = 8;  // of the sizes of its example
constexpr uint64_t kUnequalDraws = 6;    // of these, that are left out where sizes are equal

template <typename T>
void Shuffle(std::vector<T>* list, SplitMix64* rng) {
  for (size_t i = list->size(); i > 1; --i) std::swap((*list)[i - 1], (*list)[rng->Below(i)]);
}

// Rules that a card shows and that may be left out: the kernels are right without them.
void LeaveOutRules(const Candidate& shown, RuleSet* rules, SplitMix64* rng) {
  for (const Rule rule : {Rule::kManyRows, Rule::kNormInRegisters, Rule::kSoftmaxInRegisters,
                          Rule::kOnePassVariance, Rule::kColumnsTriton, Rule::kPlaneBlocks})
    if (shown.rules.Contains(rule) && rng->Uniform() < 0.5) rules->Erase(rule);
}

// The text, with another name of an operator in comments: what a kernel computes.
std::string WithOperator(const std::string& text, const std::string& name,
                         const std::string& fresh) {
  std::string result;
  for (const std::string_view line : synth::Split(text, '\n')) {
    const bool comment = line.starts_with("    # ");
    result += comment ? synth::WithWord(std::string(line), name, fresh) : std::string(line);
    result += '\n';
  }
  result.pop_back();
  return result;
}

class RowWriter {
 public:
  RowWriter(const CardDeck& deck, const synth::Corpus& corpus, const synth::SampledTask& task,
            const RowCardSettings& settings, SplitMix64* rng)
      : deck_(deck), corpus_(corpus), task_(task), settings_(settings), rng_(*rng) {
    const CardForm plain = deck_.Plain();
    row_.task = task;
    row_.rules = plain.rules;
    row_.launch = plain.launch;
  }

  std::optional<RowCards> Run() {
    const bool both = settings_.most > 1 && Chance(settings_.others_too);
    if (Chance(settings_.right)) Right(settings_.most - both);
    if (both || row_.cards.empty()) Others();
    Shuffle(&row_.cards, &rng_);
    if (row_.cards.empty()) return std::nullopt;
    return std::move(row_);
  }

 private:
  bool Chance(double share) { return rng_.Uniform() < share; }

  // The subjects whose cards are shown; all veils are drawn for the task as it is.
  std::vector<const CardSubject*> Subjects(size_t most) {
    std::vector<std::string> names = OperatorsOf(task_.graph);
    Shuffle(&names, &rng_);
    if (names.size() > 1 && Chance(kOfPattern))
      names.insert(names.begin(), task_.graph.pattern->name);
    std::vector<const CardSubject*> subjects;
    for (const std::string& name : names) {
      if (subjects.size() == most) break;
      if (const CardSubject* subject = deck_.Find(name)) subjects.push_back(subject);
    }
    return subjects;
  }

  // How the kernels of card and answer are written. `plain`: the first card without variation,
  // where it is there already.
  CardForm Form(const CardSubject& first, const Card* plain = nullptr) {
    row_.words = {};
    CardForm form = deck_.Plain();
    if (Chance(kOtherRules)) {
      const auto written = plain == nullptr ? deck_.Write(first, form) : std::nullopt;
      if (written) plain = &*written;
      if (plain != nullptr) LeaveOutRules(plain->candidate, &form.rules, &rng_);
    }
    if (Chance(kOtherLaunch))
      (Chance(0.5) ? form.launch.block : form.launch.warps) = Chance(0.5) ? 2 : 0.5;
    if (MayVeil() && Chance(kOtherWords)) row_.words = DrawKernelWords(&rng_);
    return form;
  }

  bool MayVeil() const { return deck_.settings().reply == ReplyForm::kDelta; }

  // The first of some examples of a composite operator that has a card of its own kernels alone.
  std::optional<std::pair<CardSubject, Card>> Example(const Composite& composite) const {
    for (uint64_t draw = 0; draw < kCompositeDraws; ++draw) {
      auto subject = SubjectOf(deck_.grammar(), deck_.styles(), composite.invented, draw);
      if (!subject || deck_.ShowsHeldOut(*subject)) continue;
      if (draw < kUnequalDraws && HasEqualSizes(subject->task.graph)) continue;
      auto card = deck_.Write(*subject, deck_.Plain());
      if (card && card->candidate.left.empty())
        return std::pair(std::move(*subject), std::move(*card));
    }
    return std::nullopt;
  }

  // False: no composite operator fits.
  bool RightComposite() {
    for (int tries = 0; tries < kCompositeTries; ++tries) {
      auto composite = DrawComposite(deck_.grammar(), corpus_, task_.text.source, &rng_);
      if (!composite) continue;
      auto example = Example(*composite);
      if (!example) continue;
      auto made = TaskOf(deck_.grammar(), deck_.styles(), *composite, task_, &rng_);
      if (!made) continue;
      const CardForm form = Form(example->first, &example->second);
      const CardForm plain = deck_.Plain();
      const bool varied = !(form.rules == plain.rules && form.launch == plain.launch);
      auto card = varied ? deck_.Write(example->first, form) : std::move(example->second);
      if (!card) continue;
      Show(std::move(*card));
      row_.task = std::move(made->task);
      row_.composite = std::move(composite);
      row_.pattern = made->pattern;
      row_.rules = form.rules;
      row_.launch = form.launch;
      return true;
    }
    return false;
  }

  // False: the task is one operator, or its block is too long for a card.
  bool RightBlock() {
    const auto subject = BlockOf(deck_.grammar(), deck_.styles(), task_,
                                 InventedName(corpus_, task_.text.source, &rng_), &rng_);
    if (!subject || deck_.ShowsHeldOut(*subject)) return false;
    const CardForm form = Form(*subject);
    auto card = deck_.Write(*subject, form);
    if (!card) return false;
    Show(std::move(*card));
    row_.rules = form.rules;
    row_.launch = form.launch;
    return true;
  }

  void Right(size_t most) {
    if (MayVeil() && Chance(kComposite) && RightComposite()) return;
    if (Chance(kOfBlock) && RightBlock()) return;
    const std::vector<const CardSubject*> subjects = Subjects(most);
    if (subjects.empty()) return;
    CardForm form = Form(*subjects[0]);
    synth::SampledTask veiled = task_;
    for (const CardSubject* subject : subjects) {
      const auto veil =
          MayVeil() && Chance(kVeiled) ? DrawVeil(*subject, task_, corpus_, &rng_) : std::nullopt;
      form.veil = veil ? &*veil : nullptr;
      auto card = deck_.Write(*subject, form);
      if (!card) continue;
      if (veil) {
        ApplyNumbers(*subject, *veil, &veiled);
        ApplyNames(*subject, *veil, &veiled);
        row_.veils.emplace_back(subject, *veil);
      }
      Show(std::move(*card));
    }
    if (row_.cards.empty()) return;
    row_.task = std::move(veiled);
    row_.rules = form.rules;
    row_.launch = form.launch;
  }

  void Show(Card card) {
    row_.right.insert(card.skill.name);
    row_.shown.Insert(card.candidate.rules);
    row_.shown.Erase(kOfForward);
    row_.cards.push_back(Worded(std::move(card.skill)));
  }

  skill::Skill Worded(skill::Skill card) const {
    static constexpr std::string_view kFence = "## Example\n\n```python\n";
    const size_t at = card.content.rfind(kFence);
    if (at == std::string::npos) return card;
    const size_t begin = at + kFence.size();
    card.content =
        card.content.substr(0, begin) + WithKernelWords(card.content.substr(begin), row_.words);
    return card;
  }

  // Cards of what the task does not have.
  void Others() {
    std::vector<std::string> names = OperatorsOf(row_.task.graph);
    names.push_back(row_.task.graph.pattern->name);
    const size_t wanted = row_.cards.size() + 1 + rng_.Below(settings_.most - row_.cards.size());
    for (int tries = 0; tries < 20 && row_.cards.size() < wanted; ++tries) {
      if (MayVeil() && Chance(kOtherComposite)) {
        OtherComposite();
        continue;
      }
      const std::string& name = deck_.names()[rng_.Below(deck_.names().size())];
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const CardSubject* subject = deck_.Find(name);
      if (subject == nullptr) continue;
      names.push_back(name);
      if (auto card = deck_.Write(*subject, deck_.Plain()))
        row_.cards.push_back(std::move(card->skill));
    }
  }

  void OtherComposite() {
    const auto other = DrawComposite(deck_.grammar(), corpus_, row_.task.text.source, &rng_);
    if (!other) return;
    if (auto example = Example(*other)) row_.cards.push_back(std::move(example->second.skill));
  }

  const CardDeck& deck_;
  const synth::Corpus& corpus_;
  const synth::SampledTask& task_;
  const RowCardSettings& settings_;
  SplitMix64& rng_;
  RowCards row_;
};

}  // namespace

std::vector<std::string> OperatorsOf(const synth::Graph& graph) {
  std::vector<std::string> names;
  for (const synth::Node& node : graph.nodes)
    if (node.op != nullptr && !node.op->view &&
        std::find(names.begin(), names.end(), node.op->name) == names.end())
      names.push_back(node.op->name);
  return names;
}

std::string RowCards::Answer(const std::string& written) const {
  std::string answer = WithKernelWords(written, words);
  for (const auto& [subject, veil] : veils) {
    answer = Veiled(std::move(answer), *subject, veil);
    if (subject->op != nullptr) answer = WithOperator(answer, subject->op->name, veil.function);
  }
  return answer;
}

NamedOperators RowCards::Named() const {
  NamedOperators named;
  for (const auto& [subject, veil] : veils)
    if (subject->op != nullptr) named[subject->op] = veil.function;
  if (composite) named[composite->invented.op.get()] = composite->invented.op->name;
  return named;
}

std::optional<RowCards> CardsOfRow(const CardDeck& deck, const synth::Corpus& corpus,
                                   const synth::SampledTask& task,
                                   const RowCardSettings& settings) {
  SplitMix64 rng(HashBytes(task.id, 41));
  if (rng.Uniform() >= settings.share) return std::nullopt;
  return RowWriter(deck, corpus, task, settings, &rng).Run();
}

}  // namespace davinci::teacher
