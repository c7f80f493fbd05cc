// ScriptedChild: a forked child that does what a test says, seen as the fork server would show it.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <utility>

#include "davinci/worker/forked_process.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {

class ScriptedChild {
 public:
  // `body` runs in the child with the other end of control(); then the child sleeps until it is
  // ended with this object.
  explicit ScriptedChild(const std::function<void(int control)>& body) {
    int status[2];
    int output[2];
    int control[2];
    EXPECT_EQ(pipe(status), 0);
    EXPECT_EQ(pipe(output), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
    const pid_t child = fork();
    if (child == 0) {
      body(control[1]);
      while (true) pause();
    }
    close(control[1]);
    close(output[1]);
    status_ = UniqueFd(status[1]);
    Tell({worker::kStatusPid, static_cast<uint32_t>(child)});
    process_ = std::make_shared<worker::ForkedProcess>(worker::Channel(UniqueFd(control[0])),
                                                       UniqueFd(status[0]), UniqueFd(output[0]));
    EXPECT_FALSE(process_->WaitForDeath());  // reads the pid
  }
  ScriptedChild(const ScriptedChild&) = delete;
  ScriptedChild& operator=(const ScriptedChild&) = delete;
  ~ScriptedChild() { Tell({worker::kStatusExit, 9}); }  // what the Process waits for when it ends

  const std::shared_ptr<worker::ForkedProcess>& process() const { return process_; }

 private:
  void Tell(const worker::StatusRecord& record) {
    EXPECT_EQ(write(status_.get(), &record, sizeof record), static_cast<ssize_t>(sizeof record));
  }

  std::shared_ptr<worker::ForkedProcess> process_;
  UniqueFd status_;  // the fork server's end
};

}  // namespace davinci::judge
