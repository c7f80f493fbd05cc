#include "davinci/judge/roles/runner_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "davinci/base/mutex.h"
#include "davinci/judge/roles/sandbox_policies.h"

namespace davinci::judge {
namespace {

constexpr size_t kMostKept = 6;
// Each takes half a second, of which the driver makes contexts one at a time.
constexpr size_t kMostPreparing = 4;

}  // namespace

Result<std::unique_ptr<Runner>> SpawnRunner(const JudgeContext& context, Target target,
                                            const std::string& scratch,
                                            const std::vector<std::filesystem::path>& readable,
                                            RunnerKind kind, int connections,
                                            const std::vector<std::string>& imports) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(scratch));
  const bool trusted = kind == RunnerKind::kBaseline;
  worker::SpawnRequest request;
  request.role = "runner";
  request.target = TargetName(target);
  request.threads = context.RunnerThreads(target);
  request.scratch = scratch;
  request.policy =
      RolePolicy(context, target, trusted ? "baseline" : "candidate", scratch, readable, trusted);
  if (kind == RunnerKind::kCandidateCompileOnly) AllowPrograms(&request.policy);
  if (context.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(scratch, connections);
  // What torch.compile made for a baseline serves the next one. No candidate can reach it.
  if (const auto compiled = CacheDir("inductor"); trusted && compiled.ok())
    request.env["TORCHINDUCTOR_CACHE_DIR"] = compiled->string();
  request.imports = imports;
  DAVINCI_ASSIGN_OR_RETURN(auto process, context.server->Spawn(request));
  return std::make_unique<Runner>(std::move(process), context.build);
}

RunnerPool::RunnerPool(const JudgeContext* context)
    : context_(context),
      kept_(context->options.in_flight > 0
                ? std::min(static_cast<size_t>(context->options.in_flight), kMostKept)
                : kMostKept) {}

RunnerPool::~RunnerPool() {
  for (auto& thread : threads_) thread.request_stop();
  changed_.notify_all();
}

Result<PrewarmedRunner> RunnerPool::Make(Target target, RunnerKind kind, int connections,
                                         const std::vector<std::string>& visible,
                                         const std::vector<std::string>& imports) const {
  PrewarmedRunner prewarmed;
  DAVINCI_ASSIGN_OR_RETURN(prewarmed.home, MakeTempDir("davinci-judge"));
  const std::filesystem::path source = prewarmed.home.path() / "source";
  DAVINCI_RETURN_IF_ERROR(MakeDirs(source));
  std::vector<std::filesystem::path> readable(visible.begin(), visible.end());
  readable.push_back(source);
  DAVINCI_ASSIGN_OR_RETURN(
      prewarmed.runner, SpawnRunner(*context_, target, (prewarmed.home.path() / "scratch").string(),
                                    readable, kind, connections, imports));
  return prewarmed;
}

Result<PrewarmedRunner> RunnerPool::Take(Target target, bool compile_only, int connections,
                                         const std::vector<std::string>& visible,
                                         const std::vector<std::string>& imports) {
  if (target != Target::kCuda || !visible.empty() || !imports.empty())
    return Make(target, compile_only ? RunnerKind::kCandidateCompileOnly : RunnerKind::kCandidate,
                connections, visible, imports);
  std::deque<PrewarmedRunner> outdated;  // ended outside the lock
  {
    MutexLock lock(mutex_);
    wanted_ = true;
    if (++taken_ == (context_->options.in_flight > 0 ? 1 : 2)) Begin();
    if (connections != connections_) outdated.swap(ready_);
    connections_ = connections;
    changed_.notify_all();
    while (!ready_.empty()) {
      PrewarmedRunner prewarmed = std::move(ready_.front());
      ready_.pop_front();
      if (!prewarmed.runner->process().WaitForDeath()) return prewarmed;
    }
  }
  return Make(target, RunnerKind::kCandidate, connections);
}

Result<PrewarmedRunner> RunnerPool::TakeShared(Target target, bool compile_only, int connections) {
  const std::tuple kind(target, compile_only, connections);
  for (;;) {
    PrewarmedRunner found;  // ended outside the lock where it is of no use any more
    {
      MutexLock lock(mutex_);
      const auto used = std::ranges::find(used_, kind, &Used::kind);
      if (used == used_.end()) break;
      found = std::move(used->runner);
      used_.erase(used);
    }
    if (!found.runner->process().WaitForDeath()) return found;
  }
  return Take(target, compile_only, connections);
}

void RunnerPool::GiveBack(Target target, bool compile_only, int connections,
                          PrewarmedRunner runner) {
  std::optional<PrewarmedRunner> ended;  // outside the lock
  MutexLock lock(mutex_);
  used_.push_front({{target, compile_only, connections}, std::move(runner)});
  if (used_.size() <= std::max(kept_, static_cast<size_t>(context_->options.in_flight))) return;
  ended = std::move(used_.back().runner);
  used_.pop_back();
}

void RunnerPool::Begin() {
  for (size_t i = std::min(kept_, kMostPreparing); i > 0; --i)
    threads_.emplace_back([this](const std::stop_token& stop) { Prepare(stop); });
}

void RunnerPool::Prepare(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    int connections = 0;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, stop,
                    [&]() DAVINCI_REQUIRES(mutex_) { return wanted_ && ready_.size() < kept_; });
      if (stop.stop_requested()) return;
      connections = connections_;
      ++preparing_;
    }
    bool made = false;
    PrewarmedRunner prepared;
    if (auto prewarmed = Make(Target::kCuda, RunnerKind::kCandidate, connections); prewarmed.ok()) {
      prepared = std::move(*prewarmed);
      made = !prepared.runner->link().AwaitReady(kReadyTimeoutSeconds) &&
             !prepared.runner->link()
                  .Ask(to_runner::Warm{}, kReadyTimeoutSeconds, Outcome::kLoadError)
                  .failure;
    }
    MutexLock lock(mutex_);
    if (made && wanted_ && connections == connections_)
      ready_.push_back(std::move(prepared));
    else
      lock.unlock(), prepared = PrewarmedRunner(), lock.lock();
    --preparing_;
    changed_.notify_all();
    if (!made) return;  // the next caller reports why there is none
  }
}

void RunnerPool::Clear() {
  std::deque<PrewarmedRunner> ended;  // outside the lock
  std::deque<Used> used;
  MutexLock lock(mutex_);
  wanted_ = false;
  while (preparing_ > 0) changed_.wait(lock);
  ended.swap(ready_);
  used.swap(used_);
}

}  // namespace davinci::judge
