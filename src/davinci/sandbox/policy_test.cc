#include "davinci/sandbox/policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace davinci::sandbox {
namespace {

TEST(Policy, SurvivesTheRoundTripThroughJson) {
  Spec spec;
  spec.policy.read_only_paths = {"/usr", "/opt/x"};
  spec.policy.read_write_paths = {"/var/tmp/out"};
  spec.policy.device_paths = {"/dev/nvidia*"};
  spec.policy.scratch_dir = "/tmp/s";
  spec.policy.private_tmp_bytes = 123;
  spec.policy.allow_network = spec.policy.allow_exec = spec.policy.allow_fork = true;
  spec.policy.new_namespaces = false;
  spec.limits = {1, 2, 3, 4, 5, 6, 7, 8};
  const Result<Spec> back = SpecFromText(ToJson(spec).dump());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->policy, spec.policy);
  EXPECT_EQ(back->limits, spec.limits);
}

TEST(Policy, DeniesEverythingByDefault) {
  const Result<Spec> spec = SpecFromText("{}");
  ASSERT_TRUE(spec.ok());
  EXPECT_FALSE(spec->policy.allow_network);
  EXPECT_FALSE(spec->policy.allow_exec);
  EXPECT_FALSE(spec->policy.allow_fork);
  EXPECT_TRUE(spec->policy.new_namespaces);
}

struct BadSpec {
  const char* text;
  const char* names;  // what the message must name
};

class BadSpecs : public testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, AreRefusedByName) {
  const Result<Spec> spec = SpecFromText(GetParam().text);
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(spec.status().message().find(GetParam().names), std::string::npos)
      << spec.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSpecs,
    testing::Values(BadSpec{"{", "JSON"}, BadSpec{"[]", "object"},
                    BadSpec{R"({"allow_netwrk": true})", "allow_netwrk"},
                    BadSpec{R"({"allow_exec": 1})", "allow_exec"},
                    BadSpec{R"({"read_only_paths": "usr"})", "read_only_paths"},
                    BadSpec{R"({"read_only_paths": ["usr"]})", "absolute"},
                    BadSpec{R"({"read_write_paths": ["//"]})", "\"/\""},
                    BadSpec{R"({"private_tmp_bytes": -1})", "private_tmp_bytes"},
                    BadSpec{R"({"limits": {"procesess": 1}})", "procesess"},
                    BadSpec{R"({"limits": {"cpu_seconds": 1.5}})", "cpu_seconds"}));

}  // namespace
}  // namespace davinci::sandbox
