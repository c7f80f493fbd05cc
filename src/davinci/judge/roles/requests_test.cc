// Requests to oracle and runner as they are sent, compared with tests/golden/requests: a file of
// each name, a line for each request. tests/worker/messages_test.py reads the same files as the
// roles do. DAVINCI_UPDATE_GOLDEN=1 writes them anew; read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/judge/roles/oracle_requests.h"
#include "davinci/judge/roles/runner_requests.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Requests by name, each as a line.
using Lines = std::map<std::string, std::string>;

const task::LocalImports kImports = {
    .folders = {"/tasks"}, .visible = {}, .names = {}, .package = "tasks", .digest = ""};

json Tensors(uint64_t offset) {
  return json::array(
      {{{"dtype", "f32"}, {"offset", offset}, {"shape", {4, 8}}, {"stride", {8, 1}}}});
}

}  // namespace

namespace to_oracle {
namespace {

Load WholeLoad() {
  return {.path = "/tasks/norm.py",
          .source = "class Model: pass",
          .entry = "Model",
          .function = "norm",
          .op_path = "aten::norm",
          .globals = {{"ROWS", 64}},
          .variants = {{{"ROWS", 3}}, {{"ROWS", 77}}},
          .init_seed = 11,
          .state_seed = 12,
          .randomise = true,
          .alone = true,
          .call_seconds = 20.5,
          .imports = kImports,
          .precision = config::Precision::kBf16,
          .inplace = true,
          .mode = config::ModuleMode::kEval,
          .domain_on_host = true,
          .tolerance_multiple = 64,
          .published_tolerance = 0.01,
          .compile_only = ShrinkTo{.memory = 1000, .own = true, .most = 500, .to = 200},
          .window_calls = 6,
          .inputs = {{"0", {{"order", "none"}}}},
          .specification = {{"version", 1}, {"inputs", json::array()}}};
}

Load LeastLoad() {
  Load load;
  load.path = "/tasks/norm.py";
  load.globals = json::object();
  return load;
}

// Each kind with all of its members, and with what may be left out left out.
std::vector<Request> Examples() {
  const Place candidate = {"candidate", 4096};
  const Place baseline = {"baseline", 8192};
  const Verify whole = {.outputs = Tensors(1),
                        .baseline = Tensors(2),
                        .left = {candidate, baseline},
                        .truth = true,
                        .settled = true,
                        .intact = candidate};
  const Verify least = {.outputs = Tensors(1), .left = {.outputs = candidate}};
  return {WholeLoad(),
          LeastLoad(),
          Describe{.variant = 1, .seed = 13},
          Graph{.variant = 1, .seed = 13},
          SymbolicGraph{.seed = 13},
          Mutates{.seed = 13},
          Admit{.seed = 13, .budget_seconds = 0.5},
          Admit{.seed = 13},
          State{.variant = 1},
          Unread{.variant = 1, .seed = 13},
          Reweigh{.seed = 13, .buffers = true},
          Unrandomise{},
          MakeArena{.name = "candidate", .slot_bytes = 4096, .slots = 3},
          Prepare{.seed = 13, .distribution = "task", .variant = 1, .truth = true, .keep = true},
          Prepare{.seed = 13, .distribution = "task"},
          Publish{.name = "candidate", .shift = 4096, .slot_bytes = 2048},
          Nonfinite{.seed = 13},
          MapOutputs{.bytes = 4096},
          Settle{.outputs = Tensors(1), .overwrite = Overwrite{.which = {0, 2}, .seed = 13}},
          Settle{.outputs = Tensors(1)},
          whole,
          least,
          Compare{.outputs = Tensors(1), .left = {candidate, baseline}, .at_a_glance = true},
          Compare{.outputs = Tensors(1), .left = {.outputs = candidate}},
          PublishedCompare{.outputs = Tensors(1), .tolerance = 0.01},
          NonfiniteCompare{.outputs = Tensors(1)},
          MakeBuffers{.count = 12},
          DrawAhead{.seeds = {13, 14}},
          Draw{.seeds = {13, 14}},
          PublishSeveral{.name = "candidate", .shifts = {0, 4096}, .cool = true},
          Hold{},
          Release{.seconds = 0.25},
          Filled{.seed = 13, .count = 12, .secret = 15},
          VerifySeveral{.calls = {whole, least}},
          Profile{.seed = 13, .warmup_seconds = 0.25},
          Peaks{},
          Calibrate{},
          Turn{},
          Rest{},
          Forget{}};
}

}  // namespace
}  // namespace to_oracle

