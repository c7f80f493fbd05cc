#include "davinci/llm/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "davinci/base/mutex.h"
#include "davinci/base/placement.h"

namespace davinci::llm {
namespace {

// Requests that a place may have under way more than the idlest one, so that rollouts of one prompt
// stay together: a decode step costs nearly the same for a few rows more.
constexpr int kMoreForOnePrompt = 8;

size_t HashOfBeginning(const Request& request) {
  std::string beginning;
  for (const Message& message : request.messages) {
    beginning += message.content;
    beginning += '\0';
    if (message.role == Role::kUser) break;
  }
  return std::hash<std::string>()(beginning);
}

}  // namespace

SpreadBackbone::SpreadBackbone(std::vector<std::unique_ptr<Backbone>> places)
    : places_(std::move(places)), under_way_(places_.size(), 0) {}

Result<Reply> SpreadBackbone::Generate(const Request& request, const CancelToken& cancel) {
  const size_t home = HashOfBeginning(request) % places_.size();
  size_t place = 0;
  {
    const MutexLock lock(mutex_);
    place = PlaceFor(under_way_, home, kMoreForOnePrompt);
    ++under_way_[place];
  }
  auto reply = places_[place]->Generate(request, cancel);
  const MutexLock lock(mutex_);
  --under_way_[place];
  return reply;
}

Result<std::vector<Reply>> SpreadBackbone::GenerateMany(const Request& request, int n,
                                                        const CancelToken& cancel) {
  std::vector<Result<Reply>> results(static_cast<size_t>(n), Status::Ok());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i)
      threads.emplace_back(
          [&, i] { results[static_cast<size_t>(i)] = Generate(SampleOf(request, i), cancel); });
  }
  std::vector<Reply> replies;
  for (auto& result : results) {
    if (!result.ok()) return result.status();
    replies.push_back(std::move(result).value());
  }
  return replies;
}

int64_t SpreadBackbone::CountTokens(std::string_view text) const {
  return places_.front()->CountTokens(text);
}

int64_t SpreadBackbone::CountPromptTokens(const Request& request) const {
  return places_.front()->CountPromptTokens(request);
}

int64_t SpreadBackbone::ContextTokens() const {
  int64_t least = places_.front()->ContextTokens();
  for (const auto& place : places_) least = std::min(least, place->ContextTokens());
  return least;
}

std::string SpreadBackbone::Name() const {
  std::vector<std::string> names;
  for (const auto& place : places_) names.push_back(place->Name());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace davinci::llm
