#include "davinci/judge/roles/runner_link.h"

#include <string>
#include <utility>

#include "davinci/judge/roles/runner_failure.h"

namespace davinci::judge {

using nlohmann::json;

RunnerLink::RunnerLink(std::shared_ptr<worker::Process> process, worker::BuildHandler build)
    : process_(std::move(process)), compiles_(std::move(build)) {}

std::optional<Failure> RunnerLink::AwaitReady(double timeout_seconds) {
  if (ready_) return std::nullopt;
  auto report = process_->AwaitReady(timeout_seconds);
  if (!report.ok()) {
    Failure failure;
    failure.message = report.status().ToString();
    return failure;
  }
  sandbox_report_ = report->value("sandbox", json::object());
  ready_ = true;
  return std::nullopt;
}

void RunnerLink::Post(const to_runner::Request& request, std::span<const int> fds) {
  Send(worker::EncodeFrame(ToJson(request)), fds);
}

void RunnerLink::Send(std::string_view frame, std::span<const int> fds) {
  (void)process_->SendFrame(frame, fds);
}

Answer RunnerLink::Await(double timeout_seconds, Outcome stage) {
  Answer answer;
  const worker::BuildHandler build = compiles_.handler();
  const worker::CoreTimes before = process_->ReadCoreTimes();
  auto reply = process_->Await(timeout_seconds, build);
  for (double put_off = 0; reply.status().code() == StatusCode::kDeadlineExceeded;) {
    const double more = PutOffFurther(*process_, before, timeout_seconds, put_off);
    if (more <= 0) break;
    put_off += more;
    reply = process_->Await(more, build);
  }
  if (!reply.ok()) {
    answer.failure = FailureOf(*process_, reply.status(), stage, timeout_seconds);
  } else if (reply->failed()) {
    answer.failure = compiles_.Explained(FailureSaid(reply->error, stage));
  } else if (!reply->ok.is_object()) {
    answer.failure =
        FailureOf(*process_, InvalidArgument("malformed reply"), stage, timeout_seconds);
  } else {
    answer.ok = std::move(reply->ok);
    answer.fds = std::move(reply->fds);
  }
  return answer;
}

Answer RunnerLink::Ask(const to_runner::Request& request, double timeout_seconds, Outcome stage,
                       std::span<const int> fds) {
  Post(request, fds);
  return Await(timeout_seconds, stage);
}

}  // namespace davinci::judge
