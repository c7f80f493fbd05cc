#include "davinci/judge/machine/known_torch.h"

#include <cstdlib>
#include <filesystem>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci::judge {
namespace {

constexpr const char* kTorchSpace = "torch";

// The interpreter, and what decides where it looks for torch.
std::string KeyOf(const std::string& python) {
  std::string key = python;
  for (const char* name : {"PATH", "PYTHONHOME", "VIRTUAL_ENV"}) {
    const char* value = std::getenv(name);
    key += std::string("\n") + (value != nullptr ? value : "");
  }
  return Sha256Hex(key);
}

// Names version and commit; an installation writes it anew.
std::string VersionFile(const std::string& torch_dir) {
  const auto text = ReadFile(std::filesystem::path(torch_dir) / "version.py");
  return text.ok() ? *text : "";
}

}  // namespace

void RememberTorch(store::KvCache* facts, const std::string& python, const nlohmann::json& hello) {
  const std::string folder = hello.value("torch_dir", "");
  const std::string text = VersionFile(folder);
  if (facts == nullptr || text.empty()) return;
  (void)facts->Put(
      kTorchSpace, KeyOf(python),
      {{"torch", hello.value("torch", "")}, {"folder", folder}, {"sha256", Sha256Hex(text)}});
}

std::string RememberedTorch(store::KvCache* facts, const std::string& python) {
  if (facts == nullptr) return "";
  const auto known = facts->Get(kTorchSpace, KeyOf(python));
  if (!known.ok() || !*known) return "";
  const std::string text = VersionFile((*known)->value("folder", ""));
  if (text.empty() || Sha256Hex(text) != (*known)->value("sha256", "")) return "";
  return (*known)->value("torch", "");
}

}  // namespace davinci::judge
