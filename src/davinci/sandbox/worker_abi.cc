#include "davinci/sandbox/worker_abi.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/sandbox/enter.h"
#include "davinci/sandbox/seccomp.h"

namespace davinci::sandbox {
namespace {

// Set in the intermediate process, read by its forked child.
NamespaceSet g_namespaces;
std::vector<std::string> g_missing;
bool g_lock_immutable = false;

void CopyText(const std::string& text, char* out, size_t out_len) {
  if (out == nullptr || out_len == 0) return;
  const size_t n = std::min(text.size(), out_len - 1);
  memcpy(out, text.data(), n);
  out[n] = '\0';
}

Status CopyReport(const nlohmann::json& report, char* out, size_t out_len) {
  const std::string text = JsonText(report);
  if (text.size() >= out_len) return InvalidArgument("the report buffer is too small");
  CopyText(text, out, out_len);
  return Status::Ok();
}

template <typename Function>
int Guarded(char* err, size_t err_len, Function function) {
  Status status;
  try {
    status = function();
  } catch (const std::exception& e) {
    status = Internal(e.what());
  }
  CopyText(status.ok() ? "" : status.ToString(), err, err_len);
  return status.ok() ? 0 : -1;
}

// A SIGABRT of its own does not end the first process of a namespace, and abort() then goes on to
// SIGSEGV.
void EndAsAborted(int) { _exit(128 + SIGABRT); }

Result<Spec> ParseSpec(const char* spec_json) {
  if (spec_json == nullptr) return InvalidArgument("sandbox specification: missing");
  return SpecFromText(spec_json);
}

}  // namespace
}  // namespace davinci::sandbox

using davinci::Result;
using davinci::Status;

extern "C" {

int dv_sandbox_unshare(const char* spec_json, char* err, size_t err_len) {
  namespace sandbox = davinci::sandbox;
  return sandbox::Guarded(err, err_len, [&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const sandbox::Spec spec, sandbox::ParseSpec(spec_json));
    if (!spec.policy.new_namespaces) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(
        sandbox::g_namespaces,
        sandbox::UnshareNamespaces(!spec.policy.allow_network, &sandbox::g_missing));
    return Status::Ok();
  });
}

int dv_sandbox_enter(const char* spec_json, char* err, size_t err_len, char* report_json,
                     size_t report_len) {
  namespace sandbox = davinci::sandbox;
  return sandbox::Guarded(err, err_len, [&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const sandbox::Spec spec, sandbox::ParseSpec(spec_json));
    DAVINCI_ASSIGN_OR_RETURN(const sandbox::ActiveLayers layers,
                             sandbox::EnterSandbox(spec, sandbox::g_namespaces, sandbox::g_missing,
                                                   /*lockable=*/true));
    sandbox::g_lock_immutable = layers.lock_immutable;
    if (getpid() == 1) signal(SIGABRT, sandbox::EndAsAborted);
    return sandbox::CopyReport(sandbox::ToJson(layers), report_json, report_len);
  });
}

int dv_sandbox_lock(char* err, size_t err_len, char* report_json, size_t report_len) {
  namespace sandbox = davinci::sandbox;
  return sandbox::Guarded(err, err_len, [&]() -> Status {
    DAVINCI_RETURN_IF_ERROR(sandbox::LockSeccomp());
    const nlohmann::json report = {{"locked", true}, {"immutable", sandbox::g_lock_immutable}};
    return sandbox::CopyReport(report, report_json, report_len);
  });
}

}  // extern "C"
