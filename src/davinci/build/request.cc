#include "davinci/build/request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace davinci::build {
namespace {

using nlohmann::json;

constexpr std::pair<BuildKind, std::string_view> kKinds[] = {{BuildKind::kExtension, "extension"},
                                                             {BuildKind::kLibrary, "library"},
                                                             {BuildKind::kLauncher, "launcher"},
                                                             {BuildKind::kCubin, "cubin"}};
constexpr std::pair<BuildError, std::string_view> kErrors[] = {
    {BuildError::kNone, ""},
    {BuildError::kCompileError, "compile_error"},
    {BuildError::kPolicyViolation, "policy_violation"},
    {BuildError::kTimeout, "timeout"},
    {BuildError::kOutOfMemory, "out_of_memory"},
    {BuildError::kUnavailable, "unavailable"}};

bool IsIdentifier(std::string_view s) {
  if (s.empty() || s.size() > 128 || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s) {
    const bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!ok) return false;
  }
  return true;
}

// "ns::f" is accepted by torch for functions as well.
bool IsQualifiedName(std::string_view s) {
  while (true) {
    const size_t colon = s.find("::");
    if (!IsIdentifier(s.substr(0, colon))) return false;
    if (colon == std::string_view::npos) return true;
    s.remove_prefix(colon + 2);
  }
}

bool IsArch(std::string_view s) {
  if (!s.starts_with("sm_") || s.size() < 5 || s.size() > 8) return false;
  for (size_t i = 3; i < s.size(); ++i) {
    const bool last = i + 1 == s.size();
    if (!(s[i] >= '0' && s[i] <= '9') && !(last && (s[i] == 'a' || s[i] == 'f'))) return false;
  }
  return true;
}

Status ReadStrings(const json& value, std::string_view key, size_t max_each,
                   std::vector<std::string>* out) {
  // torch accepts one string where it documents a list.
  const json list = value.is_string() ? json::array({value}) : value;
  if (!list.is_array())
    return InvalidArgument(fmt::format("build request: \"{}\" must be a list of strings", key));
  if (list.size() > kMaxFlags) {
    return InvalidArgument(fmt::format("build request: \"{}\" has {} entries, at most {}", key,
                                       list.size(), kMaxFlags));
  }
  for (const json& item : list) {
    if (!item.is_string())
      return InvalidArgument(fmt::format("build request: \"{}\" must be a list of strings", key));
    const auto& text = item.get_ref<const std::string&>();
    if (text.size() > max_each || text.find('\0') != std::string::npos) {
      return InvalidArgument(
          fmt::format("build request: an entry of \"{}\" is too long or holds a NUL", key));
    }
    out->push_back(text);
  }
  return Status::Ok();
}

Status ReadBool(const json& value, std::string_view key, bool* out) {
  if (!value.is_boolean())
    return InvalidArgument(fmt::format("build request: \"{}\" must be true or false", key));
  *out = value.get<bool>();
  return Status::Ok();
}

Status ReadFunctions(const json& value, BuildRequest* request) {
  if (value.is_null()) return Status::Ok();
  request->functions.emplace();
  auto add = [&](const std::string& name, const std::string& doc) {
    if (!IsQualifiedName(name) || doc.size() > 65536) {
      return InvalidArgument(
          fmt::format("build request: \"functions\": '{:.100}' is not a function name", name));
    }
    request->functions->emplace_back(name, doc);
    return Status::Ok();
  };
  if (value.is_string()) return add(value.get<std::string>(), value.get<std::string>());
  if (value.size() > kMaxFlags) return InvalidArgument("build request: too many \"functions\"");
  if (value.is_array()) {
    for (const json& item : value) {
      if (!item.is_string())
        return InvalidArgument("build request: \"functions\" must hold strings");
      DAVINCI_RETURN_IF_ERROR(add(item.get<std::string>(), item.get<std::string>()));
    }
    return Status::Ok();
  }
  if (!value.is_object())
    return InvalidArgument("build request: \"functions\" must be a list or an object");
  for (const auto& [name, doc] : value.items()) {
    if (!doc.is_string())
      return InvalidArgument("build request: docstrings of \"functions\" must be strings");
    DAVINCI_RETURN_IF_ERROR(add(name, doc.get<std::string>()));
  }
  return Status::Ok();
}

}  // namespace

