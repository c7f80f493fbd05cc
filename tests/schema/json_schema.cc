#include "json_schema.h"

#include <algorithm>
#include <utility>

namespace davinci {
namespace {

using nlohmann::json;

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  void Check(const json& schema, const json& value, const std::string& where,
             std::vector<std::string>* out) const {
    for (const auto& [keyword, rule] : schema.items()) {
      const auto wrong = [&](const std::string& what) {
        out->push_back((where.empty() ? "/" : where) + ": " + what);
      };
      if (keyword == "type") {
        const json types = rule.is_array() ? rule : json::array({rule});
        if (std::none_of(types.begin(), types.end(), [&](const json& t) { return IsOf(value, t); }))
          wrong("expected " + rule.dump());
      } else if (keyword == "const") {
        if (value != rule) wrong("expected " + rule.dump());
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          wrong(value.dump() + " is none of " + rule.dump());
      } else if (keyword == "minimum") {
        if (value.is_number() && value.get<double>() < rule.get<double>())
          wrong("less than " + rule.dump());
      } else if (keyword == "required") {
        for (const json& name : rule)
          if (value.is_object() && !value.contains(name.get<std::string>()))
            wrong("lacks " + name.dump());
      } else if (keyword == "properties") {
        for (const auto& [name, inner] : rule.items())
          if (value.is_object() && value.contains(name))
            Check(inner, value[name], where + "/" + name, out);
      } else if (keyword == "additionalProperties") {
        CheckOthers(schema, rule, value, where, out);
      } else if (keyword == "items") {
        if (value.is_array())
          for (size_t i = 0; i < value.size(); ++i)
            Check(rule, value[i], where + "/" + std::to_string(i), out);
      } else if (keyword == "anyOf") {
        if (std::none_of(rule.begin(), rule.end(),
                         [&](const json& inner) { return Holds(inner, value, where); }))
          wrong("matches no alternative: " + value.dump());
      } else if (keyword == "allOf") {
        for (const json& inner : rule) Check(inner, value, where, out);
      } else if (keyword == "if") {
        if (Holds(rule, value, where) && schema.contains("then"))
          Check(schema["then"], value, where, out);
      } else if (keyword == "$ref") {
        const std::string pointer = rule.get<std::string>();
        if (pointer.starts_with("#/") && root_.contains(json::json_pointer(pointer.substr(1))))
          Check(root_[json::json_pointer(pointer.substr(1))], value, where, out);
        else
          wrong("unresolved $ref " + pointer);
      } else if (keyword != "$schema" && keyword != "$id" && keyword != "$defs" &&
                 keyword != "title" && keyword != "description" && keyword != "then") {
        wrong("the schema uses \"" + keyword + "\", which this validator does not know");
      }
    }
  }

 private:
  static bool IsOf(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }
  bool Holds(const json& schema, const json& value, const std::string& where) const {
    std::vector<std::string> problems;
    Check(schema, value, where, &problems);
    return problems.empty();
  }
  void CheckOthers(const json& schema, const json& rule, const json& value,
                   const std::string& where, std::vector<std::string>* out) const {
    if (!value.is_object()) return;
    const json known = schema.value("properties", json::object());
    for (const auto& [name, member] : value.items()) {
      if (known.contains(name)) continue;
      if (rule.is_boolean() && !rule.get<bool>())
        out->push_back(where + "/" + name + ": not allowed here");
      if (rule.is_object()) Check(rule, member, where + "/" + name, out);
    }
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> Violations(const json& schema, const json& document) {
  std::vector<std::string> problems;
  Validator(schema).Check(schema, document, "", &problems);
  return problems;
}

json Closed(json schema) {
  if (schema.is_object() && schema.contains("properties") && schema.contains("type") &&
      !schema.contains("additionalProperties"))
    schema["additionalProperties"] = false;
  for (json& inner : schema)
    if (inner.is_structured()) inner = Closed(std::move(inner));
  return schema;
}

}  // namespace davinci
