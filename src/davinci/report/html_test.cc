#include "davinci/report/html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "davinci/report/html_plots.h"
#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A run in which every text that a model, a candidate or a user wrote is `text`. Names that must
// differ get a suffix.
RunView MakeRun(const std::string& text) {
  RunView run;
  run.title = text;
  run.folder = text;
  run.target = "cpu";
  run.device = text;
  run.recorded = true;
  run.finished = false;
  run.started_unix_s = 1'750'000'000;
  run.finished_unix_s = run.started_unix_s + 3725;
  run.settings = {{text, text}};
  run.stage_seconds = {{"generation" + text, 120}, {"judging", 30.5}};
  run.stage_note = text;
  run.sources["code"] = text;

  Turn wrong;
  wrong.reply = wrong.reasoning = wrong.model = wrong.finish_reason = text;
  wrong.code_hash = "code";
  wrong.evaluation.outcome = Outcome::kMismatch;
  wrong.evaluation.message = text;
  wrong.evaluation.labels = {text};
  wrong.cost = {1, 1000, 2000, 0.5, 12};
  Turn fast = wrong;
  fast.evaluation.outcome = Outcome::kOk;
  fast.evaluation.correct = true;
  fast.evaluation.speedup =
      Speedup{1.5, 1.4, std::numeric_limits<double>::infinity(), true, "eager" + text};
  Turn untimed = wrong;
  untimed.evaluation.outcome = Outcome::kCompileOnly;
  untimed.evaluation.correct = true;

  TaskView task;
  task.task.id = "task" + text;
  task.task.level = 1;
  task.reference = text;
  task.remark = text;
  task.selections.push_back({task.task.id, 0, true, {}, {}, {}, "", "", "", {}, 0});
  task.selections.push_back(
      {task.task.id, 1, false, {text}, {text}, {}, text, "", text, {1, 10, 20, 0.1, 1}, 0});
  task.selections.push_back({task.task.id, 2, false, {text}, {text}, 1, "", "", text, {}, 0});
  for (int scheme : {0, 1}) {
    Trajectory trajectory;
    trajectory.id = {task.task.id, scheme, 0};
    if (scheme == 1) trajectory.skills = {text};
    trajectory.turns = {wrong, fast, untimed};
    for (int i = 0; i < 3; ++i)
      trajectory.turns[static_cast<size_t>(i)].id = {trajectory.id, i + 1};
    trajectory.problem = text;
    task.trajectories.push_back(trajectory);
  }
  Winner winner;
  winner.turn = task.trajectories[1].turns[1].id;
  winner.code_hash = "code";
  winner.certified = fast.evaluation;
  winner.also = {fast.evaluation};
  winner.exported_path = winner.explanation = text;
  winner.roofline_share = 0.7;
  task.winner = winner;

  SkillProposal proposal;
  proposal.before = task.trajectories[1].turns[0].id;
  proposal.after = task.trajectories[1].turns[1].id;
  proposal.name = proposal.description = proposal.content = text;
  proposal.tags = {text};
  proposal.cost = {1, 1, 1, 0.25, 1};
  SummaryCall call;
  call.cost = proposal.cost;
  task.summaries.push_back(call);
  task.summaries.push_back(call);  // this one proposed nothing
  task.proposals.push_back(proposal);
  proposal.proposal = 1;
  proposal.refused = text;
  task.proposals.push_back(proposal);
  Verification verification;
  verification.samples.resize(2);
  for (VerificationSample& sample : verification.samples) {
    sample.task = text;
    sample.evaluation = fast.evaluation;
    sample.cost = {1, 0, 0, 0.125, 1};
  }
  verification.uplift = Interval{1.3, 1.2, 1.4};
  verification.reason = text;
  task.verifications.push_back(verification);
  run.tasks.push_back(std::move(task));
  TaskView unsolved;
  unsolved.task.id = "unsolved" + text;
  unsolved.trajectories.push_back({{unsolved.task.id, 0, 0}, {}, {wrong}, {}, text, 0, 0});
  unsolved.trajectories[0].turns[0].id = {unsolved.trajectories[0].id, 1};
  run.tasks.push_back(std::move(unsolved));
  return run;
}

std::string Render(const RunView& run) {
  const score::ScoreInput input = ScoreInputOf(run);
  const score::Protocol& bench = *score::ProtocolByName("bench").value();
  const score::RunComparison comparison = score::CompareRuns(input, input, bench);
  return RenderHtml({&run, {score::Score(input, bench)}, &comparison});
}

// Names of tags and of their attributes, in order; what a browser would build a tree of. Knows no
// raw-text elements but <style>, because a page has no others.
std::vector<std::string> TagsOf(const std::string& html) {
  std::vector<std::string> tags;
  for (size_t i = html.find('<'); i != std::string::npos; i = html.find('<', i)) {
    std::string tag;
    bool quoted = false;
    for (++i; i < html.size() && (quoted || html[i] != '>'); ++i) {
      if (html[i] == '"') quoted = !quoted;
      if (!quoted) tag += html[i];
    }
    tags.push_back(tag);
    if (tag == "style") i = html.find("</style>", i);
  }
  return tags;
}

