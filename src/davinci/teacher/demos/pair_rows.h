// Rows of the policy from generated tasks and the teacher's kernels, in any number: no judge has
// seen them, and they say so (Origin::judged). Their prompts are those that rollouts send
// (agent::BriefOf, StartConversation, BuildPolicyRequest). Pure: the same task and settings give
// the same row.
//
// Which skills a prompt shows is drawn by the task's id, so that a model learns to read them and
// not to count on them:
//   none | those of the answer | some of them | with others | others alone
// The answers to a share of the tasks (some_rules) follow half of the rules, and launches are
// drawn, too, both by the task's id; their prompts show skills of the answer alone. So a model
// learns what a technique is, and not when it pays.
//
// A prompt shows operator cards instead where cards/row_cards.h says so.
//
// A share of the tasks also gives a row of the Selection agent: it is shown what retrieval finds,
// as in rollouts (rollout/schemes.cc), and answers with the cards of the task's operators among it,
// the best match first, then with the skills of the teacher's rules. How many of the cards the
// library has is drawn, often few: a model that saw cards among cards alone takes none from a list
// of techniques. The cards of a policy's row come first.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/rng.h"
#include "davinci/sftdata/row.h"
#include "davinci/skill/skill.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/variation.h"
#include "davinci/teacher/cards/row_cards.h"
#include "davinci/teacher/demos/demo_rows.h"
#include "davinci/teacher/teacher.h"

namespace davinci::teacher {

struct PairSettings {
  Language language = Language::kTriton;
  ReplyForm reply = ReplyForm::kDelta;
  std::vector<std::string> devices;  // DescribeDevice()'s texts, of which a task gets one
  double with_skills = 0.15;         // share of prompts that show skills
  size_t reply_tokens = 2000;
  RowLimits limits;       // of the prompt; at most max_skills are shown
  double varied = 0.9;    // share of tasks that are written anew (synth/variation.h)
  double selections = 0;  // share of tasks with a row of the Selection agent
  // The skills that retrieval finds for a reference, best first, more than a selection is shown.
  // Threads call it at once.
  std::function<Result<std::vector<skill::Skill>>(const std::string& reference)> find = {};
  RowCardSettings cards = {};
  bool steps = false;  // prompts show steps (agent::TaskBrief)
  double plans = 0;    // share of these that show how the answer divides them into kernels
  // A task of more steps gets a row for each part (agent/step_parts.h), as rollouts ask for it
  // (policy.part_steps). 0: no task does.
  size_t part_steps = 0;
  RuleSet without = {};   // rules that no answer follows; no prompt shows their skills
  double some_rules = 0;  // share of tasks without cards whose answers follow half of the others
};

// A task that gets a row, generated or a user's.
struct PairTask {
  std::string id, family, split;
  const synth::Graph* graph = nullptr;
  const synth::RenderedTask* text = nullptr;  // what the candidate is made of
  std::string source, sidecar;                // what the model is shown
  std::string entry;                          // class or function of the reference
  std::string defines;                        // what the candidate defines; "": by the sidecar
  bool may_vary = true;
  std::optional<Steps> steps = {};  // none: the prompt shows the file
};
PairTask PairTaskOf(const synth::SampledTask& task);

struct PairRow {
  std::vector<sftdata::Row> rows;  // one, or one of each part of the task's steps
  std::optional<sftdata::Row> selection;
  std::string left_out;  // why there is none
};

// A maker may be shared by threads. What it is given by reference outlives it.
class PairMaker {
 public:
  PairMaker(const Teacher& teacher, const agent::PromptSet& prompts,
            const std::map<std::string, skill::Skill>& library, const synth::Corpus& corpus,
            PairSettings settings, const CardDeck* deck = nullptr);
  // An error is one of settings or prompts, which other tasks would meet, too.
  Result<PairRow> Make(const PairTask& task) const { return Make(task, nullptr); }
  Result<PairRow> Make(const synth::SampledTask& task) const;
  // Task, sidecar and answer of the row.
  synth::PairText Text(const PairTask& task, const Candidate& candidate) const;

 private:
  // `cards`: what the prompt shows in the place of skills; null: skills.
  Result<PairRow> Make(const PairTask& task, const RowCards* cards) const;
  // How an answer is written.
  struct Form {
    RuleSet rules;
    LaunchSettings launch;
    bool drawn = false;
  };
  Form FormOf(const std::string& id, const RowCards* cards) const;
  // What a row shows beside the task, and its answer.
  struct Piece {
    std::string steps, plan, answer;
  };
  std::vector<Piece> PiecesOf(const PairTask& task, const synth::PairText& text) const;
  // Adds a row of the policy, unless it is too long. `row` has its origin.
  Status AddRow(const agent::TaskBrief& brief, const std::vector<skill::Skill>& skills,
                const std::string& answer, sftdata::Row row, PairRow* made) const;
  Status AddSelection(const PairTask& task, const agent::TaskBrief& brief,
                      const Candidate& candidate, const RowCards* cards, const sftdata::Row& policy,
                      PairRow* made) const;
  // Returns what a selection is shown; `right` names the cards of the task's operators.
  Result<std::vector<skill::Skill>> Candidates(const std::string& reference,
                                               const std::set<std::string>& right,
                                               const RowCards* cards, SplitMix64* rng) const;
  const std::string& Device(const std::string& id) const;
  std::vector<skill::Skill> SkillsShown(const std::string& id, const Candidate& candidate,
                                        bool drawn) const;
  std::vector<skill::Skill> CardsShown(const RowCards& cards, const std::string& id,
                                       const Candidate& candidate) const;

  const Teacher& teacher_;
  const agent::PromptSet& prompts_;
  const std::map<std::string, skill::Skill>& library_;
  const synth::Corpus& corpus_;
  const PairSettings settings_;
  const CardDeck* const deck_;  // null: no prompt shows cards
  RuleSet rules_;
  std::vector<const skill::Skill*> fitting_;  // for the language, by name
};

// The sidecar of a generated task as its demonstrations are judged: a task whose class reads sizes
// from the file has no other shapes.
std::string DemoSidecar(const synth::RenderedTask& task);

}  // namespace davinci::teacher
