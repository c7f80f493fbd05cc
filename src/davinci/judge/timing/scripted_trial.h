// ScriptedTrial: for tests of timing, a trial whose oracle, runners, device and clock are played.
//
// A test says what calls of either side take; time passes by what it says alone, so a phase of
// hundreds of pairs is over in milliseconds and comes out the same each time. Everything above
// worker::Process, Machine, DeviceLeases and Outside is real: the seam of transcript.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/outside.h"
#include "davinci/judge/machine/awake_cores.h"
#include "davinci/judge/machine/quiet_process.h"
#include "davinci/judge/machine/slow_calls.h"
#include "davinci/judge/machine/timing_cores.h"
#include "davinci/judge/timing/measure_time.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {

// A side's calls take and do this; times are in microseconds.
struct ScriptedSide {
  double call = 1000;
  double noise = 0.01;     // of a call, at most, as a share
  double eighth_call = 0;  // instead, of every eighth
  double arm = 20;
  double arm_cpu = 1;        // of that, as a share
  double after_done = 0;     // CPU time after DONE, before every thread has stopped
  double while_stopped = 0;  // CPU time before a call
  double claimed = 1;        // of a call's time, on the runner's own clock
  double core_wait = 0;      // for a core that others have, of those that wait
  int waiting_of_six = 5;    // … this many of every six
  int64_t unwritten_pages = 0;
  size_t left_out = 0;         // pointers that short replies lack
  bool shares_memory = false;  // of its outputs
  bool has_memory = true;      // cuda: behind its outputs
  // The members below belong to windows.
  double dawdle = 0;        // in empty ones
  double alone_more = 0;    // of a call alone, beyond what it adds to a full queue
  double host = 0;          // of a call from an idle queue, beyond the device's time
  double first_call = 80;   // of the first of those, beyond the next
  double busy_after = 0;    // of the device, after DONE
  double busy_before = 0;   // … before its inputs are written
  bool one_memory = false;  // that all calls of one return
  bool fills = true;        // the buffers between calls
};

struct Script {
  ScriptedSide candidate;
  ScriptedSide baseline;
  double flush = 30;          // filling the buffers, before each call of some windows
  double turn = 15;           // of the device, at the end of every window
  double between_events = 2;  // beyond what a call adds to a queue
  bool is_first = false;      // candidate of its session: how long the baseline takes is not known
  bool right = true;          // what the oracle finds of the candidate's outputs
};

// The clock of the script, and the noise.
class ScriptedClock final : public Outside {
 public:
  int64_t MonotonicNs() override { return now_; }
  uint64_t SecretSeed() override { return 17; }
  void MadeFolder(const std::filesystem::path&) override {}
  void Pass(double microseconds) { now_ += static_cast<int64_t>(1e3 * microseconds); }
  int64_t now() const { return now_; }
  void PassUntil(int64_t ns) { now_ = std::max(now_, ns); }
  // 1 - share … 1 + share.
  double Noise(double share) {
    return 1 + share * std::uniform_real_distribution<double>(-1, 1)(random_);
  }

 private:
  int64_t now_ = 1'000'000'000;
  std::mt19937 random_{5};
};

// Oracle and runners know this of each other through the device.
struct ScriptedDevice {
  const Script& script;
  ScriptedClock& clock;
  int64_t released_at = 0;
  const ScriptedSide* last = nullptr;  // whose call was the last

  const ScriptedSide& Of(const std::string& name) const {
    return name == "baseline" ? script.baseline : script.candidate;
  }
};

