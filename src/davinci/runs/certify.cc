#include "davinci/runs/certify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/utf8.h"
#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"
#include "davinci/rollout/policy_check.h"
#include "davinci/runs/line_diff.h"

namespace davinci::runs {
namespace {

using nlohmann::json;
using rollout::Kernel;

constexpr size_t kMaxProseBytes = 1500;

// Judges one kernel of a task against one baseline, through the journal.
class Measurer {
 public:
  Measurer(const Certifier& certifier, int step, const rollout::TaskInput& task,
           const Kernel& kernel, const std::string& baseline, const CancelToken& cancel)
      : certifier_(certifier),
        step_(step),
        task_(task),
        kernel_(kernel),
        baseline_(baseline),
        cancel_(cancel) {}

  // The measurement numbered `number` from 0, known or made. With `may_fail` a failure of the judge
  // is recorded as well, so that it is not repeated each time the run is shown.
  Result<Evaluation> Measure(int number, bool may_fail) const;
  // How many the journal knows.
  Result<int> NumKnown() const;

 private:
  rollout::UnitId Unit(int number) const {
    rollout::UnitId id = rollout::UnitOf(rollout::UnitKind::kCertification, step_, kernel_.turn);
    id.variant = baseline_;
    if (number > 0) id.sample = number;
    return id;
  }

  const Certifier& certifier_;
  const int step_;
  const rollout::TaskInput& task_;
  const Kernel& kernel_;
  const std::string& baseline_;
  const CancelToken& cancel_;
};

Result<int> Measurer::NumKnown() const {
  for (int number = 0;; ++number) {
    DAVINCI_ASSIGN_OR_RETURN(const json known, certifier_.log->Find(Unit(number)));
    if (known.is_null()) return number;
  }
}

Result<Evaluation> Measurer::Measure(int number, bool may_fail) const {
  const Certifier& certifier = certifier_;
  const Kernel& kernel = kernel_;
  const rollout::UnitId id = Unit(number);
  DAVINCI_ASSIGN_OR_RETURN(const json body, certifier.log->Do(id, [&]() -> Result<json> {
    DAVINCI_ASSIGN_OR_RETURN(const std::string source,
                             certifier.log->run().GetBlob(kernel.code_hash));
    const rollout::StepSettings& settings = certifier.recipe->step;
    judge::EvaluationRequest request;
    request.task = task_.task;
    request.target = settings.target;
    request.language = kernel.language;
    ExportParts parts = certifier.parts;
    parts.reference_source = task_.task->source;
    parts.package = task_.task->imports.package;
    request.candidate = StandaloneSource(source, parts);
    if (baseline_ == settings.baseline)
      request.export_of = [&](const Evaluation& verified) {
        return ExportSource(source, task_.task->config, settings.target, verified, parts, {});
      };
    request.protocol = settings.final_protocol;
    request.baseline = baseline_;
    request.afresh = true;
    request.urgency = Urgency::kFinal;
    auto reply = certifier.service->Evaluate(request, cancel_);
    if (!reply.ok()) {
      if (!may_fail || reply.status().code() == StatusCode::kCancelled) return reply.status();
      return json{{"problem", reply.status().message()}};
    }
    return json{{"evaluation", ToJson(reply->evaluation)},
                {"queue_seconds", reply->queue_seconds},
                {"judge_seconds", reply->judge_seconds}};
  }));
  if (may_fail && body.contains("problem")) return Internal(body.value("problem", ""));
  if (!body.contains("evaluation"))
    return Internal("corrupt journal record: certification without evaluation");
  DAVINCI_ASSIGN_OR_RETURN(Evaluation certified, EvaluationFromJson(body["evaluation"]));
  const rollout::StepSettings& step = certifier.recipe->step;
  rollout::ApplyPolicy(step, step.language, kernel.language, &certified);
  return certified;
}

bool Held(const Evaluation& evaluation) {
  return evaluation.correct.value_or(false) && evaluation.outcome == Outcome::kOk;
}

// Nothing that another measurement could change.
bool Decides(const Evaluation& evaluation) {
  return !Held(evaluation) || !evaluation.speedup ||
         FindingOf(*evaluation.speedup) != SpeedFinding::kNotDecided;
}

double Width(const Evaluation& evaluation) {
  const ShownInterval shown = Shown(evaluation.speedup.value());
  return IsUnbounded(shown) ? std::numeric_limits<double>::infinity() : shown.high / shown.low;
}

// The measurement that counts: the latest that decides, else the one with the narrowest interval.
class Counting {
 public:
  void Add(Evaluation evaluation) {
    ++num_;
    if (Decides(evaluation) || (!decided() && (!counts_ || Width(evaluation) < Width(*counts_))))
      counts_ = std::move(evaluation);
  }
  bool decided() const { return counts_ && Decides(*counts_); }
  int num() const { return num_; }
  const Evaluation& counts() const { return counts_.value(); }

