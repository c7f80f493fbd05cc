#include "davinci/teacher/demos/pair_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/agent/part_code.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/agent/step_parts.h"
#include "davinci/base/hash.h"
#include "davinci/base/rng.h"
#include "davinci/config/task_config.h"
#include "davinci/sftdata/example.h"
#include "davinci/teacher/candidate/step_answer.h"
#include "davinci/teacher/cards/card_text.h"
#include "davinci/teacher/cards/veil.h"

namespace davinci::teacher {
namespace {

davinci::Language PromptLanguage(Language language) {
  return language == Language::kCpp    ? davinci::Language::kCpp
         : language == Language::kCuda ? davinci::Language::kCuda
                                       : davinci::Language::kTriton;
}

constexpr size_t kAnyLength = size_t{1} << 20;  // lengths are checked here
constexpr double kOtherNumbers = 0.5;           // share of rows whose real numbers are others

// Real numbers of the graph become others of the same size: the grammar has a short list of them,
// and modules that people wrote have any.
void DrawNumbers(const std::string& id, synth::Graph* graph) {
  SplitMix64 rng(HashBytes(id, 53));
  if (rng.Uniform() >= kOtherNumbers) return;
  for (synth::Node& node : graph->nodes) {
    if (node.op == nullptr) continue;
    for (const synth::AttrSpec& attr : node.op->attrs) {
      const auto value = node.attrs.find(attr.name);
      if (attr.kind != synth::AttrSpec::Kind::kFloats || value == node.attrs.end()) continue;
      if (auto* number = std::get_if<double>(&value->second);
          number != nullptr && rng.Uniform() < kOtherNumbers)
        *number = OtherNumber(*number, &rng);
    }
  }
}

}  // namespace

std::string DemoSidecar(const synth::RenderedTask& task) {
  if (!task.parts.names_sizes) return task.sidecar;
  return task.sidecar.substr(0, task.sidecar.find("\n[[variants]]"));
}

PairMaker::PairMaker(const Teacher& teacher, const agent::PromptSet& prompts,
                     const std::map<std::string, skill::Skill>& library,
                     const synth::Corpus& corpus, PairSettings settings, const CardDeck* deck)
    : teacher_(teacher),
      prompts_(prompts),
      library_(library),
      corpus_(corpus),
      settings_(std::move(settings)),
      deck_(deck),
      rules_(RuleSet::Of(Level::kBest, settings_.language)) {
  rules_.Erase(settings_.without);
  for (const auto& [name, skill] : library_)
    if (std::any_of(Rules().begin(), Rules().end(), [&](const RuleInfo& rule) {
          return rule.skill == name && rule.languages.contains(settings_.language) &&
                 !settings_.without.Contains(rule.rule);
        }))
      fitting_.push_back(&skill);
}

PairMaker::Form PairMaker::FormOf(const std::string& id, const RowCards* cards) const {
  Form form{rules_, {}};
  if (cards != nullptr) form = {cards->rules, cards->launch};
  SplitMix64 rng(HashBytes(id, 61));
  if (rng.Uniform() >= settings_.some_rules) return form;
  form.drawn = true;
  std::map<std::string_view, bool> follows;  // by skill: one may stand for several rules
  for (const RuleInfo& rule : Rules()) {
    const auto [skill, is_new] = follows.try_emplace(rule.skill);
    if (is_new) skill->second = rng.Uniform() < 0.5;
    if (!skill->second && (cards == nullptr || !cards->shown.Contains(rule.rule)))
      form.rules.Erase(rule.rule);
  }
  if (cards != nullptr) return form;  // launches are those of the cards, too
  const auto factor = [&](int most) {
    return std::exp2(static_cast<double>(rng.Below(2 * static_cast<uint64_t>(most) + 1)) - most);
  };
  form.launch = {.warps = factor(1), .block = factor(2), .tile = factor(1), .parallel = factor(2)};
  return form;
}

std::vector<skill::Skill> PairMaker::SkillsShown(const std::string& id, const Candidate& candidate,
                                                 bool drawn) const {
  SplitMix64 rng(HashBytes(id, 17));
  std::vector<const skill::Skill*> own, others;
  for (const skill::Skill* skill : fitting_)
    (candidate.skills.contains(skill->name) ? own : others).push_back(skill);
  const auto shuffle = [&](auto* list) {
    for (size_t i = list->size(); i > 1; --i) std::swap((*list)[i - 1], (*list)[rng.Below(i)]);
  };
  shuffle(&own);
  shuffle(&others);
  std::vector<skill::Skill> shown;
  if (rng.Uniform() >= settings_.with_skills) return shown;
  const size_t most = settings_.limits.max_skills;
  const double kind = rng.Uniform();
  size_t own_count = std::min(own.size(), most), other_count = 0;
  if (drawn) {
    own_count = std::min<size_t>(own_count, 1 + rng.Below(most));
  } else if (kind < 0.4) {  // those of the answer
  } else if (kind < 0.55) {
    own_count = std::min<size_t>(own_count, 1);
  } else if (kind < 0.8) {
    own_count = std::min<size_t>(own_count, most > 1 ? most - 1 : most);
    other_count = most - own_count;
  } else {
    own_count = 0;
    other_count = 1 + rng.Below(most);
  }
  for (size_t i = 0; i < own_count; ++i) shown.push_back(*own[i]);
  for (size_t i = 0; i < std::min(other_count, others.size()); ++i) shown.push_back(*others[i]);
  shuffle(&shown);
  return shown;
}

// Cards, and in a share of the prompts with room for it a skill of the answer: selections choose
// both.
std::vector<skill::Skill> PairMaker::CardsShown(const RowCards& cards, const std::string& id,
                                                const Candidate& candidate) const {
  constexpr double kWithSkill = 0.25;
  std::vector<skill::Skill> shown = cards.cards;
  SplitMix64 rng(HashBytes(id, 43));
  if (rng.Uniform() >= kWithSkill || shown.size() >= settings_.limits.max_skills) return shown;
  std::vector<const skill::Skill*> own;
  for (const skill::Skill* skill : fitting_)
    if (candidate.skills.contains(skill->name)) own.push_back(skill);
  if (!own.empty())
    shown.insert(rng.Below(2) == 0 ? shown.begin() : shown.end(), *own[rng.Below(own.size())]);
  return shown;
}

const std::string& PairMaker::Device(const std::string& id) const {
  static const std::string none;
  const auto& devices = settings_.devices;
  return devices.empty() ? none : devices[HashBytes(id, 31) % devices.size()];
}

PairTask PairTaskOf(const synth::SampledTask& task) {
  PairTask made;
  made.id = task.id;
  made.family = task.graph.pattern->family;
  made.split = synth::SplitName(task.split);
  made.graph = &task.graph;
  made.text = &task.text;
  made.source = task.text.source;
  made.sidecar = DemoSidecar(task.text);
  made.entry = task.text.entry;
  return made;
}

synth::PairText PairMaker::Text(const PairTask& task, const Candidate& candidate) const {
  synth::PairText pair{task.source, task.sidecar, candidate.source, task.entry,
                       task.steps ? task.steps->text : ""};
  SplitMix64 rng(HashBytes(task.id, 29));
  if (rng.Uniform() >= settings_.varied || !task.may_vary) return pair;
  return synth::Varied(corpus_, std::move(pair), rng.Next());
}

std::vector<PairMaker::Piece> PairMaker::PiecesOf(const PairTask& task,
                                                  const synth::PairText& text) const {
  const std::string plan = PlanOf(text.answer);
  std::vector<Piece> pieces;
  for (const agent::StepPart& part : agent::PartsOf(text.steps, plan, settings_.part_steps)) {
    pieces.push_back({part.steps, part.plan, agent::CodeOfPart(text.answer, part)});
    if (!pieces.back().answer.empty()) continue;
    pieces.clear();
    break;
  }
  if (!pieces.empty()) return pieces;
  SplitMix64 rng(HashBytes(task.id, 59));
  return {{text.steps, rng.Uniform() < settings_.plans ? plan : "", text.answer}};
}

Result<std::vector<skill::Skill>> PairMaker::Candidates(const std::string& reference,
                                                        const std::set<std::string>& right,
                                                        const RowCards* cards,
                                                        SplitMix64* rng) const {
  // Shares of right cards, and of the best matches among others, that the library has. The latter
  // are of relatives, as pixel_shuffle is one of pixel_unshuffle.
  constexpr double kRightCard = 0.8, kRelative = 0.5;
  constexpr int kRelatives = 2;
  DAVINCI_ASSIGN_OR_RETURN(std::vector<skill::Skill> found, settings_.find(reference));
  const auto own = cards == nullptr ? std::vector<skill::Skill>() : cards->cards;
  const double others = std::pow(rng->Uniform(), 3);
  int relatives = 0;
  const auto share = [&](const std::string& card) {
    if (right.contains(card)) return kRightCard;
    return relatives++ < kRelatives ? std::max(kRelative, others) : others;
  };
  std::erase_if(found, [&](const skill::Skill& skill) {
    if (std::ranges::find(own, skill.name, &skill::Skill::name) != own.end()) return true;
    return skill.IsCard() && rng->Uniform() >= share(skill.name);
  });
  found.insert(found.begin(), own.begin(), own.end());
  if (std::ssize(found) > agent::kNumCandidates)
    found.erase(found.begin() + agent::kNumCandidates, found.end());
  return found;
}

Status PairMaker::AddSelection(const PairTask& task, const agent::TaskBrief& brief,
                               const Candidate& candidate, const RowCards* cards,
                               const sftdata::Row& policy, PairRow* made) const {
  SplitMix64 rng(HashBytes(brief.id, 37));
  if (rng.Uniform() >= settings_.selections || !settings_.find) return Status::Ok();
  std::set<std::string> right;
  if (cards != nullptr) {
    right = cards->right;
  } else {
    for (const std::string& name : OperatorsOf(*task.graph)) right.insert(CardName(name));
    if (task.graph->pattern != nullptr) right.insert(CardName(task.graph->pattern->name));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto shown, Candidates(brief.reference, right, cards, &rng));
  if (shown.empty()) return Status::Ok();
  std::vector<std::string> chosen, helped;
  for (const skill::Skill& skill : shown) {
    const bool card = skill.IsCard();
    if (card && right.contains(skill.name)) chosen.push_back(skill.name);
    if (!card && candidate.skills.contains(skill.name)) helped.push_back(skill.name);
  }
  OrderByGain(settings_.limits.gains, &helped);
  chosen.insert(chosen.end(), helped.begin(), helped.end());
  const int most = settings_.limits.selected;
  if (std::ssize(chosen) > most) chosen.resize(static_cast<size_t>(most));
  DAVINCI_ASSIGN_OR_RETURN(sftdata::Row row,
                           SelectionRow(prompts_, brief, Device(brief.id), shown, chosen, most));
  if (PromptTokens(row, settings_.limits) > static_cast<int64_t>(settings_.limits.selection_tokens))
    return Status::Ok();
  row.enable_thinking = false;
  const std::vector<std::string> skills = std::move(row.origin.skills);
  row.origin = policy.origin;
  row.origin.id = brief.id + ".selection";
  row.origin.skills = skills;
  made->selection = std::move(row);
  return Status::Ok();
}

Result<PairRow> PairMaker::Make(const synth::SampledTask& task) const {
  const std::optional<RowCards> cards =
      deck_ == nullptr ? std::nullopt : CardsOfRow(*deck_, corpus_, task, settings_.cards);
  synth::SampledTask shown = cards ? cards->task : task;
  if (settings_.steps && !cards) DrawNumbers(task.id, &shown.graph);
  PairTask made = PairTaskOf(shown);
  if (settings_.steps) {
    DAVINCI_ASSIGN_OR_RETURN(made.steps,
                             teacher_.StepsOf(*made.graph, *made.text, settings_.language,
                                              cards ? cards->Named() : NamedOperators()));
  }
  return Make(made, cards ? &*cards : nullptr);
}

Status PairMaker::AddRow(const agent::TaskBrief& brief, const std::vector<skill::Skill>& skills,
                         const std::string& answer, sftdata::Row row, PairRow* made) const {
  DAVINCI_ASSIGN_OR_RETURN(const agent::Conversation conversation,
                           agent::StartConversation(prompts_, brief, Device(brief.id), skills));
  DAVINCI_ASSIGN_OR_RETURN(const llm::Request request,
                           agent::BuildPolicyRequest(conversation, kAnyLength));
  const auto count = settings_.limits.count_tokens;
  int64_t tokens = 0;
  for (const llm::Message& message : request.messages) {
    row.messages.push_back({std::string(llm::RoleName(message.role)), message.content});
    tokens += count(message.content) + llm::kMessageOverheadTokens;
  }
  const std::string reply = "```python\n" + answer + "```";
  const bool long_reply = count(reply) > static_cast<int64_t>(settings_.reply_tokens);
  if (long_reply || tokens > static_cast<int64_t>(settings_.limits.policy_tokens)) {
    made->left_out = long_reply ? "the reply is too long" : "the prompt is too long";
    return Status::Ok();
  }
  row.messages.push_back({"assistant", reply});
  row.messages.back().weight = 1;
  made->rows.push_back(std::move(row));
  return Status::Ok();
}

Result<PairRow> PairMaker::Make(const PairTask& task, const RowCards* cards) const {
  PairRow made;
  const Form form = FormOf(task.id, cards);
  auto candidate =
      teacher_.Write(*task.graph, *task.text, settings_.language, form.rules,
                     {settings_.reply, task.steps ? &*task.steps : nullptr}, form.launch);
  if (!candidate.ok()) {
    made.left_out = candidate.status().message();
    return made;
  }
  if (candidate->own_kernels == 0) {
    made.left_out = "no own kernel";
    return made;
  }
  if (cards) candidate->source = cards->Answer(candidate->source);
  const synth::PairText text = Text(task, *candidate);
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           config::ParseTaskConfig(text.sidecar, task.id + ".toml"));
  const Target target = settings_.language == Language::kCpp ? Target::kCpu : Target::kCuda;
  agent::TaskBrief brief =
      agent::BriefOf(config, target, PromptLanguage(settings_.language), settings_.reply);
  brief.id = task.id;
  brief.reference = text.task;
  if (!task.defines.empty()) brief.class_name = task.defines;
  const auto skills = cards ? CardsShown(*cards, task.id, *candidate)
                            : SkillsShown(task.id, *candidate, form.drawn);
  sftdata::Row row;  // without messages
  row.enable_thinking = false;
  row.origin.task = task.id;
  row.origin.family = task.family;
  row.origin.entry_point = brief.entry;
  row.origin.split = task.split;
  const std::set<std::string> rules = candidate->rules.Names();
  row.origin.rules.assign(rules.begin(), rules.end());
  for (const skill::Skill& skill : skills) row.origin.skills.push_back(skill.name);
  row.origin.judged = false;
  const std::vector<Piece> pieces = PiecesOf(task, text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    brief.steps = pieces[i].steps;
    brief.plan = pieces[i].plan;
    row.origin.id =
        fmt::format("{}{}.policy", task.id, pieces.size() > 1 ? fmt::format(".part{}", i + 1) : "");
    DAVINCI_RETURN_IF_ERROR(AddRow(brief, skills, pieces[i].answer, row, &made));
  }
  if (!made.rows.empty()) {
    brief.steps = text.steps;
    brief.plan.clear();
    DAVINCI_RETURN_IF_ERROR(AddSelection(task, brief, *candidate, cards, made.rows[0], &made));
  }
  return made;
}

}  // namespace davinci::teacher
