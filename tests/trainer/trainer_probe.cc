// Lets a Python test or benchmark drive a learner: one JSON request per line on stdin, one JSON
// reply per line on stdout.
//
//   {"op": "open", "model": DIR, …options}
//   {"op": "sft", "passes": [{"sequences": [{"tokens", "targets"}], "derivatives": […]}]}
//   {"op": "policy", "passes": [… "targets": [{"advantage", "old", "weight", "agent"}]], "clip":
//   {}}
//   {"op": "critic", "passes": [… "targets": [{"old", "target", "weight"}]], "clip": 0.2}
//   {"op": "evaluate", "sequences": […]}
//   {"op": "step", "lr": X}, {"op": "state", "kind": "gradients", "out": FILE}
//   {"op": "bench", "lengths": [N, …], "passes": N, "steps": N, "warmup": N, "profile": BOOL}
//
// A probe that was started as a rank (comm/world.h) joins the others at its first "open".
//
// sft, policy and critic accumulate and answer with outputs. The file of "state" has fp32 values
// one tensor after the other; the reply lists names and shapes. "profile": what ran on the device
// in those steps, by kernel.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "davinci/comm/join.h"
#include "davinci/comm/world.h"
#include "davinci/gpu/activity.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/objectives.h"

namespace {

using davinci::Result;
using davinci::Status;
using nlohmann::json;
namespace trainer = davinci::trainer;
namespace rl = davinci::rl;

struct Sequences {
  std::vector<std::vector<int32_t>> tokens, targets;
  std::vector<trainer::SequenceView> views;
};

void Read(const json& in, Sequences* out) {
  for (const json& one : in) {
    out->tokens.push_back(one.at("tokens").get<std::vector<int32_t>>());
    out->targets.push_back(one.at("targets").get<std::vector<int32_t>>());
  }
  for (size_t i = 0; i < out->tokens.size(); ++i)
    out->views.push_back({out->tokens[i], out->targets[i]});
}

json Failure(const Status& status) { return {{"error", status.message()}}; }

Result<std::unique_ptr<davinci::comm::RankGroup>> JoinOthers() {
  DAVINCI_ASSIGN_OR_RETURN(const davinci::comm::World world,
                           davinci::comm::WorldFromEnvironment(std::getenv));
  return davinci::comm::Join(world);
}

json Open(const json& in, std::unique_ptr<trainer::Learner>* learner) {
  learner->reset();
  trainer::LearnerOptions options;
  static const Result<std::unique_ptr<davinci::comm::RankGroup>> ranks = JoinOthers();
  if (!ranks.ok()) return Failure(ranks.status());
  options.ranks = ranks->get();
  options.model_dir = in.at("model");
  options.random_weights = in.value("random", false);
  options.device = in.value("device", "cpu");
  const std::string compute = in.value("compute", "auto");
  options.compute = compute == "fp32"   ? trainer::Compute::kFloat32
                    : compute == "bf16" ? trainer::Compute::kBfloat16
                                        : trainer::Compute::kAuto;
  options.recomputed_layers = in.value("recomputed_layers", -1);
  options.head_rows = in.value("head_rows", 0);
  options.deterministic = in.value("deterministic", true);
  options.threads = in.value("threads", 0);
  options.own_kernels = in.value("own_kernels", true);
  options.own_update = in.value("own_update", true);
  const std::string attention = in.value("attention", "auto");
  options.attention = attention == "flash"   ? trainer::AttentionChoice::kFlash
                      : attention == "cudnn" ? trainer::AttentionChoice::kCudnn
                                             : trainer::AttentionChoice::kAuto;
  options.zero_stage = in.value("zero_stage", 1);
  options.value_head = in.value("value_head", false);
  options.lora.rank = in.value("lora_rank", 0);
  options.lora.targets = in.value("lora_targets", options.lora.targets);
  options.adam.weight_decay = in.value("weight_decay", 0.01);
  options.adam.clip_norm = in.value("clip_norm", 1.0);
  options.adam.muon = in.value("muon", false);
  options.adam.decay_all = in.value("decay_all", false);
  auto opened = trainer::OpenLearner(options);
  if (!opened.ok()) return Failure(opened.status());
  *learner = std::move(opened).value();
  const trainer::LearnerFacts facts = (*learner)->Facts();
  return {{"device", facts.device},         {"compute", facts.compute},
          {"kernels", facts.kernels},       {"attention", facts.attention},
          {"parameters", facts.parameters}, {"trained", facts.trained_parameters}};
}

json Differentiate(const std::string& op, const json& in, trainer::Learner* learner) {
  json outputs = json::array();
  double loss = 0;
  trainer::PassOptions pass_options;
  pass_options.temperature = in.value("temperature", 1.0);
  pass_options.entropies = in.value("entropies", false);
  json entropies = json::array();
  for (const json& pass : in.at("passes")) {
    Sequences sequences;
    Read(pass.at("sequences"), &sequences);
    Result<trainer::PassResult> result = davinci::Internal("not run");
    if (op == "sft") {
      const auto derivatives = pass.at("derivatives").get<std::vector<float>>();
      result = learner->AccumulateLinear(sequences.views, pass_options, derivatives);
    } else if (op == "policy") {
      std::vector<trainer::PolicyTarget> targets;
      for (const json& t : pass.at("targets"))
        targets.push_back({t.at("advantage"), t.at("old"), t.at("weight"),
                           static_cast<rl::AgentKind>(t.value("agent", 0))});
      rl::ClipOptions clip;
      trainer::PolicyObjective objective(clip, targets);
      result = learner->Accumulate(sequences.views, pass_options, std::ref(objective));
      for (const trainer::PolicySums& sums : objective.by_agent()) loss += sums.loss;
    } else {
      std::vector<trainer::ValueTarget> targets;
      for (const json& t : pass.at("targets"))
        targets.push_back({t.at("old"), t.at("target"), t.at("weight")});
      trainer::ValueObjective objective(in.value("clip", 0.2), targets);
      result = learner->Accumulate(sequences.views, pass_options, std::ref(objective));
      loss += objective.loss();
    }
    if (!result.ok()) return Failure(result.status());
    for (const float value : result->outputs) outputs.push_back(value);
    for (const float value : result->entropies) entropies.push_back(value);
  }
  return {{"outputs", outputs}, {"loss", loss}, {"entropies", entropies}};
}

json State(const json& in, trainer::Learner* learner) {
  const std::string kind = in.at("kind");
  std::ofstream out(in.at("out").get<std::string>(), std::ios::binary);
  json names = json::array();
  const Status status =
      learner->Visit(kind == "weights"     ? trainer::StateKind::kWeights
                     : kind == "gradients" ? trainer::StateKind::kGradients
                     : kind == "first"     ? trainer::StateKind::kFirstMoments
                                           : trainer::StateKind::kSecondMoments,
                     [&](const trainer::StateTensor& tensor) {
                       names.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
                       out.write(reinterpret_cast<const char*>(tensor.values.data()),
                                 static_cast<std::streamsize>(tensor.values.size_bytes()));
                       return Status::Ok();
                     });
  if (!status.ok()) return Failure(status);
  return {{"tensors", names}};
}

// Kernels, copies and sets by name: how often and how long; the union of their times, and the time
// from the first to the last.
json Summary(const davinci::gpu::ActivityResult& result) {
  json kernels = json::object();
  uint64_t busy = 0, first = UINT64_MAX, last = 0;
  for (const davinci::gpu::Activity& activity : result.activities) {  // ordered by start
    json& row = kernels[activity.name];
    if (row.is_null()) row = {0, 0};
    row[0] = row[0].get<uint64_t>() + 1;
    row[1] = row[1].get<uint64_t>() + activity.end_ns - activity.start_ns;
    first = std::min(first, activity.start_ns);
    const uint64_t from = std::max(last, activity.start_ns);
    if (activity.end_ns > from) busy += activity.end_ns - from;
    last = std::max(last, activity.end_ns);
  }
  return {{"kernels", kernels},
          {"busy_ns", busy},
          {"span_ns", last > first ? last - first : 0},
          {"dropped", result.num_dropped}};
}

// One optimiser step over and over: `passes` passes of random sequences, all their tokens trained.
json Bench(const json& in, trainer::Learner* learner) {
  const auto lengths = in.at("lengths").get<std::vector<int>>();
  const int passes = in.at("passes");
  const int warmup = in.value("warmup", 2);
  const int steps = in.at("steps");
  Sequences sequences;
  uint32_t noise = 1;
  for (const int length : lengths) {
    std::vector<int32_t> tokens, targets;
    for (int i = 0; i < length; ++i) {
      noise = noise * 1664525u + 1013904223u;
      tokens.push_back(static_cast<int32_t>((noise >> 8) % learner->config().vocab_size));
      if (i > 0) targets.push_back(i);
    }
    sequences.tokens.push_back(tokens);
    sequences.targets.push_back(targets);
  }
  for (size_t i = 0; i < sequences.tokens.size(); ++i)
    sequences.views.push_back({sequences.tokens[i], sequences.targets[i]});
  size_t num = 0, num_tokens = 0;
  for (const trainer::SequenceView& view : sequences.views) {
    num += view.targets.size();
    num_tokens += view.tokens.size();
  }
  const std::vector<float> derivatives(
      num, static_cast<float>(-1.0 / (static_cast<double>(num) * passes)));
  learner->ResetPeak();
  davinci::gpu::ActivityRecorder* recorder = nullptr;
  if (in.value("profile", false)) {
    const auto found = davinci::gpu::ActivityRecorder::Get({});
    if (!found.ok()) return Failure(found.status());
    recorder = *found;
  }
  std::vector<double> seconds;
  double loss = 0;
  for (int step = 0; step < warmup + steps; ++step) {
    learner->Synchronize();
    if (recorder != nullptr && step == warmup)
      if (const Status started = recorder->Start(); !started.ok()) return Failure(started);
    const auto begun = std::chrono::steady_clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      const auto result = learner->AccumulateLinear(sequences.views, {}, derivatives);
      if (!result.ok()) return Failure(result.status());
      loss = 0;
      for (const float value : result->outputs) loss -= value / static_cast<double>(num);
    }
    const auto update = learner->Step(1e-4);
    if (!update.ok()) return Failure(update.status());
    learner->Synchronize();
    if (step >= warmup)
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  json reply = {{"seconds", seconds},
                {"tokens_per_step", num_tokens * static_cast<size_t>(passes)},
                {"loss", loss},
                {"peak_bytes", learner->Facts().peak_bytes}};
  if (recorder != nullptr) {
    const auto recorded = recorder->Stop();
    if (!recorded.ok()) return Failure(recorded.status());
    reply["profile"] = Summary(*recorded);
  }
  return reply;
}

json Handle(const json& in, std::unique_ptr<trainer::Learner>* learner) {
  const std::string op = in.at("op");
  if (op == "open") return Open(in, learner);
  if (*learner == nullptr) return {{"error", "no model is open"}};
  if (op == "sft" || op == "policy" || op == "critic") return Differentiate(op, in, learner->get());
  if (op == "evaluate") {
    Sequences sequences;
    Read(in.at("sequences"), &sequences);
    trainer::PassOptions options;
    options.temperature = in.value("temperature", 1.0);
    const auto result = (*learner)->Evaluate(sequences.views, options);
    if (!result.ok()) return Failure(result.status());
    return {{"outputs", result->outputs}};
  }
  if (op == "step") {
    const auto update = (*learner)->Step(in.at("lr"));
    if (!update.ok()) return Failure(update.status());
    return {{"applied", update->applied},
            {"norm", std::isfinite(update->gradient_norm) ? update->gradient_norm : -1}};
  }
  if (op == "state") return State(in, learner->get());
  if (op == "bench") return Bench(in, learner->get());
  return {{"error", "unknown op " + op}};
}

}  // namespace

int main() {
  std::unique_ptr<trainer::Learner> learner;
  for (std::string line; std::getline(std::cin, line);) {
    json reply;
    try {
      reply = Handle(json::parse(line), &learner);
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << '\n' << std::flush;
  }
  return 0;
}
