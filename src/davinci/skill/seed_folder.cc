#include "davinci/skill/seed_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/suggest.h"
#include "davinci/config/task_config.h"
#include "davinci/config/toml_tree.h"
#include "davinci/data/object_reader.h"
#include "davinci/skill/skill_md.h"
#include "davinci/skill/uplift.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMaxFileBytes = 1 << 20;
constexpr double kLeastThreshold = 1.0;
constexpr double kMostThreshold = 100.0;
constexpr int64_t kMostThreads = 4096;

const std::vector<std::string> kKeys = {"target", "language", "task", "threshold", "threads"};

Status ReadExample(const fs::path& file, SeedFolder* seed) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxFileBytes));
  DAVINCI_ASSIGN_OR_RETURN(const config::TomlTree tree, config::ParseToml(text, file.string()));
  const auto error = [&](std::string_view key, std::string_view what) {
    return InvalidArgument(
        fmt::format("{}: {} {}", tree.Locate(fmt::format("/{}", key)).ToString(), key, what));
  };
  for (const auto& [key, value] : tree.values.items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      return error(key, fmt::format("is not a key of example.toml{}", DidYouMean(key, kKeys)));
  const auto text_of = [&](const char* key) -> Result<std::string> {
    if (!tree.values.contains(key)) return std::string();
    if (!tree.values[key].is_string()) return error(key, "must be text");
    return tree.values[key].get<std::string>();
  };
  DAVINCI_ASSIGN_OR_RETURN(const std::string target, text_of("target"));
  const auto parsed_target = ParseTarget(target);
  if (!parsed_target) return error("target", "must be \"cpu\" or \"cuda\"");
  seed->target = *parsed_target;
  DAVINCI_ASSIGN_OR_RETURN(const std::string language, text_of("language"));
  const auto parsed_language = ParseLanguage(language.empty() ? "auto" : language);
  if (!parsed_language)
    return error("language", "must be one of triton, cuda, cuda-inline, cpp, python");
  seed->language = *parsed_language;
  DAVINCI_ASSIGN_OR_RETURN(const std::string task, text_of("task"));
  seed->task = (seed->folder / (task.empty() ? "task.py" : task)).lexically_normal();
  if (tree.values.contains("threshold")) {
    if (!tree.values["threshold"].is_number()) return error("threshold", "must be a number");
    seed->threshold = tree.values["threshold"].get<double>();
    if (!(seed->threshold >= kLeastThreshold && seed->threshold <= kMostThreshold))
      return error("threshold",
                   fmt::format("must lie between {} and {}", kLeastThreshold, kMostThreshold));
  }
  if (tree.values.contains("threads")) {
    const auto& threads = tree.values["threads"];
    if (!threads.is_number_integer() || threads.get<int64_t>() < 1 ||
        threads.get<int64_t>() > kMostThreads)
      return error("threads", fmt::format("must be a whole number from 1 to {}", kMostThreads));
    seed->threads = threads.get<int>();
  }
  return Status::Ok();
}

Result<std::string> DigestOf(const SeedFolder& seed) {
  Sha256 hash;
  hash.Field("skill example 1").Field(TargetName(seed.target)).Field(std::to_string(seed.threads));
  fs::path sidecar = seed.task;
  sidecar.replace_extension(".toml");
  for (const fs::path& file : {seed.task, sidecar, seed.before, seed.after}) {
    auto text = ReadFile(file, kMaxFileBytes);
    if (!text.ok() && file == sidecar && text.status().code() == StatusCode::kNotFound)
      text = std::string();
    if (!text.ok()) return text.status();
    hash.Field(*text);
  }
  return hash.FinishHex();
}

// What the evidence keeps of a verdict: everything but the many small measurements.
json Essence(const Evaluation& evaluation) {
  json verdict = ToJson(evaluation);
  json kept = json::object();
  for (const char* key : {"status", "correct", "speedup", "labels", "message", "provenance"})
    kept[key] = verdict[key];
  kept["times"] = {{"candidate", verdict["times"]["candidate"]},
                   {"baseline", verdict["times"]["baseline"]}};
  for (const char* key : {"checks", "clocks", "roofline", "threads"})
    if (evaluation.evidence.contains(key)) kept["evidence"][key] = evaluation.evidence[key];
  return kept;
}

// With its peaks the judge names a GPU, but not a CPU.
std::string DeviceOf(const Evaluation& evaluation, std::string_view cpu_model) {
  const json::json_pointer where("/roofline/peaks/device");
  if (!evaluation.evidence.contains(where)) return std::string(cpu_model);
  const json& device = evaluation.evidence.at(where);
  return device.is_string() ? device.get<std::string>() : "";
}

std::string ProtocolOf(const Evaluation& evaluation) {
  const json protocol = evaluation.provenance.value("protocol", json::object());
  if (!protocol.is_object()) return "";
  return fmt::format("{}/{}", protocol.value("name", ""), protocol.value("version", 0));
}

}  // namespace

