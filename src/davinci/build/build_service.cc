#include "davinci/build/build_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/mutex.h"

namespace davinci::build {

Result<std::unique_ptr<BuildService>> BuildService::Create(BuildServiceOptions options) {
  if (options.cache_dir.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(options.cache_dir, CacheDir("build"));
  }
  DAVINCI_ASSIGN_OR_RETURN(BuildCache cache,
                           BuildCache::Open(options.cache_dir, options.cache_max_bytes));
  ToolchainOptions probe;
  probe.python = options.python;
  probe.cache_dir = options.cache_dir / "toolchain";
  BuilderOptions builder_options;
  DAVINCI_ASSIGN_OR_RETURN(builder_options.toolchain, ProbeToolchain(probe));
  builder_options.support_dir = options.cache_dir / "support";
  builder_options.default_cuda_arch = options.cuda_arch;
  builder_options.first_stage = options.first_stage;
  builder_options.timeout = options.compiler_timeout;
  builder_options.memory_bytes = options.compiler_memory_bytes;
  builder_options.file_size_bytes = options.compiler_file_bytes;
  DAVINCI_RETURN_IF_ERROR(MakeDirs(builder_options.support_dir));
  DAVINCI_ASSIGN_OR_RETURN(auto builder, ExtensionBuilder::Create(std::move(builder_options)));
  return std::unique_ptr<BuildService>(
      new BuildService(std::move(options), std::move(cache), std::move(builder)));
}

BuildService::BuildService(BuildServiceOptions options, BuildCache cache,
                           std::unique_ptr<ExtensionBuilder> builder)
    : options_(std::move(options)), cache_(std::move(cache)), builder_(std::move(builder)) {
  const int count =
      options_.threads > 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([this](std::stop_token stop) { Work(stop); });
  }
  if (options_.warm_up) {
    threads_.emplace_back([this](std::stop_token stop) { (void)builder_->WarmUp(stop); });
  }
}

BuildService::~BuildService() {
  {
    MutexLock lock(mutex_);
    for (auto& [key, entry] : in_flight_) entry->stop.request_stop();
    for (auto& thread : threads_) thread.request_stop();
  }
  work_ready_.notify_all();
}

Result<BuildOutcome> BuildService::BuildJson(std::string_view request_json, std::stop_token stop) {
  DAVINCI_ASSIGN_OR_RETURN(const BuildRequest request, ParseBuildRequest(request_json));
  return Build(request, stop);
}

Result<BuildOutcome> BuildService::Build(const BuildRequest& request, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  auto finish = [&](Result<BuildOutcome> result) {
    if (result.ok())
      result->seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  };
  const std::string key = builder_->Key(request);
  MutexLock lock(mutex_);
  auto it = in_flight_.find(key);
  if (it == in_flight_.end()) {
    // Disk access without the lock; a second look below keeps two callers from both starting.
    lock.unlock();
    if (auto cached = cache_.Find(key)) return finish(std::move(*cached));
    lock.lock();
    it = in_flight_.find(key);
  }
  if (it == in_flight_.end()) {
    if (queue_.size() >= static_cast<size_t>(options_.max_waiting)) {
      return ResourceExhausted(fmt::format("{} builds are waiting already", queue_.size()));
    }
    auto entry = std::make_shared<InFlight>();
    entry->request = request;
    it = in_flight_.emplace(key, std::move(entry)).first;
    queue_.push_back(key);
    work_ready_.notify_one();
  }
  const std::shared_ptr<InFlight> entry = it->second;
  ++entry->waiters;
  finished_.wait(lock, stop, [&] { return entry->done; });
  --entry->waiters;
  if (entry->done) return finish(entry->result.value());
  if (entry->waiters == 0) {
    entry->stop.request_stop();
    // A later request for the same key must not join a build that is being cancelled.
    if (auto mine = in_flight_.find(key); mine != in_flight_.end() && mine->second == entry)
      in_flight_.erase(mine);
    std::erase(queue_, key);
  }
  return Cancelled("the build was cancelled");
}

void BuildService::Work(std::stop_token stop) {
  MutexLock lock(mutex_);
  while (work_ready_.wait(lock, stop, [&]() DAVINCI_REQUIRES(mutex_) { return !queue_.empty(); })) {
    const std::string key = queue_.front();
    queue_.pop_front();
    const auto it = in_flight_.find(key);
    if (it == in_flight_.end()) continue;
    const std::shared_ptr<InFlight> entry = it->second;
    lock.unlock();
    // One source never ends the process that builds others.
    Result<BuildOutcome> result = Internal("not built");
    try {
      result = BuildUncached(key, entry->request, entry->stop.get_token());
    } catch (const std::exception& error) {
      result = Internal(fmt::format("a build ended unexpectedly: {}", error.what()));
    }
    lock.lock();
    entry->result = std::move(result);
    entry->done = true;
    if (auto mine = in_flight_.find(key); mine != in_flight_.end() && mine->second == entry)
      in_flight_.erase(mine);
    finished_.notify_all();
  }
}

Result<BuildOutcome> BuildService::BuildUncached(const std::string& key,
                                                 const BuildRequest& request,
                                                 std::stop_token stop) {
  // Another process may have built it while this request waited.
  if (auto cached = cache_.Find(key)) return std::move(*cached);
  DAVINCI_ASSIGN_OR_RETURN(const TempDir work, cache_.WorkDir());
  DAVINCI_ASSIGN_OR_RETURN(BuildOutcome outcome, builder_->Build(request, work.path(), stop));
  outcome.key = key;
  // A source that is wrong stays wrong; a machine that lacks a tool, memory or time may be mended.
  const bool keep = outcome.ok() || outcome.error == BuildError::kCompileError;
  if (!keep) return outcome;
  return cache_.Insert(
      key, outcome, outcome.ok() ? std::filesystem::path(outcome.path) : std::filesystem::path());
}

}  // namespace davinci::build
