// What a runner may ask for in the middle of a call. The other end is a scripted child; what real
// ones do is tested by tests/worker and tests/outcomes.
#include "davinci/judge/runner.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

struct Child {
  std::shared_ptr<worker::Process> process;
  UniqueFd status;  // where its end is told
};

// A child that reads GO, sends `requests` and waits for the answer to each, then fails; seen as the
// fork server would show it.
Child Asking(const std::vector<std::string>& requests) {
  int status[2];
  int output[2];
  int control[2];
  EXPECT_EQ(pipe(status), 0);
  EXPECT_EQ(pipe(output), 0);
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
  const pid_t child = fork();
  if (child == 0) {
    char go[worker::kGo.size()];
    if (read(control[1], go, sizeof go) != static_cast<ssize_t>(sizeof go)) _exit(1);
    for (const std::string& request : requests) {
      const std::string frame = worker::EncodeFrame({{"gate", std::stoi(request)}});
      if (write(control[1], frame.data(), frame.size()) < 0) _exit(1);
      char answer[64];
      if (read(control[1], answer, sizeof answer) <= 0) _exit(1);
    }
    const std::string frame = worker::EncodeFrame({{"error", {{"kind", "runtime_error"}}}});
    if (write(control[1], frame.data(), frame.size()) < 0) _exit(1);
    while (true) pause();
  }
  close(control[1]);
  const worker::StatusRecord record{worker::kStatusPid, static_cast<uint32_t>(child)};
  EXPECT_EQ(write(status[1], &record, sizeof record), static_cast<ssize_t>(sizeof record));
  auto process = std::make_shared<worker::Process>(worker::Channel(UniqueFd(control[0])),
                                                   UniqueFd(status[0]), UniqueFd(output[0]));
  EXPECT_FALSE(process->WaitForDeath());  // reads the pid
  close(output[1]);
  return {std::move(process), UniqueFd(status[1])};
}

std::string SaidOf(const std::vector<std::string>& requests) {
  Child child = Asking(requests);
  Runner runner(child.process, nullptr);
  std::string said;
  CallOptions options;
  options.timeout_seconds = 20;
  options.on_compile = [&] { said += '0'; };
  options.on_gate = [&] { said += '1'; };
  const CallResult result = runner.Call(options);
  EXPECT_TRUE(result.failure.has_value());  // its last word
  EXPECT_EQ(result.compiled, !requests.empty());
  const worker::StatusRecord ended{worker::kStatusExit, 9};
  EXPECT_EQ(write(child.status.get(), &ended, sizeof ended), static_cast<ssize_t>(sizeof ended));
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

}  // namespace
}  // namespace davinci::judge
