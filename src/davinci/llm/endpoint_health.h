// The policy says when an endpoint is left alone, the health what is known of each.
#pragma once

#include <cstdint>
#include <string>

namespace davinci::llm {

struct BreakerPolicy {
  int failures_to_open = 5;  // in a row
  double cool_down_s = 5;    // then one call is let through; doubles each time that fails
  double max_cool_down_s = 120;
};

struct EndpointHealth {
  std::string url;
  bool usable = true;  // false: the circuit is open
  int in_flight = 0;
  int64_t num_calls = 0;
  int64_t num_failures = 0;
  std::string last_error;
};

}  // namespace davinci::llm
