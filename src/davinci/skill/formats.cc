#include "davinci/skill/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/skill/seed_folder.h"
#include "davinci/skill/skill_json.h"
#include "davinci/skill/skill_md.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxJsonlBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxSkillMdBytes = 1 << 20;
constexpr std::string_view kEvidenceFile = "evidence.json";

Status ReadJsonl(const fs::path& file, ReadResult* result) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxJsonlBytes));
  std::map<std::string, int> line_of_name;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    std::vector<Evidence> evidence;
    auto skill = ParseSkillJson(line, &evidence);
    if (!skill.ok()) {
      result->problems.push_back({where, skill.status().message()});
      continue;
    }
    const auto [first, is_new] = line_of_name.emplace(skill->name, number);
    if (!is_new) {
      result->problems.push_back({where, fmt::format("the name \"{}\" is that of line {} already",
                                                     skill->name, first->second)});
      continue;
    }
    result->documents.push_back({std::move(*skill), std::move(evidence)});
  }
  return Status::Ok();
}

// Of a folder that WriteFolders() wrote; none without the file.
Result<std::vector<Evidence>> ReadExportedEvidence(const fs::path& folder) {
  std::vector<Evidence> evidence;
  const fs::path file = folder / kEvidenceFile;
  std::error_code error;
  if (!fs::exists(file, error)) return evidence;
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxSkillMdBytes));
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return InvalidArgument(file.string() + ": not a JSON list");
  for (const nlohmann::json& entry : list) {
    auto one = EvidenceFromJson(entry);
    if (one.ok())
      if (const Status valid = Validate(*one); !valid.ok()) one = valid;
    if (!one.ok()) return one.status().Annotate(file.string());
    evidence.push_back(std::move(*one));
  }
  return evidence;
}

void ReadFolder(const fs::path& file, ReadResult* result) {
  const auto read = [&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxSkillMdBytes));
    Document document;
    DAVINCI_ASSIGN_OR_RETURN(document.skill, ParseSkillMd(text, file.string()));
    DAVINCI_ASSIGN_OR_RETURN(document.evidence, ReadEvidence(file.parent_path()));
    DAVINCI_ASSIGN_OR_RETURN(const auto exported, ReadExportedEvidence(file.parent_path()));
    for (const Evidence& one : exported)
      if (std::none_of(document.evidence.begin(), document.evidence.end(),
                       [&](const Evidence& known) { return SameSubject(known, one); }))
        document.evidence.push_back(one);
    result->documents.push_back(std::move(document));
    return Status::Ok();
  };
  if (const Status status = read(); !status.ok())
    result->problems.push_back({file.parent_path().string(), status.message()});
}

}  // namespace

Result<ReadResult> ReadSkills(const fs::path& path) {
  ReadResult result;
  std::error_code error;
  if (!fs::exists(path, error))
    return NotFound(fmt::format("{}: no such file or folder", path.string()));
  if (!fs::is_directory(path, error)) {
    if (path.filename() == "SKILL.md") {
      ReadFolder(path, &result);
    } else if (path.extension() == ".jsonl") {
      DAVINCI_RETURN_IF_ERROR(ReadJsonl(path, &result));
    } else {
      return InvalidArgument(fmt::format(
          "{}: neither a .jsonl file, a SKILL.md nor a folder of skills", path.string()));
    }
    return result;
  }
  if (fs::exists(path / "SKILL.md", error)) {
    ReadFolder(path / "SKILL.md", &result);
    return result;
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<fs::path> folders, ListSkillFolders(path));
  if (folders.empty())
    return InvalidArgument(fmt::format("{}: no folder in it has a SKILL.md", path.string()));
  for (const fs::path& folder : folders) ReadFolder(folder / "SKILL.md", &result);
  return result;
}

Status WriteJsonl(const fs::path& file, const std::vector<Document>& documents) {
  std::string text;
  for (const Document& document : documents)
    text += FormatSkillJson(document.skill, document.evidence) + "\n";
  return WriteFileAtomic(file, text);
}

Status WriteFolders(const fs::path& folder, const std::vector<Document>& documents) {
  std::map<std::string, std::string> skill_of_folder;
  for (const Document& document : documents) {
    const auto [first, is_new] =
        skill_of_folder.emplace(FolderName(document.skill), document.skill.name);
    if (!is_new)
      return InvalidArgument(
          fmt::format("\"{}\" and \"{}\" would both be written to the folder {}; export them apart",
                      first->second, document.skill.name, first->first));
  }
  for (const Document& document : documents) {
    const fs::path target = folder / FolderName(document.skill);
    DAVINCI_RETURN_IF_ERROR(MakeDirs(target));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(target / "SKILL.md", FormatSkillMd(document.skill)));
    if (document.evidence.empty()) continue;
    nlohmann::json list = nlohmann::json::array();
    for (const Evidence& one : document.evidence) list.push_back(ToJson(one));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(target / kEvidenceFile, JsonText(list, 2) + "\n"));
  }
  return Status::Ok();
}

}  // namespace davinci::skill