std::string_view BuildErrorName(BuildError error) {
  for (const auto& [value, name] : kErrors) {
    if (value == error) return name;
  }
  return "";
}

Result<BuildRequest> ParseBuildRequest(std::string_view text) {
  if (text.size() > kMaxRequestBytes) {
    return InvalidArgument(
        fmt::format("build request of {} bytes; at most {}", text.size(), kMaxRequestBytes));
  }
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return InvalidArgument("build request: not a JSON object");
  BuildRequest request;
  bool has_kind = false;
  for (const auto& [key, value] : document.items()) {
    if (key == "kind") {
      for (const auto& [kind, name] : kKinds) {
        if (value.is_string() && value.get_ref<const std::string&>() == name) {
          request.kind = kind;
          has_kind = true;
        }
      }
      if (!has_kind)
        return InvalidArgument(
            "build request: \"kind\" must be extension, library, launcher or cubin");
    } else if (key == "name") {
      if (!value.is_string() || !IsIdentifier(value.get_ref<const std::string&>())) {
        return InvalidArgument("build request: \"name\" must be a C identifier");
      }
      request.name = value.get<std::string>();
    } else if (key == "cpp_sources") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxSourceBytes, &request.cpp_sources));
    } else if (key == "cuda_sources") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxSourceBytes, &request.cuda_sources));
    } else if (key == "functions") {
      DAVINCI_RETURN_IF_ERROR(ReadFunctions(value, &request));
    } else if (key == "extra_cflags") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxFlagBytes, &request.extra_cflags));
    } else if (key == "extra_cuda_cflags") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxFlagBytes, &request.extra_cuda_cflags));
    } else if (key == "extra_ldflags") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxFlagBytes, &request.extra_ldflags));
    } else if (key == "extra_include_paths") {
      DAVINCI_RETURN_IF_ERROR(ReadStrings(value, key, kMaxFlagBytes, &request.extra_include_paths));
    } else if (key == "with_cuda") {
      DAVINCI_RETURN_IF_ERROR(ReadBool(value, key, &request.with_cuda));
    } else if (key == "no_implicit_headers") {
      DAVINCI_RETURN_IF_ERROR(ReadBool(value, key, &request.no_implicit_headers));
    } else if (key == "cuda_arch") {
      if (!value.is_string() || (!value.get_ref<const std::string&>().empty() &&
                                 !IsArch(value.get_ref<const std::string&>()))) {
        return InvalidArgument("build request: \"cuda_arch\" must look like sm_90");
      }
      request.cuda_arch = value.get<std::string>();
    } else {
      return InvalidArgument(fmt::format("build request: unknown key \"{:.100}\"", key));
    }
  }
  if (!has_kind) return InvalidArgument("build request: \"kind\" is missing");
  size_t bytes = 0;
  for (const auto& s : request.cpp_sources) bytes += s.size();
  for (const auto& s : request.cuda_sources) bytes += s.size();
  if (bytes > kMaxSourceBytes) {
    return InvalidArgument(
        fmt::format("build request: {} bytes of source; at most {}", bytes, kMaxSourceBytes));
  }
  if (bytes == 0) return InvalidArgument("build request: no source");
  if (request.kind == BuildKind::kLibrary && request.cpp_sources.empty()) {
    return InvalidArgument("build request: a library needs \"cpp_sources\"");
  }
  if (request.kind == BuildKind::kLauncher && request.cpp_sources.empty()) {
    return InvalidArgument("build request: a launcher needs \"cpp_sources\"");
  }
  if (request.kind == BuildKind::kCubin && request.cuda_sources.empty()) {
    return InvalidArgument("build request: a cubin needs \"cuda_sources\"");
  }
  return request;
}

