// Job files come from users and from programs: any line gives a job or a remedy.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "davinci/judge/batch_job.h"
#include "davinci/judge/request/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::judge;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto job = ParseBatchLine(line, JobFiles{}, "/jobs");
  if (!job.ok()) {
    if (job.status().message().empty()) std::abort();
    return 0;
  }
  // A job that was accepted names two files, holds no byte that ends a C string early, and asks for
  // a known protocol.
  for (const auto* path : {&job->reference_path, &job->candidate_path}) {
    if (path->empty() || path->front() != '/' || path->find('\0') != std::string::npos)
      std::abort();
  }
  if (!ProtocolByName(job->protocol).ok() || job->baseline.empty()) std::abort();
  return 0;
}
