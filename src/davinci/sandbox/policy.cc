#include "davinci/sandbox/policy.h"

#include "davinci/sandbox/json_fields.h"

namespace davinci::sandbox {
namespace {

Status ValidatePath(const char* field, const std::string& path) {
  const std::string where = std::string("policy: ") + field + ": ";
  if (path.empty() || path[0] != '/') {
    return InvalidArgument(where + "\"" + path + "\" must be an absolute path");
  }
  if (path.find_first_not_of('/') == std::string::npos) {
    return InvalidArgument(where +
                           "\"/\" would open everything; list the directories that are needed");
  }
  if (path.find('\0') != std::string::npos) {
    return InvalidArgument(where + "the path contains a zero byte");
  }
  return Status::Ok();
}

Result<Policy> ReadPolicy(JsonFields* fields) {
  Policy policy;
  fields->Read("read_only_paths", &policy.read_only_paths);
  fields->Read("read_write_paths", &policy.read_write_paths);
  fields->Read("device_paths", &policy.device_paths);
  fields->Read("scratch_dir", &policy.scratch_dir);
  fields->Read("private_tmp_bytes", &policy.private_tmp_bytes);
  fields->Read("allow_network", &policy.allow_network);
  fields->Read("allow_exec", &policy.allow_exec);
  fields->Read("allow_fork", &policy.allow_fork);
  fields->Read("thread_names", &policy.thread_names);
  fields->Read("new_namespaces", &policy.new_namespaces);
  DAVINCI_RETURN_IF_ERROR(fields->Finish());
  DAVINCI_RETURN_IF_ERROR(Validate(policy));
  return policy;
}

}  // namespace

void AddSystemPaths(Policy* policy) {
  for (const char* path : {"/usr",
                           "/bin",
                           "/sbin",
                           "/lib",
                           "/lib32",
                           "/lib64",
                           "/libx32",
                           "/etc/ld.so.cache",
                           "/etc/ld.so.conf",
                           "/etc/ld.so.conf.d",
                           "/etc/ld.so.preload",
                           "/etc/alternatives",
                           "/etc/localtime",
                           "/etc/timezone",
                           "/etc/passwd",
                           "/etc/group",
                           "/etc/nsswitch.conf",
                           "/etc/host.conf",
                           "/sys/devices/system/cpu",
                           "/sys/devices/system/node"}) {
    policy->read_only_paths.emplace_back(path);
  }
}

Status Validate(const Policy& policy) {
  for (const std::string& path : policy.read_only_paths) {
    DAVINCI_RETURN_IF_ERROR(ValidatePath("read_only_paths", path));
  }
  for (const std::string& path : policy.read_write_paths) {
    DAVINCI_RETURN_IF_ERROR(ValidatePath("read_write_paths", path));
  }
  for (const std::string& path : policy.device_paths) {
    DAVINCI_RETURN_IF_ERROR(ValidatePath("device_paths", path));
  }
  if (!policy.scratch_dir.empty()) {
    DAVINCI_RETURN_IF_ERROR(ValidatePath("scratch_dir", policy.scratch_dir));
  }
  return Status::Ok();
}

nlohmann::json ToJson(const Policy& policy) {
  return {{"read_only_paths", policy.read_only_paths},
          {"read_write_paths", policy.read_write_paths},
          {"device_paths", policy.device_paths},
          {"scratch_dir", policy.scratch_dir},
          {"private_tmp_bytes", policy.private_tmp_bytes},
          {"allow_network", policy.allow_network},
          {"allow_exec", policy.allow_exec},
          {"allow_fork", policy.allow_fork},
          {"thread_names", policy.thread_names},
          {"new_namespaces", policy.new_namespaces}};
}

Result<Spec> SpecFromText(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument("sandbox specification: not valid JSON");
  JsonFields fields(json, "sandbox specification");
  const nlohmann::json* limits = fields.Take("limits");
  Spec spec;
  DAVINCI_ASSIGN_OR_RETURN(spec.policy, ReadPolicy(&fields));
  if (limits != nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(spec.limits, LimitsFromJson(*limits));
  }
  return spec;
}

nlohmann::json ToJson(const Spec& spec) {
  nlohmann::json json = ToJson(spec.policy);
  json["limits"] = ToJson(spec.limits);
  return json;
}

}  // namespace davinci::sandbox
