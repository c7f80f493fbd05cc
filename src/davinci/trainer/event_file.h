// TensorBoard event files (tfrecord framing around Event protobufs), scalars only. No Debian
// library writes them; the format is three fields and a checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::trainer {

class EventFile {
 public:
  // A new file "events.out.tfevents.SECONDS.davinci.N" in `folder`.
  static Result<EventFile> Create(const std::filesystem::path& folder, double unix_s);
  Status Scalars(int64_t step, double unix_s, const std::map<std::string, double>& values);

 private:
  explicit EventFile(UniqueFd file) : file_(std::move(file)) {}
  Status Append(std::string_view event);
  UniqueFd file_;
};

// CRC-32C (Castagnoli) of `bytes`, and the masked form in which tfrecords keep it.
uint32_t Crc32c(std::string_view bytes);
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace davinci::trainer
