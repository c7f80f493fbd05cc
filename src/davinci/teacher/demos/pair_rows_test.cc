#include "davinci/teacher/demos/pair_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/agent/policy_agent.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/config/task_config.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/library.h"
#include "davinci/teacher/cards/card_text.h"

namespace davinci::teacher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kRoot = DAVINCI_SOURCE_DIR;

struct World {
  synth::Grammar grammar = synth::LoadGrammar(kRoot / "synth").value();
  synth::StyleBook styles = synth::LoadStyles(kRoot / "synth").value();
  synth::Corpus corpus = synth::LoadCorpus(kRoot / "synth").value();
  Teacher teacher = Teacher::Load(kRoot / "synth").value();
  agent::PromptSet prompts =
      agent::PromptSet::Load(kRoot / "prompts", kRoot / "prompts/compact").value();
  std::map<std::string, skill::Skill> library;
};

const World& TheWorld() {
  static const World* world = [] {
    auto* made = new World;
    const auto read = skill::ReadSkills(kRoot / "skills");
    for (const auto& document : read->documents)
      made->library[document.skill.name] = document.skill;
    return made;
  }();
  return *world;
}

std::vector<synth::SampledTask> Sampled(size_t count, uint64_t first = 0) {
  synth::SampleOptions options;
  options.count = count;
  options.seed = 5;
  options.first = first;
  std::vector<synth::SampledTask> tasks;
  EXPECT_TRUE(synth::SampleTasks(TheWorld().grammar, TheWorld().styles, options,
                                 [&](const synth::SampledTask& task) {
                                   tasks.push_back(task);
                                   return Status::Ok();
                                 })
                  .ok());
  return tasks;
}

PairMaker Maker(const PairSettings& settings) {
  const World& world = TheWorld();
  return PairMaker(world.teacher, world.prompts, world.library, world.corpus, settings);
}

// The skills that the prompt of a selection lists.
std::vector<std::string> Shown(const sftdata::Row& selection) {
  const auto& arguments = selection.tools.at(0).parameters.at("properties");
  return arguments.at("selected_skills")["items"]["properties"]["name"]["enum"];
}

// The request that a rollout sends for a task's file and sidecar.
llm::Request Sent(const synth::PairText& text, Language language, ReplyForm reply,
                  const std::vector<skill::Skill>& skills) {
  const auto config = config::ParseTaskConfig(text.sidecar, "task.toml").value();
  const bool cpp = language == Language::kCpp;
  agent::TaskBrief brief =
      agent::BriefOf(config, cpp ? Target::kCpu : Target::kCuda,
                     cpp                           ? davinci::Language::kCpp
                     : language == Language::kCuda ? davinci::Language::kCuda
                                                   : davinci::Language::kTriton,
                     reply);
  brief.reference = text.task;
  const auto conversation =
      agent::StartConversation(TheWorld().prompts, brief, "A device.", skills).value();
  return agent::BuildPolicyRequest(conversation, 1 << 20).value();
}

