// JudgeOptions: how a Judge runs, apart from what it is asked.
#pragma once

#include <cstdint>
#include <string>

namespace davinci::judge {

struct JudgeOptions {
  std::string python;          // interpreter with torch
  std::string python_path;     // folder with davinci_worker and davinci_runtime
  std::string worker_library;  // libdavinci_worker.so
  bool triton = false;         // import Triton before forking
  std::string device;  // cuda: uuid of the GPU; empty: the first that is visible; "none": no GPU
  int threads = 0;     // threads of reference and candidate; 0 = all cores on cpu, one on cuda
  bool unsafe_no_sandbox = false;  // run untrusted code although no isolation layer is available
  int compile_jobs = 0;            // parallel compilations; 0 = all cores
  // Evaluations at a time, where it is known that many will come: processes for the next ones are
  // then prepared from the first one on. 0: not known, so from the second one on.
  int in_flight = 0;
  // Limits instead of the protocol's; 0 = the protocol's, and of memory on cpu no more than
  // MemoryWithin() of this machine. What is changed is part of the provenance.
  double load_timeout_seconds = 0;
  double call_timeout_seconds = 0;
  double compile_timeout_seconds = 0;
  int64_t memory_bytes = 0;
  // Start Python at the first request that needs it, not at once: kept traces need none.
  bool start_when_needed = false;
  // Folder for a record of each trial (recorded_trial.h), which tests/transcripts replays; empty:
  // none. Recorded trials share no processes.
  std::string record_folder;
};

}  // namespace davinci::judge
