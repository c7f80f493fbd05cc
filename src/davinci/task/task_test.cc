#include "davinci/task/task.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::task {
namespace {

constexpr char kTaskText[] =
    "class Model: pass\n# caf\xc3\xa9\ndef get_inputs(): return []\ndef get_init_inputs(): return "
    "[]";

Result<Task> Load(const std::string& source) {
  DAVINCI_ASSIGN_OR_RETURN(const TempDir folder, MakeTempDir("task-test"));
  const auto path = folder.path() / "task.py";
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(path, source, Durability::kFastest));
  return LoadTask(path.string());
}

TEST(LoadTask, KeepsTheSourceAsItIs) {
  const auto task = Load(kTaskText);
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->source, kTaskText);
  EXPECT_EQ(task->candidate_entry, "ModelNew");
}

TEST(LoadTask, NamesTheLineThatIsNotUtf8) {
  std::string source = kTaskText;
  source.erase(source.find('\xa9'), 1);
  const auto task = Load(source);
  EXPECT_EQ(task.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(task.status().message().find("task.py:2: not UTF-8"), std::string::npos)
      << task.status().ToString();
  EXPECT_FALSE(Load(std::string(kTaskText) + "\n\xff").ok());
}

TEST(LoadTask, HashFollowsWhatTheSourceImportsAndTheDataBesideIt) {
  const auto folder = MakeTempDir("task-test");
  ASSERT_TRUE(folder.ok());
  const auto write = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder->path() / name, text, Durability::kFastest).ok());
  };
  const auto load = [&] { return *LoadTask((folder->path() / "task.py").string()); };
  write("task.py",
        std::string("from layers import act\nimport absent, os.path as p\n") + kTaskText);
  write("layers.py", "import deeper");
  write("deeper.py", "X = 1");
  write("other.py", "X = 1");
  const Task first = load();
  EXPECT_EQ(first.imports.visible,
            (std::vector<std::string>{folder->path() / "deeper.py", folder->path() / "layers.py"}));
  EXPECT_EQ(first.imports.names, std::vector<std::string>{"absent"});
  write("other.py", "X = 2");
  EXPECT_EQ(load().hash, first.hash);
  write("deeper.py", "X = 2");
  EXPECT_NE(load().hash, first.hash);
  write("deeper.py", "X = 1");
  write("task.weights.pt", "1");
  EXPECT_NE(load().hash, first.hash);
  EXPECT_EQ(load().data, std::vector<std::string>{folder->path() / "task.weights.pt"});
}

TEST(LoadTask, HashFollowsWhatTheSidecarSaysOfInputs) {
  const auto folder = MakeTempDir("task-test");
  ASSERT_TRUE(folder.ok());
  const auto hash_with = [&](const char* sidecar) {
    EXPECT_TRUE(WriteFileAtomic(folder->path() / "task.py", kTaskText, Durability::kFastest).ok());
    EXPECT_TRUE(WriteFileAtomic(folder->path() / "task.toml", sidecar, Durability::kFastest).ok());
    return LoadTask((folder->path() / "task.py").string())->hash;
  };
  EXPECT_NE(hash_with(""), hash_with("inputs.0.order = \"none\""));
  EXPECT_NE(hash_with("inputs.0.order = \"none\""), hash_with("inputs.1.order = \"none\""));
}

TEST(WithoutTask, AFolderThatHoldsItGivesWayToItsOtherEntries) {
  const auto folder = MakeTempDir("task-test");
  ASSERT_TRUE(folder.ok());
  const auto package = folder->path() / "package";
  ASSERT_TRUE(MakeDirs(package / "inner").ok());
  for (const char* name : {"inner/task.py", "inner/task.toml", "inner/other.py", "top.py"})
    ASSERT_TRUE(WriteFileAtomic(package / name, "", Durability::kFastest).ok());
  EXPECT_EQ(WithoutTask({package}, {package / "inner" / "task.py"}),
            (std::vector<std::string>{package / "inner" / "other.py", package / "top.py"}));
  EXPECT_EQ(WithoutTask({package}, {folder->path() / "task.py"}),
            std::vector<std::string>{package});
}

TEST(ReadNamedFile, SaysHowItIsNamedAndWhatLiesThere) {
  const auto folder = MakeTempDir("task-test");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() / "softmax.py";
  ASSERT_TRUE(WriteFileAtomic(path, kTaskText, Durability::kFastest).ok());
  EXPECT_TRUE(ReadNamedFile(path, 1 << 20, "candidate").ok());
  const auto missing = ReadNamedFile(folder->path() / "sofmax.py", 1 << 20, "candidate").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("(did you mean \"softmax.py\"?); name a file with --candidate"),
            std::string::npos)
      << missing.message();
  EXPECT_FALSE(ReadNamedFile(folder->path() / "none" / "x.py", 1 << 20, "candidate").ok());
}

}  // namespace
}  // namespace davinci::task
