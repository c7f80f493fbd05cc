// Examination: one evaluation from the first fork to the verdict. Reads like a table of contents in
// Run().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/evidence.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/device_memory.h"
#include "davinci/judge/judge.h"
#include "davinci/judge/judge_context.h"
#include "davinci/judge/oracle.h"
#include "davinci/judge/output_arena.h"
#include "davinci/judge/protocol.h"
#include "davinci/judge/runner.h"
#include "davinci/judge/runner_pool.h"
#include "davinci/judge/session.h"
#include "davinci/judge/slow_calls.h"
#include "davinci/judge/timing_cores.h"
#include "davinci/judge/trial.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/roofline.h"
#include "davinci/stats/stopping_criterion.h"
#include "davinci/stats/window_time.h"
#include "davinci/store/kv_cache.h"
#include "davinci/task/task.h"
#include "davinci/worker/fork_server.h"

namespace davinci::judge {

// A GPU's host has cores to spare: for this long it waits without sleeping. On the cpu target the
// spinning core would be taken from the candidate.
inline constexpr double kSpinSeconds = 0.05;

// The stage that waits for the candidate's module and constructs it.
inline constexpr char kBuildingStage[] = "building";

class Examination {
 public:
  // `budget`: more of the device's memory than estimated, or all of it, after it ran out.
  Examination(const JudgeContext& context, const Job& job, const Protocol& protocol,
              MemoryBudget budget = MemoryBudget::kEstimated);

  // A Status only for bad input and failures of ours.
  Result<Evaluation> Run();
  // The same for a CUDA candidate without a device: compiled, interpreted, compared, never timed.
  Result<Evaluation> RunCompileOnly();
  // Task admission instead of an evaluation: starts the oracle alone.
  Result<nlohmann::json> Admit();
  // What the reference computes (python/davinci_worker/module_graph.py), likewise.
  Result<nlohmann::json> Trace();

 private:
  // A pair while it is measured.
  struct PairUnderWay {
    Timed* order[2] = {};
    bool full_check = false;
    Arming arming[2];  // by turn
    TimedPair calls;
    nlohmann::json layouts[2];  // by Side
    nlohmann::json verified;    // what the oracle says after the second call

