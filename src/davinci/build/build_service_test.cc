// The service with the machine's real compilers, in the sandbox. Kinds that need torch are covered
// by tests/build.
#include "davinci/build/build_service.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "davinci/base/files.h"

namespace davinci::build {
namespace {

BuildRequest Library(const std::string& source) {
  BuildRequest request;
  request.kind = BuildKind::kLibrary;
  request.cpp_sources = {source};
  return request;
}

class BuildServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("service-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    Start({});
    if (!service_->toolchain().cxx.found) GTEST_SKIP() << "no C++ compiler";
  }
  void Start(BuildServiceOptions options) {
    options.cache_dir = dir_.path();
    options.warm_up = false;
    options.threads = 2;
    auto service = BuildService::Create(options);
    ASSERT_TRUE(service.ok()) << service.status().ToString();
    service_ = std::move(service).value();
  }
  BuildOutcome Build(const BuildRequest& request) {
    auto outcome = service_->Build(request);
    EXPECT_TRUE(outcome.ok()) << outcome.status().ToString();
    return outcome.ok() ? *outcome : BuildOutcome{};
  }
  TempDir dir_;
  std::unique_ptr<BuildService> service_;
};

TEST_F(BuildServiceTest, LibraryIsBuiltCachedAndCallable) {
  const BuildRequest request = Library("extern \"C\" long twice(long x) { return 2 * x; }");
  const BuildOutcome first = Build(request);
  ASSERT_TRUE(first.ok()) << first.message;
  EXPECT_FALSE(first.cached);
  const BuildOutcome second = Build(request);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.path, second.path);
  void* library = dlopen(first.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto twice = reinterpret_cast<long (*)(long)>(dlsym(library, "twice"));
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice(21), 42);
  dlclose(library);
}

TEST_F(BuildServiceTest, ALauncherIsCompiledAsCAndLinkedWithTheDriver) {
  BuildRequest request = Library("int answer(void) { int new = 42; return new; }");  // no C++
  request.kind = BuildKind::kLauncher;
  const BuildOutcome outcome = Build(request);
  EXPECT_EQ(outcome.stage, outcome.ok() ? "launcher" : "");
  if (!outcome.ok()) {  // no driver on this machine: the linker says so, not the compiler
    EXPECT_NE(outcome.message.find("libcuda.so.1"), std::string::npos) << outcome.message;
  }
  request.cpp_sources = {"int answer(void) { return class; }"};
  const BuildOutcome wrong = Build(request);
  EXPECT_EQ(wrong.error, BuildError::kCompileError);
  EXPECT_NE(wrong.message.find("class"), std::string::npos) << wrong.message;
}

TEST_F(BuildServiceTest, CompileErrorIsAValueWithTheUsersLine) {
  const BuildOutcome outcome = Build(Library("\n\nint f( { }\n"));
  EXPECT_EQ(outcome.error, BuildError::kCompileError);
  EXPECT_EQ(outcome.file, "cpp_sources");
  EXPECT_EQ(outcome.line, 3);
}

TEST_F(BuildServiceTest, HostFilesAreNotReadable) {
  const auto secret = dir_.path() / "secret.txt";
  ASSERT_TRUE(WriteFileAtomic(secret, "swordfish").ok());
  for (const std::string& source : {"#include \"" + secret.string() + "\"\n",
                                    "asm(\".incbin \\\"" + secret.string() + "\\\"\");\n"}) {
    const BuildOutcome outcome = Build(Library(source));
    EXPECT_EQ(outcome.error, BuildError::kCompileError) << source;
    EXPECT_EQ(outcome.message.find("swordfish"), std::string::npos) << outcome.message;
  }
}

TEST_F(BuildServiceTest, HostileFlagIsAPolicyViolation) {
  BuildRequest request = Library("int x;");
  request.extra_cflags = {"-fplugin=/tmp/evil.so"};
  EXPECT_EQ(Build(request).error, BuildError::kPolicyViolation);
}

TEST_F(BuildServiceTest, AnObjectThatIsTooLargeIsToldAsSuch) {
  BuildServiceOptions options;
  options.compiler_file_bytes = 1 << 20;
  Start(options);
  const BuildOutcome outcome = Build(Library("char large[4 << 20] = {1};\n"));
  EXPECT_EQ(outcome.error, BuildError::kCompileError);
  EXPECT_NE(outcome.message.find("over the limit of 1 MiB"), std::string::npos) << outcome.message;
  EXPECT_EQ(outcome.message.find("bug report"), std::string::npos) << outcome.message;
}

