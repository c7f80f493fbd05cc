#include "davinci/skill/skill_md.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "davinci/base/json_text.h"
#include "davinci/skill/front_matter.h"

namespace davinci::skill {
namespace {

// Fields that Agent Skills defines beside name, description and metadata.
constexpr std::array<std::string_view, 3> kOptionalFields = {"license", "compatibility",
                                                             "allowed-tools"};
constexpr std::string_view kNameKey = "davinci-name";
constexpr std::string_view kExtraKey = "davinci-extra";
constexpr size_t kMaxFolderBytes = 64;

bool IsReserved(std::string_view key) {
  return key == "scope" || key == "tags" || key == kNameKey || key == kExtraKey;
}

bool IsTopLevelField(const std::string& key, const OrderedJson& value) {
  return value.is_string() &&
         std::find(kOptionalFields.begin(), kOptionalFields.end(), key) != kOptionalFields.end();
}

// Metadata that can be written as it is: text under keys that are not ours and are plain keys.
bool IsPlainMetadata(const std::string& key, const OrderedJson& value) {
  return value.is_string() && !IsReserved(key) && !key.empty() &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

Result<std::string> TextOf(const OrderedJson& value, std::string_view key,
                           std::string_view source) {
  if (value.is_string()) return value.get<std::string>();
  return InvalidArgument(fmt::format("{}: {} must be text", source, key));
}

// Block scalars have line breaks; a description is one line.
std::string OneLine(std::string_view text) {
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (end == text.size() && line.empty()) return std::string(part);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ') || part.ends_with('\r')) part.remove_suffix(1);
    if (!part.empty()) line += (line.empty() ? "" : " ") + std::string(part);
  }
  return line;
}

std::vector<std::string> SplitTags(std::string_view text) {
  std::vector<std::string> tags;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view tag = text.substr(begin, end - begin);
    while (tag.starts_with(' ')) tag.remove_prefix(1);
    while (tag.ends_with(' ')) tag.remove_suffix(1);
    if (!tag.empty()) tags.emplace_back(tag);
    begin = end + 1;
  }
  return tags;
}

// Text where that gives the same tags again, else a list.
std::string TagsYaml(const std::vector<std::string>& tags) {
  const std::string text = fmt::format("{}", fmt::join(tags, ", "));
  return SplitTags(text) == tags ? YamlScalar(text) : JsonText(OrderedJson(tags));
}

// "a, b" or a list.
Result<std::vector<std::string>> TagsOf(const OrderedJson& value, std::string_view source) {
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const OrderedJson& item : value) {
      DAVINCI_ASSIGN_OR_RETURN(std::string tag, TextOf(item, "each of tags", source));
      items.push_back(std::move(tag));
    }
    return items;
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, TextOf(value, "tags", source));
  return SplitTags(text);
}

Status ReadMetadata(const OrderedJson& metadata, std::string_view source, Skill* skill) {
  // NOLINTNEXTLINE(readability-container-size-empty): empty() is false for the JSON text ""
  if (metadata == "") return Status::Ok();
  if (!metadata.is_object())
    return InvalidArgument(fmt::format("{}: metadata must be a mapping of \"key: value\"", source));
  OrderedJson others = OrderedJson::object();
  OrderedJson extra = OrderedJson::object();
  for (const auto& [key, value] : metadata.items()) {
    if (key == "scope") {
      DAVINCI_ASSIGN_OR_RETURN(skill->scope, TextOf(value, "scope", source));
    } else if (key == "tags") {
      DAVINCI_ASSIGN_OR_RETURN(skill->tags, TagsOf(value, source));
    } else if (key == kNameKey) {
      DAVINCI_ASSIGN_OR_RETURN(skill->name, TextOf(value, kNameKey, source));
    } else if (key == kExtraKey) {
      DAVINCI_ASSIGN_OR_RETURN(const std::string text, TextOf(value, kExtraKey, source));
      extra = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
      if (!extra.is_object())
        return InvalidArgument(fmt::format("{}: {} must be a JSON object", source, kExtraKey));
    } else {
      others[key] = value;
    }
  }
  if (!others.empty()) skill->extra["metadata"] = std::move(others);
  for (const auto& [key, value] : extra.items()) skill->extra[key] = value;
  return Status::Ok();
}

