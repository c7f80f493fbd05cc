// The version of torch that an interpreter imports, kept from one of its starts: what is kept by
// that version is then found without starting Python. Internal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "davinci/store/kv_cache.h"

namespace davinci::judge {

// `hello`: what the fork server of `python` said (torch, torch_dir).
void RememberTorch(store::KvCache* facts, const std::string& python, const nlohmann::json& hello);
// "" where nothing is kept, or torch's folder has changed since.
std::string RememberedTorch(store::KvCache* facts, const std::string& python);

}  // namespace davinci::judge