    CallResult& call(int turn) {
      return order[turn]->side == Side::kBaseline ? calls.baseline : calls.candidate;
    }
    nlohmann::json& layout(int turn) { return layouts[static_cast<int>(order[turn]->side)]; }
  };
  // The time of record of a call: GO to DONE on our clock, less the measured cost of the protocol.
  // A runner that computes after DONE is timed until its last thread has stopped. Its own
  // clock can only make it longer.
  double RecordSeconds(const CallResult& call) const;
  // One pair on inputs of `distribution`; `into`: where its times go, if anywhere.
  Result<bool> MeasurePair(bool baseline_first, const std::string& distribution, bool full_check,
                           std::vector<TimedPair>* into);
  // Inputs drawn for this call only, as arguments of a call.
  Result<std::string> DrawnInputs(const std::string& distribution);
  Result<bool> ArmBoth(PairUnderWay* pair, const std::string& args);
  // All calls together, those on stress inputs included: work done in few calls for many counts.
  struct Average {
    double ratio = 0;
    double ratio_without_worst =
        0;                         // less each side's slowest call, which a neighbour may have hit
    double candidate_seconds = 0;  // of a call
  };
  Average OnAverage() const;
  // Does the average tell another story than an interval that begins at `low`?
  bool IsUneven(const Average& average, double low) const;
  // What happens between the calls of a pair and after the second, on cpu and on cuda.
  Result<bool> LookOnHost(PairUnderWay* pair, int turn);
  Result<bool> LookOnDevice(PairUnderWay* pair, int turn);
  nlohmann::json VerifyPairRequest(const PairUnderWay& pair) const;
  // The reference's failure is the task's fault, the candidate's is the verdict.
  Result<bool> FailInPair(const Timed& timed, const Failure& failure);
  std::vector<stats::PairedSample> Samples();
  // On cpu, what other work on the machine does to calls (examination_load.cc).
  void LearnWaits();
  bool IsUndisturbed(const CallResult& call) const;
  double LeastSeconds(const CallResult& call) const;
  std::vector<stats::PairedSample> HostSamples();
  stats::PairedRatio WithinLoad(const stats::PairedRatio& ratio,
                                const stats::PairedRatioOptions& options);
  // On cuda (examination_windows.cc).
  Status BindBuffers();
  // Does a call leave something in buffers that the next begins with?
  bool KeepsState() const;
  void PlanWindows();
  bool HasTimingCores() const;
  std::vector<int> TakeTimingCores(std::span<worker::Process* const> roles);
  Status PrepareWindows();
  Status DrawAhead();
  // Of inputs of a timed call: drawn ahead, if any are left.
  uint64_t NextSeed();
  Result<bool> WarmWindows();
  Result<bool> MeasureWindows(const WindowKind& kind, bool baseline_first, bool full_check,
                              std::vector<TimedPair>* into);
  // The two halves of a window: its process prepares its arguments; it is let go.
  void BeginWindow(Timed* timed, const WindowKind& kind, const nlohmann::json& drawn);
  Result<CallResult> FinishWindow(Timed* timed, const WindowKind& kind, const nlohmann::json& drawn,
                                  TimedPair* pair);
  Result<CallResult> CallWindow(Timed* timed, const WindowKind& kind, uint64_t seed);
  nlohmann::json ArmWindow(Timed* timed, const WindowKind& kind, const nlohmann::json& args);
  Result<bool> LookAtWindow(Timed* timed, const WindowKind& kind, CallResult* call,
                            nlohmann::json* layouts);
  Result<bool> VerifyWindow(const TimedPair& pair, const nlohmann::json (&layouts)[2],
                            bool last_is_ours, bool full_check);
  bool ReturnsOneMemory(const CallResult& call, const VariantFacts& facts) const;
  Status MeasureFirstCall();
  // What the first call of a process that was stopped takes beyond the next; 0 where not measured.
  double FirstCallSeconds() const;
  // What corroborates: calls alone, and from an idle queue, where they are due.
  Result<bool> Corroborate(bool baseline_first);
  std::vector<double> WindowSeconds(const std::vector<TimedPair>& pairs, const WindowKind& kind,
                                    Side side) const;
  std::vector<stats::PairedSample> WindowSamples(const std::vector<TimedPair>& pairs,
                                                 const WindowKind& kind, double to_candidate = 0,
                                                 double to_baseline = 0) const;
  // In a full queue, with what is charged and the hosts' pace.
  std::vector<stats::PairedSample> SamplesOfRecord() const;
  double AfterDone(const std::vector<TimedPair>& pairs, const WindowKind& kind) const;
  void ChargeWindows();
  // Measures more windows of one call and more latencies, and decides the charge by them.
  Result<bool> ConfirmCharge();
  ClockTimes Reading(const std::vector<stats::PairedSample>& samples,
                     const stats::PairedRatio& ratio) const;
  // Which clock is the time of record.
  void RecordClocks(const std::vector<stats::PairedSample>& samples,
                    const stats::PairedRatio& ratio, const stats::PairedRatioOptions& options);
  void LookAtMemory(const std::vector<OutputTensor>& outputs, const VariantFacts& facts);
  // Where outputs lie: address and bytes of each that has any.
  static std::vector<std::pair<uint64_t, uint64_t>> Ranges(
      const std::vector<OutputTensor>& outputs);
  // Which outputs are the caller's once returned: in memory of their own, to be overwritten.
  static std::vector<size_t> NotLent(const std::vector<OutputTensor>& outputs,
                                     const VariantFacts& facts);
  std::optional<Failure> SharedOutput() const;
  std::optional<Failure> CheckClocks();
  // Seconds by which the candidate took longer to be armed than the baseline, in every call or in
  // many; what of it so many more threads excuse, which are woken and stopped.
  double ArmExcess(int64_t Arming::*spent) const;
  double UsualArmExcess(int64_t Arming::*spent, double noise) const;
  std::vector<double> ArmExcesses(int64_t Arming::*spent) const;
  // What it costs on this machine, at this moment, to wake and to stop as many more threads as the
  // candidate has than the baseline: measured on the baseline, which is given as many that sleep
  // (examination_waking.cc).
  Status MeasureWaking();
  double AllowedArming(double call_seconds) const;
  std::optional<Failure> CheckArming(double call_seconds);
  std::optional<Failure> CheckIdleDevice(double call_seconds);
  // Every stage: a Status is ours or bad input; `true` means go on; `false` means report.failure
  // holds the verdict.
  Result<Evaluation> Contained(Result<Evaluation> (Examination::*examine)());
  Result<Evaluation> Examine();
  Result<Evaluation> ExamineCompileOnly();
  Result<bool> StartRoles();
  Result<bool> LoadReference();
  // Waits for the candidate's module, and serves its compilations meanwhile.
  const Answer& Loaded();
  // A process for the candidate and its source; what it is asked to load.
  Status StartCandidate();
  void PostCandidate();
  bool SharesProcess() const;
  // The candidate's process lets go of it and goes back to where others get it; what became of that
  // is part of the provenance.
  void LetGoOfCandidate(Evaluation* evaluation);
  Result<bool> LoadCandidate();
  Result<bool> LockEarly();
  Result<bool> LockLate();
  Result<bool> Lock();
  std::optional<Failure> HelperProcesses() const;
  Result<bool> CheckCorrectness();
  Result<bool> MeasureTime();
  // Seconds of a small kernel's turn on the device, in the middle of several.
  Result<double> DeviceTurn();
  // Ends calls of other candidates that compute on the device without a share of it.
  Status AwaitQuietDevice();
  // `lease`: of the device, exclusive; given back as soon as nothing is timed any more.
  Result<bool> MeasurePairs(gpu::DeviceLease lease);
  struct TimingPlan {
    stats::StoppingOptions options;
    stats::MeasurementPlan plan;
  };
  // From a few pairs that warm up. Here and in MeasurePhase: nothing where a verdict stands.
  Result<std::optional<TimingPlan>> PlanTiming();
  struct TimingPhase {
    stats::StopDecision decision;
    std::vector<stats::PairedSample> samples;
  };
  // Pairs until the stopping criterion is content.
  Result<std::optional<TimingPhase>> MeasurePhase(const TimingPlan& timing);
  Result<bool> CheckOtherWeights();
  // Several launches (examination_launches.cc): the current one is trial_.session->baseline
  // and trial_.candidate; the others are parked.
  bool MayLaunchMore();
  // As many as the protocol asks for, loaded and warm, where they are cheap; the first is current.
  Result<bool> LaunchMore();
  // False: it did not load, or report.failure holds the verdict.
  Result<bool> StartLaunch(size_t launch);
  Result<bool> WarmLaunch();
  void UseLaunch(size_t launch);
  std::vector<Timed*> TimedOf(Side side);  // of all launches
  // The number of record; `uneven`: the average, where that is the number.
  void ConcludeTiming(const stats::StoppingOptions& options, const TimingPhase& phase,
                      const std::optional<Average>& uneven);
  void CollectEvidence();
  void CollectProfile();
  void CollectHotTimes();
  // A time that the candidate's process says of itself; nothing, and a label for `member`, where it
  // is not within 0 and `most`.
  std::optional<double> Plausible(double said, double most, const char* member);
  // Calls of a runner by itself, for so long, on its last inputs: {"ms": of the fastest}.
  Answer CallHot(const Timed& timed, double seconds, double timeout_seconds);
  // About the task and the number (examination_task.cc).
  Result<bool> Weigh();
  void LearnTask();
  std::vector<std::string> TaskTags() const;
  std::string AdmissionKey() const;
  Result<nlohmann::json> AskAdmission(std::optional<double> budget_seconds);
  Result<bool> CheckRoofline();
  Result<nlohmann::json> CudaPeaks(bool remeasure);
  Result<stats::AttainableRates> CpuRates(double bytes);
  // The device for this process's measurement alone.
  Result<gpu::DeviceLease> MeasureAlone();
  Status AskPublishedRule(const std::string& distribution, int variant,
                          const nlohmann::json& layout, const nlohmann::json& compared);
  void ProbeNonfinite();
  Evaluation Conclude();
  // With a correct evaluation: does the kernel run from its export? (examination_export.cc)
  Status CheckExport(Evaluation* evaluation);

