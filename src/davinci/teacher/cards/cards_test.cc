#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "davinci/llm/token_count.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/library.h"
#include "davinci/skill/reference_query.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/cards/row_cards.h"

namespace davinci::teacher {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kCardsHome = DAVINCI_SOURCE_DIR;

struct CardWorld {
  synth::Grammar grammar = synth::LoadGrammar(kCardsHome / "synth").value();
  synth::StyleBook styles = synth::LoadStyles(kCardsHome / "synth").value();
  synth::Corpus corpus = synth::LoadCorpus(kCardsHome / "synth").value();
  Teacher teacher = Teacher::Load(kCardsHome / "synth").value();

  CardDeck Deck(CardFamilies families) const {
    return CardDeck(grammar, styles, teacher, {Language::kTriton, ReplyForm::kDelta, families});
  }
  std::vector<synth::SampledTask> Tasks(size_t count, synth::SplitKind split) const {
    synth::SampleOptions options;
    options.count = count;
    options.seed = 3;
    options.split = split;
    std::vector<synth::SampledTask> tasks;
    const auto keep = [&](const synth::SampledTask& task) {
      tasks.push_back(task);
      return Status::Ok();
    };
    EXPECT_TRUE(synth::SampleTasks(grammar, styles, options, keep).ok());
    return tasks;
  }
};

const CardWorld& TheCardWorld() {
  static const CardWorld world;
  return world;
}

std::vector<skill::Skill> AllCards(const CardDeck& deck) {
  std::vector<skill::Skill> cards;
  for (const std::string& name : deck.names())
    if (const CardSubject* subject = deck.Find(name))
      cards.push_back(deck.Write(*subject, deck.Plain())->skill);
  return cards;
}

std::unique_ptr<skill::Library> LibraryOf(const std::vector<skill::Skill>& cards) {
  auto library = skill::Library::OpenInMemory({}).value();
  std::vector<skill::Record> records(cards.size());
  for (size_t i = 0; i < cards.size(); ++i) records[i].skill = cards[i];
  EXPECT_TRUE(library->AddExactly(records).ok());
  return library;
}

TEST(Cards, AreSkillsShortEnoughForAPrompt) {
  std::set<std::string> taken;
  const auto seeds = skill::ReadSkills(kCardsHome / "skills");
  for (const auto& document : seeds->documents) taken.insert(document.skill.name);
  const auto cards = AllCards(TheCardWorld().Deck(CardFamilies::kAll));
  EXPECT_GT(cards.size(), 150u);
  for (const skill::Skill& card : cards) {
    EXPECT_TRUE(skill::Validate(card, skill::Strictness::kAuthored).ok())
        << card.name << skill::Validate(card, skill::Strictness::kAuthored).ToString();
    EXPECT_TRUE(taken.insert(card.name).second) << card.name;
    EXPECT_LE(llm::EstimateTokens(skill::RenderSkill(card, davinci::Language::kTriton)),
              kMostCardTokens);
    EXPECT_THAT(card.scope, ::testing::StartsWith("operator/"));
    EXPECT_THAT(card.content, HasSubstr("@kernel\ndef f"));
  }
}

TEST(Cards, OfHeldOutFamiliesAreNotAmongThoseOfTraining) {
  const CardDeck train = TheCardWorld().Deck(CardFamilies::kTrain);
  const CardDeck held = TheCardWorld().Deck(CardFamilies::kHeldOut);
  for (const char* name : {"cosine_similarity", "pairwise_distance", "cdist", "unfold",
                           "unfold_same", "pixel_shuffle", "pixel_unshuffle"}) {
    EXPECT_NE(held.Find(name), nullptr) << name;
    EXPECT_THAT(train.names(), Not(Contains(name)));
  }
  for (const std::string& name : held.names()) EXPECT_EQ(train.Find(name), nullptr);
  for (const skill::Skill& card : AllCards(train))
    for (const char* call : {"cosine_similarity(", "pairwise_distance(", "cdist(", "unfold("})
      EXPECT_THAT(card.content, Not(HasSubstr(call))) << card.name;
}

// Retrieval among the held-out cards puts the right one first, nearly always: the measurement "with
// the right card" needs no knowledge of the task's family.
TEST(Cards, AreFoundByTheOperatorsNames) {
  const CardDeck held = TheCardWorld().Deck(CardFamilies::kHeldOut);
  const auto library = LibraryOf(AllCards(held));
  size_t right = 0, all = 0;
  for (const auto& task : TheCardWorld().Tasks(60, synth::SplitKind::kFamily)) {
    const auto found = library->SearchFor({Target::kCuda, davinci::Language::kTriton},
                                          skill::QueryFromReference(task.text.source), 1);
    ASSERT_TRUE(found.ok() && !found->empty());
    std::set<std::string> names = {task.graph.pattern->family};
    for (const synth::Node& node : task.graph.nodes) names.insert(node.op->name);
    std::string scope = found->front().record.skill.scope.substr(9);
    ++all;
    right += names.contains(scope);
  }
  EXPECT_GE(right * 100, all * 95);
}

// The answer cannot be written without the card: its numbers are on the card, and the task calls
// the operator by a name that exists nowhere else.
TEST(RowCards, AnswerFollowsTheCard) {
  const CardWorld& world = TheCardWorld();
  const CardDeck deck = world.Deck(CardFamilies::kTrain);
  size_t shown = 0, right = 0, veiled = 0, others = 0, both = 0, hidden = 0;
  for (const auto& task : world.Tasks(300, synth::SplitKind::kTrain)) {
    const auto row = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    if (!row || row->composite) continue;
    ++shown;
    right += !row->right.empty();
    others += row->right.empty();
    both += !row->right.empty() && row->cards.size() > row->right.size();
    EXPECT_LE(row->cards.size(), 2u);
    EXPECT_EQ(row->right.empty(), row->task.text.source == task.text.source && row->right.empty());
    if (row->task.text.source == task.text.source) continue;
    ++veiled;
    for (const auto& [subject, veil] : row->veils) {
      EXPECT_FALSE(synth::HasWord(task.text.source, veil.function));
      EXPECT_TRUE(synth::HasWord(row->task.text.source, veil.function) ||
                  synth::HasWord(row->task.text.source, veil.klass));
      // Defined nowhere but on the card.
      hidden += veil.source != Veil::Source::kDefined;
    }
    const auto again = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    EXPECT_EQ(again->task.text.source, row->task.text.source);
    EXPECT_EQ(again->cards, row->cards);
  }
  EXPECT_GT(shown, 150u);
  for (const size_t count : {right, veiled, others, both, hidden}) EXPECT_GT(count, 20u);
}

// A card of the task's own structure, of which an answer copies the kernels: the same operators
// apart from activations, under another name.
TEST(RowCards, SomeShowTheBlockOfTheTask) {
  const CardWorld& world = TheCardWorld();
  const CardDeck deck = world.Deck(CardFamilies::kTrain);
  size_t blocks = 0, others = 0;
  for (const auto& task : world.Tasks(200, synth::SplitKind::kTrain)) {
    SplitMix64 rng(HashBytes(task.id, 5));
    const auto block = BlockOf(world.grammar, world.styles, task, "soft_block", &rng);
    if (!block) continue;
    ++blocks;
    ASSERT_EQ(block->task.graph.nodes.size(), task.graph.nodes.size());
    EXPECT_EQ(synth::SplitOf(world.grammar, block->task.graph, *task.style), task.split);
    for (size_t i = 0; i < task.graph.nodes.size(); ++i) {
      const synth::Operator &is = *block->task.graph.nodes[i].op, &was = *task.graph.nodes[i].op;
      others += is.name != was.name;
      EXPECT_TRUE(is.name == was.name || (std::ranges::count(is.groups, "act") == 1 &&
                                          std::ranges::count(was.groups, "act") == 1));
    }
  }
  EXPECT_GT(blocks, 60u);
  EXPECT_GT(others, 10u);
  size_t shown = 0;
  for (const auto& task : world.Tasks(300, synth::SplitKind::kTrain)) {
    const auto row = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    if (!row || row->composite || !row->veils.empty() || row->right.empty()) continue;
    const auto is_known = [&](const skill::Skill& card) {
      const std::string name = card.scope.substr(card.scope.find('/') + 1);
      return std::ranges::count(deck.names(), name) > 0;
    };
    if (std::ranges::all_of(row->cards, is_known)) continue;
    ++shown;
    EXPECT_EQ(row->task.text.source, task.text.source);
  }
  EXPECT_GT(shown, 15u);
}

// The rows of some tasks whose right card is a composite operator's.
template <typename Take>
size_t ForCompositeRows(size_t tasks, const Take& take) {
  const CardWorld& world = TheCardWorld();
  const CardDeck deck = world.Deck(CardFamilies::kTrain);
  size_t count = 0;
  for (const auto& task : world.Tasks(tasks, synth::SplitKind::kTrain)) {
    const auto row = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    if (!row || !row->composite) continue;
    ++count;
    take(deck, task, *row);
  }
  return count;
}

const skill::Skill* CardNamed(const RowCards& row, const std::string& operator_name) {
  for (const skill::Skill& card : row.cards)
    if (card.scope == "operator/" + operator_name) return &card;
  return nullptr;
}

TEST(CompositeRows, ShowTheCardWhoseNameTheTaskCalls) {
  const size_t count =
      ForCompositeRows(400, [](const CardDeck&, const auto& task, const auto& row) {
        const InventedOperator& invented = row.composite->invented;
        const skill::Skill* card = CardNamed(row, invented.op->name);
        ASSERT_NE(card, nullptr) << task.id;
        EXPECT_TRUE(skill::Validate(*card, skill::Strictness::kAuthored).ok());
        EXPECT_LE(llm::EstimateTokens(skill::RenderSkill(*card, davinci::Language::kTriton)),
                  kMostCardTokens);
        size_t called = 0;
        for (size_t i = 0; i < invented.calls.size(); ++i) {
          called += row.task.text.source.find(invented.calls[i] + "(") != std::string::npos;
          EXPECT_THAT(card->description, HasSubstr(invented.signatures[i]));
        }
        EXPECT_EQ(called, 1u) << row.task.text.source;
        EXPECT_EQ(row.task.id, task.id);
        EXPECT_EQ(row.task.split, synth::SplitKind::kTrain);
      });
  EXPECT_GT(count, 60u);
}

// Steps call the operator by its name in one line, with the arguments that are not its defaults.
TEST(CompositeRows, StepsCallTheOperatorByItsName) {
  const CardWorld& world = TheCardWorld();
  const size_t count = ForCompositeRows(200, [&](const CardDeck&, const auto&, const auto& row) {
    const auto steps =
        world.teacher.StepsOf(row.task.graph, row.task.text, Language::kTriton, row.Named());
    ASSERT_TRUE(steps.ok()) << steps.status().message();
    const std::string& name = row.composite->invented.op->name;
    EXPECT_THAT(steps->text, HasSubstr("] = " + name + "(")) << name;
    EXPECT_EQ(synth::CountOf(steps->text, name + "("), 1u) << steps->text;
  });
  EXPECT_GT(count, 20u);
}

// "o[n, c] = relu(x[c, n])" is relu(element_at(x, "C, N", "c, n")), whose shape stands above it.
std::string DefinitionOn(const skill::Skill& card) {
  const size_t begin = card.content.find("## Key Idea\n\n`") + 14;
  std::string form = card.content.substr(begin, card.content.find('`', begin) - begin);
  const size_t at = form.starts_with("o[") ? form.find("x[") : std::string::npos;
  if (at == std::string::npos) return form;
  const size_t shape = card.content.find("-> (") + 4, end = card.content.find('\n', shape) - 1;
  const size_t close = form.find(']', at);
  form.replace(at, close + 1 - at,
               fmt::format("element_at(x, \"{}\", \"{}\")", card.content.substr(shape, end - shape),
                           form.substr(at + 2, close - at - 2)));
  return form.substr(form.find(" = ") + 3);
}

// The definition on the card, in the place of the call, is what the answer is written from: it is
// the text of the call's node, and without it no answer can be written.
TEST(CompositeRows, AnswerIsWrittenFromTheDefinitionOnTheCard) {
  const CardWorld& world = TheCardWorld();
  size_t compared = 0;
  ForCompositeRows(300, [&](const CardDeck&, const auto& task, const auto& row) {
    const InventedOperator& invented = row.composite->invented;
    const skill::Skill* card = CardNamed(row, invented.op->name);
    ASSERT_NE(card, nullptr);
    // Formulas that name parts of the position, tests/teacher/check_pairs.py computes.
    if (card->content.find("`o[n") != std::string::npos &&
        card->content.find("`o[n, c, p] = ") == std::string::npos &&
        card->content.find("`o[n, c, p, q] = ") == std::string::npos)
      return;
    std::string form = DefinitionOn(*card);
    for (const auto& input : invented.op->inputs)
      form = synth::WithWord(form, input.name, "{" + input.name + "}");
    for (const auto& attr : invented.op->attrs) {
      form = synth::Replaced(form, attr.py + "=" + attr.py, attr.py + "=\x01");
      form = synth::WithWord(form, attr.py, "{" + attr.name + "}");
      form = synth::Replaced(form, "{" + attr.name + "}=\x01", attr.py + "={" + attr.name + "}");
    }
    synth::SampledTask substituted = row.task;
    for (size_t i = 0; i < substituted.graph.nodes.size(); ++i)
      if (substituted.graph.nodes[i].op == invented.op.get())
        substituted.text.parts.nodes[i].form = form;
    const auto write = [&](const synth::SampledTask& one) {
      return world.teacher.Write(one.graph, one.text, Language::kTriton, row.rules,
                                 ReplyForm::kDelta, row.launch);
    };
    const auto answer = write(row.task), from_card = write(substituted);
    if (!answer.ok() || answer->own_kernels == 0) return;
    ASSERT_TRUE(from_card.ok()) << task.id << form;
    EXPECT_EQ(from_card->source, answer->source) << form;
    for (const std::string& call : invented.calls)
      EXPECT_THAT(answer->source, Not(HasSubstr(call + "("))) << answer->source;
    ++compared;
  });
  EXPECT_GT(compared, 40u);
}

TEST(CompositeRows, HaveStructuresAndNamesThatAreNewAndNotHeldOut) {
  size_t of_indices = 0;
  std::set<std::string> names, definitions, known;
  for (const auto& [name, op] : TheCardWorld().grammar.operators)
    for (const auto& [kind, forms] : op.spell)
      for (const std::string& form : forms)
        if (const std::string call = CallOfForm(form); !call.empty()) known.insert(call);
  const auto& functions = TheCardWorld().teacher.tables().functions;
  const size_t count =
      ForCompositeRows(400, [&](const CardDeck&, const auto& task, const auto& row) {
        const InventedOperator& invented = row.composite->invented;
        names.insert(invented.op->name);
        definitions.insert(invented.definition);
        of_indices += row.composite->nodes.empty();
        EXPECT_FALSE(functions.contains(invented.op->name));
        for (const std::string& call : invented.calls) EXPECT_FALSE(known.contains(call)) << call;
        EXPECT_FALSE(synth::HasWord(task.text.source, invented.op->name));
        for (const synth::Node& node : row.composite->nodes)
          EXPECT_FALSE(TheCardWorld().grammar.held_out_families.contains(node.op->family));
        for (const synth::Node& node : row.task.graph.nodes)
          EXPECT_FALSE(TheCardWorld().grammar.held_out_families.contains(node.op->family));
        for (const char* held : {"distance", "similarity", "cdist", "unfold"})
          for (const std::string& text : {row.task.text.source, row.cards[0].content})
            EXPECT_THAT(text, Not(HasSubstr(held)));
      });
  EXPECT_GE(names.size() * 100, count * 98);
  EXPECT_GE(definitions.size() * 100, count * 95);
  EXPECT_GE(of_indices * 100, count * 8);  // they move elements
}

// About half of the rows that hide an operator do so by a composite one.
TEST(CompositeRows, AreAboutHalfOfTheVeiledRows) {
  const CardWorld& world = TheCardWorld();
  const CardDeck deck = world.Deck(CardFamilies::kTrain);
  size_t composite = 0, veiled = 0;
  for (const auto& task : world.Tasks(400, synth::SplitKind::kTrain)) {
    const auto row = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    if (!row) continue;
    composite += row->composite.has_value();
    veiled += !row->veils.empty();
    const auto again = CardsOfRow(deck, world.corpus, task, {1.0, 2});
    EXPECT_EQ(again->task.text.source, row->task.text.source);
    EXPECT_EQ(again->cards, row->cards);
  }
  EXPECT_GT(composite * 10, (composite + veiled) * 4);
  EXPECT_LT(composite * 10, (composite + veiled) * 8);
}

TEST(RowCards, NumbersOfTheCardAreThoseOfTheAnswer) {
  const CardWorld& world = TheCardWorld();
  const CardDeck deck = world.Deck(CardFamilies::kTrain);
  size_t compared = 0;
  for (const auto& task : world.Tasks(400, synth::SplitKind::kTrain)) {
    SplitMix64 rng(HashBytes(task.id, 1));
    for (const synth::Node& node : task.graph.nodes) {
      const CardSubject* subject = node.op->view ? nullptr : deck.Find(node.op->name);
      if (subject == nullptr) continue;
      const auto veil = DrawVeil(*subject, task, world.corpus, &rng);
      if (!veil || (veil->attrs.empty() && veil->form.empty())) continue;
      CardForm form = deck.Plain();
      form.veil = &*veil;
      const auto card = deck.Write(*subject, form);
      synth::SampledTask other = task;
      ApplyNumbers(*subject, *veil, &other);
      const auto answer = world.teacher.Write(other.graph, other.text, Language::kTriton,
                                              form.rules, ReplyForm::kDelta);
      const auto usual = world.teacher.Write(task.graph, task.text, Language::kTriton, form.rules,
                                             ReplyForm::kDelta);
      if (!card || !answer.ok()) continue;
      EXPECT_NE(answer->source, usual->source) << task.id;
      ++compared;
    }
  }
  EXPECT_GT(compared, 30u);
}

TEST(KernelWords, RenameKernelsAndIndicesButNotTheClass) {
  const std::string reply =
      "@kernel\ndef f1(x, o, N, BLOCK):\n    i = ids(BLOCK)\n    inside = i < N\n"
      "    st(o + i, ld(x + i, inside), inside)\n\n\n"
      "class ModelNew(Model):\n    def forward(self, i):\n        f1(i, self.row)\n        return "
      "i\n";
  const std::string other =
      WithKernelWords(reply, {"k", {{"i", "idx"}, {"inside", "ok"}, {"row", "line"}}});
  EXPECT_THAT(other, HasSubstr("def k1(x, o, N, BLOCK):\n    idx = ids(BLOCK)\n    ok = idx < N"));
  EXPECT_THAT(other, HasSubstr("def forward(self, i):\n        k1(i, self.row)"));
}

TEST(CardSubjects, ACallIsTheWholeSpelling) {
  EXPECT_EQ(CallOfForm("F.leaky_relu({x}{kw:slope})"), "F.leaky_relu");
  EXPECT_EQ(CallOfForm("nn.LayerNorm(({B}, {D}))"), "nn.LayerNorm");
  EXPECT_EQ(CallOfForm("torch.sigmoid({x}) * {x}"), "");
  EXPECT_EQ(CallOfForm("torch.mean(({x} - {y}) ** 2)"), "");
  EXPECT_EQ(CallOfForm("torch.tanh(F.softplus({x}))"), "");
  EXPECT_EQ(CallOfForm("{x}.relu()"), "");
}

}  // namespace
}  // namespace davinci::teacher
