#include "skills_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#include "davinci/base/json_text.h"
#include "davinci/base/table.h"

namespace davinci::app {
namespace {

using skill::OrderedJson;
using skill::Record;

std::string Utc(int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm tm{};
  gmtime_r(&time, &tm);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
  return text;
}

Table::Cell StateCell(const Record& record) {
  const bool active = record.state == skill::SkillState::kActive;
  return {std::string(SkillStateName(record.state)), active ? TextStyle::kPlain : TextStyle::kDim};
}

Table::Options TableOptions(const ViewOptions& view) { return {view.color, view.width, ""}; }

// Unified in spirit: the lines that only one side has. Skills are short, so no cleverness.
std::string LineChanges(const std::string& before, const std::string& after) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> found;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      found.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return found;
  };
  const auto a = lines(before);
  const auto b = lines(after);
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::string text = fmt::format("  @@ line {} @@\n", head + 1);
  for (size_t i = head; i < a.size() - tail; ++i) text += "  - " + Printable(a[i]) + "\n";
  for (size_t i = head; i < b.size() - tail; ++i) text += "  + " + Printable(b[i]) + "\n";
  return text;
}

std::string SubjectText(const skill::Evidence& evidence) {
  return evidence.language.empty() ? evidence.target
                                   : fmt::format("{} {}", evidence.target, evidence.language);
}

std::string FieldText(const Record& record, const std::string& field) {
  if (field == "description") return record.skill.description;
  if (field == "scope") return record.skill.scope;
  if (field == "tags") return fmt::format("{}", fmt::join(record.skill.tags, ", "));
  if (field == "extra") return JsonText(record.skill.extra);
  if (field == "state") return std::string(SkillStateName(record.state));
  if (field == "usage") return JsonText(ToJson(record.usage));
  std::string text;
  for (const skill::Evidence& evidence : record.evidence)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", SubjectText(evidence),
                        UpliftText(&evidence));
  return text.empty() ? "none" : text;
}

}  // namespace

ViewOptions ViewOfStdout() {
  return {UseColor(STDOUT_FILENO), isatty(STDOUT_FILENO) != 0 ? TerminalWidth(STDOUT_FILENO) : 0};
}

std::string UpliftText(const skill::Evidence* evidence) {
  if (evidence == nullptr) return "";
  const Interval& u = evidence->uplift;
  return fmt::format("{:.3g}x ({:.3g} – {})", u.median, u.low,
                     std::isfinite(u.high) ? fmt::format("{:.3g}", u.high) : "unbounded");
}

std::string RenderRecords(const std::vector<Record>& records, const ViewOptions& view) {
  Table table({{"name"},
               {"uplift"},
               {"on"},
               {"selected", Align::kRight},
               {"wins", Align::kRight},
               {"mean", Align::kRight},
               {"state"},
               {"description"}});
  for (const Record& record : records) {
    const skill::Evidence* best = record.BestEvidence();
    const auto mean = record.usage.MeanUplift();
    table.AddRow({record.skill.name, UpliftText(best), best == nullptr ? "" : SubjectText(*best),
                  fmt::format("{}/{}", record.usage.selected, record.usage.shown),
                  std::to_string(record.usage.wins), mean ? fmt::format("{:.3g}x", *mean) : "",
                  StateCell(record), record.skill.description});
  }
  return table.Render(TableOptions(view));
}

std::string RenderRanked(const std::vector<skill::Ranked>& ranked, const ViewOptions& view) {
  Table table({{"score", Align::kRight}, {"name"}, {"uplift"}, {"on"}, {"tags"}, {"description"}});
  for (const skill::Ranked& one : ranked) {
    const skill::Evidence* best = one.record.BestEvidence();
    table.AddRow({fmt::format("{:.3f}", one.score), one.record.skill.name, UpliftText(best),
                  best == nullptr ? "" : SubjectText(*best),
                  fmt::format("{}", fmt::join(one.record.skill.tags, ", ")),
                  one.record.skill.description});
  }
  return table.Render(TableOptions(view));
}

