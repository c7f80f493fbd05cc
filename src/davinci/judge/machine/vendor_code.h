// Vendor libraries whose code a process has executed, from the kernel's account of its resident
// code pages.
//
// A fork starts without page-table entries for shared library code, so resident code pages of a
// child are what the child itself has run since. Mapped is not used: every process of the fork
// server maps numpy's BLAS because torch imports numpy. Code linked statically into torch is not
// seen here; the operator trace sees its calls.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::judge {

// Resident bytes of executable mappings by file name, from the text of /proc/<pid>/smaps.
std::map<std::string, int64_t> ResidentCode(std::string_view smaps);
// Whether a library's file name is that of a known BLAS, DNN or CUDA vendor library.
bool IsVendorLibrary(std::string_view file_name);
// Families ("openblas", "cublas") that process `pid` has executed more than a start-up's worth of;
// sorted. Empty when /proc cannot be read.
std::vector<std::string> ExecutedVendorLibraries(pid_t pid);

}  // namespace davinci::judge
