#include "davinci/synth/table_reader.h"

#include <fmt/format.h>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"

namespace davinci::synth {

using config::Json;

Result<std::shared_ptr<const config::TomlTree>> LoadTable(const std::filesystem::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 64u << 20));
  DAVINCI_ASSIGN_OR_RETURN(auto tree, config::ParseToml(text, file.string()));
  return std::make_shared<const config::TomlTree>(std::move(tree));
}

TableReader::TableReader(std::shared_ptr<const config::TomlTree> tree, std::string pointer)
    : tree_(std::move(tree)),
      pointer_(std::move(pointer)),
      values_(&tree_->values.at(Json::json_pointer(pointer_))) {
  if (!values_->is_object()) {
    static const Json empty = Json::object();
    values_ = &empty;
    problem_ = Error("want a table");
  }
}

bool TableReader::Has(const std::string& key) const { return values_->contains(key); }

bool TableReader::IsText(const std::string& key) const {
  return Has(key) && values_->at(key).is_string();
}

const Json* TableReader::Find(const std::string& key) {
  asked_.insert(key);
  const auto found = values_->find(key);
  return found == values_->end() ? nullptr : &*found;
}

void TableReader::Wrong(const std::string& key, std::string_view want) {
  if (!problem_.ok()) return;
  problem_ = InvalidArgument(fmt::format(
      "{}: {} wants {}, not {}", tree_->Locate(pointer_ + config::PointerStep(key)).ToString(), key,
      want, config::TypeName(values_->at(key))));
}

std::string TableReader::Text(const std::string& key, std::string_view otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Wrong(key, "text");
  return std::string(otherwise);
}

std::vector<std::string> TableReader::Texts(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  std::vector<std::string> texts;
  if (value->is_array())
    for (const Json& element : *value)
      if (element.is_string()) texts.push_back(element.get<std::string>());
  if (!value->is_array() || texts.size() != value->size()) Wrong(key, "texts");
  return texts;
}

double TableReader::Number(const std::string& key, double otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_number()) return value->get<double>();
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;
  Wrong(key, "a number");
  return otherwise;
}

int64_t TableReader::Integer(const std::string& key, int64_t otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_number_integer()) return value->get<int64_t>();
  Wrong(key, "an integer");
  return otherwise;
}

std::vector<double> TableReader::Numbers(const std::string& key) {
  const Json* value = Find(key);
  if (value == nullptr) return {};
  std::vector<double> numbers;
  if (value->is_array()) {
    for (const Json& element : *value) {
      if (element.is_number()) numbers.push_back(element.get<double>());
      if (element.is_boolean()) numbers.push_back(element.get<bool>() ? 1 : 0);
    }
  }
  if (!value->is_array() || numbers.size() != value->size()) Wrong(key, "numbers");
  return numbers;
}

std::vector<std::pair<std::string, TableReader>> TableReader::Tables(const std::string& key) {
  std::vector<std::pair<std::string, TableReader>> tables;
  const Json* value = Find(key);
  if (value == nullptr) return tables;
  if (!value->is_object()) {
    Wrong(key, "a table");
    return tables;
  }
  const std::string child = pointer_ + config::PointerStep(key);
  for (const auto& [name, table] : value->items())
    tables.emplace_back(name, TableReader(tree_, child + config::PointerStep(name)));
  return tables;
}

std::vector<TableReader> TableReader::Rows(const std::string& key) {
  std::vector<TableReader> rows;
  const Json* value = Find(key);
  if (value == nullptr) return rows;
  if (!value->is_array()) {
    Wrong(key, "an array of tables");
    return rows;
  }
  for (size_t i = 0; i < value->size(); ++i)
    rows.emplace_back(tree_, fmt::format("{}{}/{}", pointer_, config::PointerStep(key), i));
  return rows;
}

std::vector<std::string> TableReader::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_->items()) keys.push_back(key);
  return keys;
}

std::string TableReader::Where() const { return tree_->Locate(pointer_).ToString(); }

Status TableReader::Error(const std::string& what) const {
  return InvalidArgument(fmt::format("{}: {}", Where(), what));
}

Status TableReader::Finish() const {
  if (!problem_.ok()) return problem_;
  for (const auto& [key, value] : values_->items()) {
    if (asked_.contains(key)) continue;
    return InvalidArgument(fmt::format(
        "{}: unknown key '{}'{}", tree_->Locate(pointer_ + config::PointerStep(key)).ToString(),
        key, DidYouMean(key, std::vector<std::string>(asked_.begin(), asked_.end()))));
  }
  return Status::Ok();
}

}  // namespace davinci::synth