 private:
  std::optional<Evaluation> counts_;
  int num_ = 0;
};

// Against the run's baseline: what the journal knows, and live as many more as it takes.
Result<Counting> MeasureWinner(const Certifier& certifier, const Measurer& measurer) {
  Counting counting;
  DAVINCI_ASSIGN_OR_RETURN(const int known, measurer.NumKnown());
  for (int number = 0; number < known; ++number) {
    DAVINCI_ASSIGN_OR_RETURN(Evaluation evaluation, measurer.Measure(number, false));
    counting.Add(std::move(evaluation));
  }
  if (certifier.log->replaying()) return counting;
  bool enough = counting.decided() && !certifier.again;
  const int most = certifier.hurry ? 1 : kCertificationMeasurements;
  for (int i = 0; i < most && !enough; ++i) {
    auto evaluation = measurer.Measure(known + i, false);
    if (!evaluation.ok()) {
      // What was measured before stays.
      if (counting.num() > 0 && counting.decided()) break;
      return evaluation.status();
    }
    enough = Decides(*evaluation);
    counting.Add(std::move(evaluation).value());
  }
  return counting;
}

// Comparisons measures one kernel against the further baselines. On cuda it begins at once, beside
// the measurement that decides whether the kernel wins: processes start and compile side by side,
// and what is timed holds the device. On cpu there are no cores to spare, and a kernel that was
// compiled and interpreted alone is compared only where it wins.
class Comparisons {
 public:
  Comparisons(const Certifier& certifier, int step, const rollout::TaskInput& task,
              const Kernel& kernel, const CancelToken& cancel) {
    const rollout::StepSettings& settings = certifier.recipe->step;
    const bool live = !certifier.log->replaying();
    // An interrupted user waits for one number, not for all; a replay has what there was.
    if (certifier.hurry && live) return;
    const bool at_once = live && settings.target == Target::kCuda &&
                         kernel.screening.outcome != Outcome::kCompileOnly;
    for (const std::string& other : certifier.recipe->also_against) {
      if (other == settings.baseline) continue;
      all_.push_back({other, std::async(at_once ? std::launch::async : std::launch::deferred,
                                        [&certifier, step, &task, &kernel, other, &cancel] {
                                          return Measurer(certifier, step, task, kernel, other,
                                                          cancel)
                                              .Measure(0, true);
                                        })});
    }
  }

  void Await(std::vector<Evaluation>* found, std::string* remark) {
    for (One& one : all_) {
      auto evaluation = one.measured.get();
      if (evaluation.ok())
        found->push_back(std::move(evaluation).value());
      else
        *remark +=
            fmt::format("no comparison with {}: {}; ", one.baseline, evaluation.status().message());
    }
  }

 private:
  struct One {
    std::string baseline;
    std::future<Result<Evaluation>> measured;  // a deferred one runs in Await() alone
  };
  std::vector<One> all_;
};

// What the model wrote around its code, shortened.
std::string Prose(const std::string& reply) {
  std::string prose;
  bool inside = false;
  for (std::string_view rest = reply; !rest.empty();) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      inside = !inside;
      continue;
    }
    if (!inside && (!line.empty() || !prose.ends_with("\n\n"))) prose += fmt::format("{}\n", line);
  }
  while (prose.ends_with('\n')) prose.pop_back();
  return ElideMiddle(prose, kMaxProseBytes);
}

