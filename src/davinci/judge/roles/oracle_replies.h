// Replies of an oracle that a trial decides by, a struct each: reply.ok.get<from_oracle::Drawn>().
// python/davinci_worker/oracle/messages.py declares how they are sent, and
// tests/golden/replies/oracle holds a file for each request that is answered so, which tests of
// both languages read. Replies that go to evidence, or on to a runner, remain as they came.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace davinci::judge::from_oracle {

// To `prepare`. `args`: pickled arguments of the call.
struct Prepared {
  std::string distribution;  // of the inputs, milder than asked where the reference fails
  std::string args;
  uint64_t call_seed = 0;             // of random numbers in the call
  std::optional<int64_t> peak_bytes;  // of the oracle's memory on the device, where it was asked
};
// To `nonfinite`. Without `args` the task has no floating input.
struct PreparedNonfinite {
  std::optional<std::string> args;
  uint64_t call_seed = 0;
};
// To `draw`: inputs by call.
struct Drawn {
  std::vector<std::string> args;
  uint64_t call_seed = 0;
};
// To `verify`, and of each call to `verify_several`.
struct Verified {
  nlohmann::json comparison;   // null where another finding came first
  bool late = false;           // outputs went on changing after the call
  std::optional<int> changed;  // the input that the call changed
};
struct VerifiedSeveral {
  std::vector<Verified> calls;  // up to the first that is not right
};
// To `mutates`: the reference changes its inputs, and some that it does not return.
struct Mutates {
  bool mutates = false;
  bool hides = false;
};
// To `unread`: parameters and buffers that forward does not read.
struct Unread {
  std::vector<std::string> names;
};
// To `arena`. cuda: `handle` opens it; cpu: descriptors come along.
struct Arena {
  int64_t bytes = 0;
  std::optional<nlohmann::json> handle;
};
// To `filled`.
struct IsFilled {
  bool filled = false;
};
// To `release`, on the clock that all processes of the machine have.
struct Released {
  int64_t at_ns = 0;
};
// To `turn`.
struct Turn {
  double turn_seconds = 0;
};
// To `calibrate`.
struct Calibrated {
  double between_events_seconds = 0;
};
// To `forget`.
struct Forgot {
  bool clean = false;
};

// A member that must be there and is not, or has another type, throws nlohmann::json::exception
// (trial/contained.h).
void from_json(const nlohmann::json& reply, Prepared& read);
void from_json(const nlohmann::json& reply, PreparedNonfinite& read);
void from_json(const nlohmann::json& reply, Drawn& read);
void from_json(const nlohmann::json& reply, Verified& read);
void from_json(const nlohmann::json& reply, VerifiedSeveral& read);
void from_json(const nlohmann::json& reply, Mutates& read);
void from_json(const nlohmann::json& reply, Unread& read);
void from_json(const nlohmann::json& reply, Arena& read);
void from_json(const nlohmann::json& reply, IsFilled& read);
void from_json(const nlohmann::json& reply, Released& read);
void from_json(const nlohmann::json& reply, Turn& read);
void from_json(const nlohmann::json& reply, Calibrated& read);
void from_json(const nlohmann::json& reply, Forgot& read);

}  // namespace davinci::judge::from_oracle
