// What ran on the device and when: a client of CUPTI's activity interface, bound at run time. Used
// inside worker processes to record kernels, copies and sets of one call; the judge crosses it with
// event time and the outside clock.
//
// It exists beside torch.profiler because that one takes seconds to start cold. CUPTI serves one
// client per process: while recording here, torch.profiler in the same process sees nothing, and
// the other way round.
//
// In a process that runs hostile code the result is a claim, not evidence, as is everything such a
// process says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/activity_records.h"

namespace davinci::gpu {

struct ActivityResult {
  std::vector<Activity> activities;  // ordered by start_ns
  uint64_t num_dropped = 0;  // records CUPTI had no room for; not zero means the list is incomplete
  uint64_t num_other_records = 0;  // of kinds not read here
};

// One per process (Get), because CUPTI's callbacks are global. Thread-safe.
class ActivityRecorder {
 public:
  // Loads CUPTI and registers the callbacks at the first call. kNotFound when there is no libcupti.
  // A copy already in the process (PyTorch's) is used first, then `directories`, then the system's
  // places.
  static Result<ActivityRecorder*> Get(std::span<const std::string> directories);

  // Begins recording. Everything enqueued from here on is seen, also on streams and contexts that
  // already exist. The caller should have synchronised the device, or work in flight is recorded
  // too. kFailedPrecondition when recording.
  Status Start();
  // Ends recording. Synchronise the device first: what still runs is not waited for and is lost.
  Result<ActivityResult> Stop();

  bool recording() const;
  uint32_t cupti_version() const;
  const std::string& library_path() const;

  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;

 private:
  struct Impl;
  explicit ActivityRecorder(std::unique_ptr<Impl> impl);
  ~ActivityRecorder();
  std::unique_ptr<Impl> impl_;
};

// {"cupti_version":…,"dropped":0,"other_records":0,"kernels_ns":…,"busy_ns":…,"span_ns":…,"activities":[{"kind":"kernel","name":…,"start_ns":…,
//  "end_ns":…,"stream":…,"grid":[x,y,z],"block":[x,y,z],"registers":…,"static_shared_bytes":…,"dynamic_shared_bytes":…,
//  "local_bytes":…,"correlation":…,"graph":…}, {"kind":"memcpy",…,"bytes":…}]}
// busy_ns is the length of the union of all intervals, span_ns from the first start to the last
// end. Names longer than 512 bytes are cut; bytes that are not UTF-8 are replaced.
std::string ActivityJson(const ActivityResult& result, uint32_t cupti_version);

}  // namespace davinci::gpu
