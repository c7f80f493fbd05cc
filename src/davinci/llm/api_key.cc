#include "davinci/llm/api_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "davinci/base/files.h"

namespace davinci::llm {
namespace {

constexpr std::string_view kHidden = "[key]";

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '+' || c == '/' || c == '=' || c == '*';
}

// Hides what follows `prefix` when it is at least `min_length` characters of a key.
void HideAfter(std::string_view prefix, size_t min_length, std::string* text) {
  for (size_t at = text->find(prefix); at != std::string::npos; at = text->find(prefix, at + 1)) {
    if (at > 0 && IsKeyCharacter((*text)[at - 1])) continue;  // "task-…" holds "sk-…"
    const size_t start = at + prefix.size();
    size_t end = start;
    while (end < text->size() && IsKeyCharacter((*text)[end])) ++end;
    if (end - start >= min_length) text->replace(start, end - start, kHidden);
  }
}

}  // namespace

Result<ApiKey> ApiKey::Make(std::string value, const std::string& origin) {
  const size_t start = value.find_first_not_of(" \t\r\n");
  if (start == std::string::npos)
    return FailedPrecondition(fmt::format("the API key in {} is empty", origin));
  value = value.substr(start, value.find_last_not_of(" \t\r\n") - start + 1);
  for (const char c : value) {
    if (c <= ' ' || c > '~') {
      return InvalidArgument(
          fmt::format("the API key in {} holds white space or characters that no key has", origin));
    }
  }
  ApiKey key;
  key.value_ = std::move(value);
  return key;
}

Result<ApiKey> ApiKey::FromEnvironment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr) {
    return FailedPrecondition(fmt::format(
        "the environment variable {} is not set; export it with your API key", variable));
  }
  return Make(value, "the environment variable " + variable);
}

Result<ApiKey> ApiKey::FromFile(const std::filesystem::path& file) {
  constexpr uint64_t kMaxFile_bytes = 64 << 10;
  DAVINCI_ASSIGN_OR_RETURN(std::string text, ReadFile(file, kMaxFile_bytes));
  text.resize(std::min(text.find('\n'), text.size()));
  return Make(std::move(text), "the file " + file.string());
}

std::string ApiKey::Scrub(std::string_view text) const {
  std::string clean(text);
  // Local servers are given words like "x" for a key; there is nothing to hide in them.
  constexpr size_t kShortestSecret = 6;
  const auto hide = [&](const std::string& secret) {
    if (secret.size() < kShortestSecret) return;
    for (size_t at = clean.find(secret); at != std::string::npos;
         at = clean.find(secret, at + kHidden.size()))
      clean.replace(at, secret.size(), kHidden);
  };
  hide(value_);
  for (const std::string& other : others_) hide(other);
  HideAfter("sk-", 8, &clean);
  HideAfter("Bearer ", 8, &clean);
  return clean;
}

}  // namespace davinci::llm