TEST(PairRows, PromptsAreThoseThatRolloutsSend) {
  for (const auto& [language, reply] : {std::pair{Language::kTriton, ReplyForm::kDelta},
                                        {Language::kTriton, ReplyForm::kFile},
                                        {Language::kCpp, ReplyForm::kFile},
                                        {Language::kCuda, ReplyForm::kFile}}) {
    PairSettings settings;
    settings.language = language;
    settings.reply = reply;
    settings.with_skills = 0;
    settings.reply_tokens = 100000;
    settings.devices = {"A device."};
    const PairMaker maker = Maker(settings);
    size_t made = 0, half = 0, shapes = 0;
    for (const auto& task : Sampled(60)) {
      const auto row = maker.Make(task).value();
      if (row.rows.empty()) continue;
      ++made;
      const auto candidate = TheWorld().teacher.Write(task.graph, task.text, language,
                                                      RuleSet::Of(Level::kBest, language), reply);
      const synth::PairText text = maker.Text(PairTaskOf(task), *candidate);
      const auto config = config::ParseTaskConfig(text.sidecar, "task.toml").value();
      const llm::Request asked = Sent(text, language, reply, {});
      ASSERT_EQ(row.rows[0].messages.size(), 3u);
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ(row.rows[0].messages[i].content, asked.messages[i].content);
      EXPECT_THAT(row.rows[0].messages[0].content,
                  HasSubstr(task.graph.precision == synth::Precision::kFp32   ? "fp32"
                            : task.graph.precision == synth::Precision::kFp16 ? "fp16"
                                                                              : "bf16"));
      EXPECT_THAT(row.rows[0].messages[0].content, HasSubstr("A device."));
      half += task.graph.precision != synth::Precision::kFp32;
      const bool told =
          row.rows[0].messages[1].content.find("Other shapes are checked") != std::string::npos;
      EXPECT_EQ(told, !config.variants.empty());
      shapes += told;
    }
    EXPECT_GT(made, 15u);
    EXPECT_GT(shapes, 0u);
    if (language == Language::kTriton) {
      EXPECT_GT(half, 0u);
    }
  }
}

TEST(PairRows, CardsAreShownAsRolloutsShowThemFromTheirLibrary) {
  const World& world = TheWorld();
  const CardDeck deck(world.grammar, world.styles, world.teacher,
                      {Language::kTriton, ReplyForm::kDelta, CardFamilies::kTrain});
  PairSettings settings;
  settings.cards.share = 1;
  settings.devices = {"A device."};
  const PairMaker maker(world.teacher, world.prompts, world.library, world.corpus, settings, &deck);
  size_t made = 0, with_skill = 0;
  for (const auto& task : Sampled(60)) {
    const auto row = maker.Make(task).value();
    const auto shown = CardsOfRow(deck, world.corpus, task, settings.cards);
    if (row.rows.empty() || !shown) continue;
    ++made;
    auto candidate = world.teacher
                         .Write(shown->task.graph, shown->task.text, Language::kTriton,
                                shown->rules, ReplyForm::kDelta, shown->launch)
                         .value();
    candidate.source = shown->Answer(candidate.source);
    const synth::PairText text = maker.Text(PairTaskOf(shown->task), candidate);
    const auto library = skill::Library::OpenInMemory({}).value();
    std::vector<skill::Record> records(shown->cards.size());
    for (size_t i = 0; i < records.size(); ++i) records[i].skill = shown->cards[i];
    for (const auto& [name, skill] : world.library)
      if (candidate.skills.contains(name)) records.emplace_back().skill = skill;
    ASSERT_TRUE(library->AddExactly(records).ok());
    std::vector<skill::Skill> skills;
    for (const std::string& name : row.rows[0].origin.skills)
      skills.push_back(library->Get(name).value()->skill);
    const llm::Request asked = Sent(text, Language::kTriton, ReplyForm::kDelta, skills);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(row.rows[0].messages[i].content, asked.messages[i].content);
    EXPECT_THAT(row.rows[0].messages[1].content, HasSubstr("scope: operator/"));
    EXPECT_LE(skills.size(), settings.limits.max_skills);
    with_skill += skills.size() > shown->cards.size();
    EXPECT_EQ(row.rows[0].messages[2].content, "```python\n" + text.answer + "```");
  }
  EXPECT_GT(made, 30u);
  EXPECT_GT(with_skill, 2u);
}

