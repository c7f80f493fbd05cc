#include "davinci/base/hash.h"

#include <gtest/gtest.h>

#include <string>

#include "davinci/base/files.h"

namespace davinci {
namespace {

// FIPS 180-2, appendix B.
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kMillionA[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, MatchesPublishedVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), kAbc);
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')), kMillionA);
}

TEST(Sha256, PiecesGiveTheSameHashAsTheWhole) {
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.Update(std::string(1000, 'a'));
  EXPECT_EQ(hash.FinishHex(), kMillionA);
}

TEST(Sha256, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(Sha256().Field("ab").Field("c").FinishHex(),
            Sha256().Field("a").Field("bc").FinishHex());
  EXPECT_NE(Sha256().Field("").FinishHex(), Sha256Hex(""));
}

TEST(Sha256, OfFileIsOfItsContent) {
  auto dir = MakeTempDir("hash");
  ASSERT_TRUE(dir.ok());
  ASSERT_TRUE(WriteFileAtomic(dir->path() / "m", std::string(1000000, 'a')).ok());
  auto hex = Sha256HexOfFile(dir->path() / "m");
  ASSERT_TRUE(hex.ok()) << hex.status().ToString();
  EXPECT_EQ(*hex, kMillionA);
  EXPECT_EQ(Sha256HexOfFile(dir->path() / "none").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace davinci
