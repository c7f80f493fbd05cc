// BuildService: the build module's front door. Hand it requests, get outcomes.
//
//   cache look-up → the same request already being built? wait for it → a worker thread builds →
//   the cache keeps it
//
// What it decides: nothing about candidates; it reports what the compilers said. What it must never
// do: run a compiler outside the sandbox, read a path a request names, or hand out an artifact
// whose content does not match its key.
//
// Threads: a fixed pool does all building; callers only wait. All functions are thread-safe.
// Several services (processes) may share one cache folder.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/build/build_cache.h"
#include "davinci/build/extension_builder.h"
#include "davinci/build/request.h"
#include "davinci/build/toolchain.h"

namespace davinci::build {

struct BuildServiceOptions {
  std::string python;  // the interpreter whose torch extensions are for; empty: python3
  std::filesystem::path cache_dir;  // empty: davinci::CacheDir("build")
  uint64_t cache_max_bytes = uint64_t{8} << 30;
  int threads = 0;  // builds at a time; 0 = number of CPUs (a CUDA extension runs two compilers)
  int max_waiting = 4096;           // requests beyond this are refused with kResourceExhausted
  std::string cuda_arch = "sm_90";  // of the device that requests are for, unless they say
  std::string first_stage = "compat";
  std::chrono::milliseconds compiler_timeout{180'000};
  uint64_t compiler_memory_bytes = uint64_t{8} << 30;
  uint64_t compiler_file_bytes = uint64_t{1} << 30;  // of one file that a compiler writes
  bool warm_up = true;  // compile the support object in the background at once
};

class BuildService {
 public:
  static Result<std::unique_ptr<BuildService>> Create(BuildServiceOptions options);
  // Cancels what is running and waits for it.
  ~BuildService();

  // Blocks until the outcome is known. A stop request ends the wait with kCancelled at once, and
  // the build too unless another caller waits for it.
  Result<BuildOutcome> Build(const BuildRequest& request, std::stop_token stop = {});

  // The same for a document; a malformed one is kInvalidArgument.
  Result<BuildOutcome> BuildJson(std::string_view request_json, std::stop_token stop = {});

  const Toolchain& toolchain() const { return builder_->toolchain(); }

 private:
  struct InFlight {
    std::stop_source stop;
    int waiters = 0;
    bool done = false;
    std::optional<Result<BuildOutcome>> result;
    BuildRequest request;
  };
  BuildService(BuildServiceOptions options, BuildCache cache,
               std::unique_ptr<ExtensionBuilder> builder);
  void Work(std::stop_token stop);
  Result<BuildOutcome> BuildUncached(const std::string& key, const BuildRequest& request,
                                     std::stop_token stop);

  const BuildServiceOptions options_;
  BuildCache cache_;
  const std::unique_ptr<ExtensionBuilder> builder_;
  Mutex mutex_;
  std::condition_variable_any work_ready_;  // with mutex_
  std::condition_variable_any finished_;    // with mutex_
  std::map<std::string, std::shared_ptr<InFlight>> in_flight_ DAVINCI_GUARDED_BY(mutex_);  // by key
  std::deque<std::string> queue_ DAVINCI_GUARDED_BY(mutex_);  // keys not yet started
  std::vector<std::jthread> threads_;                         // last: joined first
};

}  // namespace davinci::build
