#include "davinci/judge/request/request.h"

#include <utility>

#include "davinci/base/hash.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/score/python_words.h"

namespace davinci::judge {
namespace {

constexpr uint64_t kMaxCandidateBytes = 1u << 20;

}  // namespace

std::string EvaluationRequest::Text() const {
  const auto known = ProtocolByName(protocol);
  return known.ok() && known->staged ? score::WithoutComments(candidate) : candidate;
}

std::string EvaluationRequest::Hash() const {
  const auto known = ProtocolByName(protocol);
  Sha256 hash;
  if (repetition > 0) hash.Field("repetition").Field(std::to_string(repetition));
  if (export_of) hash.Field("export");
  return hash.Field(task == nullptr ? "" : task->hash)
      .Field(Text())
      .Field(TargetName(target))
      .Field(LanguageName(language))
      .Field(protocol)
      .Field(std::to_string(known.ok() ? known->version : 0))
      .Field(baseline)
      .FinishHex();
}

Result<EvaluationRequest> ReadRequest(const JobFiles& job, std::shared_ptr<const task::Task> task) {
  EvaluationRequest request;
  request.task = std::move(task);
  if (request.task == nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(request.task, task::ReadTask(job.reference_path, job.shapes));
  }
  DAVINCI_RETURN_IF_ERROR(ProtocolByName(job.protocol).status());
  DAVINCI_ASSIGN_OR_RETURN(
      request.candidate, task::ReadNamedFile(job.candidate_path, kMaxCandidateBytes, "candidate"));
  request.candidate_path = job.candidate_path;
  request.candidate_has_neighbours = job.candidate_has_neighbours;
  request.target = job.target;
  request.language = job.language;
  request.protocol = job.protocol;
  request.baseline = job.baseline;
  return request;
}

}  // namespace davinci::judge
