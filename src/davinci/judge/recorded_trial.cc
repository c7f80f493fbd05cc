#include "davinci/judge/recorded_trial.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/machine/slow_calls.h"
#include "davinci/judge/machine/timing_cores.h"
#include "davinci/judge/roles/baseline_profiles.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/roles/session_pool.h"
#include "davinci/judge/run_trial.h"
#include "davinci/judge/transcribed_machine.h"
#include "davinci/judge/transcribed_process.h"
#include "davinci/judge/trial_record.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kNameHash = 8;  // digits
constexpr int kSessionsOfTrial = 8;

// A trial's own copies of what it borrows, with the transcript between it and the outside.
class Site {
 public:
  // `real`: of the judge; null in a replay. `lent`: what the record's head says of it.
  Site(Transcript* transcript, const JudgeContext* real, const BorrowedFacts& lent)
      : spawner_(transcript, real != nullptr ? real->server : nullptr),
        leases_(transcript, real != nullptr ? real->leases : nullptr),
        facts_(transcript, real != nullptr ? real->facts : nullptr),
        machine_(transcript, real != nullptr ? real->machine : nullptr),
        played_cores_(
            0, lent.has_timing_cores ? TimingPlan{{TimingPlace{{0}, 0, 0}}, {}} : TimingPlan{}) {
    if (real != nullptr) context_ = *real;
    context_.server = &spawner_;
    context_.leases = &leases_;
    context_.facts = lent.has_facts ? &facts_ : nullptr;
    context_.machine = &machine_;
    context_.sessions = &sessions_;
    context_.profiles = &profiles_;
    context_.slow_calls = &slow_calls_;
    context_.options = lent.options;
    context_.options.in_flight = 0;
    context_.device = lent.device;
    context_.hello = lent.hello;
    context_.threads = lent.threads;
    if (real == nullptr)
      context_.timing_cores = lent.has_timing_cores ? &played_cores_ : &no_cores_;
    const worker::BuildHandler build = real != nullptr ? real->build : nullptr;
    context_.build = [transcript, build](const json& request) {
      if (!transcript->listens()) return build ? build(request) : json();
      return transcript->Ask("build", request, [&] { return build(request); });
    };
    context_.runner_pool = &runner_pool_;
  }
  const JudgeContext& context() const { return context_; }

 private:
  TranscribedSpawner spawner_;
  TranscribedLeases leases_;
  TranscribedFacts facts_;
  TranscribedMachine machine_;
  TimingCores played_cores_;
  TimingCores no_cores_{0, 0};
  SlowCalls slow_calls_;
  BaselineProfiles profiles_;
  SessionPool sessions_{1, kSessionsOfTrial};
  JudgeContext context_;
  RunnerPool runner_pool_{&context_};
};

// Folders that differ from machine to machine.
void NameFolders(const JudgeOptions& options, const json& hello, Transcript* transcript) {
  const std::filesystem::path source(options.python_path);
  transcript->names().Add("root", source.parent_path().string());
  if (const auto cache = CacheDir(); cache.ok()) transcript->names().Add("cache", cache->string());
  for (const char* key : {"prefix", "base_prefix"})
    transcript->names().Add(key, hello.value(key, std::string()));
}

std::string OutcomeText(const Result<Evaluation>& evaluation) {
  return JsonText(evaluation.ok() ? json{{"evaluation", ToJson(*evaluation)}}
                                  : json{{"status", StatusJson(evaluation.status())}});
}

}  // namespace

Result<Evaluation> RecordTrial(const JudgeContext& context, const Job& job,
                               const Protocol& protocol, const json& limits, MemoryBudget budget,
                               const std::filesystem::path& folder) {
  Transcript transcript;
  NameFolders(context.options, context.hello, &transcript);
  const TrialRecord record{job, protocol.name, limits, budget, LentBy(context, job.target)};
  Result<Evaluation> evaluation = Internal("not run");
  {
    Site site(&transcript, &context, record.lent);
    Job quiet = job;
    if (job.progress)
      quiet.progress = [&](std::string_view stage) {
        const WithOutside real(nullptr);
        job.progress(stage);
      };
    const WithOutside recorded(&transcript);
    evaluation = RunTrial(site.context(), quiet, protocol, budget);
  }
  std::string lines = transcript.Finish();
  const std::string text = transcript.names().Named(JsonText(ToJson(record))) + "\n" +
                           std::move(lines) + transcript.names().Named(OutcomeText(evaluation)) +
                           "\n";
  const std::string name =
      fmt::format("{}-{}.trial", std::filesystem::path(job.candidate_path).stem().string(),
                  Sha256Hex(text).substr(0, kNameHash));
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder / name, text, Durability::kFastest));
  return evaluation;
}

Result<Replay> ReplayTrial(std::string_view text) {
  const size_t head = text.find('\n');
  const size_t last = text.substr(0, text.empty() ? 0 : text.size() - 1).rfind('\n');
  if (head == std::string_view::npos || last == std::string_view::npos || last <= head)
    return InvalidArgument("not the record of a trial: it has no head and no outcome");
  DAVINCI_ASSIGN_OR_RETURN(const TrialRecord record, TrialRecordFrom(text.substr(0, head)));
  DAVINCI_ASSIGN_OR_RETURN(Protocol protocol, ProtocolByName(record.protocol));
  ApplyLimits(record.limits, &protocol);
  Transcript transcript(text.substr(head + 1, last - head));
  if (const auto cache = CacheDir(); cache.ok()) transcript.names().Add("cache", cache->string());
  Replay replay;
  replay.recorded = text.substr(last + 1, text.size() - last - 2);
  try {
    Site site(&transcript, nullptr, record.lent);
    const WithOutside played(&transcript);
    replay.outcome = transcript.names().Named(
        OutcomeText(RunTrial(site.context(), record.job, protocol, record.budget)));
  } catch (const std::exception& error) {
    replay.outcome = error.what();
  }
  replay.difference = transcript.Difference();
  return replay;
}

std::string WithOutcome(std::string_view record, std::string_view outcome) {
  const size_t last = record.substr(0, record.size() - 1).rfind('\n');
  return fmt::format("{}\n{}\n", record.substr(0, last), outcome);
}

}  // namespace davinci::judge
