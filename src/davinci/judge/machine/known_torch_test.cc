#include "davinci/judge/machine/known_torch.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

TEST(KnownTorch, IsKnownUntilItIsInstalledAnew) {
  const auto folder = MakeTempDir("known-torch");
  ASSERT_TRUE(folder.ok());
  const std::filesystem::path version = folder->path() / "version.py";
  ASSERT_TRUE(WriteFileAtomic(version, "__version__ = '2.13.0'\n").ok());
  const auto facts = store::KvCache::Open(folder->path() / "facts.db");
  ASSERT_TRUE(facts.ok());
  const nlohmann::json hello = {{"torch", "2.13.0"}, {"torch_dir", folder->path().string()}};
  EXPECT_EQ(RememberedTorch(facts->get(), "python3"), "");
  RememberTorch(facts->get(), "python3", hello);
  EXPECT_EQ(RememberedTorch(facts->get(), "python3"), "2.13.0");
  EXPECT_EQ(RememberedTorch(facts->get(), "/another/python3"), "");
  ASSERT_TRUE(WriteFileAtomic(version, "__version__ = '2.14.0'\n").ok());
  EXPECT_EQ(RememberedTorch(facts->get(), "python3"), "");
  RememberTorch(facts->get(), "python3", {{"torch", "2.14.0"}, {"torch_dir", folder->path()}});
  EXPECT_EQ(RememberedTorch(facts->get(), "python3"), "2.14.0");
}

}  // namespace
}  // namespace davinci::judge
