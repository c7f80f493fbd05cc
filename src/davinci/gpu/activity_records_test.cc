#include "davinci/gpu/activity_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "davinci/gpu/activity.h"

namespace davinci::gpu {
namespace {

// A record as CUPTI lays it out: fields at stated offsets, everything else filled with a byte that
// would show.
class RecordBytes {
 public:
  explicit RecordBytes(size_t size) : bytes_(size, 0xee) {}
  template <typename T>
  RecordBytes& Put(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    return *this;
  }
  const uint8_t* data() const { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
};

RecordBytes KernelRecord(size_t size, const char* name) {
  RecordBytes record(size);
  record.Put<uint32_t>(0, cupti::kKindConcurrentKernel)
      .Put<uint16_t>(6, 40)
      .Put<uint64_t>(16, 1000)
      .Put<uint64_t>(24, 3500)
      .Put<uint32_t>(40, 1)
      .Put<uint32_t>(44, 2)
      .Put<uint32_t>(48, 7)
      .Put<int32_t>(52, 132)
      .Put<int32_t>(56, 2)
      .Put<int32_t>(60, 3)
      .Put<int32_t>(64, 256)
      .Put<int32_t>(68, 4)
      .Put<int32_t>(72, 5)
      .Put<int32_t>(76, 1024)
      .Put<int32_t>(80, 65536)
      .Put<uint32_t>(84, 16)
      .Put<uint32_t>(92, 99)
      .Put<const char*>(104, name);
  return record;
}

TEST(ActivityRecords, KernelOfEveryRecordVersion) {
  // sizeof CUpti_ActivityKernel4 … CUpti_ActivityKernel10.
  for (const size_t size : {144, 160, 168, 176, 200, 208, 216}) {
    const RecordBytes record = KernelRecord(size, "_Z4reluIfEvPT_i");
    const auto activity = ParseActivityRecord(record.data(), /*cupti_version=*/12);
    ASSERT_TRUE(activity.has_value());
    EXPECT_EQ(activity->kind, ActivityKind::kKernel);
    EXPECT_EQ(activity->name, "void relu<float>(float*, int)");
    EXPECT_EQ(activity->start_ns, 1000U);
    EXPECT_EQ(activity->end_ns, 3500U);
    EXPECT_EQ(activity->stream, 7U);
    EXPECT_EQ(activity->grid, (std::array<int32_t, 3>{132, 2, 3}));
    EXPECT_EQ(activity->block, (std::array<int32_t, 3>{256, 4, 5}));
    EXPECT_EQ(activity->registers_per_thread, 40U);
    EXPECT_EQ(activity->static_shared_bytes, 1024U);
    EXPECT_EQ(activity->dynamic_shared_bytes, 65536U);
    EXPECT_EQ(activity->local_bytes_per_thread, 16U);
    EXPECT_EQ(activity->correlation, 99U);
    EXPECT_EQ(activity->graph, 0U) << "older records end before the graph id";
  }
}

TEST(ActivityRecords, GraphIdFromCuda12On) {
  RecordBytes record = KernelRecord(208, "triton_relu");
  record.Put<uint32_t>(156, 5);
  EXPECT_EQ(ParseActivityRecord(record.data(), 18)->graph, 5U);
  EXPECT_EQ(ParseActivityRecord(record.data(), 130001)->graph, 5U);
}

TEST(ActivityRecords, CopiesAndSets) {
  RecordBytes copy(96);
  copy.Put<uint32_t>(0, cupti::kKindMemcpy).Put<uint8_t>(4, 2).Put<uint64_t>(8, 4096);
  copy.Put<uint64_t>(16, 10).Put<uint64_t>(24, 20).Put<uint32_t>(40, 13).Put<uint32_t>(44, 77);
  const auto parsed = ParseActivityRecord(copy.data(), 130001);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->name, "memcpy DtoH");
  EXPECT_EQ(parsed->bytes, 4096U);
  EXPECT_EQ(parsed->stream, 13U);
  EXPECT_EQ(parsed->correlation, 77U);

  RecordBytes peer(96);
  peer.Put<uint32_t>(0, cupti::kKindMemcpyPeer).Put<uint8_t>(4, 10).Put<uint32_t>(60, 78);
  EXPECT_EQ(ParseActivityRecord(peer.data(), 130001)->correlation, 78U);

  RecordBytes set(88);
  set.Put<uint32_t>(0, cupti::kKindMemset).Put<uint64_t>(8, 128).Put<uint32_t>(44, 79);
  EXPECT_EQ(ParseActivityRecord(set.data(), 130001)->kind, ActivityKind::kMemset);
  EXPECT_EQ(ParseActivityRecord(set.data(), 130001)->bytes, 128U);
}

TEST(ActivityRecords, OtherKindsAreLeftOut) {
  RecordBytes record(64);
  record.Put<uint32_t>(0, 4);  // a driver call
  EXPECT_FALSE(ParseActivityRecord(record.data(), 130001).has_value());
}

TEST(ActivityRecords, NamesThatAreNotMangledStay) {
  EXPECT_EQ(DemangleKernelName("f"), "f");
  EXPECT_EQ(DemangleKernelName("triton_poi_fused_relu_0"), "triton_poi_fused_relu_0");
  EXPECT_EQ(DemangleKernelName(nullptr), "");
}

TEST(ActivityJson, BusyTimeIsTheUnionAndBadBytesAreReplaced) {
  ActivityResult result;
  const auto add = [&](uint64_t start, uint64_t end, const char* name) {
    Activity activity;
    activity.name = name;
    activity.start_ns = start;
    activity.end_ns = end;
    result.activities.push_back(activity);
  };
  add(100, 200, "a");
  add(150, 180, "inside");
  add(190, 250, "overlaps");
  add(400, 450, "\xff bad");
  const auto json = nlohmann::json::parse(ActivityJson(result, 130001));
  EXPECT_EQ(json["busy_ns"], 200);
  EXPECT_EQ(json["span_ns"], 350);
  EXPECT_EQ(json["kernels_ns"], 240);
  EXPECT_EQ(json["activities"].size(), 4U);
  EXPECT_EQ(nlohmann::json::parse(ActivityJson({}, 18))["span_ns"], 0);
}

}  // namespace
}  // namespace davinci::gpu