Result<Skill> ReadFields(const OrderedJson& values, std::string_view source) {
  Skill skill;
  for (const char* key : {"name", "description"})
    if (!values.contains(key))
      return InvalidArgument(fmt::format("{}: the front matter lacks \"{}\"", source, key));
  for (const auto& [key, value] : values.items()) {
    if (key == "name") {
      DAVINCI_ASSIGN_OR_RETURN(skill.name, TextOf(value, key, source));
    } else if (key == "description") {
      DAVINCI_ASSIGN_OR_RETURN(skill.description, TextOf(value, key, source));
      skill.description = OneLine(skill.description);
    } else if (key == "scope") {
      DAVINCI_ASSIGN_OR_RETURN(skill.scope, TextOf(value, key, source));
    } else if (key == "tags") {
      DAVINCI_ASSIGN_OR_RETURN(skill.tags, TagsOf(value, source));
    } else if (key != "metadata") {
      skill.extra[key] = value;
    }
  }
  if (const auto metadata = values.find("metadata"); metadata != values.end())
    DAVINCI_RETURN_IF_ERROR(ReadMetadata(*metadata, source, &skill));
  return skill;
}

std::string Canonical(const Skill& skill) {
  const std::string folder = FolderName(skill);
  std::string text = fmt::format("---\nname: {}\ndescription: {}\n", YamlScalar(folder),
                                 YamlScalar(skill.description));
  OrderedJson rest = OrderedJson::object();
  OrderedJson metadata = OrderedJson::object();
  for (const auto& [key, value] : skill.extra.items()) {
    const bool plain_metadata =
        key == "metadata" && value.is_object() && !value.empty() &&
        std::all_of(value.items().begin(), value.items().end(),
                    [](const auto& item) { return IsPlainMetadata(item.key(), item.value()); });
    if (IsTopLevelField(key, value)) {
      text += fmt::format("{}: {}\n", key, YamlScalar(value.get<std::string>()));
    } else if (plain_metadata) {
      metadata = value;
    } else {
      rest[key] = value;
    }
  }
  text += fmt::format("metadata:\n  scope: {}\n", YamlScalar(skill.scope));
  if (!skill.tags.empty()) text += fmt::format("  tags: {}\n", TagsYaml(skill.tags));
  if (folder != skill.name) text += fmt::format("  {}: {}\n", kNameKey, YamlScalar(skill.name));
  for (const auto& [key, value] : metadata.items())
    text += fmt::format("  {}: {}\n", key, YamlScalar(value.get<std::string>()));
  if (!rest.empty()) text += fmt::format("  {}: {}\n", kExtraKey, YamlScalar(JsonText(rest)));
  return text + "---\n\n" + skill.content + "\n";
}

}  // namespace

Result<Skill> ParseSkillMd(std::string_view text, std::string_view source) {
  DAVINCI_ASSIGN_OR_RETURN(const FrontMatter front, ParseFrontMatter(text, source));
  DAVINCI_ASSIGN_OR_RETURN(Skill skill, ReadFields(front.values, source));
  std::string_view body = text.substr(front.body_offset);
  if (body.starts_with("\r\n")) {
    body.remove_prefix(2);
  } else if (body.starts_with('\n')) {
    body.remove_prefix(1);
  }
  if (body.ends_with('\n')) body.remove_suffix(1);
  skill.content = body;
  if (const Status valid = Validate(skill, Strictness::kPublished); !valid.ok())
    return InvalidArgument(fmt::format("{}: {}", source, valid.message()));
  skill.skill_md = text;
  return skill;
}

std::string FormatSkillMd(const Skill& skill) {
  if (!skill.skill_md.empty()) {
    const auto written = ParseSkillMd(skill.skill_md, "SKILL.md");
    if (written.ok() && *written == skill) return skill.skill_md;
  }
  return Canonical(skill);
}

std::string FolderName(const Skill& skill) {
  std::string name;
  for (const char c : skill.name) {
    const char letter = c == '_' ? '-' : c;
    if (letter == '-' && (name.empty() || name.back() == '-')) continue;
    if (name.size() < kMaxFolderBytes) name += letter;
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "skill" : name;
}

}  // namespace davinci::skill