const Trajectory* Find(const std::vector<Trajectory>& trajectories, const RolloutId& id) {
  for (const Trajectory& trajectory : trajectories)
    if (trajectory.id == id) return &trajectory;
  return nullptr;
}

}  // namespace

std::optional<double> RooflineShare(const Evaluation& evaluation) {
  if (!evaluation.candidate_time || !(evaluation.candidate_time->median_ms > 0))
    return std::nullopt;
  const auto attainable_ms = AttainableMs(evaluation);
  if (!attainable_ms) return std::nullopt;
  return *attainable_ms / evaluation.candidate_time->median_ms;
}

std::string WhyNoKernel(const std::vector<Trajectory>& trajectories) {
  std::map<std::string, int> counts;
  int replies = 0;
  for (const Trajectory& trajectory : trajectories)
    for (const Turn& turn : trajectory.turns) {
      ++replies;
      ++counts[turn.code_hash.empty() ? std::string("without code")
                                      : std::string(OutcomeName(turn.evaluation.outcome))];
    }
  if (replies == 0) return "the model gave no reply";
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text =
      fmt::format("no correct kernel in {} repl{}", replies, replies == 1 ? "y" : "ies");
  for (size_t i = 0; i < sorted.size(); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", sorted[i].second, sorted[i].first);
  return text;
}

std::string WhyNotCertified(const std::vector<Trajectory>& trajectories) {
  int replies = 0, checked = 0, correct = 0;
  for (const Trajectory& trajectory : trajectories)
    for (const Turn& turn : trajectory.turns) {
      ++replies;
      if (turn.code_hash.empty() || turn.evaluation.outcome != Outcome::kCompileOnly) continue;
      ++checked;
      correct += turn.evaluation.correct.value_or(false);
    }
  if (checked == 0) return "";
  return fmt::format(
      "nothing can be certified or exported here: there is no GPU, so kernels are compiled and "
      "interpreted, never timed. {} of {} repl{} compile_only, {} of them with correct answers in "
      "the interpreter; judge them where there is a GPU",
      checked, replies, replies == 1 ? "y is" : "ies are", correct);
}

Result<Certified> Certify(const Certifier& certifier, int step, const rollout::TaskInput& task,
                          const std::vector<Kernel>& best,
                          const std::vector<Trajectory>& trajectories, const CancelToken& cancel,
                          std::string* remark) {
  if (best.empty()) {
    *remark = WhyNotCertified(trajectories);
    if (remark->empty()) *remark = WhyNoKernel(trajectories);
    return Certified{};
  }
  Certified none;
  const std::string& baseline = certifier.recipe->step.baseline;
  const size_t attempts =
      std::min(best.size(), static_cast<size_t>(certifier.recipe->certify_attempts));
  for (size_t i = 0; i < attempts; ++i) {
    const Kernel& kernel = best[i];
    Comparisons comparisons(certifier, step, task, kernel, cancel);
    DAVINCI_ASSIGN_OR_RETURN(
        const Counting measured,
        MeasureWinner(certifier, Measurer(certifier, step, task, kernel, baseline, cancel)));
    if (measured.num() == 0) {
      // A replay.
      if (i == 0) return Cancelled("the run that is replayed ends before its certification");
      break;
    }
    const Evaluation& certified = measured.counts();
    if (certified.outcome == Outcome::kCompileOnly) {
      *remark = WhyNotCertified(trajectories);
      return Certified{};
    }
    if (!Held(certified) || !certified.speedup) {
      *remark += fmt::format("{} did not hold when judged again ({}); ", ToString(kernel.turn),
                             OutcomeName(certified.outcome));
      continue;
    }
    if (const std::string why = WhyNotExported(certified); !why.empty()) {
      *remark += fmt::format("{} is correct, but {}; ", ToString(kernel.turn), why);
      continue;
    }
    report::Winner winner;
    winner.turn = kernel.turn;
    winner.code_hash = kernel.code_hash;
    winner.roofline_share = RooflineShare(certified);
    winner.certified = certified;
    if (!measured.decided()) {
      *remark += fmt::format(
          "{} is correct, but whether it is faster is not decided: machine busy ({}); the same "
          "command or --recertify measures again, without any model call; ",
          ToString(kernel.turn),
          measured.num() == 1 ? ShownText(*certified.speedup)
                              : fmt::format("{}, the narrowest of {} measurements",
                                            ShownText(*certified.speedup), measured.num()));
      // A slower kernel would fare no better.
      none.not_decided = std::move(winner);
      break;
    }
    if (FindingOf(*certified.speedup) != SpeedFinding::kFaster) {
      *remark += fmt::format("{} is correct, but not significantly faster: {}; ",
                             ToString(kernel.turn), SpeedupText(*certified.speedup));
      const bool better =
          !none.not_faster ||
          SureSpeedup(*certified.speedup) > SureSpeedup(none.not_faster->certified.speedup.value());
      if (better) none.not_faster = std::move(winner);
      continue;
    }
    comparisons.Await(&winner.also, remark);
    if (remark->ends_with("; ")) remark->resize(remark->size() - 2);
    return Certified{std::move(winner), std::nullopt, std::nullopt};
  }
  if (remark->ends_with("; ")) remark->resize(remark->size() - 2);
  return none;
}

std::string Explain(const rollout::TaskInput& task, const std::vector<Trajectory>& trajectories,
                    const report::Winner& winner, store::RunStore& run) {
  std::string text;
  if (winner.certified.speedup)
    text += fmt::format("{}: {}", task.id, SpeedupText(*winner.certified.speedup));
  for (const Evaluation& other : winner.also)
    if (other.speedup) text += "; " + SpeedupText(*other.speedup);
  if (winner.roofline_share)
    text += fmt::format("; {:.0f} % of the roofline", 100 * *winner.roofline_share);
  if (winner.certified.HasLabel(Label::kOnlyPyTorch))
    text += "; it only calls PyTorch, no kernel of its own";
  text += '\n';
  const Trajectory* trajectory = Find(trajectories, winner.turn.rollout);
  if (trajectory == nullptr) return text;
  const report::Author author = report::AuthorOf(*trajectory);
  const bool is_start = author == report::Author::kUser;
  text += is_start ? "the kernel that the run started from"
          : author == report::Author::kExpert
              ? fmt::format("written by the expert's rules, rollout {}, turn {}",
                            winner.turn.rollout.rollout, winner.turn.turn)
              : fmt::format("found in turn {} of skill set {}, rollout {}", winner.turn.turn,
                            winner.turn.rollout.scheme, winner.turn.rollout.rollout);
  if (is_start) {
    text += '\n';
  } else if (author == report::Author::kExpert) {
    text += fmt::format("; its skills: {}\n", fmt::join(trajectory->skills, ", "));
  } else if (trajectory->skills.empty()) {
    text += ", without skills\n";
  } else {
    text += ", with the skills";
    for (const std::string& skill : trajectory->skills)
      text += fmt::format("{} {}", &skill == &trajectory->skills.front() ? "" : ",", skill);
    text += '\n';
  }
  const Turn* before = nullptr;
  const Turn* after = nullptr;
  for (const Turn& turn : trajectory->turns) {
    if (turn.id.turn > winner.turn.turn) break;
    if (turn.id == winner.turn)
      after = &turn;
    else if (before == nullptr && turn.evaluation.correct.value_or(false))
      before = &turn;
    text += fmt::format(
        "  turn {}: {}{}\n", turn.id.turn, OutcomeName(turn.evaluation.outcome),
        turn.evaluation.speedup ? ", " + FigureText(*turn.evaluation.speedup) : std::string());
  }
  if (after == nullptr) return text;
  if (const std::string prose = Prose(after->reply); !prose.empty())
    text += fmt::format("\nThe {} about it:\n{}\n", report::AuthorName(author), prose);
  auto code = run.GetBlob(after->code_hash);
  if (!code.ok()) return text;
  auto earlier = before != nullptr ? run.GetBlob(before->code_hash)
                                   : Result<std::string>(task.brief.reference);
  if (!earlier.ok()) return text;
  text += before != nullptr ? fmt::format("\nWhat changed since turn {}:\n", before->id.turn)
                            : std::string("\nWhat changed from the reference:\n");
  return text + LineDiff(*earlier, *code);
}

}  // namespace davinci::runs
