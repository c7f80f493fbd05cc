// Finds stop strings in text that comes in pieces, and holds back what may become one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace davinci::embedded {

class StopText {
 public:
  // Empty strings are ignored.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
    std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
  }

  // The part of the text so far that can be given out; nothing after a stop string was found.
  std::string Push(std::string_view piece) {
    if (stopped_) return "";
    held_ += piece;
    size_t cut = std::string::npos;
    for (const std::string& stop : stops_) cut = std::min(cut, held_.find(stop));
    if (cut != std::string::npos) {
      stopped_ = true;
      held_.resize(cut);
      return std::exchange(held_, "");
    }
    size_t keep = 0;
    for (const std::string& stop : stops_)
      for (size_t length = std::min(stop.size() - 1, held_.size()); length > keep; --length)
        if (held_.ends_with(std::string_view(stop).substr(0, length))) keep = length;
    std::string out = held_.substr(0, held_.size() - keep);
    held_.erase(0, out.size());
    return out;
  }
  // What was held back for nothing.
  std::string Finish() { return std::exchange(held_, ""); }
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace davinci::embedded
