#include "davinci/text/incremental_decoder.h"

#include <utility>

#include "davinci/text/utf8_repair.h"

namespace davinci::text {

std::string IncrementalDecoder::Push(int32_t id) {
  if (skip_special_ && tokenizer_.IsSpecial(id)) return "";
  pending_ += tokenizer_.TokenBytes(id);
  const size_t tail = IncompleteTail(pending_);
  std::string rest = pending_.substr(pending_.size() - tail);
  pending_.resize(pending_.size() - tail);
  std::string text = RepairUtf8(pending_);
  pending_ = std::move(rest);
  return text;
}

std::string IncrementalDecoder::Finish() { return RepairUtf8(std::exchange(pending_, {})); }

}  // namespace davinci::text
