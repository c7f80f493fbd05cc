#include "davinci/judge/roles/oracle_replies.h"

namespace davinci::judge::from_oracle {

using nlohmann::json;

void from_json(const json& reply, Prepared& read) {
  reply.at("distribution").get_to(read.distribution);
  reply.at("args").get_to(read.args);
  reply.at("call_seed").get_to(read.call_seed);
  if (const auto peak = reply.find("peak_bytes"); peak != reply.end())
    read.peak_bytes = peak->get<int64_t>();
}

void from_json(const json& reply, PreparedNonfinite& read) {
  if (reply.at("args").is_null()) return;
  read.args = reply.at("args").get<std::string>();
  reply.at("call_seed").get_to(read.call_seed);
}

void from_json(const json& reply, Drawn& read) {
  reply.at("args").get_to(read.args);
  reply.at("call_seed").get_to(read.call_seed);
}

void from_json(const json& reply, Verified& read) {
  read.comparison = reply.at("comparison");
  reply.at("late").get_to(read.late);
  if (!reply.at("changed").is_null()) read.changed = reply.at("changed").get<int>();
}

void from_json(const json& reply, VerifiedSeveral& read) { reply.at("calls").get_to(read.calls); }

void from_json(const json& reply, Mutates& read) {
  reply.at("mutates").get_to(read.mutates);
  reply.at("hides").get_to(read.hides);
}

void from_json(const json& reply, Unread& read) { reply.at("names").get_to(read.names); }

void from_json(const json& reply, Arena& read) {
  reply.at("bytes").get_to(read.bytes);
  if (const auto handle = reply.find("handle"); handle != reply.end()) read.handle = *handle;
}

void from_json(const json& reply, IsFilled& read) { reply.at("filled").get_to(read.filled); }
void from_json(const json& reply, Released& read) { reply.at("at_ns").get_to(read.at_ns); }

void from_json(const json& reply, Turn& read) {
  reply.at("turn_seconds").get_to(read.turn_seconds);
}

void from_json(const json& reply, Calibrated& read) {
  reply.at("between_events_seconds").get_to(read.between_events_seconds);
}

// It is read outside of a trial, where nothing catches what is thrown.
void from_json(const json& reply, Forgot& read) { read.clean = reply.value("clean", false); }

}  // namespace davinci::judge::from_oracle
