// davinci skills: what the library knows, how it came to know it, and whether it still holds.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/plural.h"
#include "davinci/base/suggest.h"
#include "davinci/skill/difference.h"
#include "davinci/skill/reference_query.h"
#include "davinci/skill/seed_folder.h"
#include "installation.h"
#include "skills_edit.h"
#include "skills_library.h"
#include "skills_verify.h"
#include "skills_view.h"

namespace davinci::app {
namespace {

using nlohmann::json;
using skill::OrderedJson;

constexpr uint64_t kMaxReferenceBytes = 16 << 20;

struct SkillsArguments {
  EditOptions edit;  // --library, --json
  bool all = false;
  bool mine = false;
  std::vector<std::string> words;
  std::string reference;
  size_t k = 20;
  std::string name;
  std::string path;
  bool replace = false;
  bool skip_invalid = false;
  bool exact = false;
  std::string target;
  std::string language;
  std::string reason;
  std::string at = "now";
  std::string from;
  std::string to = "now";
  bool usage = false;
  bool snapshots = false;
  size_t limit = 50;
  std::string skills_folder;
  bool update = false;
  bool missing = false;
  bool list = false;
  int threads = 0;
};

template <typename Items, typename ToDocument>
void PrintJson(const Items& items, ToDocument to_document) {
  OrderedJson list = OrderedJson::array();
  for (const auto& item : items) list.push_back(to_document(item));
  fmt::print("{}\n", JsonText(list, 2));
}

int ListMine(const SkillsArguments& arguments) {
  const auto records = OwnRecords(arguments.edit.library, arguments.all);
  if (!records.ok()) return FailSkills(records.status());
  if (arguments.edit.json) {
    PrintJson(*records, [](const skill::Record& record) { return ToJson(record); });
    return 0;
  }
  if (!records->empty()) fmt::print("{}", RenderRecords(*records, ViewOfStdout()));
  fmt::print("{} of your own\n", Counted(static_cast<int64_t>(records->size()), "skill"));
  return 0;
}

int List(const SkillsArguments& arguments) {
  if (arguments.mine) return ListMine(arguments);
  const auto opened = OpenForReading(arguments.edit.library);
  if (!opened.ok()) return FailSkills(opened.status());
  const auto records = opened->library->All(arguments.all);
  if (!records.ok()) return FailSkills(records.status());
  if (arguments.edit.json) {
    PrintJson(*records, [](const skill::Record& record) { return ToJson(record); });
    return 0;
  }
  fmt::print("{}{} skills in {}\n", RenderRecords(*records, ViewOfStdout()), records->size(),
             opened->what);
  return 0;
}

int Search(const SkillsArguments& arguments) {
  std::string query;
  for (const std::string& word : arguments.words) query += word + " ";
  if (!arguments.reference.empty()) {
    const auto source = ReadFile(arguments.reference, kMaxReferenceBytes);
    if (!source.ok()) return FailSkills(source.status());
    query += skill::QueryFromReference(*source);
  }
  if (query.empty())
    return FailSkills(InvalidArgument("nothing to search for; give words, or --reference task.py"));
  const auto opened = OpenForReading(arguments.edit.library);
  if (!opened.ok()) return FailSkills(opened.status());
  skill::Audience audience;
  if (const auto target = ParseTarget(arguments.target)) audience.target = *target;
  if (const auto language = ParseLanguage(arguments.language)) {
    audience.language = *language;
    if (const auto target = skill::TargetOf(*language)) audience.target = *target;
  }
  const bool for_all = arguments.target.empty() && arguments.language.empty();
  const auto ranked = for_all ? opened->library->Search(query, arguments.k)
                              : opened->library->SearchFor(audience, query, arguments.k);
  if (!ranked.ok()) return FailSkills(ranked.status());
  if (arguments.edit.json) {
    PrintJson(*ranked, [](const skill::Ranked& one) {
      OrderedJson document = ToJson(one.record);
      document["score"] = one.score;
      return document;
    });
    return 0;
  }
  if (!arguments.reference.empty()) fmt::print("query: {}\n", query);
  if (ranked->empty()) {
    fmt::print("no skill in {} has one of these words\n", opened->what);
    return 0;
  }
  fmt::print("{}", RenderRanked(*ranked, ViewOfStdout()));
  return 0;
}

int Show(const SkillsArguments& arguments) {
  const auto opened = OpenForReading(arguments.edit.library);
  if (!opened.ok()) return FailSkills(opened.status());
  const auto record = opened->library->Get(arguments.name);
  if (!record.ok()) return FailSkills(record.status());
  if (!record->has_value()) {
    const auto records = opened->library->All(true);
    if (!records.ok()) return FailSkills(records.status());
    std::vector<std::string> names;
    for (const skill::Record& one : *records) names.push_back(one.skill.name);
    return FailSkills(NotFound(fmt::format("{} has no skill \"{}\"{}", opened->what, arguments.name,
                                           DidYouMean(arguments.name, names))));
  }
  if (arguments.edit.json) {
    fmt::print("{}\n", JsonText(ToJson(**record), 2));
  } else {
    fmt::print("{}", RenderRecord(**record, ViewOfStdout()));
  }
  return 0;
}

int ShowDifference(const SkillsArguments& arguments) {
  const auto before = RecordsOf(arguments.from, arguments.edit.library);
  if (!before.ok()) return FailSkills(before.status());
  const auto after = RecordsOf(arguments.to, arguments.edit.library);
  if (!after.ok()) return FailSkills(after.status());
  const auto differences = skill::Diff(*before, *after, arguments.usage);
  if (arguments.edit.json) {
    PrintJson(differences, DifferenceJson);
  } else {
    fmt::print("{}", RenderDifferences(differences, ViewOfStdout()));
  }
  return 0;
}

int History(const SkillsArguments& arguments) {
  const auto opened = OpenOwn(arguments.edit.library);
  if (!opened.ok()) return FailSkills(opened.status());
  if (arguments.snapshots) {
    const auto snapshots = opened->library->Snapshots();
    if (!snapshots.ok()) return FailSkills(snapshots.status());
    if (arguments.edit.json) {
      PrintJson(*snapshots, SnapshotJson);
    } else {
      fmt::print("{}", RenderSnapshots(*snapshots, ViewOfStdout()));
    }
    return 0;
  }
  const auto events = opened->library->History(arguments.name, arguments.limit);
  if (!events.ok()) return FailSkills(events.status());
  if (events->empty() && !arguments.name.empty())
    return FailSkills(
        NotFound(fmt::format("{} never had a skill \"{}\"", opened->what, arguments.name)));
  if (arguments.edit.json) {
    PrintJson(*events, EventJson);
  } else {
    fmt::print("{}", RenderEvents(*events, ViewOfStdout()));
  }
  return 0;
}

int Verify(const SkillsArguments& arguments, const GlobalOptions& global) {
  std::filesystem::path skills = arguments.skills_folder;
  if (skills.empty()) {
    const auto home = FindHome();
    if (!home.ok()) return FailSkills(home.status());
    skills = *home / "skills";
  }
  const auto folders = skill::ListSkillFolders(skills);
  if (!folders.ok()) return FailSkills(folders.status());
  VerifyOptions options;
  options.python = global.python;
  options.threads = arguments.threads;
  options.update = arguments.update;
  options.json = arguments.edit.json;
  options.missing = arguments.missing;
  options.list = arguments.list;
  if (!arguments.target.empty())
    options.target = arguments.target == "cuda" ? Target::kCuda : Target::kCpu;
  std::vector<std::string> names;
  for (const auto& folder : *folders) {
    names.push_back(folder.filename().string());
    if (arguments.all) options.folders.push_back(folder.string());
  }
  for (const std::string& name : arguments.words) {
    // A name below the folder of skills, or a folder anywhere.
    std::error_code error;
    if (std::filesystem::exists(skills / name / "SKILL.md", error)) {
      options.folders.push_back((skills / name).string());
    } else if (std::filesystem::exists(std::filesystem::path(name) / "SKILL.md", error)) {
      options.folders.push_back(name);
    } else {
      return FailSkills(NotFound(
          fmt::format("no skill \"{}\" in {}{}", name, skills.string(), DidYouMean(name, names))));
    }
  }
  if (options.folders.empty())
    return FailSkills(InvalidArgument(arguments.all
                                          ? fmt::format("no skills in {}", skills.string())
                                          : "nothing to verify; name skills, or --all"));
  return RunVerify(options);
}

// A sub-command of `davinci skills` that understands --library and --json after its name, too.
CLI::App* AddVerb(CLI::App* skills, const std::string& name, const std::string& what,
                  const std::string& footer) {
  CLI::App* verb = skills->add_subcommand(name, what);
  verb->fallthrough();
  verb->footer(footer);
  return verb;
}

constexpr char kMoments[] =
    "A moment is now, step:N (a flush of a run; `history --snapshots` lists them) or event:N\n"
    "(`history` numbers them).";

}  // namespace

void AddSkillsCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto a = std::make_shared<SkillsArguments>();
  CLI::App* skills =
      app.add_subcommand("skills", "Advice that made kernels measurably faster: the library");
  skills->require_subcommand(1);
  skills->add_option("--library", a->edit.library,
                     "Library file (.db), or to look at: a .jsonl, a SKILL.md, a folder of skills "
                     "(default: your own library, $DAVINCI_LIBRARY or ~/.local/share/davinci, "
                     "together with the skills that ship with davinci)");
  skills->add_flag("--json", a->edit.json, "One JSON document on stdout, nothing else");
  skills->footer(
      "Exit status: 0 done, 1 a skill was refused or does not stand, 2 bad usage or input, 3 "
      "davinci failed.\n"
      "Examples:\n"
      "  davinci skills list\n"
      "  davinci skills search --reference tasks/softmax/softmax_rows.py\n"
      "  davinci skills import global_step_40.jsonl --library my.db\n"
      "  davinci skills verify --all\n"
      "docs/skills.md explains skills, their files and the rules of the library.");

