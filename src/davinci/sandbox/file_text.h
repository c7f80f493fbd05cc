// Reading and writing the small text files of /proc and cgroups. Internal to this module.
#pragma once

#include <string>
#include <string_view>

namespace davinci::sandbox {

// The whole text; empty when it cannot be read. Meant for files of a few kilobytes.
std::string ReadSmallFile(const std::string& path);

// One write() of the whole text to an existing file. False, with errno set, when that fails.
bool WriteSmallFile(const std::string& path, std::string_view text);

// Parses the decimal number after `label` ("\nSeccomp:"), skipping blanks. False when there is
// none.
bool FindNumber(std::string_view text, std::string_view label, int* value);

}  // namespace davinci::sandbox
