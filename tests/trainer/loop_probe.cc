// The loop of `davinci train` in a toy environment with a known optimum: the real loop, journal,
// learner and checkpoints, with a sampler and a judge that cost nothing.
//
//   loop_probe RECIPE OUT [KEY=VALUE]…
//   mpirun -n N loop_probe …
//
// A reply is two tokens a, b of the vocabulary, drawn from the checkpoint's own distribution. An
// odd a is wrong. An even one is correct, an even b makes it 1.2 times as fast as eager, a b
// divisible by four 1.2 times as fast as torch.compile, too. So the best reply has an even a and a
// b divisible by four, and its milestone reward is 3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>

#include "davinci/base/hash.h"
#include "davinci/base/rng.h"
#include "davinci/comm/join.h"
#include "davinci/training/train_loop.h"

namespace {

using davinci::CancelToken;
using davinci::Evaluation;
using davinci::Result;
using davinci::Status;
namespace fs = std::filesystem;
namespace llm = davinci::llm;
namespace rollout = davinci::rollout;
namespace trainer = davinci::trainer;
namespace training = davinci::training;

constexpr int kReplyTokens = 2;
constexpr float kTimesFaster = 1.2F;

class ToyBackbone final : public llm::Backbone {
 public:
  static Result<std::unique_ptr<llm::Backbone>> Open(const fs::path& model) {
    trainer::LearnerOptions options;
    options.model_dir = model.string();
    options.device = "cpu";
    options.threads = 1;
    DAVINCI_ASSIGN_OR_RETURN(auto learner, trainer::OpenLearner(options));
    auto backbone = std::make_unique<ToyBackbone>();
    backbone->learner_ = std::move(learner);
    return std::unique_ptr<llm::Backbone>(std::move(backbone));
  }

  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    std::lock_guard lock(mutex_);
    llm::TokenTrace trace;
    trace.prompt_tokens = request.prefix_tokens;
    trace.prompt_tokens.push_back(request.prefix_tokens.empty() ? 1 : 2);
    const std::string digest = davinci::Sha256Hex(request.label);
    davinci::SplitMix64 rng(static_cast<uint64_t>(request.seed.value_or(0)) ^
                            std::stoull(digest.substr(0, 12), nullptr, 16));
    for (int i = 0; i < kReplyTokens; ++i) {
      std::vector<int32_t> sequence = llm::AllTokens(trace);
      DAVINCI_ASSIGN_OR_RETURN(const auto log_probs, NextLogProbs(&sequence));
      double left = rng.Uniform();
      size_t token = 0;
      if (request.temperature.value_or(1) == 0)
        token = static_cast<size_t>(std::ranges::max_element(log_probs) - log_probs.begin());
      else
        while (token + 1 < log_probs.size() && (left -= std::exp(log_probs[token])) > 0) ++token;
      trace.output_tokens.push_back(static_cast<int32_t>(token));
      trace.logprobs.push_back(log_probs[token]);
    }
    llm::Reply reply;
    reply.text = fmt::format(
        "```python\nimport torch\nfrom torch.utils.cpp_extension import load_inline\n\n"
        "# action {} {}\nkernel = load_inline(\"k\", cpp_sources=[\"\"], functions=[])\n\n\n"
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n```\n",
        trace.output_tokens[0], trace.output_tokens[1]);
    reply.finish_reason = llm::FinishReason::kStop;
    reply.model = "toy";
    reply.trace = std::move(trace);
    return reply;
  }
  std::string Name() const override { return "toy"; }

 private:
  // Of every token of the vocabulary behind `sequence`.
  Result<std::vector<float>> NextLogProbs(std::vector<int32_t>* sequence) {
    const auto end = static_cast<int32_t>(sequence->size());
    const std::vector<int32_t> target = {end};
    std::vector<std::vector<int32_t>> sequences;
    for (int32_t token = 0; token < learner_->config().vocab_size; ++token) {
      sequences.push_back(*sequence);
      sequences.back().push_back(token);
    }
    std::vector<trainer::SequenceView> views;
    for (const auto& one : sequences) views.push_back({one, target});
    DAVINCI_ASSIGN_OR_RETURN(trainer::PassResult result, learner_->Evaluate(views, {}));
    return std::move(result.outputs);
  }

  std::mutex mutex_;  // guards learner_
  std::unique_ptr<trainer::Learner> learner_;
};

class ToyEvaluator final : public davinci::judge::Judges {
 public:
  Result<Evaluation> Evaluate(const davinci::judge::EvaluationRequest& request,
                              const CancelToken&) override {
    if (request.candidate.find("# refused") != std::string::npos)
      return davinci::InvalidArgument("the toy judge refuses this task");
    Evaluation evaluation;
    int a = 0;
    int b = 2;  // the reference judged against itself: correct, not faster
    const size_t at = request.candidate.find("# action ");
    const bool is_candidate = at != std::string::npos;
    if (is_candidate) std::sscanf(request.candidate.c_str() + at, "# action %d %d", &a, &b);
    evaluation.correct = a % 2 == 0;
    if (!*evaluation.correct) {
      evaluation.outcome = davinci::Outcome::kMismatch;
      return evaluation;
    }
    evaluation.outcome = davinci::Outcome::kOk;
    const auto speedup = [](bool faster, const char* over) {
      const double ratio = faster ? kTimesFaster : 1;
      return davinci::Speedup{ratio, ratio, ratio, faster, over};
    };
    evaluation.speedup = speedup(is_candidate && b % 2 == 0, "eager");
    evaluation.evidence["speedups"] = {
        davinci::ToJson(*evaluation.speedup),
        davinci::ToJson(speedup(is_candidate && b % 4 == 0, "compile"))};
    return evaluation;
  }
  std::string Identity() override { return "toy"; }
};

Status Run(int argc, char** argv) {
  if (argc < 3) return davinci::InvalidArgument("loop_probe RECIPE OUT [KEY=VALUE]…");
  DAVINCI_ASSIGN_OR_RETURN(auto recipe, davinci::config::Recipe::Load(argv[1]));
  for (int i = 3; i < argc; ++i) DAVINCI_RETURN_IF_ERROR(recipe.Override(argv[i]));
  training::TrainRequest request;
  DAVINCI_ASSIGN_OR_RETURN(request.recipe, training::ReadTrainRecipe(recipe, &request.resolved));
  request.folder = argv[2];
  request.header.command = "train";
  request.header.title = "toy";
  request.header.identity["recipe"] = davinci::Sha256Hex(request.resolved);
  DAVINCI_ASSIGN_OR_RETURN(const auto prompts,
                           davinci::agent::PromptSet::Load(DAVINCI_SOURCE_DIR "/prompts"));
  DAVINCI_ASSIGN_OR_RETURN(const auto world, davinci::comm::WorldFromEnvironment(std::getenv));
  DAVINCI_ASSIGN_OR_RETURN(const auto group, davinci::comm::Join(world));
  request.ranks = group.get();
  if (request.recipe.max_staleness > 0)
    request.take_turn = [turns = request.folder / "turns"](
                            const std::string& device) -> Result<std::shared_ptr<void>> {
      auto file = std::make_shared<std::ofstream>(turns, std::ios::app);
      *file << "taken at " << device << std::endl;
      return std::shared_ptr<void>(file.get(), [file](void*) { *file << "left" << std::endl; });
    };
  ToyEvaluator evaluator;
  training::TrainParts parts;
  parts.open_model = [](const fs::path& model, const fs::path&) {
    return ToyBackbone::Open(model);
  };
  parts.judges = &evaluator;
  parts.prompts = &prompts;
  parts.num_cores = 2;
  training::TrainEvents events;
  events.say = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  rollout::StopFlag stop;
  return training::ExecuteTraining(request, parts, &stop, events).status();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = Run(argc, argv);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.ToString());
  return 1;
}
