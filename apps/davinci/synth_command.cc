// davinci synth: generated tasks.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/progress_line.h"
#include "davinci/synth/gallery.h"
#include "davinci/synth/sampler.h"
#include "installation.h"
#include "python_texts.h"
#include "report.h"
#include "synth_cards.h"
#include "synth_coverage.h"
#include "synth_demos.h"
#include "synth_flags.h"
#include "synth_pairs.h"
#include "synth_rows.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostTasksShown = 200;
// Above this many tasks one JSONL file is the default: a folder of more files is unwieldy.
constexpr size_t kMostFiles = 2000;

struct SynthArguments {
  SampleFlags sample;
  std::string out = "synth-tasks";
  std::string form;
  std::vector<std::string> decontaminate;
  bool show = false;
};

// Of every file of the grammar: tells whether an earlier output is still what these arguments give.
Result<std::string> HashOfGrammar(const fs::path& folder) {
  Sha256 hash;
  DAVINCI_ASSIGN_OR_RETURN(const auto files, ListFiles(folder, ".toml", true));
  for (const fs::path& file : files) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    hash.Field(file.lexically_relative(folder).string()).Field(text);
  }
  return hash.FinishHex();
}

// Appends rows to a file that gets its name at the end, or writes one file each.
class Output {
 public:
  Output(fs::path folder, bool files) : folder_(std::move(folder)), files_(files) {}
  ~Output() {
    if (file_ != nullptr) std::fclose(file_);
  }

  Status Open() {
    DAVINCI_RETURN_IF_ERROR(MakeDirs(folder_));
    if (files_) {
      DAVINCI_RETURN_IF_ERROR(RemoveAll(folder_ / "tasks"));
      return MakeDirs(folder_ / "tasks");
    }
    file_ = std::fopen((folder_ / "tasks.jsonl.partial").c_str(), "w");
    return file_ == nullptr ? FromErrno(errno, (folder_ / "tasks.jsonl.partial").string())
                            : Status::Ok();
  }

  Status Write(const json& row) {
    if (files_) {
      const std::string id = row["id"].get<std::string>();
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder_ / "tasks" / (id + ".py"),
                                              row["source"].get<std::string>(),
                                              Durability::kFastest));
      return WriteFileAtomic(folder_ / "tasks" / (id + ".toml"), row["sidecar"].get<std::string>(),
                             Durability::kFastest);
    }
    const std::string line = JsonText(row) + "\n";
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size())
      return FromErrno(errno, (folder_ / "tasks.jsonl.partial").string());
    return Status::Ok();
  }

  Status Close() {
    if (files_) return Status::Ok();
    const int failed = std::fclose(file_);
    file_ = nullptr;
    if (failed != 0) return FromErrno(errno, (folder_ / "tasks.jsonl.partial").string());
    std::error_code error;
    fs::rename(folder_ / "tasks.jsonl.partial", folder_ / "tasks.jsonl", error);
    return error ? FromErrno(error.value(), (folder_ / "tasks.jsonl").string()) : Status::Ok();
  }

 private:
  fs::path folder_;
  bool files_;
  std::FILE* file_ = nullptr;
};

