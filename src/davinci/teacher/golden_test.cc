// Candidates as they are: tests/teacher/golden holds the shortest candidate that shows each rule in
// each of its languages, one of each family, and those of the lower levels. A change of the teacher
// shows there as a change of text. To write them anew:
//
//     DAVINCI_WRITE_GOLDENS=1 build/dev/src/davinci/teacher/teacher_test --gtest_filter='Golden*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "davinci/base/files.h"
#include "davinci/teacher/teacher.h"

namespace davinci::teacher {
namespace {

const std::filesystem::path kProjectFolder = DAVINCI_SOURCE_DIR;
const std::filesystem::path kGolden = kProjectFolder / "tests" / "teacher" / "golden";
constexpr Language kGoldenLanguages[] = {Language::kTriton, Language::kCpp, Language::kCuda};
constexpr size_t kGoldenTasks = 1500, kGoldenProducts = 100;  // the latter with triangles

// "softmax-6-0000012.cpp.best": a task by its id, a language, a level.
struct GoldenKey {
  std::string task;
  Language language = Language::kTriton;
  Level level = Level::kBest;
  std::string Text() const {
    return fmt::format("{}.{}.{}", task, LanguageName(language), LevelName(level));
  }
};

class Goldens {
 public:
  Goldens() {
    Sample(kGoldenTasks, 6, "");
    Sample(kGoldenProducts, 5, "matmul");
  }

  const std::vector<synth::SampledTask>& tasks() const { return tasks_; }
  Result<Candidate> Write(const synth::SampledTask& task, Language language, Level level) const {
    return teacher_->Write(task.graph, task.text, language, RuleSet::Of(level, language));
  }
  // The file's text: what the candidate shows, and the candidate.
  static std::string FileText(const synth::SampledTask& task, const Candidate& candidate) {
    std::string text =
        fmt::format("# {} ({})\n# rules:", task.text.title, task.graph.pattern->family);
    for (const std::string& rule : candidate.rules.Names()) text += " " + rule;
    return text + "\n" + candidate.source;
  }

 private:
  void Sample(size_t count, uint64_t seed, const std::string& pattern) {
    synth::SampleOptions options;
    options.count = count;
    options.seed = seed;
    options.pattern = pattern;
    const auto keep = [&](const synth::SampledTask& task) {
      tasks_.push_back(task);
      return Status::Ok();
    };
    EXPECT_TRUE(synth::SampleTasks(*grammar_, *styles_, options, keep).ok());
  }

  // The grammar stays where it was loaded: it points into itself.
  Result<synth::Grammar> grammar_ = synth::LoadGrammar(kProjectFolder / "synth");
  Result<synth::StyleBook> styles_ = synth::LoadStyles(kProjectFolder / "synth");
  Result<Teacher> teacher_ = Teacher::Load(kProjectFolder / "synth");
  std::vector<synth::SampledTask> tasks_;
};

const Goldens& AllGoldens() {
  static const Goldens goldens;
  return goldens;
}

// The shortest candidate for each purpose: a rule in a language, a family in C++, a level.
class GoldenChoice {
 public:
  void Offer(const std::string& purpose, const GoldenKey& key, const std::string& text) {
    auto& best = chosen_[purpose];
    if (best.second.empty() || text.size() < best.second.size()) best = {key.Text(), text};
  }
  // Files by name, each once.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& [purpose, file] : chosen_) files.insert(file);
    return files;
  }

 private:
  std::map<std::string, std::pair<std::string, std::string>> chosen_;
};

std::map<std::string, std::string> ChooseGoldens() {
  GoldenChoice choice;
  for (const synth::SampledTask& task : AllGoldens().tasks())
    for (const Language language : kGoldenLanguages)
      for (const Level level : {Level::kNaive, Level::kBetter, Level::kBest}) {
        const auto candidate = AllGoldens().Write(task, language, level);
        if (!candidate.ok() || candidate->own_kernels == 0) continue;
        const GoldenKey key{task.id, language, level};
        const std::string text = Goldens::FileText(task, *candidate);
        const std::string language_name(LanguageName(language));
        if (level != Level::kBest) {
          if (candidate->own_kernels > 1)
            choice.Offer(fmt::format("{} {}", language_name, LevelName(level)), key, text);
          continue;
        }
        for (const std::string& rule : candidate->rules.Names())
          choice.Offer(fmt::format("{} {}", language_name, rule), key, text);
        if (language != Language::kCuda)
          choice.Offer(fmt::format("{} family {}", language_name, task.graph.pattern->family), key,
                       text);
      }
  return choice.Files();
}

std::map<std::string, std::string> StoredGoldens() {
  std::map<std::string, std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden, none))
    if (entry.path().extension() == ".txt")
      if (const auto text = ReadFile(entry.path()); text.ok())
        files[entry.path().stem().string()] = *text;
  return files;
}

TEST(Golden, CandidatesAreThoseThatAreStored) {
  if (std::getenv("DAVINCI_WRITE_GOLDENS") != nullptr) {
    ASSERT_TRUE(RemoveAll(kGolden).ok());
    ASSERT_TRUE(MakeDirs(kGolden).ok());
    for (const auto& [name, text] : ChooseGoldens())
      ASSERT_TRUE(WriteFileAtomic(kGolden / (name + ".txt"), text).ok()) << name;
  }
  auto stored = StoredGoldens();
  EXPECT_GE(stored.size(), 70u);
  for (const synth::SampledTask& task : AllGoldens().tasks())
    for (const Language language : kGoldenLanguages)
      for (const Level level : {Level::kNaive, Level::kBetter, Level::kBest}) {
        const auto golden = stored.find(GoldenKey{task.id, language, level}.Text());
        if (golden == stored.end()) continue;
        const auto candidate = AllGoldens().Write(task, language, level);
        ASSERT_TRUE(candidate.ok()) << golden->first << ": " << candidate.status().ToString();
        EXPECT_EQ(Goldens::FileText(task, *candidate), golden->second) << golden->first;
        stored.erase(golden);
      }
  for (const auto& [name, text] : stored)
    ADD_FAILURE() << name
                  << ".txt: the grammar gives no such task any more; write the goldens anew "
                  << "(src/davinci/teacher/golden_test.cc has the command)";
}

TEST(Golden, EachRuleIsShownInEachOfItsLanguages) {
  std::set<std::string> shown;  // "cpp fast_exp"
  for (const auto& [name, text] : StoredGoldens()) {
    const size_t begin = text.find("\n# rules:") + 9;
    std::istringstream rules(text.substr(begin, text.find('\n', begin) - begin));
    const size_t dot = name.find('.');
    const std::string language = name.substr(dot + 1, name.rfind('.') - dot - 1);
    for (std::string rule; rules >> rule;) shown.insert(language + " " + rule);
  }
  for (const RuleInfo& info : Rules())
    for (const Language language : info.languages)
      EXPECT_TRUE(shown.contains(fmt::format("{} {}", LanguageName(language), info.name)))
          << info.name << " in " << LanguageName(language);
}

}  // namespace
}  // namespace davinci::teacher
