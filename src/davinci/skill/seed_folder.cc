#include "davinci/skill/seed_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/suggest.h"
#include "davinci/config/task_config.h"
#include "davinci/config/toml_tree.h"
#include "davinci/data/object_reader.h"
#include "davinci/skill/audience.h"
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

Status ReadExampleToml(const fs::path& file, SeedExample* seed) {
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
  if (!parsed_language ||
      (TargetOf(*parsed_language) && TargetOf(*parsed_language) != seed->target))
    return error("language", seed->target == Target::kCpu
                                 ? "must be cpp on cpu"
                                 : "must be one of triton, cuda, cuda-inline on cuda");
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

Result<std::string> DigestOf(const SeedExample& seed) {
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

// One example: `folder` is the skill's or one below examples/.
Result<SeedExample> ReadExample(const fs::path& folder) {
  SeedExample example;
  example.folder = folder;
  DAVINCI_RETURN_IF_ERROR(ReadExampleToml(folder / "example.toml", &example));
  example.before = folder / "before.py";
  example.after = folder / "after.py";
  std::error_code error;
  for (const fs::path& file : {example.task, example.before, example.after})
    if (!fs::is_regular_file(file, error))
      return NotFound(fmt::format("{}: no such file", file.string()));
  if (example.language == Language::kAuto) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string after, ReadFile(example.after, kMaxFileBytes));
    example.language = DetectLanguage(after);
  }
  DAVINCI_ASSIGN_OR_RETURN(example.example_digest, DigestOf(example));
  return example;
}

// Folders that hold an example each: the skill's own when it has one, then examples/* by name.
Result<std::vector<fs::path>> ExampleFolders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (fs::is_directory(folder / "examples", error)) {
    for (fs::directory_iterator entry(folder / "examples", error), end; !error && entry != end;
         entry.increment(error))
      if (std::error_code ignored; fs::is_directory(entry->path(), ignored))
        folders.push_back(entry->path());
    if (error) return FromErrno(error.value(), fmt::format("reading {}/examples", folder.string()));
    std::sort(folders.begin(), folders.end());
  }
  if (folders.empty() || fs::exists(folder / "example.toml", error))
    folders.insert(folders.begin(), folder);
  return folders;
}

// Several examples: one language each, in the folder of that name, and all of them in SKILL.md.
Status CheckExamples(const SeedFolder& seed) {
  std::set<Language> languages;
  for (const SeedExample& example : seed.examples) {
    const std::string name(LanguageName(example.language));
    if (example.folder != seed.folder && example.folder.filename() != name)
      return InvalidArgument(fmt::format("{}: its example is in {}; the folder must be examples/{}",
                                         example.folder.string(), name, name));
    if (!languages.insert(example.language).second)
      return InvalidArgument(fmt::format("{}: two examples in {}", seed.folder.string(), name));
  }
  const std::vector<Language> shown = ExampleLanguages(seed.skill.content);
  if (seed.examples.size() < 2 && shown.empty()) return Status::Ok();
  for (const Language language : languages)
    if (std::find(shown.begin(), shown.end(), language) == shown.end())
      return InvalidArgument(fmt::format("{}: below \"## Example\" no line \"### {}\"",
                                         (seed.folder / "SKILL.md").string(),
                                         LanguageName(language)));
  for (const Language language : shown)
    if (!languages.contains(language) &&
        std::none_of(languages.begin(), languages.end(),
                     [&](Language one) { return SameFamily(one, language); }))
      return InvalidArgument(fmt::format("{}: \"### {}\" has no examples/{}",
                                         (seed.folder / "SKILL.md").string(),
                                         LanguageName(language), LanguageName(language)));
  return Status::Ok();
}

}  // namespace

fs::path SeedExample::EvidencePath() const {
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
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<fs::path> folders, ExampleFolders(folder));
  for (const fs::path& one : folders) {
    DAVINCI_ASSIGN_OR_RETURN(SeedExample example, ReadExample(one));
    seed.examples.push_back(std::move(example));
  }
  DAVINCI_RETURN_IF_ERROR(CheckExamples(seed));
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

Result<EvidenceFile> MakeEvidence(const SeedFolder& seed, const SeedExample& example,
                                  const Evaluation& before, const Evaluation& after,
                                  std::string_view cpu_model, std::string_view run,
                                  std::string_view now_utc) {
  EvidenceFile file;
  DAVINCI_ASSIGN_OR_RETURN(file.evidence.uplift, UpliftOf(before, after));
  file.evidence.target = TargetName(example.target);
  file.evidence.language = LanguageName(example.language);
  file.evidence.device = DeviceOf(after, cpu_model);
  const fs::path task = example.task.lexically_relative(seed.folder.lexically_normal());
  const bool own_task = !task.empty() && *task.begin() != "..";
  file.evidence.tasks = {own_task
                             ? fmt::format("skills/{}/{}", seed.skill.name,
                                           (task.parent_path() / task.stem()).generic_string())
                             : fmt::format("{}/{}", example.task.parent_path().filename().string(),
                                           example.task.stem().string())};
  file.evidence.protocol = ProtocolOf(after);
  file.evidence.run = run;
  file.evidence.last_verified = now_utc;
  file.evidence.speedup = after.speedup.value().median;
  file.example_digest = example.example_digest;
  file.threshold = example.threshold;
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
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<fs::path> folders, ExampleFolders(folder));
  for (const fs::path& one : folders) {
    SeedExample example;
    std::error_code error;
    const bool has_toml = fs::exists(one / "example.toml", error);
    if (has_toml) DAVINCI_RETURN_IF_ERROR(ReadExampleToml(one / "example.toml", &example));
    for (const Target target : {Target::kCpu, Target::kCuda}) {
      DAVINCI_ASSIGN_OR_RETURN(
          auto file,
          ReadEvidenceFile(one / "evidence" / fmt::format("{}.json", TargetName(target))));
      if (!file) continue;
      const bool named =
          has_toml && example.language != Language::kAuto && example.target == target;
      if (file->evidence.language.empty() && named)
        file->evidence.language = LanguageName(example.language);
      evidence.push_back(std::move(file->evidence));
    }
  }
  std::sort(evidence.begin(), evidence.end(), [](const Evidence& a, const Evidence& b) {
    return std::tie(a.target, a.language) < std::tie(b.target, b.language);
  });
  return evidence;
}

}  // namespace davinci::skill
