// Operator cards: skills of scope "operator/NAME" that say what an operator of PyTorch computes,
// with a template of its kernel, short enough for a small model's prompt. They are made from the
// grammar and the teacher, never by hand: the operator's minimal module and the teacher's kernel
// for it. docs/skills.md says where they are used, docs/synth.md how rows of training vary them.
//
// A deck makes subjects on demand and keeps them; threads may share it. What it is given by
// reference outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "davinci/skill/skill.h"
#include "davinci/teacher/cards/card_subject.h"
#include "davinci/teacher/cards/veil.h"
#include "davinci/teacher/teacher.h"

namespace davinci::teacher {

// Tokens of a card as a prompt shows it, by the estimate of llm/token_count.h.
inline constexpr int64_t kMostCardTokens = 400;

enum class CardFamilies { kTrain, kHeldOut, kAll };

struct CardSettings {
  Language language = Language::kTriton;
  ReplyForm reply = ReplyForm::kDelta;
  CardFamilies families = CardFamilies::kAll;
  RuleSet without = {};  // rules that no kernel of a card follows
  bool steps = false;    // examples are replies beside steps (semantics/steps.h)
};

// How the kernel of a card is written, and what is veiled.
struct CardForm {
  RuleSet rules;
  LaunchSettings launch;
  const Veil* veil = nullptr;  // of the subject
};

struct Card {
  skill::Skill skill;
  Candidate candidate;         // of the minimal module
  synth::SampledTask task;     // which is it
  std::optional<Steps> steps;  // of the task, where the example is in their names
};

// Are two sizes of an input equal? A kernel does not show then which is which.
bool HasEqualSizes(const synth::Graph& graph);

class CardDeck {
 public:
  CardDeck(const synth::Grammar& grammar, const synth::StyleBook& styles, const Teacher& teacher,
           CardSettings settings);
  ~CardDeck();

  // Names of operators and patterns that may have a card.
  const std::vector<std::string>& names() const { return names_; }
  // Null: it has no card: no kernel of its own, or one that is too long.
  const CardSubject* Find(const std::string& name) const;
  // The result is empty where this form has no kernel, or one that is too long.
  std::optional<Card> Write(const CardSubject& subject, const CardForm& form) const;
  // The form without variation.
  CardForm Plain() const {
    CardForm form{RuleSet::Of(Level::kBest, settings_.language), {}, nullptr};
    form.rules.Erase(settings_.without);
    return form;
  }
  const CardSettings& settings() const { return settings_; }
  const synth::Grammar& grammar() const { return grammar_; }
  const synth::StyleBook& styles() const { return styles_; }
  // Does the module have an operator of a held-out family, or a call of one in another's spelling?
  bool ShowsHeldOut(const CardSubject& subject) const;

 private:
  struct Place {
    std::once_flag made;
    std::optional<CardSubject> subject;
  };
  std::optional<CardSubject> Shortest(const std::string& name) const;

  const synth::Grammar& grammar_;
  const synth::StyleBook& styles_;
  const Teacher& teacher_;
  const CardSettings settings_;
  std::vector<std::string> names_;
  std::vector<std::string> held_out_calls_;  // "F.cosine_similarity("
  std::map<std::string, std::unique_ptr<Place>, std::less<>> places_;
};

}  // namespace davinci::teacher
