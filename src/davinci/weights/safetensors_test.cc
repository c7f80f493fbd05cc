#include "davinci/weights/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace davinci::weights {
namespace {

std::string File(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &size, 8);
  return file + header + data;
}

Result<SafetensorsHeader> Parse(const std::string& file) {
  return ParseSafetensors(std::as_bytes(std::span(file)), "f");
}

std::string Error(const std::string& header, const std::string& data) {
  return Parse(File(header, data)).status().message();
}

TEST(Safetensors, TensorsComeInTheOrderOfTheirData) {
  const std::string file = File(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("b":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}})",
      "12345678");
  const auto header = Parse(file);
  ASSERT_TRUE(header.ok()) << header.status().ToString();
  ASSERT_EQ(header->tensors.size(), 2U);
  EXPECT_EQ(header->tensors[0].name, "b");
  EXPECT_EQ(header->tensors[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(std::memcmp(header->tensors[1].data.data(), "5678", 4), 0);
  EXPECT_EQ(header->metadata.at("format"), "pt");
}

TEST(Safetensors, ScalarsAndEmptyTensorsAreTensors) {
  const std::string file = File(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                                R"("e":{"dtype":"F32","shape":[0,7],"data_offsets":[4,4]}})",
                                "1234");
  const auto header = Parse(file);
  ASSERT_TRUE(header.ok()) << header.status().ToString();
  EXPECT_EQ(header->tensors.size(), 2U);
}

TEST(Safetensors, TruncatedFilesAreRefused) {
  EXPECT_NE(Parse("1234").status().message().find("too few"), std::string::npos);
  std::string file = File("{}", "");
  file[0] = 100;
  EXPECT_NE(Parse(file).status().message().find("truncated"), std::string::npos);
  EXPECT_NE(
      Error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234").find("truncated"),
      std::string::npos);
}

TEST(Safetensors, AHugeHeaderIsRefusedByItsClaim) {
  const std::string file(16, '\xff');
  EXPECT_NE(Parse(file).status().message().find("at most 100000000"), std::string::npos);
}

TEST(Safetensors, OffsetsMustFitShapeAndEachOther) {
  for (const char* header : {
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",  // too short for the shape
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",  // reversed
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",  // a hole
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",  // bytes left over
           (R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"  // overlap
            R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
           R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})",
           (R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
            R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"),
       }) {
    EXPECT_NE(Error(header, "12345678"), "") << header;
  }
}

}  // namespace
}  // namespace davinci::weights