class ScriptedOracle final : public QuietProcess {
 public:
  explicit ScriptedOracle(ScriptedDevice* device) : device_(device) {}
  Status SendFrame(std::string_view frame, std::span<const int>) override {
    const auto request = nlohmann::json::parse(frame.substr(4));
    if (request.at("op") == "release") {
      device_->released_at =
          device_->clock.now() + static_cast<int64_t>(1e9 * request.at("seconds").get<double>());
    }
    requests_.push_back(request);
    return Status::Ok();
  }
  Result<Reply> Await(double, const worker::BuildHandler&) override {
    const nlohmann::json request = std::move(requests_.front());
    requests_.pop_front();
    device_->clock.Pass(20);
    if (request.at("op") != "several") return Reply{AnswerTo(request), {}, {}};
    nlohmann::json answers = nlohmann::json::array();
    if (request.at("requests").at(0).at("op") == "settle" && !device_->last->has_memory) {
      return Reply{{{"answers", answers}, {"error", {{"message", "cannot be opened"}}}}, {}, {}};
    }
    for (const auto& one : request.at("requests")) answers.push_back(AnswerTo(one));
    return Reply{{{"answers", answers}}, {}, {}};
  }

 private:
  nlohmann::json AnswerTo(const nlohmann::json& request) const {
    const std::string op = request.at("op");
    const auto seconds = [](double us) { return nlohmann::json{{"seconds", 1e-6 * us}}; };
    const nlohmann::json found = {
        {"comparison", {{"passed", device_->script.right}, {"outputs", nlohmann::json::array()}}},
        {"late", false},
        {"changed", nullptr}};
    if (op == "publish" || op == "publish_several")
      return seconds(50 * device_->clock.Noise(0.02) + device_->Of(request.at("name")).busy_before);
    if (op == "settle") return seconds(10 * device_->clock.Noise(0.02) + device_->last->busy_after);
    if (op == "filled") return {{"filled", device_->last->fills}};
    if (op == "release") return {{"at_ns", device_->released_at}};
    if (op == "turn") return {{"turn_seconds", 1e-6 * device_->script.turn}};
    if (op == "calibrate")
      return {{"between_events_seconds", 1e-6 * device_->script.between_events}};
    if (op == "buffers") return {{"count", request.at("count")}};
    if (op == "prepare") return {{"distribution", "task"}, {"args", "x"}, {"call_seed", 1}};
    if (op == "draw")
      return {{"args", std::vector<std::string>(request.at("seeds").size(), "x")},
              {"call_seed", 1}};
    if (op == "verify") return found;
    if (op == "verify_several")
      return {{"calls", std::vector<nlohmann::json>(request.at("calls").size(), found)}};
    return nlohmann::json::object();
  }

  ScriptedDevice* device_;
  std::deque<nlohmann::json> requests_;
};

class ScriptedRunner final : public QuietProcess {
 public:
  ScriptedRunner(ScriptedDevice* device, const ScriptedSide* side, std::string where)
      : device_(device), side_(side), where_(std::move(where)) {}

  Status SendFrame(std::string_view frame, std::span<const int>) override {
    if (frame.starts_with(worker::kGo)) {
      Work(side_->while_stopped);
      called_ = true;
    } else {
      request_ = nlohmann::json::parse(frame.substr(4));
      called_ = false;
    }
    return Status::Ok();
  }
  Result<Reply> Await(double, const worker::BuildHandler&) override {
    const bool arms = request_.at("op") == "arm";
    if (arms) window_ = request_.value("window", nlohmann::json());
    const double spent = (arms ? side_->arm : 5) * device_->clock.Noise(0.02);
    device_->clock.Pass(spent);
    Work(arms ? side_->arm_cpu * spent : spent);
    return Reply{nlohmann::json::object(), {}, {}};
  }
  Status Wait(double) override {
    const ScriptedSide& side = *side_;
    device_->last = side_;
    const int64_t start = device_->clock.now();
    const double wait = num_calls_++ % 6 < side.waiting_of_six ? side.core_wait : 0;
    call_ = (side.eighth_call > 0 && num_calls_ % 8 == 0 ? side.eighth_call : side.call) *
            device_->clock.Noise(side.noise);
    if (window_.is_null())
      device_->clock.Pass(call_ + wait);
    else
      PassWindow();
    inner_ns_ =
        static_cast<int64_t>(side.claimed * static_cast<double>(device_->clock.now() - start));
    device_->clock.Pass(kProtocol);
    Work(call_);
    cores_.main_waited_ns += static_cast<int64_t>(1e3 * wait);
    return Status::Ok();
  }
  Status Freeze() override {
    device_->clock.Pass(5);
    if (called_) {
      device_->clock.Pass(side_->after_done);
      Work(side_->after_done);
    }
    return Status::Ok();
  }
  int64_t CpuNs() const override { return cores_.ran_ns; }
  worker::CoreTimes ReadCoreTimes() const override { return cores_; }
  int64_t UnwrittenPages(Ranges) const override { return side_->unwritten_pages; }
  bool SharesMemory(Ranges) const override { return side_->shares_memory; }
  Result<worker::Message> Receive(double) override {
    worker::Message message;
    const size_t count = window_.is_null() ? 1 : window_.at("calls").get<size_t>();
    if (described_) {
      message.done = Short(count);
    } else if (window_.is_null()) {
      message.body = {{"done", Long(0)}};
      described_ = true;
    } else {
      nlohmann::json several = nlohmann::json::array();
      for (size_t i = 0; i < count; ++i) several.push_back(Long(i));
      message.body = {{"done", {{"several", several}}}};
      described_ = !window_.at("empty").get<bool>();
    }
    return message;
  }