fs::path SeedFolder::EvidencePath() const {
  return folder / "evidence" / fmt::format("{}.json", TargetName(target));
}

Result<SeedFolder> ReadSeedFolder(const fs::path& folder) {
  SeedFolder seed;
  seed.folder = folder;
  const fs::path skill_md = folder / "SKILL.md";
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(skill_md, kMaxFileBytes));
  DAVINCI_ASSIGN_OR_RETURN(seed.skill, ParseSkillMd(text, skill_md.string()));
  if (const Status valid = Validate(seed.skill, Strictness::kAuthored); !valid.ok())
    return InvalidArgument(fmt::format("{}: {}", skill_md.string(), valid.message()));
  const std::string name = fs::absolute(folder).lexically_normal().filename().string();
  const std::string folder_name =
      name.empty() ? fs::absolute(folder).lexically_normal().parent_path().filename().string()
                   : name;
  if (folder_name != seed.skill.name)
    return InvalidArgument(fmt::format("{}: the skill is named \"{}\", its folder \"{}\"",
                                       skill_md.string(), seed.skill.name, folder_name));
  DAVINCI_RETURN_IF_ERROR(ReadExample(folder / "example.toml", &seed));
  seed.before = folder / "before.py";
  seed.after = folder / "after.py";
  std::error_code error;
  for (const fs::path& file : {seed.task, seed.before, seed.after})
    if (!fs::is_regular_file(file, error))
      return NotFound(fmt::format("{}: no such file", file.string()));
  DAVINCI_ASSIGN_OR_RETURN(seed.example_digest, DigestOf(seed));
  return seed;
}

Result<std::vector<fs::path>> ListSkillFolders(const fs::path& skills) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(skills, error), end; !error && entry != end;
       entry.increment(error))
    if (std::error_code ignored; fs::exists(entry->path() / "SKILL.md", ignored))
      folders.push_back(entry->path());
  if (error) return FromErrno(error.value(), fmt::format("reading {}", skills.string()));
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<EvidenceFile> MakeEvidence(const SeedFolder& seed, const Evaluation& before,
                                  const Evaluation& after, std::string_view cpu_model,
                                  std::string_view run, std::string_view now_utc) {
  EvidenceFile file;
  DAVINCI_ASSIGN_OR_RETURN(file.evidence.uplift, UpliftOf(before, after));
  file.evidence.target = TargetName(seed.target);
  file.evidence.device = DeviceOf(after, cpu_model);
  const bool own_task = seed.task.parent_path() == seed.folder.lexically_normal();
  file.evidence.tasks = {own_task
                             ? fmt::format("skills/{}/task", seed.skill.name)
                             : fmt::format("{}/{}", seed.task.parent_path().filename().string(),
                                           seed.task.stem().string())};
  file.evidence.protocol = ProtocolOf(after);
  file.evidence.run = run;
  file.evidence.last_verified = now_utc;
  file.evidence.speedup = after.speedup->median;
  file.example_digest = seed.example_digest;
  file.threshold = seed.threshold;
  file.before = Essence(before);
  file.after = Essence(after);
  return file;
}

json ToJson(const EvidenceFile& file) {
  return {{"schema", kEvidenceSchema},
          {"result", ToJson(file.evidence)},
          {"example_sha256", file.example_digest},
          {"threshold", file.threshold},
          {"before", file.before},
          {"after", file.after}};
}

Result<EvidenceFile> EvidenceFileFromJson(const json& document) {
  EvidenceFile file;
  ObjectReader reader(document, kEvidenceSchema);
  reader.ReadWith("result", &file.evidence, EvidenceFromJson);
  reader.Read("example_sha256", &file.example_digest);
  reader.Read("threshold", &file.threshold);
  file.before = reader.Child("before");
  file.after = reader.Child("after");
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return file;
}

Result<std::optional<EvidenceFile>> ReadEvidenceFile(const fs::path& path) {
  auto text = ReadFile(path, kMaxFileBytes);
  if (!text.ok()) {
    if (text.status().code() == StatusCode::kNotFound) return std::optional<EvidenceFile>();
    return text.status();
  }
  const json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  auto file =
      document.is_discarded() ? InvalidArgument("not valid JSON") : EvidenceFileFromJson(document);
  if (!file.ok()) return file.status().Annotate(path.string());
  return std::optional<EvidenceFile>(std::move(*file));
}

Result<std::vector<Evidence>> ReadEvidence(const fs::path& folder) {
  std::vector<Evidence> evidence;
  std::error_code error;
  if (!fs::is_directory(folder / "evidence", error)) return evidence;
  for (const Target target : {Target::kCpu, Target::kCuda}) {
    DAVINCI_ASSIGN_OR_RETURN(
        const auto file,
        ReadEvidenceFile(folder / "evidence" / fmt::format("{}.json", TargetName(target))));
    if (file) evidence.push_back(file->evidence);
  }
  return evidence;
}

}  // namespace davinci::skill
