#include "davinci/data/object_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace davinci {
namespace {

using nlohmann::json;

const json kNull;

}  // namespace

ObjectReader::ObjectReader(const json& document, std::string_view schema) : name_(schema) {
  if (!document.is_object()) {
    problem_ = InvalidArgument(fmt::format("not a {} document: no JSON object", schema));
    return;
  }
  document_ = &document;
  std::string found;
  Read("schema", &found);
  if (problem_.ok() && found != schema)
    problem_ =
        InvalidArgument(fmt::format("not a {} document: its schema is \"{}\"", schema, found));
}

ObjectReader ObjectReader::Nested(const json& document, std::string_view name) {
  ObjectReader reader;
  reader.name_ = name;
  if (document.is_object()) {
    reader.document_ = &document;
  } else {
    reader.problem_ = InvalidArgument(fmt::format("{} must be an object", name));
  }
  return reader;
}

const json& ObjectReader::Child(std::string_view key) {
  if (!problem_.ok() || document_ == nullptr) return kNull;
  seen_.emplace(key);
  const auto found = document_->find(std::string(key));
  if (found == document_->end()) {
    Fail(key, "is missing");
    return kNull;
  }
  return *found;
}

void ObjectReader::Read(std::string_view key, bool* value) {
  const json& child = Child(key);
  if (!problem_.ok()) return;
  if (!child.is_boolean()) return Fail(key, "must be true or false");
  *value = child.get<bool>();
}

void ObjectReader::Read(std::string_view key, int64_t* value) {
  const json& child = Child(key);
  if (!problem_.ok()) return;
  if (!child.is_number_integer()) return Fail(key, "must be an integer");
  if (child.is_number_unsigned() &&
      child.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return Fail(key, "is out of range");
  *value = child.get<int64_t>();
}

void ObjectReader::Read(std::string_view key, int* value) {
  int64_t wide = 0;
  Read(key, &wide);
  if (!problem_.ok()) return;
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
    return Fail(key, "is out of range");
  *value = static_cast<int>(wide);
}

void ObjectReader::Read(std::string_view key, double* value) {
  const json& child = Child(key);
  if (!problem_.ok()) return;
  if (!child.is_number() || !std::isfinite(child.get<double>()))
    return Fail(key, "must be a finite number");
  *value = child.get<double>();
}

void ObjectReader::Read(std::string_view key, std::string* value) {
  const json& child = Child(key);
  if (!problem_.ok()) return;
  if (!child.is_string()) return Fail(key, "must be text");
  *value = child.get<std::string>();
}

void ObjectReader::Read(std::string_view key, std::vector<std::string>* value) {
  ReadListWith(key, value, [](const json& element) -> Result<std::string> {
    if (!element.is_string()) return InvalidArgument("must be a list of texts");
    return element.get<std::string>();
  });
}

void ObjectReader::Fail(std::string_view key, std::string_view what) {
  if (problem_.ok()) problem_ = InvalidArgument(fmt::format("{}: \"{}\" {}", name_, key, what));
}

Status ObjectReader::Finish() {
  if (!problem_.ok() || document_ == nullptr) return problem_;
  for (const auto& item : document_->items()) {
    if (!seen_.contains(item.key())) {
      Fail(item.key(), "is not a known key");
      break;
    }
  }
  return problem_;
}

}  // namespace davinci
