#include "davinci/judge/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/base/rng.h"
#include "davinci/base/utf8.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kShownBytes = 400;

std::string_view UpTo(std::string_view* text, char end) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(std::min(at + 1, text->size()));
  return part;
}

std::string TextOf(const json& value) { return value.is_null() ? "" : JsonText(value); }

}  // namespace

Transcript::Transcript(std::string_view lines) : replays_(true), text_(lines), rest_(text_) {}

void Transcript::MadeFolder(const std::filesystem::path& folder) {
  names_.Add(fmt::format("folder{}", ++num_folders_), folder.string());
}

void Transcript::Differ(const std::string& difference) {
  if (difference_.empty()) difference_ = fmt::format("line {}: {}", line_, difference);
}

void Transcript::FlushClock() {
  if (readings_.empty()) return;
  text_ += fmt::format("@{}\n", fmt::join(readings_, ","));
  readings_.clear();
}

int64_t Transcript::MonotonicNs() {
  if (!replays_) {
    const WithOutside real(nullptr);
    const int64_t now = davinci::MonotonicNs();
    readings_.push_back(now - clock_ns_);
    return clock_ns_ = now;
  }
  if (pending_clock_.empty() && rest_.starts_with('@')) {
    ++line_;
    pending_clock_ = UpTo(&rest_, '\n').substr(1);
  }
  int64_t since = 0;
  const std::string_view reading = UpTo(&pending_clock_, ',');
  std::from_chars(reading.data(), reading.data() + reading.size(), since);
  return clock_ns_ += since;
}

// Readings that are left over pass, too.
Transcript::Line Transcript::Next() {
  while (true) {
    for (; !pending_clock_.empty();) {
      const std::string_view reading = UpTo(&pending_clock_, ',');
      int64_t since = 0;
      std::from_chars(reading.data(), reading.data() + reading.size(), since);
      clock_ns_ += since;
    }
    ++line_;
    std::string_view line = UpTo(&rest_, '\n');
    if (line.starts_with('@')) {
      pending_clock_ = line.substr(1);
      continue;
    }
    Line next;
    next.what = UpTo(&line, '\t');
    next.question = UpTo(&line, '\t');
    next.answer = line;
    return next;
  }
}

bool Transcript::IsNext(std::string_view what) const {
  std::string_view rest = rest_;
  while (rest.starts_with('@')) UpTo(&rest, '\n');
  return replays_ && rest.starts_with(what) && rest.substr(what.size()).starts_with('\t');
}

json Transcript::Ask(std::string_view what, const json& question,
                     const std::function<json()>& answer) {
  if (!replays_) {
    FlushClock();
    json given;
    {
      const WithOutside real(nullptr);
      given = answer();
    }
    FlushClock();  // of what was recorded within
    text_ += fmt::format("{}\t{}\t{}\n", what, names_.Named(TextOf(question)),
                         names_.Named(TextOf(given)));
    return given;
  }
  if (!difference_.empty()) return nullptr;  // it ends; destructors may still ask
  const Line next = Next();
  const std::string asked = names_.Named(TextOf(question));
  if (next.what != what || next.question != asked) {
    Differ(fmt::format("recorded: {} {}\n  now asked: {} {}", next.what,
                       ElideMiddle(next.question, kShownBytes), what,
                       ElideMiddle(asked, kShownBytes)));
    throw std::runtime_error("the replay asks otherwise, " + difference_);
  }
  return next.answer.empty() ? json() : json::parse(names_.Real(std::string(next.answer)));
}

uint64_t Transcript::SecretSeed() {
  return Ask("seed", nullptr, [] { return json(davinci::SecretSeed()); }).get<uint64_t>();
}

std::string Transcript::Finish() {
  FlushClock();
  return std::move(text_);
}

std::string Transcript::Difference() const {
  if (!difference_.empty()) return difference_;
  std::string_view rest = rest_;
  while (rest.starts_with('@')) UpTo(&rest, '\n');
  if (rest.empty()) return "";
  const auto more = std::ranges::count(rest, '\n');
  return fmt::format("after line {}: {} more lines were recorded, next {}", line_, more,
                     ElideMiddle(UpTo(&rest, '\n'), kShownBytes));
}

}  // namespace davinci::judge
