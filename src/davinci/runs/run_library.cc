#include "davinci/runs/run_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/data/shown_interval.h"
#include "davinci/skill/library_in_force.h"
#include "davinci/skill/uplift.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;

// A ratio beyond this says that one side found nothing; how much nothing is worth is not known.
constexpr double kMostUplift = 10;

std::string KeyOf(const SkillProposal& proposal) {
  return fmt::format("{}@{}/{}.{}", proposal.task, proposal.step, proposal.summary,
                     proposal.proposal);
}

bool IsComplete(const Trajectory& trajectory) {
  return trajectory.end == TrajectoryEnd::kTurns || trajectory.end == TrajectoryEnd::kConverged;
}

// The best speedup of a rollout; 0 when no kernel of it was correct and timed.
double BestOf(const Trajectory& trajectory) {
  double best = 0;
  for (const Turn& turn : trajectory.turns)
    if (turn.evaluation.correct.value_or(false) && turn.evaluation.speedup)
      best = std::max(best, turn.evaluation.speedup.value().median);
  return best;
}

skill::Evidence EvidenceOf(const Verification& verification, const rollout::TaskOutcome& outcome,
                           const rollout::StepSettings& settings, const std::string& run_name) {
  skill::Evidence evidence;
  if (verification.uplift)
    evidence.uplift = {verification.uplift->median, verification.uplift->low,
                       verification.uplift->high};
  else
    evidence.uplift = {1, 0, std::numeric_limits<double>::infinity()};
  evidence.language = LanguageName(outcome.language);
  evidence.target = std::string(TargetName(outcome.target));
  evidence.protocol = settings.verification.protocol + "/1";
  evidence.run = run_name;
  char now[32];
  WallTime::FormatUtc(now);
  evidence.last_verified = now;
  double best = 0;
  std::set<std::string> tasks;
  skill::Evidence::Correctness correctness;
  for (const VerificationSample& sample : verification.samples) {
    tasks.insert(sample.task);
    const bool correct = sample.evaluation.outcome == Outcome::kOk;
    (sample.with_skill ? correctness.with_skill : correctness.without_skill) += correct;
    if (!sample.with_skill) continue;
    ++evidence.num_generations;
    if (sample.evaluation.speedup)
      best = std::max(best, FigureOf(*sample.evaluation.speedup).value);
    if (evidence.device.empty()) evidence.device = DeviceName(sample.evaluation);
  }
  evidence.tasks.assign(tasks.begin(), tasks.end());
  correctness.num_pairs = evidence.num_generations;
  // An admitted skill whose speed is not proven was admitted for its correctness.
  correctness.raised =
      verification.admitted && (!verification.uplift || verification.uplift->low < 1);
  evidence.correctness = correctness;
  if (best > 0) evidence.speedup = best;
  return evidence;
}

// Evidence of a better version was measured against the old one: what the old one was worth over
// no skill at all is part of it.
void ChainWithOld(skill::Library* library, const std::string& name, skill::Evidence* evidence) {
  if (library == nullptr) return;
  const auto old = library->Get(name);
  if (!old.ok() || !*old) return;
  const skill::Evidence* known = (*old)->EvidenceLike(*evidence);
  if (known == nullptr || !(known->uplift.low > 0)) return;
  const Interval& u = known->uplift;
  evidence->uplift = skill::Ratio(evidence->uplift, {1 / u.median, 1 / u.high, 1 / u.low});
}

// What a scheme is worth: the mean over its first `count` complete rollouts of their best speedups.
double ValueOf(const rollout::TaskOutcome& outcome, int scheme, int count) {
  double sum = 0;
  int seen = 0;
  for (const Trajectory& trajectory : outcome.trajectories) {
    if (trajectory.id.scheme != scheme || !IsComplete(trajectory) || seen == count) continue;
    sum += BestOf(trajectory);
    ++seen;
  }
  return seen == 0 ? 0 : sum / seen;
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

void CountUsage(const rollout::TaskOutcome& outcome, std::map<std::string, skill::Usage>* usage) {
  for (const Selection& selection : outcome.selections) {
    for (const std::string& name : selection.shown) ++(*usage)[name].shown;
    for (const std::string& name : selection.chosen) ++(*usage)[name].selected;
  }
  int count = std::numeric_limits<int>::max();
  for (const Selection& selection : outcome.selections) {
    if (selection.merged_into) continue;
    const auto complete = std::count_if(
        outcome.trajectories.begin(), outcome.trajectories.end(), [&](const Trajectory& one) {
          return one.id.scheme == selection.scheme && IsComplete(one);
        });
    count = std::min(count, static_cast<int>(complete));
  }
  if (outcome.selections.empty() || count == 0) return;
  struct Scheme {
    const Selection* selection;
    double value;
  };
  std::vector<Scheme> schemes;
  double best = 0;
  std::set<std::string> names;
  for (const Selection& selection : outcome.selections) {
    if (selection.merged_into) continue;
    schemes.push_back({&selection, ValueOf(outcome, selection.scheme, count)});
    best = std::max(best, schemes.back().value);
    names.insert(selection.chosen.begin(), selection.chosen.end());
  }
  for (const std::string& name : names) {
    double with = 0, without = 0;
    double best_with = 0, best_without = 0;
    int num_with = 0, num_without = 0;
    for (const Scheme& scheme : schemes) {
      const auto& chosen = scheme.selection->chosen;
      const bool has = std::find(chosen.begin(), chosen.end(), name) != chosen.end();
      (has ? with : without) += scheme.value;
      (has ? num_with : num_without) += 1;
      double& top = has ? best_with : best_without;
      top = std::max(top, scheme.value);
    }
    if (num_without == 0) continue;  // nothing to compare with
    with /= num_with;
    without /= num_without;
    if (best_with == best && best_with > best_without) ++(*usage)[name].wins;
    if (with == 0 && without == 0) continue;
    const double uplift = without > 0 ? with / without : kMostUplift;
    (*usage)[name].Observe(std::clamp(uplift, 1 / kMostUplift, kMostUplift));
  }
}

Result<std::unique_ptr<skill::Library>> OpenRunLibrary(const fs::path& run_folder,
                                                       const std::vector<std::string>& sources) {
  skill::LibraryOptions options;
  options.access = skill::Access::kWrite;
  options.actor = "run";
  DAVINCI_ASSIGN_OR_RETURN(auto library,
                           skill::Library::Open(run_folder / "library.sqlite", options));
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, library->Snapshots());
  if (!snapshots.empty()) return library;
  // Step 0 is the library as the run found it; its snapshot says that the copy is complete.
  DAVINCI_ASSIGN_OR_RETURN(const auto records, skill::ReadTogether(sources));
  DAVINCI_RETURN_IF_ERROR(library->AddExactly(records).status());
  DAVINCI_RETURN_IF_ERROR(library->Flush(0).status());
  return library;
}

Learned CollectLearned(const std::vector<rollout::TaskOutcome>& outcomes,
                       const rollout::StepSettings& settings, const std::string& run_name,
                       skill::Library* library) {
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
        staged.evidence = {EvidenceOf(verification, outcome, settings, run_name)};
        staged.is_version = outcome.versions.contains({proposal.summary, proposal.proposal});
        if (staged.is_version) ChainWithOld(library, proposal.name, &staged.evidence[0]);
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

}  // namespace davinci::runs