TEST(PairRows, RulesThatAreLeftOutShowInNeitherAnswersNorPrompts) {
  const World& world = TheWorld();
  PairSettings settings;
  settings.with_skills = 1;
  settings.without = {Rule::kFusePointwise, Rule::kReplayGraph, Rule::kDirectLaunch};
  const std::set<std::string> left_out = settings.without.Skills();
  ASSERT_EQ(left_out.size(), 3u);
  const CardDeck deck(
      world.grammar, world.styles, world.teacher,
      {Language::kTriton, ReplyForm::kDelta, CardFamilies::kTrain, settings.without});
  for (const double share : {0.0, 1.0}) {
    settings.cards.share = share;
    const PairMaker maker(world.teacher, world.prompts, world.library, world.corpus, settings,
                          &deck);
    size_t made = 0;
    for (const auto& task : Sampled(60)) {
      const auto row = maker.Make(task).value();
      if (row.rows.empty()) continue;
      ++made;
      for (const std::string& rule : row.rows[0].origin.rules)
        EXPECT_FALSE(settings.without.Names().contains(rule)) << rule;
      for (const std::string& name : row.rows[0].origin.skills)
        EXPECT_FALSE(left_out.contains(name)) << name;
      for (const auto& message : row.rows[0].messages)
        EXPECT_THAT(message.content, Not(HasSubstr("@replay")));
    }
    EXPECT_GT(made, 20u);
  }
}

TEST(PairRows, SomeRulesAreDrawnByTheTaskAndPromptsShowTheirSkillsAlone) {
  const World& world = TheWorld();
  PairSettings settings;
  settings.with_skills = 1;
  settings.reply_tokens = 100000;
  settings.limits.policy_tokens = 100000;
  settings.varied = 0;
  settings.some_rules = 1;
  const PairMaker maker = Maker(settings);
  std::map<std::string, size_t> with, without;  // by rule: answers that could follow it
  size_t shown = 0, estimated = 0, drawn = 0;   // launches as the estimate says, and others
  for (const auto& task : Sampled(200)) {
    const auto row = maker.Make(task).value();
    if (row.rows.empty()) continue;
    EXPECT_EQ(maker.Make(task).value().rows[0].messages[2].content,
              row.rows[0].messages[2].content);
    const auto best = world.teacher
                          .Write(task.graph, task.text, Language::kTriton,
                                 RuleSet::Of(Level::kBest, Language::kTriton), ReplyForm::kDelta)
                          .value();
    const std::vector<std::string>& follows = row.rows[0].origin.rules;
    for (const std::string& rule : best.rules.Names())
      ++(std::find(follows.begin(), follows.end(), rule) != follows.end() ? with : without)[rule];
    RuleSet followed;
    for (const std::string& rule : follows) followed.Insert(*RuleNamed(rule));
    for (const std::string& name : row.rows[0].origin.skills)
      EXPECT_TRUE(followed.Skills().contains(name)) << name;
    shown += !row.rows[0].origin.skills.empty();
    const auto by_estimate =
        world.teacher.Write(task.graph, task.text, Language::kTriton, followed, ReplyForm::kDelta)
            .value();
    const std::string& answer = row.rows[0].messages[2].content;
    ++(answer == "```python\n" + by_estimate.source + "```" ? estimated : drawn);
  }
  for (const char* rule : {"fuse_pointwise", "direct_launch", "replay_graph", "many_rows"}) {
    EXPECT_GT(with[rule], 5u) << rule;
    EXPECT_GT(without[rule], 5u) << rule;
  }
  EXPECT_GT(shown, 50u);
  EXPECT_GT(estimated, 5u);
  EXPECT_GT(drawn, 30u);
}