  CLI::App* list =
      AddVerb(skills, "list", "All skills with evidence and statistics",
              "uplift: speedup with the skill over speedup without it, and its 95 % "
              "interval.\nselected: times chosen / times shown to a model. mean: uplift "
              "observed in rollouts.\nExample:\n  davinci skills list --all");
  list->add_flag("--all", a->all, "Retired and evicted ones too");
  list->add_flag("--mine", a->mine, "Only those that do not ship with davinci");
  list->callback([a, exit_code] { *exit_code = List(*a); });

  CLI::App* search = AddVerb(
      skills, "search", "The skills that match some words or a task, best first",
      "Ranking: BM25 over name, description, tags and content.\nExamples:\n  davinci skills "
      "search row softmax\n  davinci skills search --reference my_module.py -k 5");
  search->add_option("words", a->words, "What to look for");
  search->add_option("--reference,-r", a->reference,
                     "Task file: its operators and identifiers are the query");
  search->add_option("--target,-t", a->target, "Only what is for this target: cpu, cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  search
      ->add_option("--language,-l", a->language,
                   "As a run in this language is shown them: -k skills, filled up")
      ->check(CLI::IsMember({"triton", "cuda", "cuda-inline", "cpp"}));
  search->add_option("-k", a->k, "How many")->capture_default_str()->check(CLI::Range(1, 100000));
  search->callback([a, exit_code] { *exit_code = Search(*a); });

  CLI::App* show = AddVerb(skills, "show", "One skill with its evidence, as a prompt shows it",
                           "Example:\n  davinci skills show online-logsumexp");
  show->add_option("name", a->name, "Name of the skill")->required();
  show->callback([a, exit_code] { *exit_code = Show(*a); });

  CLI::App* add = AddVerb(skills, "add", "Put one skill of your own into the library",
                          "A name that is taken and advice that is there already are refused or "
                          "merged, with the reason;\nnothing is renamed.\nExamples:\n  davinci "
                          "skills add my-skill/\n  davinci skills add my-skill/SKILL.md --replace "
                          "--reason 'clearer example'");
  add->add_option("path", a->path, "SKILL.md, or the folder that has it")->required();
  add->add_flag("--replace", a->replace, "Replace the skill of that name");
  add->add_option("--reason", a->reason, "Why, for the history")->needs("--replace");
  add->callback([a, exit_code] { *exit_code = AddSkill(a->edit, a->path, a->replace, a->reason); });

  CLI::App* import = AddVerb(
      skills, "import", "Put many skills into the library",
      "All or nothing, except for what the library refuses (listed; exit status 1).\nExamples:\n  "
      "davinci skills import skills/\n  davinci skills import global_step_40.jsonl --library "
      "my.db");
  import->add_option("path", a->path, ".jsonl as published, or a folder of skill folders")
      ->required();
  import->add_flag("--exact", a->exact,
                   "Take every skill as it is, near-duplicates too; `export` then writes the same "
                   "bytes");
  import->add_flag("--skip-invalid", a->skip_invalid, "Take the valid entries and list the others");
  import->callback([a, exit_code] { *exit_code = ImportSkills(a->edit, a->path, a->skip_invalid, a->exact);
});

CLI::App* exported = AddVerb(
    skills, "export", "Write the library as files",
    std::string("What was imported and never changed comes back byte by byte.\n") + kMoments +
        "\nExamples:\n  davinci skills export global_step_40.jsonl --at step:40\n  davinci skills "
        "export my-skills/");
exported->add_option("path", a->path, "NAME.jsonl, or a folder for SKILL.md folders")->required();
exported->add_option("--at", a->at, "As of this moment")->capture_default_str();
exported->add_flag("--all", a->all, "Retired and evicted ones too");
exported->callback([a, exit_code] { *exit_code = ExportSkills(a->edit, a->path, a->at, a->all); });

CLI::App* diff = AddVerb(skills, "diff", "What changed between two moments or two libraries",
                         std::string(kMoments) +
                             "\nExamples:\n  davinci skills diff step:10 step:20\n  davinci "
                             "skills diff old.jsonl new.jsonl --json");
diff->add_option("from", a->from, "A moment, or a library, .jsonl or folder")->required();
diff->add_option("to", a->to, "The same")->capture_default_str();
diff->add_flag("--usage", a->usage, "Statistics count as a change");
diff->callback([a, exit_code] { *exit_code = ShowDifference(*a); });

CLI::App* history = AddVerb(skills, "history", "Every change of the library, or of one skill",
                            "Examples:\n  davinci skills history -n 200\n  davinci skills history "
                            "online-logsumexp\n  davinci skills history --snapshots");
history->add_option("name", a->name, "Of this skill only");
history->add_option("-n", a->limit, "The newest so many; 0 = all")->capture_default_str();
history->add_flag("--snapshots", a->snapshots, "The steps that were flushed instead");
history->callback([a, exit_code] { *exit_code = History(*a); });

CLI::App* rollback =
    AddVerb(skills, "rollback", "Make the library what it was",
            std::string("The history stays, so a rollback can be rolled back.\n") + kMoments +
                "\nExample:\n  davinci skills rollback step:30 --reason 'bad run'");
rollback->add_option("moment", a->from, "To when")->required();
rollback->add_option("--reason", a->reason, "Why, for the history");
rollback->callback([a, exit_code] { *exit_code = RollBack(a->edit, a->from, a->reason); });

CLI::App* retire = AddVerb(skills, "retire", "Take a skill out of use; it stays in the history",
                           "Example:\n  davinci skills retire old-advice --reason 'wrong on "
                           "Hopper'");
retire->add_option("name", a->name, "Name of the skill")->required();
retire->add_option("--reason", a->reason, "Why, for the history")->required();
retire->callback([a, exit_code] { *exit_code = RetireSkill(a->edit, a->name, a->reason); });

CLI::App* verify = AddVerb(
    skills, "verify", "Judge the before/after examples of seed skills again",
    "A skill stands when the lower end of its uplift reaches the threshold of its example.toml.\n"
    "Skills for a target that this machine lacks are skipped. --update writes evidence/*.json for\n"
    "those that stand. Exit status: 1 when one does not stand.\nExamples:\n  davinci skills verify "
    "online-logsumexp\n  davinci skills verify --all --update");
verify->add_option("names", a->words, "Skills, by name or folder");
verify->add_flag("--all", a->all, "Every skill of the folder");
verify->add_option("--skills", a->skills_folder,
                   "Folder of skills (default: those that ship with davinci)");
verify->add_option("-t,--target", a->target, "Examples of this target only")
    ->check(CLI::IsMember({"cpu", "cuda"}));
verify->add_flag("--missing", a->missing,
                 "Only examples without evidence, or with evidence of other files");
verify->add_flag("--list", a->list, "Name the examples that would be judged, and judge none");
verify->add_flag("--update", a->update, "Write evidence files");
verify
    ->add_option("--threads", a->threads,
                 "Threads of the kernels (default: all cores, on cuda one)")
    ->check(CLI::Range(1, 4096));
verify->callback([a, &global, exit_code] { *exit_code = Verify(*a, global); });
}  // namespace davinci::app

}  // namespace davinci::app
