#include "davinci/llm/token_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace davinci::llm {
namespace {

constexpr std::string_view kMagic = "DVTT1\n";
constexpr std::string_view kBoundedMagic = "DVTT2\n";  // as long

bool IsTrace(std::string_view bytes) {
  return bytes.starts_with(kMagic) || bytes.starts_with(kBoundedMagic);
}

class Writer {
 public:
  explicit Writer(std::string_view magic) : bytes_(magic) {}
  void Word(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes_.push_back(static_cast<char>(value >> shift & 0xff));
  }
  void Text(std::string_view text) {
    Word(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  std::string bytes_;
};

class TraceReader {
 public:
  explicit TraceReader(std::string_view bytes) : rest_(bytes) {}

  uint32_t Word() {
    if (rest_.size() < 4) {
      ok_ = false;
      return 0;
    }
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value |= uint32_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(4);
    return value;
  }
  std::string Text() {
    const size_t size = Word();
    if (rest_.size() < size) {
      ok_ = false;
      return "";
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  // A count of words that are really there.
  size_t Count() {
    const size_t count = Word();
    if (count > rest_.size() / 4) {
      ok_ = false;
      return 0;
    }
    return count;
  }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

TracePrefix ReadHead(TraceReader* reader, TokenTrace* trace) {
  trace->weights_digest = reader->Text();
  trace->tokenizer_digest = reader->Text();
  trace->template_digest = reader->Text();
  const uint64_t low = reader->Word();
  trace->update = static_cast<int64_t>(uint64_t{reader->Word()} << 32 | low);
  TracePrefix prefix;
  prefix.name = reader->Text();
  prefix.num_tokens = reader->Word();
  return prefix;
}

}  // namespace

std::vector<TokenId> AllTokens(const TokenTrace& trace) {
  std::vector<TokenId> tokens = trace.prompt_tokens;
  tokens.insert(tokens.end(), trace.output_tokens.begin(), trace.output_tokens.end());
  return tokens;
}

bool Continues(const TokenTrace& later, const TokenTrace& earlier) {
  const size_t num_prompt = earlier.prompt_tokens.size();
  if (later.prompt_tokens.size() < num_prompt + earlier.output_tokens.size()) return false;
  const auto middle = later.prompt_tokens.begin() + static_cast<ptrdiff_t>(num_prompt);
  return std::equal(earlier.prompt_tokens.begin(), earlier.prompt_tokens.end(),
                    later.prompt_tokens.begin()) &&
         std::equal(earlier.output_tokens.begin(), earlier.output_tokens.end(), middle);
}

Result<std::string> EncodeTrace(const TokenTrace& trace, const TracePrefix& prefix) {
  const size_t skip = prefix.num_tokens;
  if (skip > trace.prompt_tokens.size())
    return InvalidArgument(fmt::format("a trace of {} prompt tokens cannot leave out {}",
                                       trace.prompt_tokens.size(), skip));
  if (!trace.logprobs.empty() && trace.logprobs.size() != trace.output_tokens.size())
    return InvalidArgument(fmt::format("a trace of {} output tokens has {} log-probabilities",
                                       trace.output_tokens.size(), trace.logprobs.size()));
  if (trace.prompt_tokens.size() + trace.output_tokens.size() >
      std::numeric_limits<uint32_t>::max() / 8)
    return InvalidArgument("a trace has more tokens than its format counts");
  Writer writer(trace.bounded ? kBoundedMagic : kMagic);
  writer.Text(trace.weights_digest);
  writer.Text(trace.tokenizer_digest);
  writer.Text(trace.template_digest);
  const auto update = static_cast<uint64_t>(trace.update);
  writer.Word(static_cast<uint32_t>(update));
  writer.Word(static_cast<uint32_t>(update >> 32));
  writer.Text(prefix.name);
  writer.Word(static_cast<uint32_t>(skip));
  writer.Word(static_cast<uint32_t>(trace.prompt_tokens.size() - skip));
  for (size_t i = skip; i < trace.prompt_tokens.size(); ++i)
    writer.Word(static_cast<uint32_t>(trace.prompt_tokens[i]));
  writer.Word(static_cast<uint32_t>(trace.output_tokens.size()));
  for (const TokenId id : trace.output_tokens) writer.Word(static_cast<uint32_t>(id));
  writer.Word(static_cast<uint32_t>(trace.logprobs.size()));
  for (const float logprob : trace.logprobs) writer.Word(std::bit_cast<uint32_t>(logprob));
  return std::move(writer.bytes_);
}

Result<TracePrefix> PrefixOf(std::string_view bytes) {
  if (!IsTrace(bytes)) return InvalidArgument("these bytes are no token trace");
  TraceReader reader(bytes.substr(kMagic.size()));
  TokenTrace trace;
  return ReadHead(&reader, &trace);
}

Result<TokenTrace> DecodeTrace(std::string_view bytes, const std::vector<TokenId>& prefix) {
  if (!IsTrace(bytes)) return InvalidArgument("these bytes are no token trace");
  TraceReader reader(bytes.substr(kMagic.size()));
  TokenTrace trace;
  trace.bounded = bytes.starts_with(kBoundedMagic);
  if (const size_t skip = ReadHead(&reader, &trace).num_tokens; skip != prefix.size())
    return InvalidArgument(
        fmt::format("the token trace continues one of {} tokens, not of {}", skip, prefix.size()));
  trace.prompt_tokens = prefix;
  const size_t num_prompt = reader.Count();
  trace.prompt_tokens.reserve(prefix.size() + num_prompt);
  for (size_t i = 0; i < num_prompt; ++i)
    trace.prompt_tokens.push_back(static_cast<TokenId>(reader.Word()));
  const size_t num_output = reader.Count();
  for (size_t i = 0; i < num_output; ++i)
    trace.output_tokens.push_back(static_cast<TokenId>(reader.Word()));
  const size_t num_logprobs = reader.Count();
  for (size_t i = 0; i < num_logprobs; ++i)
    trace.logprobs.push_back(std::bit_cast<float>(reader.Word()));
  if (!reader.at_end()) return InvalidArgument("the token trace is cut off or has bytes too many");
  if (num_logprobs != 0 && num_logprobs != num_output)
    return InvalidArgument("the token trace has another number of log-probabilities than tokens");
  return trace;
}

}  // namespace davinci::llm