namespace to_runner {
namespace {

std::vector<Request> Examples() {
  const json exported = {
      {"tensors", Tensors(1)}, {"bytes", 4096}, {"changed", true}, {"seconds", 0.5}};
  return {
      LoadCandidate{.path = "/candidates/norm.py",
                    .entry = "ModelNew",
                    .function = "norm_new",
                    .imports = kImports,
                    .compile_only = CompileOnlyOptions{.arch = 90, .seconds = 2.5},
                    .shared = true},
      LoadCandidate{.path = "/candidates/norm.py",
                    .entry = "ModelNew",
                    .function = "",
                    .imports = {},
                    .compile_only = std::nullopt},
      LoadReference{.path = "/tasks/norm.py",
                    .source = "class Model: pass",
                    .entry = "Model",
                    .function = "norm",
                    .op_path = "aten::norm",
                    .globals = {{"ROWS", 64}},
                    .imports = kImports},
      Construct{.variant = 1,
                .init = "gASVBQ==",
                .seed = 13,
                .mode = "eval",
                .padding = 64,
                .cast = config::Precision::kFp16,
                .compile = "default"},
      Construct{.variant = 1, .init = "gASVBQ==", .seed = 13, .mode = ""},
      TakeState{.variant = 1, .exported = exported, .again = true},
      TakeState{.variant = 1, .exported = exported},
      Bind{.variant = 1,
           .inputs = Tensors(1),
           .contiguous = {32, std::nullopt},
           .kept = {"running_mean"},
           .bytes = 4096,
           .handle = json{{"ipc", "00ff"}}},
      Bind{.variant = 1, .inputs = Tensors(1), .contiguous = {}, .kept = {}, .bytes = 4096},
      MapBuffers{.made = {{"handle", "00ff"}, {"bytes", 4096}, {"count", 12}, {"seconds", 0.5}}},
      Arm{.args = "gASVBQ==", .shift = 4096, .gate = true, .seeded = true},
      Arm{.args = "gASVBQ==", .shift = 4096},
      ArmWindow{.calls = 2,
                .shifts = {0, 4096},
                .args = {"gASVBQ==", "gASVCQ=="},
                .flush = true,
                .idle = true,
                .seeded = true},
      ArmWindow{.calls = 2, .empty = true},
      Profile{.args = "gASVBQ==", .shift = 4096, .warmup_seconds = 0.25},
      Hot{.args = "gASVBQ==", .shift = 4096, .seconds = 0.5},
      Sleepers{.count = 3},
      CallExport{.path = "/exports/norm.py",
                 .task = "/tasks/norm.py",
                 .source = "class Model: pass",
                 .globals = {{"ROWS", 64}},
                 .imports = kImports,
                 .package = "tasks",
                 .variants = {{{"ROWS", 3}}},
                 .seed = 13,
                 .cast = config::Precision::kFp16},
      CallExport{.path = "/exports/norm.py",
                 .task = "/tasks/norm.py",
                 .source = "class Model: pass",
                 .globals = json::object(),
                 .imports = {},
                 .package = "",
                 .variants = {},
                 .seed = 13},
      Warm{},
      WarmProfiler{},
      Lock{},
      CompileOnly{},
      Forget{}};
}

}  // namespace
}  // namespace to_runner

namespace {

template <typename Request>
Lines Sent(const std::vector<Request>& requests) {
  Lines sent;
  for (const Request& request : requests)
    sent[std::string(OpOf(request))] += JsonText(ToJson(request)) + '\n';
  return sent;
}

template <typename Request>
size_t NumKinds(const std::vector<Request>& requests) {
  std::set<size_t> kinds;
  for (const Request& request : requests) kinds.insert(request.index());
  return kinds.size();
}

void ExpectGolden(const std::string& role, const Lines& sent) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(DAVINCI_SOURCE_DIR "/tests/golden/requests") / role;
  const char* update = std::getenv("DAVINCI_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    ASSERT_TRUE(MakeDirs(folder).ok());
    for (const auto& [name, lines] : sent)
      ASSERT_TRUE(WriteFileAtomic(folder / (name + ".jsonl"), lines).ok());
  }
  Lines golden;
  for (const auto& entry : fs::directory_iterator(folder))
    golden[entry.path().stem().string()] = ReadFile(entry.path()).value();
  EXPECT_EQ(sent, golden) << "DAVINCI_UPDATE_GOLDEN=1 writes " << folder << " anew";
}

TEST(Requests, ToAnOracleAreSentAsTheirGoldenFilesSay) {
  const std::vector<to_oracle::Request> requests = to_oracle::Examples();
  EXPECT_EQ(NumKinds(requests), std::variant_size_v<to_oracle::Request>);
  Lines sent = Sent(requests);
  const to_oracle::Request several[] = {to_oracle::Publish{"candidate", 4096, 2048},
                                        to_oracle::Hold{}};
  sent["several"] = JsonText(to_oracle::ToJson(several)) + '\n';
  ExpectGolden("oracle", sent);
}

TEST(Requests, ToARunnerAreSentAsTheirGoldenFilesSay) {
  const std::vector<to_runner::Request> requests = to_runner::Examples();
  EXPECT_EQ(NumKinds(requests), std::variant_size_v<to_runner::Request>);
  ExpectGolden("runner", Sent(requests));
}

}  // namespace
}  // namespace davinci::judge
