// The logs of a training run: RUN/log.jsonl, one object per line, and TensorBoard files in
// RUN/tensorboard.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/trainer/event_file.h"

namespace davinci::trainer {

class RunLog {
 public:
  // Keeps the lines of log.jsonl up to step `last_step`: later ones belong to work that is done
  // again.
  static Result<RunLog> Open(const std::filesystem::path& run, int64_t last_step);

  // `line` has a "step"; its numbers, and those of objects in it ("loss": {"policy": 1}), are the
  // scalars.
  Status Write(const nlohmann::ordered_json& line);

 private:
  RunLog(std::filesystem::path path, EventFile events)
      : path_(std::move(path)), events_(std::move(events)) {}
  std::filesystem::path path_;
  EventFile events_;
  UniqueFd file_;
};

}  // namespace davinci::trainer
