#include "davinci/orchestrator/run_library.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/skill/formats.h"

namespace davinci::orchestrator {
namespace {

namespace fs = std::filesystem;

using Content = std::vector<std::pair<skill::Skill, std::vector<skill::Evidence>>>;

Result<Content> ReadSource(const std::string& source) {
  Content content;
  if (source.empty()) return content;
  std::error_code error;
  if (!fs::exists(source, error))
    return NotFound(fmt::format("the skill library {} does not exist", source));
  const fs::path path(source);
  if (fs::is_directory(path, error) || path.extension() == ".jsonl" || path.extension() == ".md") {
    DAVINCI_ASSIGN_OR_RETURN(auto read, skill::ReadSkills(path));
    if (!read.problems.empty())
      return InvalidArgument(fmt::format("{}: {} ({} problems in all)", read.problems[0].where,
                                         read.problems[0].what, read.problems.size()));
    for (skill::Document& document : read.documents)
      content.emplace_back(std::move(document.skill), std::vector<skill::Evidence>());
    return content;
  }
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::Open(path, {}));
  DAVINCI_ASSIGN_OR_RETURN(auto records, library->All());
  for (skill::Record& record : records)
    content.emplace_back(std::move(record.skill), std::move(record.evidence));
  return content;
}

std::string KeyOf(const SkillProposal& proposal) {
  return fmt::format("{}@{}/{}.{}", proposal.task, proposal.step, proposal.summary,
                     proposal.proposal);
}

skill::Evidence EvidenceOf(const Verification& verification, const rollout::StepSettings& settings,
                           const std::string& run_name) {
  skill::Evidence evidence;
  if (verification.uplift)
    evidence.uplift = {verification.uplift->median, verification.uplift->low,
                       verification.uplift->high};
  evidence.target = std::string(TargetName(settings.target));
  evidence.tasks = {verification.task};
  evidence.protocol = settings.verification.protocol + "/1";
  evidence.run = run_name;
  char now[32];
  WallTime::FormatUtc(now);
  evidence.last_verified = now;
  double best = 0;
  for (const VerificationSample& sample : verification.samples) {
    if (!sample.with_skill) continue;
    ++evidence.num_generations;
    if (sample.evaluation.speedup) best = std::max(best, sample.evaluation.speedup->median);
    if (evidence.device.empty()) evidence.device = DeviceName(sample.evaluation);
  }
  if (best > 0) evidence.speedup = best;
  return evidence;
}

double BestOfScheme(const rollout::TaskOutcome& outcome, int scheme) {
  double best = 0;
  for (const Trajectory& trajectory : outcome.trajectories)
    if (trajectory.id.scheme == scheme)
      for (const Turn& turn : trajectory.turns)
        if (turn.evaluation.correct.value_or(false) && turn.evaluation.speedup)
          best = std::max(best, turn.evaluation.speedup->median);
  return best;
}

void CountUsage(const rollout::TaskOutcome& outcome, std::map<std::string, skill::Usage>* usage) {
  double control = 0;
  double best = 0;
  for (const Selection& selection : outcome.selections) {
    if (selection.merged_into) continue;
    const double speedup = BestOfScheme(outcome, selection.scheme);
    best = std::max(best, speedup);
    if (selection.chosen.empty()) control = speedup;
  }
  for (const Selection& selection : outcome.selections) {
    for (const std::string& name : selection.shown) ++(*usage)[name].shown;
    for (const std::string& name : selection.chosen) ++(*usage)[name].selected;
    if (selection.merged_into) continue;
    const double speedup = BestOfScheme(outcome, selection.scheme);
    for (const std::string& name : selection.chosen) {
      if (control > 0 && speedup > 0) (*usage)[name].Observe(speedup / control);
      if (speedup > control && speedup == best) ++(*usage)[name].wins;
    }
  }
}

Result<skill::FlushResult> StageAndFlush(skill::Library& library, int64_t step,
                                         const std::string& prefix, const Learned& learned) {
  for (skill::Staged staged : learned.skills) {
    staged.key = prefix + staged.key;
    DAVINCI_RETURN_IF_ERROR(library.Stage(step, staged).status());
  }
  if (!learned.usage.usage.empty()) {
    skill::StagedUsage usage = learned.usage;
    usage.key = prefix + usage.key;
    DAVINCI_RETURN_IF_ERROR(library.StageUsage(step, usage).status());
  }
  return library.Flush(step);
}

}  // namespace

Result<std::unique_ptr<skill::Library>> OpenRunLibrary(const fs::path& run_folder,
                                                       const std::string& source) {
  skill::LibraryOptions options;
  options.access = skill::Access::kWrite;
  options.actor = "run";
  DAVINCI_ASSIGN_OR_RETURN(auto library,
                           skill::Library::Open(run_folder / "library.sqlite", options));
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, library->Snapshots());
  if (!snapshots.empty()) return library;
  // Step 0 is the library as the run found it; its snapshot says that the copy is complete.
  DAVINCI_ASSIGN_OR_RETURN(const Content content, ReadSource(source));
  DAVINCI_RETURN_IF_ERROR(library->AddAll(content).status());
  DAVINCI_RETURN_IF_ERROR(library->Flush(0).status());
  return library;
}

Learned CollectLearned(const std::vector<rollout::TaskOutcome>& outcomes,
                       const rollout::StepSettings& settings, const std::string& run_name) {
  Learned learned;
  std::map<std::string, skill::Usage> usage;
  for (const rollout::TaskOutcome& outcome : outcomes) {
    CountUsage(outcome, &usage);
    for (const Verification& verification : outcome.verifications) {
      if (!verification.admitted) continue;
      for (const SkillProposal& proposal : outcome.proposals) {
        if (proposal.summary != verification.summary || proposal.proposal != verification.proposal)
          continue;
        skill::Staged staged;
        staged.key = KeyOf(proposal);
        staged.skill.name = proposal.name;
        staged.skill.description = proposal.description;
        staged.skill.scope = proposal.scope;
        staged.skill.tags = proposal.tags;
        staged.skill.content = proposal.content;
        staged.evidence = {EvidenceOf(verification, settings, run_name)};
        learned.skills.push_back(std::move(staged));
      }
    }
  }
  if (!outcomes.empty())
    learned.usage.key = fmt::format("usage/{}@{}", outcomes.front().task, outcomes.front().step);
  learned.usage.usage.assign(usage.begin(), usage.end());
  return learned;
}

Result<skill::FlushResult> FlushStep(skill::Library& library, int64_t step,
                                     const Learned& learned) {
  return StageAndFlush(library, step, "", learned);
}

Result<skill::FlushResult> Publish(const fs::path& library_file, const std::string& run_name,
                                   const Learned& learned) {
  skill::LibraryOptions options;
  options.access = skill::Access::kWrite;
  options.actor = run_name;
  if (library_file.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(library_file.parent_path()));
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::Open(library_file, options));
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, library->Snapshots());
  const int64_t next = snapshots.empty() ? 1 : snapshots.back().step + 1;
  return StageAndFlush(*library, next, run_name + "/", learned);
}

}  // namespace davinci::orchestrator