TEST_F(BuildServiceTest, EndlessCompileEndsAtItsTimeLimitAndIsNotRemembered) {
  BuildServiceOptions options;
  options.compiler_timeout = std::chrono::milliseconds(1500);
  Start(options);
  // Doubles its work with every level: never finishes.
  const BuildRequest request = Library(
      "template <int N, int M> struct F { static const long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * "
      "M + 1>::v; };\n"
      "template <int M> struct F<0, M> { static const long v = 1; };\nlong x = F<30, 0>::v;\n");
  const BuildOutcome outcome = Build(request);
  EXPECT_TRUE(outcome.error == BuildError::kTimeout || outcome.error == BuildError::kOutOfMemory)
      << outcome.message;
  EXPECT_FALSE(Build(request).cached);
}

TEST_F(BuildServiceTest, IdenticalRequestsAreBuiltOnce) {
  const BuildRequest request =
      Library("#include <map>\n#include <regex>\nextern \"C\" int f() { return 1; }");
  std::vector<std::thread> threads;
  std::vector<BuildOutcome> outcomes(4);
  for (auto& outcome : outcomes) threads.emplace_back([&] { outcome = Build(request); });
  for (auto& t : threads) t.join();
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok()) << outcome.message;
    EXPECT_EQ(outcome.path, outcomes[0].path);
    // One compiler run: every caller reports the very same step.
    ASSERT_EQ(outcome.steps.size(), 1u);
    EXPECT_EQ(outcome.steps[0].seconds, outcomes[0].steps[0].seconds);
  }
}

TEST_F(BuildServiceTest, CancelledBuildReturnsAtOnce) {
  std::stop_source stop;
  const BuildRequest request = Library(
      "template <int N, int M> struct F { static const long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * "
      "M + 1>::v; };\n"
      "template <int M> struct F<0, M> { static const long v = 2; };\nlong x = F<30, 0>::v;\n");
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = service_->Build(request, stop.get_token());
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), StatusCode::kCancelled);
  // Half of a compiler's time limit.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(90));
}

TEST_F(BuildServiceTest, KeyDependsOnSourceFlagsAndKind) {
  ToolchainOptions probe;
  probe.cache_dir = dir_.path() / "toolchain";
  BuilderOptions options;
  options.toolchain = ProbeToolchain(probe).value();
  options.support_dir = dir_.path() / "support";
  ASSERT_TRUE(MakeDirs(options.support_dir).ok());
  const auto builder = ExtensionBuilder::Create(options).value();
  const BuildRequest base = Library("int x;");
  std::set<std::string> keys = {builder->Key(base)};
  EXPECT_EQ(builder->Key(base), *keys.begin());
  BuildRequest changed = base;
  changed.cpp_sources = {"int x; "};
  keys.insert(builder->Key(changed));
  changed = base;
  changed.extra_cflags = {"-O1"};
  keys.insert(builder->Key(changed));
  changed = base;
  changed.kind = BuildKind::kExtension;
  keys.insert(builder->Key(changed));
  changed = base;
  changed.cpp_sources = {"int x;", ""};
  keys.insert(builder->Key(changed));
  EXPECT_EQ(keys.size(), 5u);
  // The same library on another CPU is another artifact; an extension without -march=native is not.
  options.toolchain.cpu_identity = "another";
  const auto elsewhere = ExtensionBuilder::Create(options).value();
  EXPECT_NE(elsewhere->Key(base), builder->Key(base));
  changed = base;
  changed.kind = BuildKind::kExtension;
  EXPECT_EQ(elsewhere->Key(changed), builder->Key(changed));
}

TEST(BuildRequestJson, RoundTripsAndRefusesWhatItDoesNotKnow) {
  BuildRequest request;
  request.name = "ext";
  request.cpp_sources = {"a", "b"};
  request.functions.emplace().emplace_back("f", "doc");
  request.extra_cflags = {"-O3"};
  request.cuda_arch = "sm_90a";
  const auto back = ParseBuildRequest(ToJson(request).dump());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(ToJson(*back), ToJson(request));
  for (const char* bad :
       {"", "[]", "{}", R"({"kind": "extension"})", R"({"kind": "nope", "cpp_sources": ["x"]})",
        R"({"kind": "extension", "cpp_sources": [1]})",
        R"({"kind": "extension", "cpp_sources": ["x"], "python": "/bin/sh"})",
        R"({"kind": "extension", "cpp_sources": ["x"], "name": "a/../b"})",
        R"({"kind": "extension", "cpp_sources": ["x"], "functions": ["f); system(\"id\"); ("]})",
        R"({"kind": "cubin", "cuda_sources": ["x"], "cuda_arch": "sm_90 -o /x"})"}) {
    EXPECT_FALSE(ParseBuildRequest(bad).ok()) << bad;
  }
}

TEST(BuildRequestJson, OutcomeRoundTrips) {
  BuildOutcome outcome;
  outcome.error = BuildError::kTimeout;
  outcome.message = "too slow";
  outcome.file = "cpp_sources";
  outcome.line = 4;
  outcome.steps = {{"g++", 1.5, "why"}};
  const auto back = ParseBuildOutcome(ToJson(outcome).dump());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(ToJson(*back), ToJson(outcome));
}

}  // namespace
}  // namespace davinci::build