TEST(PairRows, SomeRulesAreDrawnBesideCardsToo) {
  const World& world = TheWorld();
  const CardDeck deck(world.grammar, world.styles, world.teacher,
                      {Language::kTriton, ReplyForm::kDelta, CardFamilies::kTrain});
  PairSettings settings;
  settings.cards.share = 1;
  settings.reply_tokens = 100000;
  settings.limits.policy_tokens = 100000;
  const auto maker = [&](double some_rules) {
    settings.some_rules = some_rules;
    return PairMaker(world.teacher, world.prompts, world.library, world.corpus, settings, &deck);
  };
  const PairMaker drawn = maker(1), best = maker(0);
  std::map<std::string, size_t> with, without;
  size_t kept = 0, lost = 0;  // rules that a card follows
  for (const auto& task : Sampled(80)) {
    const auto cards = CardsOfRow(deck, world.corpus, task, settings.cards);
    const auto row = drawn.Make(task).value(), usual = best.Make(task).value();
    if (row.rows.empty() || usual.rows.empty() || !cards) continue;
    const std::vector<std::string>& follows = row.rows[0].origin.rules;
    const std::set<std::string> followed(follows.begin(), follows.end());
    for (const std::string& rule : usual.rows[0].origin.rules) {
      ++(followed.contains(rule) ? with : without)[rule];
      if (cards->shown.Names().contains(rule)) ++(followed.contains(rule) ? kept : lost);
    }
  }
  for (const char* rule : {"direct_launch", "replay_graph", "fuse_pointwise"}) {
    EXPECT_GT(with[rule], 3u) << rule;
    EXPECT_GT(without[rule], 3u) << rule;
  }
  EXPECT_GT(kept, 20u);
  EXPECT_LE(lost, 2u);  // some need another rule, which may be left out
}

TEST(PairRows, SelectionNamesTheCardsOfTheTasksOperatorsFirst) {
  const World& world = TheWorld();
  const CardDeck deck(world.grammar, world.styles, world.teacher,
                      {Language::kTriton, ReplyForm::kDelta, CardFamilies::kTrain});
  std::vector<skill::Skill> cards;
  for (const char* name :
       {"relu", "gelu", "softmax", "layer_norm", "linear", "conv2d", "add", "mul", "sum", "mean"})
    if (const CardSubject* subject = deck.Find(name))
      if (const auto card = deck.Write(*subject, deck.Plain())) cards.push_back(card->skill);
  ASSERT_GT(cards.size(), 4u);
  PairSettings settings;
  settings.selections = 1;
  settings.limits.selected = 2;
  settings.limits.selection_tokens = 100000;
  settings.find = [&](const std::string&) -> Result<std::vector<skill::Skill>> {
    std::vector<skill::Skill> shown = cards;
    for (const auto& [name, skill] : world.library) shown.push_back(skill);
    return shown;
  };
  const PairMaker maker = Maker(settings);
  size_t with_card = 0, with_both = 0;
  for (const auto& task : Sampled(120)) {
    const auto made = maker.Make(task).value();
    if (!made.selection) continue;
    std::set<std::string> operators;
    for (const synth::Node& node : task.graph.nodes) operators.insert(CardName(node.op->name));
    std::vector<std::string> right;
    for (const std::string& name : Shown(*made.selection))
      if (operators.contains(name)) right.push_back(name);
    right.resize(std::min<size_t>(right.size(), 2));
    const std::vector<std::string>& chosen = made.selection->origin.skills;
    ASSERT_LE(chosen.size(), 2u);
    ASSERT_GE(chosen.size(), right.size());
    EXPECT_TRUE(std::equal(right.begin(), right.end(), chosen.begin()));
    EXPECT_THAT(made.selection->messages[0].content, HasSubstr("at most 2 skills"));
    with_card += !right.empty();
    with_both += right.size() == 1 && chosen.size() == 2;
  }
  EXPECT_GT(with_card, 10u);
  EXPECT_GT(with_both, 2u);
}