  Result<bool> Verdict(Failure failure);
  std::string SessionKey() const;
  std::string HostKey() const;
  Status TakeSession(SessionClaim claim);
  void ReturnSession(bool well);
  Status StartSession();
  Status StartOracle();
  // The oracle's description of the reference: where it is, sizes, mode.
  nlohmann::json ReferenceSpec();
  std::string ReferenceEntry() const;
  // What the reference's processes may read beside the system.
  std::vector<std::filesystem::path> ReferenceFiles() const;
  Status BeginReference();
  void LoadBaseline();
  Status FinishReference();
  Status FitOutputs(const VariantFacts& facts);
  // Builds variant `variant` in a runner, gives it the reference's weights and binds its input
  // arena.
  Result<std::optional<Failure>> BindVariant(Timed* timed, int variant);
  Result<const VariantFacts*> Facts(int variant);
  // Which of the reference's tensors each of the candidate's took over in a variant, as the runner
  // says: [[name, index, order of dimensions]], null where its weights were reseeded.
  void KeepHandover(int variant, const nlohmann::json& answer, size_t num_wanted);
  // Marks those tensors of a state message that the reference does not read; false: there are none.
  Result<bool> MarkUnread(int variant, nlohmann::json* message);
  // The reference failed: the task's fault, unless the device's memory ran out.
  Status ReferenceFailure(const Failure& failure) const;
  // Before the task is described, and with what is known about it afterwards.
  Status ReserveDeviceMemory();
  Status FitDeviceMemory(const VariantFacts& facts);
  Status HoldMemoryParts(int parts);
  DeviceMemoryEvidence& DeviceMemory();
  std::string FootprintKey() const;
  // Writes other weights into the reference, the baseline and the candidate, in place, as a step of
  // an optimiser does: what a candidate derived from the old ones is wrong from here on. Does
  // nothing where there are no weights, or where they are not the judge's to draw.
  Result<std::optional<Failure>> Reweigh(std::optional<uint64_t> seed = std::nullopt);
  // Draws inputs; `truth` also computes what is right for them.
  Result<nlohmann::json> Prepare(const std::string& distribution, int variant, bool truth,
                                 std::optional<uint64_t> seed = std::nullopt);
  nlohmann::json ArmMessage(Timed* timed, const VariantFacts& facts, const std::string& args);
  nlohmann::json PrepareRequest(const std::string& distribution, int variant, bool truth,
                                uint64_t seed) const;
  // Lets an armed runner see the drawn inputs.
  nlohmann::json PublishRequest(const Timed& timed, const VariantFacts& facts) const;
  // Calls a runner whose inputs are there. `gated`: it gives the device up while it compiles.
  std::optional<Failure> KeepsDeviceBusy(const SlowCall& call) const;
  Result<CallResult> CallPublished(Timed* timed, bool gated);
  // Arms a runner and calls it.
  Result<CallResult> Call(Timed* timed, int variant, const std::string& args);
  // Whether a call returned what it must, and how the oracle finds it; on cpu it is copied there.
  std::optional<Failure> Locate(const Timed& timed, CallResult* call, int variant,
                                nlohmann::json* layout);
  // The failure behind an oracle that could not look at a runner's outputs.
  Result<std::optional<Failure>> Unreadable(const Status& failure);
  // The oracle's first look at outputs on the device, and leave to overwrite them before it draws
  // the next inputs.
  nlohmann::json SettleRequest(const Timed& timed, const VariantFacts& facts,
                               const nlohmann::json& layout,
                               const std::vector<OutputTensor>& outputs);
  // Locates the outputs; on cuda the oracle takes a first look at them, too.
  Result<std::optional<Failure>> Collect(Timed* timed, CallResult* call, int variant,
                                         nlohmann::json* layout);
  // Inputs of a check and their truth, which the oracle keeps for the session's next candidates.
  Result<nlohmann::json> PrepareCheck(const CheckStep& step, int variant);
  Result<std::optional<Failure>> CheckOne(const CheckStep& step, int variant);
  Result<bool> CheckVariant(int variant, bool own_size);
  Failure MismatchFailure(const nlohmann::json& comparison, const std::string& distribution,
                          int variant) const;
  // One look at everything a call has left behind: outputs against the baseline's or truth (or
  // both), inputs intact, and on cuda no store after the runner said done. The comparison; what
  // else is wrong in `broken`.
  nlohmann::json VerifyRequest(const nlohmann::json& layout, const nlohmann::json& baseline_layout,
                               bool against_truth, bool samples_are_the_candidates) const;
  // Where the inputs of the last call lie, in an arena of the oracle's.
  nlohmann::json InputsOf(const Timed& timed) const;
  // What a call has left behind against truth.
  nlohmann::json CompareRequest(const Timed& timed, const nlohmann::json& layout) const;
  static nlohmann::json Verified(const nlohmann::json& found, std::optional<Failure>* broken);
  static Failure LateWrites();
  static Failure InputMutation(int input);
  std::optional<Failure> CheckOutside(const Timed& timed) const;
  static Failure WorkedWhileStopped(double cpu_seconds);
  // Without a device (examination_compile_only.cc).
  nlohmann::json CompileOnlyOptions() const;
  void CompileOnlySpec(nlohmann::json* load) const;
  int64_t MemoryBytes() const;
  nlohmann::json CompileOnlyReport();
  bool StoppedForWantOfDevice(const Failure& failure, int variant);
  bool StoppedBySize(const Status& status);
  Result<bool> UnlessTooLarge(Result<bool> step);
  const nlohmann::json* Shrunk() const;
  std::string ShrunkText() const;
  Result<bool> CheckCompileOnly();
  void DescribeCompileOnly(const nlohmann::json& report, Evaluation* evaluation);
  double CallTimeout() const;
  // Is the baseline compiled at its first call, by the judge or by the reference itself?
  bool BaselineCompiles() const;
  double ProfileTimeout() const;
  std::string DeviceKey() const;
  void Stage(std::string_view name);

  bool IsAlone() const { return trial_.budget == MemoryBudget::kAll; }

  // The device, outside of timing: held while loading, drawing, comparing or checking there.
  // A holder gives way to evaluations that wait to be timed.
  Status ShareDevice();
  // Tells the progress callback that another process has the device.
  gpu::LeaseRequest DeviceRequest(gpu::LeaseMode mode, std::string_view what) const;

  Trial trial_;
};

// That the oracle spent on what it answers.
int64_t Nanoseconds(const nlohmann::json& answer);

// RunCompileOnly() at the task's own size, and where that is too large to be drawn or
// interpreted, at smaller ones.
Result<Evaluation> EvaluateCompileOnly(const JudgeContext& context, Job job,
                                       const Protocol& protocol);

}  // namespace davinci::judge
