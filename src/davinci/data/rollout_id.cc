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

Status NotAnId(std::string_view text, std::string_view form) {
  return InvalidArgument(fmt::format("\"{}\" is not of the form {}", text, form));
}

}  // namespace

std::string ToString(const RolloutId& id) {
  return fmt::format("{}#s{}r{}", id.task, id.scheme, id.rollout);
}

std::string ToString(const TurnId& id) {
  return fmt::format("{}t{}", ToString(id.rollout), id.turn);
}

Result<RolloutId> ParseRolloutId(std::string_view text) {
  const size_t hash = text.rfind('#');
  RolloutId id;
  if (hash != std::string_view::npos) {
    id.task = text.substr(0, hash);
    std::string_view rest = text.substr(hash + 1);
    if (Take(&rest, 's', 0, &id.scheme) && Take(&rest, 'r', 0, &id.rollout) && rest.empty())
      return id;
  }
  return NotAnId(text, "TASK#s0r0");
}

Result<TurnId> ParseTurnId(std::string_view text) {
  const size_t hash = text.rfind('#');
  TurnId id;
  if (hash != std::string_view::npos) {
    id.rollout.task = text.substr(0, hash);
    std::string_view rest = text.substr(hash + 1);
    if (Take(&rest, 's', 0, &id.rollout.scheme) && Take(&rest, 'r', 0, &id.rollout.rollout) &&
        Take(&rest, 't', 1, &id.turn) && rest.empty())
      return id;
  }
  return NotAnId(text, "TASK#s0r0t1");
}

}  // namespace davinci
