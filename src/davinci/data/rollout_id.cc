#include <fmt/format.h>

#include <charconv>

#include "davinci/data/rollout.h"

namespace davinci {
namespace {

// Reads the tag and a number >= `least` without leading zeros from the front of *text.
bool Take(std::string_view* text, char tag, int least, int* number) {
  if (text->size() < 2 || (*text)[0] != tag) return false;
  text->remove_prefix(1);
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  const size_t digits = static_cast<size_t>(end - text->data());
  // from_chars takes a sign; ToString never writes one.
  if (error != std::errc() || *number < least || (*text)[0] == '-') return false;
  if (digits > 1 && (*text)[0] == '0') return false;
  text->remove_prefix(digits);
  return true;
}

// Everything up to the rollout's number.
bool TakeTask(std::string_view* text, RolloutId* id) {
  const size_t hash = text->rfind('#');
  if (hash == std::string_view::npos) return false;
  const size_t at = text->substr(0, hash).rfind('@');
  if (at == std::string_view::npos) return false;
  id->task = text->substr(0, at);
  std::string_view step = text->substr(at, hash - at);
  text->remove_prefix(hash + 1);
  return Take(&step, '@', 1, &id->step) && step.empty() && Take(text, 's', 0, &id->scheme) &&
         Take(text, 'r', 0, &id->rollout);
}

Status NotAnId(std::string_view text, std::string_view form) {
  return InvalidArgument(fmt::format("\"{}\" is not of the form {}", text, form));
}

}  // namespace

std::string ToString(const RolloutId& id) {
  return fmt::format("{}@{}#s{}r{}", id.task, id.step, id.scheme, id.rollout);
}

std::string ToString(const TurnId& id) {
  return fmt::format("{}t{}", ToString(id.rollout), id.turn);
}

std::string CallLabel(std::string_view task, int step, std::string_view call) {
  return fmt::format("{}@{}/{}", task, step, call);
}

Result<RolloutId> ParseRolloutId(std::string_view text) {
  RolloutId id;
  std::string_view rest = text;
  if (TakeTask(&rest, &id) && rest.empty()) return id;
  return NotAnId(text, "TASK@1#s0r0");
}

Result<TurnId> ParseTurnId(std::string_view text) {
  TurnId id;
  std::string_view rest = text;
  if (TakeTask(&rest, &id.rollout) && Take(&rest, 't', 1, &id.turn) && rest.empty()) return id;
  return NotAnId(text, "TASK@1#s0r0t1");
}

}  // namespace davinci
