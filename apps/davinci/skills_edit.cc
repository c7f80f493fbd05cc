#include "skills_edit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/library_in_force.h"
#include "skills_library.h"
#include "skills_view.h"

namespace davinci::app {
namespace {

using nlohmann::json;
using skill::Admission;
using skill::AdmissionResult;

constexpr size_t kShown = 20;  // of what was not simply added

// Prints what became of each newcomer; 1 if one was refused.
int ReportAdmissions(const std::vector<std::pair<std::string, AdmissionResult>>& results,
                     const std::string& library, bool as_json) {
  std::map<Admission, int> counts;
  for (const auto& [name, result] : results) ++counts[result.admission];
  if (as_json) {
    json list = json::array();
    for (const auto& [name, result] : results)
      list.push_back({{"skill", name},
                      {"admission", AdmissionName(result.admission)},
                      {"name", result.name},
                      {"reason", result.reason}});
    const json document = {{"library", library}, {"skills", std::move(list)}};
    fmt::print("{}\n", JsonText(document, 2));
  } else {
    const bool color = UseColor(STDOUT_FILENO);
    size_t num_shown = 0;
    for (const auto& [name, result] : results) {
      const bool refused = result.admission == Admission::kRefused;
      if (results.size() > 1 && !refused && result.admission != Admission::kMerged) continue;
      if (++num_shown > kShown) continue;
      fmt::print("{} {}{}{}\n",
                 Styled(AdmissionName(result.admission),
                        refused ? TextStyle::kBad : TextStyle::kGood, color),
                 Printable(name), result.reason.empty() ? "" : ": ", Printable(result.reason));
    }
    if (num_shown > kShown) fmt::print("… and {} more; --json lists all\n", num_shown - kShown);
    if (results.size() > 1)
      fmt::print("{}: {} added, {} merged, {} unchanged, {} refused\n", library,
                 counts[Admission::kAdded], counts[Admission::kMerged],
                 counts[Admission::kUnchanged], counts[Admission::kRefused]);
  }
  return counts[Admission::kRefused] > 0 ? 1 : 0;
}

// The last event, which a rollback to undoes what comes next; 0 in a new library.
Result<int64_t> LastEvent(skill::Library& library) {
  DAVINCI_ASSIGN_OR_RETURN(const auto history, library.History("", 1));
  return history.empty() ? 0 : history.back().sequence;
}

std::string UndoText(int64_t event, const std::string& chosen) {
  return fmt::format("; `davinci skills rollback event:{}{}` takes it back", event,
                     chosen.empty() ? "" : " --library " + chosen);
}

using Newcomers = std::vector<std::pair<skill::Skill, std::vector<skill::Evidence>>>;

// Newcomers to the user's own library also meet the shipped skills: what those refuse, or hold
// already, does not enter, and what improves one enters as its next version.
Result<std::vector<AdmissionResult>> Admit(skill::Library& library, const std::string& chosen,
                                           const Newcomers& skills) {
  if (!chosen.empty()) return library.AddAll(skills);
  DAVINCI_ASSIGN_OR_RETURN(std::vector<AdmissionResult> results, AdmissionsInForce(skills));
  Newcomers welcome;
  std::vector<size_t> places;
  for (size_t i = 0; i < skills.size(); ++i) {
    if (results[i].admission == Admission::kMerged)
      DAVINCI_RETURN_IF_ERROR(TakeOver(library, results[i].name, chosen).status());
    if (results[i].admission != Admission::kAdded && results[i].admission != Admission::kMerged)
      continue;
    welcome.push_back(skills[i]);
    places.push_back(i);
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<AdmissionResult> entered, library.AddAll(welcome));
  for (size_t i = 0; i < entered.size(); ++i) results[places[i]] = entered[i];
  return results;
}

int BadInput(const std::string& message) {
  fmt::print(stderr, "davinci skills: {}\n", message);
  return 2;
}

}  // namespace

int AddSkill(const EditOptions& options, const std::string& path, bool replace,
             const std::string& reason) {
  const auto read = skill::ReadSkills(path);
  if (!read.ok()) return FailSkills(read.status());
  if (!read->problems.empty()) return BadInput(read->problems[0].what);
  if (read->documents.size() != 1)
    return BadInput(fmt::format("{} holds {} skills; `davinci skills import` takes many", path,
                                read->documents.size()));
  const skill::Document& document = read->documents[0];
  if (const Status valid = Validate(document.skill, skill::Strictness::kAuthored); !valid.ok())
    return BadInput(fmt::format("{}: {}", path, valid.message()));
  const auto opened = OpenForWriting(options.library);
  if (!opened.ok()) return FailSkills(opened.status());
  if (replace) {
    const auto before = LastEvent(*opened->library);
    if (!before.ok()) return FailSkills(before.status());
    if (const auto taken = TakeOver(*opened->library, document.skill.name, options.library);
        !taken.ok())
      return FailSkills(taken.status());
    const Status replaced = opened->library->Replace(document.skill, document.evidence,
                                                     reason.empty() ? "from " + path : reason);
    if (!replaced.ok()) return FailSkills(replaced);
    if (options.json) {
      fmt::print("{}\n", JsonText(json({{"name", document.skill.name}, {"replaced", true}})));
    } else {
      fmt::print("replaced {}{}\n", document.skill.name, UndoText(*before, options.library));
    }
    return 0;
  }
  const auto results =
      Admit(*opened->library, options.library, {{document.skill, document.evidence}});
  if (!results.ok()) return FailSkills(results.status());
  return ReportAdmissions({{document.skill.name, results->front()}}, opened->what, options.json);
}

int ImportSkills(const EditOptions& options, const std::string& path, bool skip_invalid,
                 bool exact) {
  const auto read = skill::ReadSkills(path);
  if (!read.ok()) return FailSkills(read.status());
  for (size_t i = 0; i < std::min(read->problems.size(), kShown); ++i)
    fmt::print(stderr, "davinci skills: {}: {}\n", read->problems[i].where, read->problems[i].what);
  if (!read->problems.empty() && !skip_invalid)
    return BadInput(fmt::format(
        "{} of {} entries are no skills; nothing was imported (--skip-invalid takes the others)",
        read->problems.size(), read->problems.size() + read->documents.size()));
  const auto opened = OpenForWriting(options.library);
  if (!opened.ok()) return FailSkills(opened.status());
  if (exact) {
    std::vector<skill::Record> shipped;
    if (options.library.empty()) {
      auto in_force = ShippedRecords();
      if (!in_force.ok()) return FailSkills(in_force.status());
      shipped = std::move(*in_force);
    }
    // A copy of a shipped skill would hide its later versions.
    std::vector<skill::Record> records;
    for (const skill::Document& document : read->documents) {
      const bool ships = std::any_of(shipped.begin(), shipped.end(), [&](const auto& one) {
        return skill::SameAdvice(one.skill, document.skill);
      });
      if (!ships)
        records.push_back({document.skill, document.evidence, {}, skill::SkillState::kActive, 0});
    }
    const auto added = opened->library->AddExactly(records);
    if (!added.ok()) return FailSkills(added.status());
    const auto unchanged = static_cast<int64_t>(read->documents.size()) - *added;
    if (options.json) {
      fmt::print(
          "{}\n",
          JsonText(json({{"library", opened->what}, {"added", *added}, {"unchanged", unchanged}})));
    } else {
      fmt::print("{}: {} added, {} unchanged\n", opened->what, *added, unchanged);
    }
    return 0;
  }
  Newcomers skills;
  for (const skill::Document& document : read->documents)
    skills.emplace_back(document.skill, document.evidence);
  const auto results = Admit(*opened->library, options.library, skills);
  if (!results.ok()) return FailSkills(results.status());
  std::vector<std::pair<std::string, AdmissionResult>> named;
  for (size_t i = 0; i < skills.size(); ++i)
    named.emplace_back(skills[i].first.name, (*results)[i]);
  return ReportAdmissions(named, opened->what, options.json);
}

int ExportSkills(const EditOptions& options, const std::string& path, const std::string& moment,
                 bool with_inactive) {
  const auto parsed = skill::ParseMoment(moment);
  if (!parsed.ok()) return FailSkills(parsed.status());
  // Now: what is in force. Earlier moments are those of one library.
  const auto opened = parsed->kind == skill::Moment::Kind::kNow ? OpenForReading(options.library)
                                                                : OpenOwn(options.library);
  if (!opened.ok()) return FailSkills(opened.status());
  auto records = opened->library->At(*parsed);
  if (!records.ok()) return FailSkills(records.status());
  std::sort(records->begin(), records->end(),
            [](const auto& a, const auto& b) { return a.position < b.position; });
  std::vector<skill::Document> documents;
  for (const skill::Record& record : *records)
    if (with_inactive || record.state == skill::SkillState::kActive)
      documents.push_back({record.skill, record.evidence});
  const bool jsonl = std::filesystem::path(path).extension() == ".jsonl";
  const Status written =
      jsonl ? skill::WriteJsonl(path, documents) : skill::WriteFolders(path, documents);
  if (!written.ok()) return FailSkills(written);
  if (options.json) {
    fmt::print("{}\n", JsonText(json({{"path", path}, {"skills", documents.size()}})));
  } else {
    fmt::print("{} skills of {} to {}\n", documents.size(), opened->what, path);
  }
  return 0;
}

int RetireSkill(const EditOptions& options, const std::string& name, const std::string& reason) {
  const auto opened = OpenForWriting(options.library);
  if (!opened.ok()) return FailSkills(opened.status());
  const auto before = LastEvent(*opened->library);
  if (!before.ok()) return FailSkills(before.status());
  if (const auto taken = TakeOver(*opened->library, name, options.library); !taken.ok())
    return FailSkills(taken.status());
  if (const Status retired = opened->library->Retire(name, reason); !retired.ok())
    return FailSkills(retired);
  if (options.json) {
    fmt::print("{}\n", JsonText(json({{"name", name}, {"state", "retired"}})));
  } else {
    fmt::print("retired {}{}\n", name, UndoText(*before, options.library));
  }
  return 0;
}

int RollBack(const EditOptions& options, const std::string& moment, const std::string& reason) {
  const auto parsed = skill::ParseMoment(moment);
  if (!parsed.ok()) return FailSkills(parsed.status());
  const auto opened = OpenForWriting(options.library);
  if (!opened.ok()) return FailSkills(opened.status());
  const auto before = LastEvent(*opened->library);
  if (!before.ok()) return FailSkills(before.status());
  const auto changed = opened->library->Rollback(*parsed, reason);
  if (!changed.ok()) return FailSkills(changed.status());
  if (options.json) {
    fmt::print("{}\n",
               JsonText(json({{"moment", moment}, {"changed", *changed}, {"was", *before}})));
  } else {
    fmt::print("{} records changed{}\n", *changed, UndoText(*before, options.library));
  }
  return 0;
}

}  // namespace davinci::app
