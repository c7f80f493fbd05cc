#include "davinci/sandbox/limits.h"

#include "davinci/sandbox/json_fields.h"

namespace davinci::sandbox {

Result<Limits> LimitsFromJson(const nlohmann::json& json) {
  Limits limits;
  JsonFields fields(json, "limits");
  fields.Read("memory_bytes", &limits.memory_bytes);
  fields.Read("address_space_bytes", &limits.address_space_bytes);
  fields.Read("file_size_bytes", &limits.file_size_bytes);
  fields.Read("open_files", &limits.open_files);
  fields.Read("processes", &limits.processes);
  fields.Read("cpu_seconds", &limits.cpu_seconds);
  fields.Read("stack_bytes", &limits.stack_bytes);
  fields.Read("locked_memory_bytes", &limits.locked_memory_bytes);
  DAVINCI_RETURN_IF_ERROR(fields.Finish());
  return limits;
}

nlohmann::json ToJson(const Limits& limits) {
  return {{"memory_bytes", limits.memory_bytes},
          {"address_space_bytes", limits.address_space_bytes},
          {"file_size_bytes", limits.file_size_bytes},
          {"open_files", limits.open_files},
          {"processes", limits.processes},
          {"cpu_seconds", limits.cpu_seconds},
          {"stack_bytes", limits.stack_bytes},
          {"locked_memory_bytes", limits.locked_memory_bytes}};
}

}  // namespace davinci::sandbox
