#include "sft_answers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

// This process's variables but for those of a rank: bench is no rank.
std::vector<std::string> PlainEnvironment() {
  constexpr std::string_view kOfRanks[] = {"RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "MASTER_",
                                           "OMPI_", "PMIX_",       "SLURM_"};
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::none_of(std::begin(kOfRanks), std::end(kOfRanks),
                     [&](std::string_view prefix) { return text.starts_with(prefix); }))
      kept.emplace_back(text);
  }
  return kept;
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs this program with `words`; stdout and stderr go to files.
Status RunDavinci(std::vector<std::string> words, const fs::path& out, const fs::path& log,
                  const CancelToken& cancel) {
  words.insert(words.begin(), "davinci");
  std::vector<std::string> environment = PlainEnvironment();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", &files, nullptr,
                                   Pointers(&words).data(), Pointers(&environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return FromErrno(failed, "starting davinci bench");
  int status = 0;
  bool asked = false;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return FromErrno(errno, "waitpid");
    if (!asked && !SleepUnlessCancelled(0.1, cancel)) {
      ::kill(child, SIGTERM);
      asked = true;
    } else if (asked) {
      ::usleep(100'000);
    }
  }
  if (asked) return Cancelled("stopped while held-out tasks were answered");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return FailedPrecondition(fmt::format("davinci bench failed; {} says why", log.string()));
  return Status::Ok();
}

Result<trainer::AnswerScore> ReadScore(const fs::path& file, std::string set) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const auto bad = [&] {
    return FailedPrecondition(fmt::format("{} holds no scores of davinci bench", file.string()));
  };
  if (!document.is_object() || !document.contains("sections") || document["sections"].empty())
    return bad();
  const auto& all = document["sections"][0];
  trainer::AnswerScore score;
  score.set = std::move(set);
  score.num_tasks = all.value("tasks", int64_t{0});
  for (const auto& [key, share] : {std::pair("correct/best turn", &score.correct),
                                   std::pair("fast_1/best turn", &score.fast_1)}) {
    if (!all.contains("metrics") || !all["metrics"].contains(key)) return bad();
    const auto& metric = all["metrics"][key];
    const auto number = [&](const char* name) {
      return metric.contains(name) && metric[name].is_number() ? metric[name].get<double>()
                                                               : metric.value("value", 0.0);
    };
    *share = {metric.value("value", 0.0), number("low"), number("high")};
  }
  return score;
}

}  // namespace

trainer::AnswerTasks AnswerWithBench(const trainer::SftSettings& settings, const fs::path& run,
                                     CancelToken cancel) {
  if (settings.tasks.empty()) return nullptr;
  return [tasks = settings.tasks, recipe = settings.answer_recipe, run, cancel = std::move(cancel)](
             const fs::path& model) -> Result<std::vector<trainer::AnswerScore>> {
    std::vector<trainer::AnswerScore> scores;
    for (const std::string& set : tasks) {
      fs::path named = fs::path(set).lexically_normal();
      if (!named.has_filename()) named = named.parent_path();
      const std::string name = named.stem().string();
      const fs::path folder = run / "answers" / model.filename() / name;
      DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
      std::vector<std::string> words = {"bench",     "--llm", "embedded", "--json",
                                        "--samples", "1",     "--turns",  "1"};
      const auto add = [&](const char* option, const std::string& value) {
        words.insert(words.end(), {option, value});
      };
      add("--tasks", set);
      add("--model", model.string());
      add("--run", (folder / "run").string());
      add("--set", "policy.temperature=0");
      // Both alike: no kernel is confirmed.
      add("--set", "judge.turn_protocol=\"screening\"");
      add("--set", "judge.final_protocol=\"screening\"");
      add("--set", "rollout.tasks_in_flight=64");
      if (!recipe.empty()) words.insert(words.end(), {"--recipe", recipe});
      DAVINCI_RETURN_IF_ERROR(
          RunDavinci(std::move(words), folder / "scores.json", folder / "bench.log", cancel));
      DAVINCI_ASSIGN_OR_RETURN(scores.emplace_back(), ReadScore(folder / "scores.json", name));
    }
    return scores;
  };
}

}  // namespace davinci::app