// A library of few cards: one among techniques is taken as one among cards is, and the card of an
// invented operator as one of a known operator. The best matches of other operators stay more often
// than the other cards.
TEST(PairRows, SelectionChoosesACardAmongTechniques) {
  const World& world = TheWorld();
  const CardDeck deck(world.grammar, world.styles, world.teacher,
                      {Language::kTriton, ReplyForm::kDelta, CardFamilies::kTrain});
  std::vector<skill::Skill> found;
  for (const std::string& name : deck.names()) {
    if (found.size() == 30) break;
    if (const CardSubject* subject = deck.Find(name))
      if (const auto card = deck.Write(*subject, deck.Plain())) found.push_back(card->skill);
  }
  for (const auto& [name, skill] : world.library) found.push_back(skill);
  PairSettings settings;
  settings.selections = 1;
  settings.cards.share = 0.5;
  settings.limits.selection_tokens = 100000;
  settings.reply_tokens = 100000;
  settings.limits.policy_tokens = 100000;
  settings.find = [&](const std::string&) -> Result<std::vector<skill::Skill>> { return found; };
  const PairMaker maker(world.teacher, world.prompts, world.library, world.corpus, settings, &deck);
  const auto is_technique = [&](const std::string& name) { return world.library.contains(name); };
  size_t few = 0, many = 0, invented = 0, not_right = 0, relatives = 0, strangers = 0;
  for (const auto& task : Sampled(150)) {
    const auto made = maker.Make(task).value();
    if (!made.selection) continue;
    const std::vector<std::string> shown = Shown(*made.selection);
    relatives +=
        std::ranges::count(shown, found[0].name) + std::ranges::count(shown, found[1].name);
    strangers +=
        std::ranges::count(shown, found[8].name) + std::ranges::count(shown, found[9].name);
    ASSERT_LE(std::ssize(shown), agent::kNumCandidates);
    const auto cards = std::ssize(shown) - std::ranges::count_if(shown, is_technique);
    const std::vector<std::string>& chosen = made.selection->origin.skills;
    if (const auto row = CardsOfRow(deck, world.corpus, task, settings.cards)) {
      for (const std::string& name : row->right)
        EXPECT_THAT(chosen, testing::Contains(name)) << task.id;
      invented += row->right.size();
      not_right += row->right.empty();
    } else if (!chosen.empty() && !is_technique(chosen[0])) {
      (2 * cards < std::ssize(shown) ? few : many) += 1;
    }
  }
  for (const size_t count : {few, many, invented, not_right}) EXPECT_GT(count, 4u);
  EXPECT_GT(relatives, strangers + strangers / 4);
}

TEST(PairRows, SkillsOfPromptsAreOftenNotThoseOfTheAnswer) {
  PairSettings settings;
  settings.with_skills = 0.8;
  settings.reply_tokens = 100000;
  settings.limits.policy_tokens = 100000;
  const PairMaker maker = Maker(settings);
  size_t none = 0, all = 0, some = 0, wrong = 0, more = 0;
  for (const auto& task : Sampled(250)) {
    const auto row = maker.Make(task).value();
    if (row.rows.empty()) continue;
    const auto candidate =
        TheWorld()
            .teacher
            .Write(task.graph, task.text, Language::kTriton,
                   RuleSet::Of(Level::kBest, Language::kTriton), ReplyForm::kDelta)
            .value();
    const auto& shown = row.rows[0].origin.skills;
    size_t own = 0;
    for (const std::string& name : shown) own += candidate.skills.contains(name);
    none += shown.empty();
    all += !shown.empty() && own == candidate.skills.size() && own == shown.size();
    some += own > 0 && own < candidate.skills.size() && own == shown.size();
    more += own > 0 && own < shown.size();
    wrong += !shown.empty() && own == 0;
    EXPECT_EQ(row.rows[0].origin.judged, false);
  }
  for (const size_t count : {none, all, some, more, wrong}) EXPECT_GT(count, 4u);
}