 private:
  static constexpr double kProtocol = 8;
  uint64_t AddressOf(size_t call) const {
    return 0x10000 + (side_->one_memory ? 0 : 0x1000 * call);
  }

  void Work(double microseconds) {
    cores_.ran_ns += static_cast<int64_t>(1e3 * microseconds);
    cores_.main_ran_ns = cores_.ran_ns;
  }
  void PassWindow() {
    const auto calls = window_.at("calls").get<int>();
    const bool idle = window_.at("idle").get<bool>();
    const bool flush = window_.at("flush").get<bool>();
    const bool is_empty = window_.at("empty").get<bool>();
    device_->clock.PassUntil(device_->released_at);
    double takes = device_->script.turn * device_->clock.Noise(0.02);
    if (flush) takes += calls * device_->script.flush;
    if (is_empty) takes += side_->dawdle;
    if (!is_empty) takes += calls * (call_ + (idle ? side_->host : 0));
    if (!is_empty && idle) takes += side_->first_call;
    if (!is_empty && !flush) takes += calls * side_->alone_more;
    device_->clock.Pass(takes);
  }
  nlohmann::json Long(size_t call) const {
    nlohmann::json output = {{"ptr", AddressOf(call)}, {"dtype", "f32"},   {"shape", {4}},
                             {"stride", {1}},          {"device", where_}, {"plain", true},
                             {"ipc", "handle"}};
    return {{"structure", "T"},
            {"outputs", nlohmann::json::array({std::move(output)})},
            {"inner_ns", inner_ns_}};
  }
  std::string Short(size_t calls) const {
    std::string done(1, worker::kDoneMark);
    done.append(reinterpret_cast<const char*>(&inner_ns_), sizeof inner_ns_);
    for (size_t call = 0; call + side_->left_out < calls; ++call) {
      const uint64_t address = AddressOf(call);
      done.append(reinterpret_cast<const char*>(&address), sizeof address);
    }
    return done;
  }

  ScriptedDevice* device_;
  const ScriptedSide* side_;
  const std::string where_;
  nlohmann::json request_;
  nlohmann::json window_;  // of the last arming; null: one call
  bool called_ = false;
  bool described_ = false;
  int num_calls_ = 0;
  double call_ = 0;
  int64_t inner_ns_ = 0;
  worker::CoreTimes cores_;
};

class ScriptedLeases final : public gpu::DeviceLeases {
 public:
  Result<gpu::DeviceLease> Acquire(const std::string& device,
                                   const gpu::LeaseRequest& request) override {
    return gpu::DeviceLease::Played(device, request.mode, 0);
  }
  bool ExclusiveIsDue(const std::string&) const override { return false; }
  bool IsAwaited(const std::string&) const override { return false; }
};