TEST(EscapeHtml, EveryMarkupCharacterAndNothingElse) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\" b='y'>&</a>"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(EscapeHtml("ünï→𝄞\t\n"), "ünï→𝄞\t\n");
  EXPECT_EQ(EscapeHtml(""), "");
}

TEST(EscapeHtml, BytesThatAreNoTextAreReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(EscapeHtml(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(EscapeHtml("\x1b[31m\x7f"), bad + "[31m" + bad);
  EXPECT_EQ(EscapeHtml("\xC0\xBC"), bad + bad);            // overlong '<'
  EXPECT_EQ(EscapeHtml("\xED\xA0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(EscapeHtml("\xF5\x80\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(EscapeHtml("\xE2\x82"), bad + bad);  // cut off
  EXPECT_EQ(EscapeHtml("\xE2<"), bad + "&lt;");  // swallows no markup
}

TEST(RenderHtml, HostileTextChangesNoTag) {
  const std::vector<std::string> expected = TagsOf(Render(MakeRun("plain")));
  ASSERT_GT(expected.size(), 300u);
  for (const std::string hostile :
       {"</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)", "</pre></details></style></title><h1>", "<!--", "-->", "]]>",
        "<svg><style>*{display:none}", "&lt;script&gt;", "\xE2<b>", "{{}} {0} %s"}) {
    const std::string page = Render(MakeRun(hostile));
    EXPECT_EQ(TagsOf(page), expected) << hostile;
  }
}

TEST(RenderHtml, EveryTagIsClosedInOrder) {
  static const std::set<std::string> kVoid = {"meta", "!DOCTYPE"};
  std::vector<std::string> open;
  for (const std::string& tag : TagsOf(Render(MakeRun("x")))) {
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ("/" + open.back(), tag);
      open.pop_back();
    } else if (tag.back() != '/' && !kVoid.contains(name)) {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty()) << open.back();
}

TEST(RenderHtml, NeedsNoScriptNoNetworkAndNoOtherFile) {
  const std::string page = Render(MakeRun("x"));
  for (const char* needle : {"<script", "http://", "https://", "src=", "url(", "@import", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(needle))) << needle;
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(RenderHtml, LinksLeadToElementsAndIdsAreUnique) {
  const std::string page = Render(MakeRun("x"));
  std::set<std::string> ids;
  const auto each = [&](const std::string& mark, auto visit) {
    for (size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
      const size_t begin = at + mark.size();
      visit(page.substr(begin, page.find('"', begin) - begin));
    }
  };
  each(" id=\"", [&](const std::string& id) { EXPECT_TRUE(ids.insert(id).second) << id; });
  size_t links = 0;
  each("href=\"#", [&](const std::string& id) {
    EXPECT_TRUE(ids.contains(id)) << id;
    ++links;
  });
  EXPECT_GT(links, 8u);
}

TEST(RenderHtml, SaysWhatItShould) {
  const std::string page = Render(MakeRun("TEXT"));
  for (const char* part :
       {"replies were recorded earlier", "was interrupted", "≥ 1.40× [1.40, ∞]",
        "70 % of the roofline", "control: no skills", "same skills as skill set 1", "1 h 2 min",
        "Skills used", "Stage times", "policy", "verification", "Scores: davinci bench",
        "Compared with another run", "unsolved"})
    EXPECT_THAT(page, HasSubstr(part)) << part;
  EXPECT_EQ(page, Render(MakeRun("TEXT")));
}

TEST(RenderHtml, AnEmptyRunIsAPage) {
  const RunView run;
  EXPECT_THAT(Render(run), HasSubstr("</html>"));
  EXPECT_THAT(RenderHtml({&run, {}, nullptr}), HasSubstr("</html>"));
}

TEST(RenderHtml, AThousandLongRepliesStillMakeAPageThatOpens) {
  RunView run = MakeRun("x");
  Trajectory& trajectory = run.tasks[0].trajectories[0];
  Turn turn = trajectory.turns[0];
  turn.reply = std::string(1 << 20, '<');
  trajectory.turns.assign(1000, turn);
  for (int i = 0; i < 1000; ++i) trajectory.turns[static_cast<size_t>(i)].id.turn = i + 1;
  const std::string page = Render(run);
  EXPECT_LT(page.size(), size_t{48} << 20);
  EXPECT_THAT(page, HasSubstr("bytes left out"));
}

TEST(Confirmed, TheFullProtocolsVerdictIsTheOneThatIsScoredAndShown) {
  RunView run = MakeRun("x");
  TaskView& task = run.tasks[0];
  task.winner.reset();
  EXPECT_EQ(score::Score(ScoreInputOf(run), score::BenchProtocol()).sections[0].num_samples, 3);
  Evaluation slower = task.trajectories[0].turns[1].evaluation;
  slower.speedup = Speedup{1.23, 1.2, 1.26, true, "eager"};
  task.confirmed["code"] = slower;
  for (const Trajectory& trajectory : ScoreInputOf(run).trajectories) {
    if (trajectory.id.task != task.task.id) continue;
    for (const Turn& turn : trajectory.turns)
      EXPECT_EQ(turn.evaluation.speedup->median, 1.23) << ToString(turn.id);
  }
  const std::string page = Render(run);
  EXPECT_THAT(page, HasSubstr("1.23× [1.20, 1.26]"));
  EXPECT_THAT(page, HasSubstr("judged under the full protocol"));
  EXPECT_THAT(page, HasSubstr("Judged again under the full protocol"));
}

TEST(RenderHtml, StateAndColourOfATaskAreThoseOfItsCertification) {
  RunView run = MakeRun("x");
  TaskView& task = run.tasks[0];
  const Winner certified = *task.winner;
  const auto row = [&] {
    const std::string page = Render(run);
    const size_t begin = page.find(fmt::format("<a href=\"#{}\">", Anchor("task", task.task.id)));
    return page.substr(begin, page.find("</tr>", begin) - begin);
  };
  EXPECT_THAT(row(), AllOf(HasSubstr("n good"), HasSubstr("<td>certified</td>")));
  // A confirmed verdict of the run does not stand in for a certification that decided nothing.
  task.confirmed["code"] = certified.certified;
  task.winner.reset();
  task.not_decided = certified;
  task.not_decided->certified.speedup = Speedup{5.72, 0.863, 35, false, "eager"};
  EXPECT_THAT(row(), AllOf(HasSubstr("n even"), HasSubstr("not decided [0.86, 35.00]"),
                           HasSubstr("<td>not decided: machine busy</td>"), Not(HasSubstr("5.72")),
                           Not(HasSubstr("circle"))));
  task.not_decided.reset();
  task.not_faster = certified;
  task.not_faster->certified.speedup = Speedup{1.01, 0.95, 1.07, false, "eager"};
  EXPECT_THAT(row(), AllOf(HasSubstr("n even"), HasSubstr("<td>not faster</td>")));
  task.not_faster.reset();
  task.none_held = true;
  EXPECT_THAT(row(), AllOf(HasSubstr("n bad"), HasSubstr("none held when judged again")));
}

TEST(RenderHtml, AWideIntervalBlowsUpNoAxisAndHoldsNoMedian) {
  RunView run = MakeRun("x");
  run.tasks[0].trajectories[0].turns[1].evaluation.speedup =
      Speedup{5.72, 0.000106, 4.81e5, false, "eager"};
  const std::string page = RenderHtml({&run, {}, nullptr});
  EXPECT_THAT(page, AllOf(HasSubstr("not decided [unbounded]"), Not(HasSubstr("5.72")),
                          Not(HasSubstr("481000"))));
  EXPECT_EQ(page.find("50000×"), std::string::npos);
}

TEST(CostsByAgent, AddsEveryRecordOnce) {
  const auto costs = CostsByAgent(MakeRun("x"));
  EXPECT_DOUBLE_EQ(costs.at("selection").usd, 0.1);
  EXPECT_DOUBLE_EQ(costs.at("policy").usd, 7 * 0.5);
  EXPECT_DOUBLE_EQ(costs.at("summary").usd, 0.5) << "a call without a proposal costs, too";
  EXPECT_DOUBLE_EQ(costs.at("verification").usd, 0.25);
}

TEST(RatioAxis, PlacesByRatioAndClamps) {
  RatioAxis axis;
  EXPECT_DOUBLE_EQ(axis.Place(1), 0.5);
  EXPECT_EQ(axis.Place(0), 0);
  EXPECT_EQ(axis.Place(1e9), 1);
  axis.Include(std::numeric_limits<double>::infinity());
  axis.Include(-1);
  EXPECT_EQ(axis.high, 2);
  axis.Include(30);
  EXPECT_EQ(axis.Ticks(), (std::vector<double>{0.5, 1, 2, 5, 10, 20}));
}

TEST(Format, NumbersAsReadersWantThem) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
  EXPECT_EQ(FormatCount(123), "123");
  EXPECT_EQ(FormatSeconds(3.21), "3.2 s");
  EXPECT_EQ(FormatSeconds(59.7), "1 min 0 s");
  EXPECT_EQ(FormatSeconds(7325), "2 h 2 min");
  EXPECT_EQ(FormatUnixTime(1'750'000'000), "2025-06-15 15:06 UTC");
}

}  // namespace
}  // namespace davinci::report
