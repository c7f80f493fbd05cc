// ApiKey: a secret that can be sent and not shown.
//
// Keys come from the environment or from a file, never from a command line, a recipe or a URL. This
// is the only type that holds one; nothing prints it, and Scrub() takes it out of texts that come
// back from an endpoint (some repeat the key in their errors).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::llm {

class ApiKey {
 public:
  ApiKey() = default;  // none

  // FailedPrecondition when the variable is unset or empty, InvalidArgument when its value cannot
  // be a key (white space inside, control characters). No message holds the value.
  static Result<ApiKey> FromEnvironment(const std::string& variable);
  // The first line of a file, white space around it removed.
  static Result<ApiKey> FromFile(const std::filesystem::path& file);

  bool empty() const { return value_.empty(); }
  // "Bearer …", for the Authorization header and nothing else.
  std::string AuthorizationHeader() const { return "Bearer " + value_; }
  // The secret alone, as the value of another header.
  const std::string& ForHeader() const { return value_; }
  // Scrub() takes this secret out, too.
  void AlsoHide(const ApiKey& other) { others_.push_back(other.value_); }
  // `text` without the key, and without anything that looks like a key ("sk-…", "Bearer …").
  std::string Scrub(std::string_view text) const;

 private:
  static Result<ApiKey> Make(std::string value, const std::string& origin);
  std::string value_;
  std::vector<std::string> others_;
};

}  // namespace davinci::llm