class ScriptedMachine final : public Machine {
 public:
  nlohmann::json State(Target) override { return nlohmann::json::object(); }
  Result<CorePeaks> PeaksOfCore(bool) override { return Unavailable("played"); }
  std::optional<stats::AttainableRates> RatesIfKnown(int, double) override { return {}; }
  Result<stats::AttainableRates> Rates(int, double) override { return Unavailable("played"); }
  std::vector<std::string> VendorLibraries(const worker::Process&) override { return {}; }
  std::optional<std::string> FileSha256(const std::string&) override { return {}; }
  task::LocalImports ImportsOf(std::string_view, const std::string&) override { return {}; }
  std::unique_ptr<AwakeCores> KeepAwake(std::span<const int>) override { return nullptr; }
};

// Checked and loaded, about to be timed.
class ScriptedTrial {
 public:
  explicit ScriptedTrial(Target target, Script what = {}) : script(std::move(what)) {
    job_.task = std::make_shared<task::Task>();
    job_.target = target;
    job_.baseline = "eager";
    context_.leases = &leases_;
    context_.machine = &machine_;
    context_.slow_calls = &slow_calls_;
    context_.timing_cores = &no_cores_;
    context_.device = "GPU-0";
  }
  ScriptedTrial(const ScriptedTrial&) = delete;
  ScriptedTrial& operator=(const ScriptedTrial&) = delete;

  // Times it, once. What came of it is in trial().
  Result<bool> Measure() {
    const WithOutside played(&clock_);
    trial_ = std::make_unique<Trial>(context_, job_, protocol);
    Trial& trial = *trial_;
    trial.report.evidence.clocks.emplace();
    trial.session = std::make_unique<Session>();
    trial.session->ready = true;
    trial.session->oracle =
        std::make_unique<Oracle>(std::make_shared<ScriptedOracle>(&device_), "cuda");
    VariantFacts facts;
    facts.structure = "T";
    facts.outputs.emplace_back();
    facts.outputs[0].dtype = "f32";
    facts.outputs[0].shape = {4};
    facts.outputs[0].stride = {1};
    facts.slot_bytes = 64;
    facts.num_slots = 16;
    facts.lent = {false};
    facts.begins = {0};
    facts.regions = {0};
    auto arena = OutputArena::Create(facts.outputs);
    if (!arena.ok()) return arena.status();
    trial.session->arena = std::move(*arena);
    trial.session->facts = {std::move(facts)};
    // An earlier candidate has shown it, so that windows are the first to be measured.
    if (job_.target == Target::kCuda && !script.is_first)
      trial.session->baseline_seconds = 1e-6 * script.baseline.call;
    trial.session->baseline.name = "baseline";
    trial.session->baseline.side = Side::kBaseline;
    const std::string where(TargetName(job_.target));
    for (const auto& [timed, side] : {std::pair(&trial.session->baseline, &script.baseline),
                                      std::pair(&trial.candidate.timed, &script.candidate)}) {
      timed->runner = std::make_unique<Runner>(
          std::make_shared<ScriptedRunner>(&device_, side, where), nullptr);
      if (const auto failure = timed->runner->StartCalls()) return Internal(failure->message);
    }
    return MeasureTime(trial);
  }

  Trial& trial() { return *trial_; }
  const Speedup& speedup() { return trial_->report.evaluation.speedup.value(); }
  // The rule that the candidate broke; nothing where no verdict stands.
  std::optional<Rule> rule() {
    return trial_->report.failure ? trial_->report.failure->evidence.rule : std::nullopt;
  }

  Script script;
  Protocol protocol;

 private:
  ScriptedClock clock_;
  ScriptedDevice device_{script, clock_, 0, nullptr};
  ScriptedLeases leases_;
  ScriptedMachine machine_;
  SlowCalls slow_calls_;
  TimingCores no_cores_{0, 0};
  JudgeContext context_;
  Job job_;
  std::unique_ptr<Trial> trial_;
};

}  // namespace davinci::judge
