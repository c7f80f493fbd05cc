#include "davinci/judge/batch_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/suggest.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/request/baselines.h"
#include "davinci/judge/request/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr uint64_t kMaxBatchFileBytes = uint64_t{1} << 30;

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> keys = {"id",       "reference", "candidate", "target",
                                                "language", "protocol",  "baseline"};
  return keys;
}

// What a key may hold; empty: any text.
const std::vector<std::string>& Choices(std::string_view key) {
  static const std::vector<std::string> any;
  static const std::vector<std::string> targets = {"cpu", "cuda"};
  static const std::vector<std::string> languages = {"auto",        "triton", "cuda",
                                                     "cuda-inline", "cpp",    "python"};
  static const std::vector<std::string> protocols = ProtocolNames();
  if (key == "target") return targets;
  if (key == "language") return languages;
  if (key == "protocol") return protocols;
  return any;
}

bool HasControlBytes(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  return false;
}

Result<std::string> TextOf(const std::string& key, const json& value) {
  if (key == "id" && value.is_number_integer()) return JsonText(value);
  if (!value.is_string())
    return InvalidArgument(fmt::format("\"{}\" must be a string, it is {} {}", key,
                                       value.is_object() || value.is_array() ? "an" : "a",
                                       value.type_name()));
  std::string text = value.get<std::string>();
  if (text.empty())
    return InvalidArgument(fmt::format("\"{}\" is empty; leave the key out or fill it in", key));
  if (HasControlBytes(text))
    return InvalidArgument(fmt::format("\"{}\" contains control characters; remove them", key));
  if (key == "baseline") DAVINCI_RETURN_IF_ERROR(ParseBaselines(text).status());
  if (const auto& choices = Choices(key); !choices.empty()) {
    bool known = false;
    for (const std::string& choice : choices) known = known || choice == text;
    if (!known)
      return InvalidArgument(fmt::format("unknown {} \"{}\"{}; known: {}", key, text,
                                         DidYouMean(text, choices), fmt::join(choices, ", ")));
  }
  return text;
}

// The id of a line that is wrong otherwise, so that its record can be found; empty when there is
// none.
std::string IdOf(std::string_view line) {
  const json document = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("id")) return {};
  auto id = TextOf("id", document["id"]);
  return id.ok() ? *id : std::string();
}

}  // namespace

Result<JobFiles> ParseBatchLine(std::string_view line, const JobFiles& defaults,
                                const fs::path& folder) {
  if (line.size() > kMaxBatchLineBytes)
    return InvalidArgument(
        fmt::format("the line is longer than {} bytes; name files instead of including them",
                    kMaxBatchLineBytes));
  json document;
  try {
    document = json::parse(line);
  } catch (const json::parse_error& error) {
    return InvalidArgument(fmt::format(
        "not JSON at column {}; write one {{\"reference\": …, \"candidate\": …}} per line",
        error.byte));
  } catch (const json::exception& error) {  // a number outside every type
    return InvalidArgument(fmt::format("not usable JSON: {}", error.what()));
  }
  if (!document.is_object())
    return InvalidArgument(fmt::format("a JSON object is expected, this is {} {}",
                                       document.is_array() ? "an" : "a", document.type_name()));
  JobFiles job = defaults;
  job.id.clear();
  job.reference_path.clear();
  job.candidate_path.clear();
  for (const auto& [key, value] : document.items()) {
    bool known = false;
    for (const std::string& name : Keys()) known = known || name == key;
    if (!known)
      return InvalidArgument(fmt::format("unknown key \"{}\"{}; known: {}", ElideMiddle(key, 80),
                                         DidYouMean(key, Keys()), fmt::join(Keys(), ", ")));
    DAVINCI_ASSIGN_OR_RETURN(std::string text, TextOf(key, value));
    if (key == "id")
      job.id = std::move(text);
    else if (key == "reference")
      job.reference_path = (folder / text).lexically_normal().string();
    else if (key == "candidate")
      job.candidate_path = (folder / text).lexically_normal().string();
    else if (key == "target")
      job.target = ParseTarget(text).value();
    else if (key == "language")
      job.language = ParseLanguage(text).value();
    else if (key == "protocol")
      job.protocol = std::move(text);
    else if (key == "baseline")
      job.baseline = std::move(text);
  }
  for (const auto& [key, path] :
       {std::pair{"reference", &job.reference_path}, std::pair{"candidate", &job.candidate_path}})
    if (path->empty())
      return InvalidArgument(fmt::format("\"{}\" is missing; add the path of the file", key));
  return job;
}

Result<std::vector<BatchEntry>> ReadBatchFile(const fs::path& path, const JobFiles& defaults) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBatchFileBytes));
  std::vector<BatchEntry> entries;
  std::map<std::string, size_t> by_id;
  std::map<std::string, std::shared_ptr<const task::Task>> tasks;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    BatchEntry entry;
    entry.line = number;
    auto refuse = [&](const Status& status) {
      entry.bad =
          Status(status.code(), fmt::format("{}:{}: {}", path.string(), number, status.message()));
    };
    auto job = ParseBatchLine(line, defaults, path.parent_path());
    if (job.ok()) {
      entry.job = *std::move(job);
      // One read of a task serves all its lines.
      std::shared_ptr<const task::Task>& task = tasks[entry.job.reference_path];
      auto request = ReadRequest(entry.job, task);
      if (request.ok()) {
        task = request->task;
        entry.hash = request->Hash();
        entry.request = *std::move(request);
      } else {
        refuse(request.status());
      }
    } else {
      refuse(job.status());
      entry.job.id = IdOf(line);
    }
    if (entry.job.id.empty()) entry.job.id = fmt::format("line {}", number);
    if (entry.bad.ok()) {
      const auto [used, fresh] = by_id.try_emplace(entry.job.id, entries.size());
      if (!fresh && entries[used->second].hash != entry.hash) {
        refuse(InvalidArgument(
            fmt::format("id \"{}\" names another job on line {}; give every job its own id",
                        entry.job.id, entries[used->second].line)));
        entry.hash.clear();
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace davinci::judge
