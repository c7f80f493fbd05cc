#include "davinci/trainer/run_log.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

namespace davinci::trainer {
namespace {

using nlohmann::ordered_json;

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Flatten(const std::string& prefix, const ordered_json& value,
             std::map<std::string, double>* out) {
  for (const auto& [key, inner] : value.items()) {
    if (inner.is_object()) Flatten(prefix + key + "/", inner, out);
    if (inner.is_number() && (key != "step" || !prefix.empty()))
      (*out)[prefix + key] = inner.get<double>();
  }
}

}  // namespace

Result<RunLog> RunLog::Open(const std::filesystem::path& run, int64_t last_step) {
  const std::filesystem::path path = run / "log.jsonl";
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    std::string kept;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      if (end == std::string::npos) break;  // torn
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.value("step", int64_t{0}) <= last_step) kept += line + "\n";
    }
    if (kept != text) DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(path, kept));
  }
  DAVINCI_ASSIGN_OR_RETURN(EventFile events, EventFile::Create(run / "tensorboard", Now()));
  RunLog log(path, std::move(events));
  log.file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0644));
  if (!log.file_.valid()) return FromErrno(errno, path.string());
  return log;
}

Status RunLog::Write(const ordered_json& line) {
  DAVINCI_RETURN_IF_ERROR(WriteAll(file_.get(), JsonText(line) + "\n", path_.string()));
  std::map<std::string, double> scalars;
  Flatten("", line, &scalars);
  return events_.Scalars(line.value("step", int64_t{0}), Now(), scalars);
}

}  // namespace davinci::trainer