std::string RenderRecord(const Record& record, const ViewOptions& view) {
  std::string text;
  const auto row = [&](std::string_view key, const std::string& value) {
    text +=
        fmt::format("  {} {}\n", Styled(fmt::format("{:<10}", key), TextStyle::kDim, view.color),
                    Printable(value));
  };
  text += Styled(record.skill.name, TextStyle::kBold, view.color) + "\n";
  row("state", std::string(SkillStateName(record.state)));
  if (record.evidence.empty()) row("evidence", "none");
  for (const skill::Evidence& e : record.evidence) {
    row("evidence",
        fmt::format("{} on {}{}, {}", UpliftText(&e), SubjectText(e),
                    e.device.empty() ? "" : " (" + e.device + ")", fmt::join(e.tasks, ", ")));
    row("", fmt::format("{}, protocol {}, verified {} by {}",
                        e.num_generations == 0
                            ? std::string("hand-written example")
                            : fmt::format("{} generations per arm", e.num_generations),
                        e.protocol.empty() ? "unknown" : e.protocol,
                        e.last_verified.empty() ? "at an unknown time" : e.last_verified,
                        e.run.empty() ? "an unknown run" : e.run));
  }
  row("usage", fmt::format("shown {}, selected {}, wins {}", record.usage.shown,
                           record.usage.selected, record.usage.wins));
  if (const auto interval = record.usage.UpliftInterval())
    row("observed", fmt::format("{:.3g}x ({:.3g} – {:.3g}) over {} tasks", interval->median,
                                interval->low, interval->high, record.usage.observations));
  if (!record.skill.extra.empty()) row("further", JsonText(record.skill.extra));
  text += '\n';
  // Line by line, because Printable() knows no line breaks.
  const std::string body = RenderSkill(record.skill);
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += Printable(body.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return text;
}

std::string RenderEvents(const std::vector<skill::Event>& events, const ViewOptions& view) {
  Table table({{"event", Align::kRight},
               {"when (UTC)"},
               {"step", Align::kRight},
               {"what"},
               {"skill"},
               {"by"},
               {"why"}});
  for (const skill::Event& event : events)
    table.AddRow({std::to_string(event.sequence), Utc(event.unix_s),
                  event.step ? std::to_string(*event.step) : "", event.kind, event.name,
                  event.actor, event.reason});
  return table.Render(TableOptions(view));
}

std::string RenderSnapshots(const std::vector<skill::Snapshot>& snapshots,
                            const ViewOptions& view) {
  Table table({{"step", Align::kRight},
               {"event", Align::kRight},
               {"active", Align::kRight},
               {"when (UTC)"},
               {"digest"}});
  for (const skill::Snapshot& snapshot : snapshots)
    table.AddRow({std::to_string(snapshot.step), std::to_string(snapshot.sequence),
                  std::to_string(snapshot.num_active), Utc(snapshot.unix_s),
                  snapshot.digest.substr(0, 16)});
  return table.Render(TableOptions(view));
}

std::string RenderDifferences(const std::vector<skill::Difference>& differences,
                              const ViewOptions& view) {
  if (differences.empty()) return "no difference\n";
  std::string text;
  for (const skill::Difference& difference : differences) {
    using Kind = skill::Difference::Kind;
    const auto style = difference.kind == Kind::kAdded     ? TextStyle::kGood
                       : difference.kind == Kind::kRemoved ? TextStyle::kBad
                                                           : TextStyle::kWarn;
    text += fmt::format("{} {}\n", Styled(DifferenceName(difference.kind), style, view.color),
                        Printable(difference.name));
    for (const std::string& field : difference.fields) {
      if (field == "content") {
        text += LineChanges(difference.before.value().skill.content,
                            difference.after.value().skill.content);
        continue;
      }
      text += fmt::format("  {}: {} -> {}\n", field,
                          Printable(FieldText(difference.before.value(), field)),
                          Printable(FieldText(difference.after.value(), field)));
    }
  }
  return text;
}

OrderedJson EventJson(const skill::Event& event) {
  return {{"event", event.sequence},
          {"unix_s", event.unix_s},
          {"actor", event.actor},
          {"step", event.step ? OrderedJson(*event.step) : OrderedJson(nullptr)},
          {"kind", event.kind},
          {"name", event.name},
          {"reason", event.reason}};
}

OrderedJson SnapshotJson(const skill::Snapshot& snapshot) {
  return {{"step", snapshot.step},
          {"event", snapshot.sequence},
          {"active", snapshot.num_active},
          {"digest", snapshot.digest},
          {"unix_s", snapshot.unix_s}};
}

OrderedJson DifferenceJson(const skill::Difference& difference) {
  return {{"kind", DifferenceName(difference.kind)},
          {"name", difference.name},
          {"fields", difference.fields},
          {"before", difference.before ? ToJson(*difference.before) : OrderedJson(nullptr)},
          {"after", difference.after ? ToJson(*difference.after) : OrderedJson(nullptr)}};
}

}  // namespace davinci::app
