// A thread each for a handful of things that mostly wait.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::rollout {

// body(0) … body(n - 1), each on a thread of its own; returns when all are done.
template <typename Body>
void ForEachInParallel(size_t n, const Body& body) {
  std::vector<std::jthread> threads;
  threads.reserve(n);
  for (size_t i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
}

// body()'s Status; what it throws (a library's, out of memory) becomes one, so that a failure ends
// the unit it happened in and nothing else.
template <typename Body>
Status Guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory");
  } catch (const std::exception& error) {
    return Internal(error.what());
  }
}

}  // namespace davinci::rollout
