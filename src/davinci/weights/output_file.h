// A large file that appears under its name only when it is whole. What WriteFileAtomic
// (base/files.h) does for content in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::weights {

// A temporary neighbour of `path` with room for `bytes`. ResourceExhausted: the disk is too small.
Result<UniqueFd> CreateOutput(const std::filesystem::path& path, int64_t bytes,
                              std::filesystem::path* temporary);
Status WriteAt(int file, int64_t offset, std::span<const std::byte> data, std::string_view name);
// Makes it durable and renames it to `path`.
Status FinishOutput(UniqueFd file, const std::filesystem::path& temporary,
                    const std::filesystem::path& path);

}  // namespace davinci::weights