Status Run(SynthArguments arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, GrammarFolder(arguments.sample));
  DAVINCI_ASSIGN_OR_RETURN(auto options, SampleOptionsOf(arguments.sample));
  if (arguments.form.empty()) arguments.form = options.count > kMostFiles ? "jsonl" : "files";
  std::error_code error;
  if (fs::is_directory(home / "tasks", error))
    arguments.decontaminate.push_back((home / "tasks").string());
  DAVINCI_ASSIGN_OR_RETURN(const auto texts, ReadPythonTexts(arguments.decontaminate));
  DAVINCI_ASSIGN_OR_RETURN(const std::string grammar_hash, HashOfGrammar(folder));
  Sha256 contamination_hash;
  for (const std::string& text : texts) contamination_hash.Field(text);
  json manifest = {{"count", options.count},
                   {"split", arguments.sample.split},
                   {"seed", options.seed},
                   {"pattern", options.pattern},
                   {"form", arguments.form},
                   {"grammar_sha256", grammar_hash},
                   {"decontaminated_files", texts.size()},
                   {"decontaminated_sha256", contamination_hash.FinishHex()},
                   {"version", DAVINCI_VERSION}};
  const fs::path out = arguments.out;
  if (const auto old = ReadFile(out / "manifest.json"); old.ok()) {
    json before = json::parse(*old, nullptr, false);
    if (before.is_object()) {
      before.erase("counts");
      if (before == manifest && (!arguments.show || fs::exists(out / "gallery.html", error))) {
        fmt::print("{}: complete already\n", (out / "manifest.json").string());
        return Status::Ok();
      }
    }
    DAVINCI_RETURN_IF_ERROR(RemoveAll(out / "manifest.json"));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
  DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
  const auto contamination = synth::ContaminationOf(texts);
  options.contamination = &contamination;
  ProgressLine line;
  options.progress = [&](size_t accepted, size_t tried) {
    line.Show(fmt::format("{} of {} tasks, {} candidates", accepted, options.count, tried));
  };
  Output output(out, arguments.form == "files");
  DAVINCI_RETURN_IF_ERROR(output.Open());
  std::vector<json> shown;
  const auto begin = std::chrono::steady_clock::now();
  auto counts = synth::SampleTasks(grammar, styles, options, [&](const synth::SampledTask& task) {
    const json row = synth::ToJson(task);
    if (arguments.show && shown.size() < kMostTasksShown) shown.push_back(row);
    return output.Write(row);
  });
  line.Clear();
  if (!counts.ok()) return counts.status();
  DAVINCI_RETURN_IF_ERROR(output.Close());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  manifest["counts"] = synth::ToJson(*counts);
  if (arguments.show)
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(out / "gallery.html", synth::RenderGallery(shown, manifest)));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "manifest.json", JsonText(manifest, 2) + "\n"));
  fmt::print("{} tasks of {} candidates in {:.1f} s ({:.0f} a second, {} threads): {}\n",
             counts->accepted, counts->tried, seconds,
             static_cast<double>(counts->accepted) / std::max(seconds, 1e-9), options.threads,
             (out / (arguments.form == "files" ? "tasks" : "tasks.jsonl")).string());
  if (arguments.show) fmt::print("gallery: {}\n", (out / "gallery.html").string());
  return Status::Ok();
}

}  // namespace

void AddSynthCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto* synth =
      app.add_subcommand("synth", "synthetic data: generated tasks, and kernels for them");
  synth->require_subcommand(1);
  AddSynthDemos(synth, global, exit_code);
  AddSynthRows(synth, exit_code);
  AddSynthPairs(synth, global, exit_code);
  AddSynthCards(synth, global, exit_code);
  AddSynthCoverage(synth, exit_code);
  auto* tasks = synth->add_subcommand(
      "tasks", "write tasks as PyTorch users write them, from the grammar in synth/");
  auto arguments = std::make_shared<SynthArguments>();
  AddSampleFlags(tasks, &arguments->sample);
  tasks->add_option("--out", arguments->out,
                    "folder for tasks, manifest.json and gallery.html (default synth-tasks)");
  tasks
      ->add_option("--form", arguments->form,
                   "files (a folder of .py and .toml) or jsonl; default: files up to 2,000 tasks")
      ->check(CLI::IsMember({"files", "jsonl"}));
  tasks->add_option("--decontaminate", arguments->decontaminate,
                    "folders or files of Python that no task may resemble; tasks/ always is one");
  tasks->add_flag("--show", arguments->show, "also write gallery.html, one self-contained page");
  tasks->footer(
      "Examples:\n"
      "  davinci synth tasks --count 50 --show\n"
      "  davinci synth tasks --count 1000000 --seed 7 --out train\n"
      "  davinci synth tasks --count 500 --split combination --out held-out\n"
      "docs/synth.md describes the grammar.");
  tasks->callback([arguments, exit_code] {
    const Status status = Run(*arguments);
    *exit_code = status.ok() ? 0 : FailCommand("synth", status);
  });
}

}  // namespace davinci::app