TEST(PairRows, SelectionIsAskedWithWhatRetrievalFindsAndNamesTheRulesSkills) {
  PairSettings settings;
  settings.selections = 1;
  settings.with_skills = 0;
  settings.reply_tokens = 100000;
  settings.limits.selection_tokens = 100000;
  std::vector<skill::Skill> all;
  for (const auto& [name, skill] : TheWorld().library) all.push_back(skill);
  // Ten that differ from task to task.
  const auto found = [&](const std::string& reference) {
    std::vector<skill::Skill> skills;
    for (size_t i = 0; i < all.size(); ++i)
      if ((reference.size() + i) % 7 == 0) skills.push_back(all[i]);
    return skills;
  };
  settings.find = [&](const std::string& reference) -> Result<std::vector<skill::Skill>> {
    return found(reference);
  };
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 2 == 0) settings.limits.gains[all[i].name] = 1.0 + static_cast<double>(i % 5);
  const PairMaker maker = Maker(settings);
  size_t none = 0, some = 0;
  for (const auto& task : Sampled(150)) {
    const auto made = maker.Make(task).value();
    if (made.rows.empty()) continue;
    ASSERT_TRUE(made.selection.has_value());
    const sftdata::Row& row = *made.selection;
    const auto candidate =
        TheWorld().teacher.Write(task.graph, task.text, Language::kTriton,
                                 RuleSet::Of(Level::kBest, Language::kTriton), ReplyForm::kDelta);
    const synth::PairText text = maker.Text(PairTaskOf(task), *candidate);
    const auto config = config::ParseTaskConfig(text.sidecar, "task.toml").value();
    agent::TaskBrief brief =
        agent::BriefOf(config, Target::kCuda, davinci::Language::kTriton, ReplyForm::kDelta);
    brief.reference = text.task;
    const auto shown = found(text.task);
    const auto asked = agent::BuildSelectionRequest(TheWorld().prompts, brief, "", shown).value();
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(row.messages[i].content, asked.messages[i].content);
    EXPECT_EQ(row.tools[0].name, asked.tools[0].name);
    // The answer: skills of the rules that are shown, of more gain first.
    double before = 100;
    size_t fitting = 0;
    for (const auto& skill : shown) fitting += candidate->skills.contains(skill.name);
    EXPECT_EQ(row.origin.skills.size(), std::min<size_t>(fitting, 3));
    for (const std::string& name : row.origin.skills) {
      EXPECT_TRUE(candidate->skills.contains(name));
      const auto gain = settings.limits.gains.find(name);
      const double now = gain == settings.limits.gains.end() ? 0 : gain->second;
      EXPECT_LE(now, before);
      before = now;
    }
    llm::Reply reply;
    reply.tool_calls = {
        {"", row.messages.back().tool_calls[0].name, row.messages.back().tool_calls[0].arguments}};
    const auto reading = agent::ReadSelection(reply, shown);
    EXPECT_FALSE(reading.error.has_value());
    EXPECT_EQ(reading.scheme.skills, row.origin.skills);
    EXPECT_EQ(row.origin.judged, false);
    (row.origin.skills.empty() ? none : some) += 1;
  }
  EXPECT_GT(none, 5u);
  EXPECT_GT(some, 5u);
}

TEST(PairRows, DeltaHoldsKernelsAndForwardAlone) {
  PairSettings settings;
  settings.varied = 0;
  const PairMaker maker = Maker(settings);
  size_t made = 0;
  for (const auto& task : Sampled(80)) {
    const auto row = maker.Make(task).value();
    if (row.rows.empty()) continue;
    ++made;
    const std::string& reply = row.rows[0].messages.back().content;
    EXPECT_THAT(reply, HasSubstr(fmt::format("class {0}New({0}):\n", task.text.entry)));
    EXPECT_THAT(reply, Not(HasSubstr("import ")));
    EXPECT_THAT(reply, Not(HasSubstr("__init__")));
    EXPECT_LE(reply.size(), 3 * settings.reply_tokens);
  }
  EXPECT_GT(made, 50u);
}

// Shards draw other candidates, whatever was drawn before.
TEST(PairRows, ShardsAreMadeAlone) {
  const auto first = Sampled(5), other = Sampled(5, uint64_t{1} << 24);
  for (const auto& a : first)
    for (const auto& b : other) EXPECT_NE(a.id, b.id);
  EXPECT_EQ(Sampled(5, uint64_t{1} << 24)[4].text.source, other[4].text.source);
}

}  // namespace
}  // namespace davinci::teacher
