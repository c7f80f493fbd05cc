#include "davinci/sandbox/active_layers.h"

#include <nlohmann/json.hpp>

#include "davinci/sandbox/json_fields.h"

namespace davinci::sandbox {

nlohmann::json ToJson(const ActiveLayers& layers) {
  return {{"landlock_abi", layers.landlock_abi},
          {"user_namespace", layers.namespaces.user},
          {"pid_namespace", layers.namespaces.pid},
          {"mount_namespace", layers.namespaces.mount},
          {"net_namespace", layers.namespaces.net},
          {"ipc_namespace", layers.namespaces.ipc},
          {"uts_namespace", layers.namespaces.uts},
          {"private_root", layers.private_root},
          {"private_proc", layers.private_proc},
          {"private_tmp", layers.private_tmp},
          {"no_capabilities", layers.no_capabilities},
          {"no_new_privs", layers.no_new_privs},
          {"rlimits", layers.rlimits},
          {"seccomp", layers.seccomp},
          {"lock_prepared", layers.lock_prepared},
          {"lock_immutable", layers.lock_immutable},
          {"cgroup_memory", layers.cgroup_memory},
          {"cgroup_processes", layers.cgroup_processes},
          {"pid_limit", layers.pid_limit},
          {"missing", layers.missing}};
}

Result<ActiveLayers> ActiveLayersFromJson(const nlohmann::json& json) {
  ActiveLayers layers;
  uint64_t abi = 0;
  JsonFields fields(json, "sandbox layers");
  fields.Read("landlock_abi", &abi);
  fields.Read("user_namespace", &layers.namespaces.user);
  fields.Read("pid_namespace", &layers.namespaces.pid);
  fields.Read("mount_namespace", &layers.namespaces.mount);
  fields.Read("net_namespace", &layers.namespaces.net);
  fields.Read("ipc_namespace", &layers.namespaces.ipc);
  fields.Read("uts_namespace", &layers.namespaces.uts);
  fields.Read("private_root", &layers.private_root);
  fields.Read("private_proc", &layers.private_proc);
  fields.Read("private_tmp", &layers.private_tmp);
  fields.Read("no_capabilities", &layers.no_capabilities);
  fields.Read("no_new_privs", &layers.no_new_privs);
  fields.Read("rlimits", &layers.rlimits);
  fields.Read("seccomp", &layers.seccomp);
  fields.Read("lock_prepared", &layers.lock_prepared);
  fields.Read("lock_immutable", &layers.lock_immutable);
  fields.Read("cgroup_memory", &layers.cgroup_memory);
  fields.Read("cgroup_processes", &layers.cgroup_processes);
  fields.Read("pid_limit", &layers.pid_limit);
  fields.Read("missing", &layers.missing);
  DAVINCI_RETURN_IF_ERROR(fields.Finish());
  layers.landlock_abi = static_cast<int>(abi);
  return layers;
}

}  // namespace davinci::sandbox
