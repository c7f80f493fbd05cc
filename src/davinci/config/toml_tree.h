// A TOML document as JSON values that remember where they were written.
//
// Reading TOML is one thing, knowing which keys make sense another: this file does the first,
// recipe.h and task_config.h the second. Dates and times are refused, nothing here uses them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci::config {

// Keys are sorted.
using Json = nlohmann::json;

struct SourceLocation {
  std::string source;  // file name, or what the user typed ("--set judge.trials=3")
  int line = 0;        // from 1; 0: the source has no lines
  // "tasks/x.toml:7" or the source alone.
  std::string ToString() const;
};

struct TomlTree {
  Json values = Json::object();
  // By JSON pointer ("/sizes/cpu/N"), for every table, array and value.
  std::map<std::string, SourceLocation, std::less<>> locations;

  // Location of `pointer`, or of the nearest enclosing thing that has one.
  SourceLocation Locate(std::string_view pointer) const;
};

// `source` names the document in errors: "tasks/x.toml:7: …".
Result<TomlTree> ParseToml(std::string_view text, std::string_view source);

// A key as a step of a JSON pointer.
std::string PointerStep(std::string_view key);

// `value` as TOML: a literal, an array, or an inline table. Non-finite numbers are inf and nan.
std::string TomlLiteral(const Json& value);

// "integer", "text", … as a person would say it.
std::string_view TypeName(const Json& value);

}  // namespace davinci::config
