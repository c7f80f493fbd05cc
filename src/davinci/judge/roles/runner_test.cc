// What a runner may ask for in the middle of a call. The other end is a scripted child; what real
// ones do is tested by tests/worker and tests/outcomes.
#include "davinci/judge/roles/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "davinci/judge/machine/test_support.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

// Reads GO, sends `requests` and waits for the answer to each, then fails.
void Ask(int control, const std::vector<std::string>& requests) {
  char go[worker::kGo.size()];
  if (read(control, go, sizeof go) != static_cast<ssize_t>(sizeof go)) _exit(1);
  for (const std::string& request : requests) {
    const std::string frame = worker::EncodeFrame({{"gate", std::stoi(request)}});
    if (write(control, frame.data(), frame.size()) < 0) _exit(1);
    char answer[64];
    if (read(control, answer, sizeof answer) <= 0) _exit(1);
  }
  const std::string frame = worker::EncodeFrame({{"error", {{"kind", "runtime_error"}}}});
  if (write(control, frame.data(), frame.size()) < 0) _exit(1);
}

std::string SaidOf(const std::vector<std::string>& requests) {
  const ScriptedChild child([&](int control) { Ask(control, requests); });
  Runner runner(child.process(), nullptr);
  std::string said;
  CallOptions options;
  options.timeout_seconds = 20;
  options.on_compile = [&] { said += '0'; };
  options.on_gate = [&] { said += '1'; };
  const CallResult result = runner.Call(options);
  EXPECT_TRUE(result.failure.has_value());  // its last word
  EXPECT_EQ(result.compiled, !requests.empty());
  return said;
}

TEST(Runner, GivesTheDeviceUpWhileItCompilesAndAsksForItAgain) {
  EXPECT_EQ(SaidOf({}), "");
  EXPECT_EQ(SaidOf({"0", "1", "0", "1"}), "0101");
}

TEST(Runner, IsAnsweredForEverButHeardSoManyTimes) {
  EXPECT_EQ(SaidOf(std::vector<std::string>(kMostGates + 10, "1")),
            std::string(static_cast<size_t>(kMostGates), '1'));
}

// Reads one frame of any length and answers with `reply`, again and again.
void Answer(int control, const nlohmann::json& reply) {
  worker::Channel peer{UniqueFd(control)};
  const std::string frame = worker::EncodeFrame(reply);
  while (peer.Receive(60).ok())
    if (!peer.SendFrame(frame).ok()) return;
}

// More than a socket holds.
constexpr size_t kLong = 4u << 20;

TEST(Runner, ReadsALongMessageThoughItWasStopped) {
  const ScriptedChild child([](int control) {
    Answer(control, {{"ok", nlohmann::json::object()}});
  });
  Runner runner(child.process(), nullptr);
  ASSERT_FALSE(runner.StartCalls());
  for (const size_t size : {size_t{10}, kLong}) {
    to_runner::Construct request;
    request.init = std::string(size, 'x');
    const auto answer = runner.AskFrozen(request, 20);
    EXPECT_FALSE(answer.failure) << size << ": " << answer.failure->message;
  }
}

TEST(Runner, IsHeardOutWhenWhatItReturnsIsMoreThanASocketHolds) {
  const ScriptedChild child([](int control) {
    char go[worker::kGo.size()];
    if (read(control, go, sizeof go) != static_cast<ssize_t>(sizeof go)) _exit(1);
    nlohmann::json outputs = nlohmann::json::array();
    const nlohmann::json one = {{"ptr", 4096u}, {"dtype", "f32"}, {"shape", {4}}, {"stride", {1}}};
    for (int i = 0; i < 10'000; ++i) outputs.push_back(one);
    worker::Channel peer{UniqueFd(control)};
    (void)peer.Send({{"done", {{"structure", "T"}, {"outputs", outputs}, {"inner_ns", 1}}}});
  });
  Runner runner(child.process(), nullptr);
  ASSERT_FALSE(runner.StartCalls());
  CallOptions options;
  options.timeout_seconds = 20;
  const CallResult result = runner.Call(options);
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.outputs.size(), 10'000u);
}

}  // namespace
}  // namespace davinci::judge
