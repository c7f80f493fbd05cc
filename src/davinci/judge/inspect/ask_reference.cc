#include "davinci/judge/inspect/ask_reference.h"

#include "davinci/base/files.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/task_admission.h"
#include "davinci/judge/trial/trial_session.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

}  // namespace

Result<json> AdmitTask(Trial& trial) {
  DAVINCI_RETURN_IF_ERROR(StartSession(trial));
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->Ask(ReferenceSpec(trial)).status());
  DAVINCI_RETURN_IF_ERROR(FactsOf(trial, 0).status());
  return AskAdmission(trial, std::nullopt);
}

Result<json> TraceTask(Trial& trial) {
  // The session has an oracle alone, because nothing is timed.
  trial.session = std::make_unique<Session>();
  trial.session->facts.resize(1 + trial.task.config.variants.size());
  trial.session->init_seed = trial.session->secret.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(trial.session->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle(trial, !trial.task.config.variants.empty()));
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->Ask(ReferenceSpec(trial)).status());
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  const auto ask = [&](size_t variant) {
    return trial.session->oracle->Ask(
        to_oracle::Graph{static_cast<int>(variant), trial.secret.Next() >> 1});
  };
  DAVINCI_ASSIGN_OR_RETURN(auto answer, ask(0));
  json& shapes = answer.ok["shapes"] = json::array();
  if (answer.ok.contains("untraceable")) return answer.ok;
  for (size_t variant = 1; variant <= trial.task.config.variants.size(); ++variant) {
    const auto further = ask(variant);
    const StatusCode code = further.status().code();
    // The oracle is gone: what is missing was not traced.
    if (!further.ok() && code != StatusCode::kInvalidArgument &&
        code != StatusCode::kResourceExhausted)
      break;
    shapes.push_back(further.ok() ? further->ok
                                  : json{{"untraceable", further.status().message()}});
  }
  if (shapes.empty()) return answer.ok;
  const auto symbolic =
      trial.session->oracle->Ask(to_oracle::SymbolicGraph{trial.secret.Next() >> 1});
  answer.ok["symbolic"] =
      symbolic.ok() ? symbolic->ok : json{{"untraceable", symbolic.status().message()}};
  return answer.ok;
}

}  // namespace davinci::judge
