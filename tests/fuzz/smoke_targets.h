// What smoke_main.cc may run. The table is written by CMake from the list of targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

// As libFuzzer's LLVMFuzzerTestOneInput.
using FuzzTarget = int (*)(const uint8_t* data, size_t size);

// By name: that of fuzz_<name>.cc.
const std::map<std::string, FuzzTarget>& FuzzTargets();