json ToJson(const BuildRequest& request) {
  json out;
  for (const auto& [kind, name] : kKinds) {
    if (kind == request.kind) out["kind"] = name;
  }
  out["name"] = request.name;
  out["cpp_sources"] = request.cpp_sources;
  out["cuda_sources"] = request.cuda_sources;
  if (request.functions) {
    json functions = json::object();
    for (const auto& [name, doc] : *request.functions) functions[name] = doc;
    out["functions"] = functions;
  }
  out["extra_cflags"] = request.extra_cflags;
  out["extra_cuda_cflags"] = request.extra_cuda_cflags;
  out["extra_ldflags"] = request.extra_ldflags;
  out["extra_include_paths"] = request.extra_include_paths;
  out["with_cuda"] = request.with_cuda;
  out["no_implicit_headers"] = request.no_implicit_headers;
  if (!request.cuda_arch.empty()) out["cuda_arch"] = request.cuda_arch;
  return out;
}

json ToJson(const BuildOutcome& outcome) {
  json out{{"ok", outcome.ok()},
           {"key", outcome.key},
           {"cached", outcome.cached},
           {"seconds", outcome.seconds}};
  if (outcome.ok()) {
    out["path"] = outcome.path;
    out["module"] = outcome.module_name;
  } else {
    out["error"] = {{"kind", BuildErrorName(outcome.error)},
                    {"message", outcome.message},
                    {"file", outcome.file},
                    {"line", outcome.line}};
  }
  out["stage"] = outcome.stage;
  out["steps"] = json::array();
  for (const BuildStep& step : outcome.steps) {
    json item{{"name", step.name}, {"seconds", step.seconds}};
    if (!step.note.empty()) item["note"] = step.note;
    out["steps"].push_back(std::move(item));
  }
  return out;
}

Result<BuildOutcome> ParseBuildOutcome(std::string_view text) {
  const json d = json::parse(text, nullptr, false);
  if (!d.is_object() || !d.contains("ok") || !d["ok"].is_boolean()) {
    return InvalidArgument("build outcome: not a JSON object with \"ok\"");
  }
  BuildOutcome out;
  auto string_at = [&](const char* key) {
    return d.contains(key) && d[key].is_string() ? d[key].get<std::string>() : std::string();
  };
  out.key = string_at("key");
  out.path = string_at("path");
  out.module_name = string_at("module");
  out.stage = string_at("stage");
  if (d.contains("cached") && d["cached"].is_boolean()) out.cached = d["cached"].get<bool>();
  if (d.contains("seconds") && d["seconds"].is_number()) out.seconds = d["seconds"].get<double>();
  if (d.contains("steps") && d["steps"].is_array()) {
    for (const json& step : d["steps"]) {
      if (step.is_object() && step.contains("name") && step["name"].is_string() &&
          step.contains("seconds") && step["seconds"].is_number()) {
        out.steps.push_back({step["name"].get<std::string>(), step["seconds"].get<double>(),
                             step.contains("note") && step["note"].is_string()
                                 ? step["note"].get<std::string>()
                                 : std::string()});
      }
    }
  }
  if (!d["ok"].get<bool>()) {
    if (!d.contains("error") || !d["error"].is_object()) {
      return InvalidArgument("build outcome: \"error\" is missing");
    }
    const json& e = d["error"];
    const auto text_at = [&](const char* key) {
      return e.contains(key) && e[key].is_string() ? e[key].get<std::string>() : std::string();
    };
    out.message = text_at("message");
    out.file = text_at("file");
    if (e.contains("line") && e["line"].is_number_integer()) out.line = e["line"].get<int>();
    out.error = BuildError::kCompileError;
    for (const auto& [error, name] : kErrors) {
      if (error != BuildError::kNone && name == text_at("kind")) out.error = error;
    }
  }
  return out;
}

}  // namespace davinci::build
