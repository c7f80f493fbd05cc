#include "davinci/judge/protocol.h"

#include <fmt/format.h>

namespace davinci::judge {

Result<Protocol> ProtocolByName(std::string_view name) {
  Protocol protocol;
  protocol.name = std::string(name);
  if (name == "davinci") {
    protocol.steps = {{"own"}, {"signed"}, {"magnitudes"}, {"own", true}, {"signed", true}};
    return protocol;
  }
  if (name == "screening") {
    protocol.steps = {{"own"}, {"signed"}, {"magnitudes"}, {"own", true}};
    protocol.min_pairs = 6;
    protocol.max_pairs = 20;
    protocol.timing_budget_seconds = 0.25;
    protocol.target_half_width = 0.06;
    protocol.give_up_below = 0.8;
    return protocol;
  }
  if (name == "kernelbench") {
    // reference: five trials, atol = rtol = 1e-4 in fp32 and 1e-2 in half precision, weights as initialised.
    protocol.steps = {{"own"}, {"own"}, {"own"}, {"own"}, {"own"}};
    protocol.randomise_state = false;
    protocol.allclose_tolerance = 1e-4;
    return protocol;
  }
  return InvalidArgument(
      fmt::format("unknown protocol \"{}\"; known: davinci, screening, kernelbench", name));
}

std::vector<std::string> ProtocolNames() { return {"davinci", "screening", "kernelbench"}; }

}  // namespace davinci::judge
