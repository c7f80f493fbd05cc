#include "davinci/trainer/sft_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/trainer/row_files.h"

namespace davinci::trainer {

Result<SftData> SftData::Load(std::span<const std::string> entries, std::span<const double> weights,
                              const SftEncoder& encoder, int64_t max_tokens, bool skip_overlong) {
  std::vector<std::filesystem::path> files;
  std::vector<size_t> ends;  // of each entry, in `files`
  for (const std::string& entry : entries) {
    DAVINCI_ASSIGN_OR_RETURN(const auto named, RowFiles(entry));
    files.insert(files.end(), named.begin(), named.end());
    ends.push_back(files.size());
  }
  SftData data;
  DAVINCI_ASSIGN_OR_RETURN(data.tokens_, EncodeRowFiles(files, encoder));
  size_t file = 0;
  for (size_t section = 0; section < ends.size(); ++section) {
    const size_t begin = data.places_.size();
    for (; file < ends[section]; ++file) {
      const TokenFile& tokens = data.tokens_.files[file];
      for (size_t i = 0; i < tokens.size(); ++i) {
        const TokenFile::Entry& entry = tokens.entry(i);
        if (entry.num_tokens > max_tokens) {
          if (!skip_overlong)
            return InvalidArgument(fmt::format(
                "{}:{}: an example of {} tokens; data.max_tokens is {}: raise it, or leave such "
                "examples out with data.overlong = \"skip\"",
                files[file].string(), entry.line, entry.num_tokens, max_tokens));
          ++data.num_skipped_;
          continue;
        }
        data.total_tokens_ += entry.num_tokens;
        data.total_targets_ += entry.num_targets;
        data.longest_ = std::max<int64_t>(data.longest_, entry.num_tokens);
        data.places_.push_back({static_cast<uint32_t>(file), static_cast<uint32_t>(i)});
      }
    }
    data.sections_.push_back({begin, data.places_.size(), weights.empty() ? 1 : weights[section]});
  }
  if (data.empty())
    return InvalidArgument(
        fmt::format("data.train: no example in {} file(s), {} left out as too long", files.size(),
                    data.num_skipped_));
  return data;
}

}  // namespace davinci::trainer
