#include "davinci/trainer/token_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "davinci/base/files.h"

namespace davinci::trainer {
namespace {

constexpr std::string_view kTokenFileMagic = "davinci tokens 1";

struct Run {
  uint32_t begin = 0;  // index of the first target
  uint32_t count = 0;
  float weight = 0;
};

struct Footer {
  uint64_t index = 0;  // offset of the entries
  uint64_t num_entries = 0;
  uint64_t splits_bytes = 0;  // of their names, each ended by a zero byte
  uint64_t id_bytes = 0;
  char magic[16] = {};
};

template <typename T>
void AppendRaw(std::string* out, const T& value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The bytes of an example's ids, up to its runs.
uint64_t IdBytes(uint64_t count, uint64_t id_bytes) { return (count * id_bytes + 3) / 4 * 4; }

uint16_t SplitId(std::vector<std::string>* splits, const std::string& name) {
  const auto found = std::find(splits->begin(), splits->end(), name);
  if (found != splits->end()) return static_cast<uint16_t>(found - splits->begin());
  // A row's split is one of few names; what exceeds the table counts as the last of them.
  if (splits->size() == 0xffff) return 0xfffe;
  splits->push_back(name);
  return static_cast<uint16_t>(splits->size() - 1);
}

}  // namespace

void TokenBatch::Add(const SftExample& example, int64_t line) {
  TokenFile::Entry entry;
  entry.offset = data_.size();
  entry.num_tokens = static_cast<uint32_t>(example.tokens.size());
  entry.num_targets = static_cast<uint32_t>(example.targets.size());
  entry.line = static_cast<uint32_t>(line);
  entry.split = SplitId(&splits_, example.split);
  entry.agent = static_cast<uint8_t>(example.agent);
  for (const int32_t id : example.tokens) {
    if (wide_)
      AppendRaw(&data_, id);
    else
      AppendRaw(&data_, static_cast<uint16_t>(id));
  }
  data_.resize((data_.size() + 3) / 4 * 4);
  for (size_t t = 0; t < example.targets.size(); ++entry.num_runs) {
    Run run{static_cast<uint32_t>(example.targets[t]), 0, example.weights[t]};
    for (; t < example.targets.size() &&
           example.targets[t] == static_cast<int32_t>(run.begin + run.count) &&
           example.weights[t] == run.weight;
         ++t)
      ++run.count;
    AppendRaw(&data_, run);
  }
  entries_.push_back(entry);
}

Result<TokenFileWriter> TokenFileWriter::Create(const std::filesystem::path& path, bool wide) {
  TokenFileWriter writer;
  writer.path_ = path;
  writer.temporary_ = path;
  writer.temporary_ += fmt::format(".{}.tmp", ::getpid());
  writer.wide_ = wide;
  writer.file_.Reset(
      ::open(writer.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!writer.file_.valid()) return FromErrno(errno, writer.temporary_.string());
  DAVINCI_RETURN_IF_ERROR(
      WriteAll(writer.file_.get(), kTokenFileMagic, writer.temporary_.string()));
  writer.size_ = kTokenFileMagic.size();
  return writer;
}

Status TokenFileWriter::Append(const TokenBatch& batch, int64_t first_line) {
  std::vector<uint16_t> splits;
  for (const std::string& name : batch.splits_) splits.push_back(SplitId(&splits_, name));
  for (TokenFile::Entry entry : batch.entries_) {
    entry.offset += size_;
    entry.line += static_cast<uint32_t>(first_line);
    entry.split = splits[entry.split];
    entries_.push_back(entry);
  }
  size_ += batch.data_.size();
  return WriteAll(file_.get(), batch.data_, temporary_.string());
}

Status TokenFileWriter::Finish() {
  std::string end((size_ + 7) / 8 * 8 - size_, '\0');  // entries are aligned
  Footer footer;
  footer.index = size_ + end.size();
  footer.num_entries = entries_.size();
  footer.id_bytes = wide_ ? 4 : 2;
  end.append(reinterpret_cast<const char*>(entries_.data()),
             entries_.size() * sizeof(TokenFile::Entry));
  for (const std::string& name : splits_) {
    end += name;
    end += '\0';
    footer.splits_bytes += name.size() + 1;
  }
  std::memcpy(footer.magic, kTokenFileMagic.data(), sizeof(footer.magic));
  AppendRaw(&end, footer);
  DAVINCI_RETURN_IF_ERROR(WriteAll(file_.get(), end, temporary_.string()));
  file_.Reset();
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  return error ? FromErrno(error.value(), path_.string()) : Status::Ok();
}

Result<TokenFile> TokenFile::Open(const std::filesystem::path& path) {
  TokenFile opened;
  DAVINCI_ASSIGN_OR_RETURN(opened.file_, weights::MappedFile::Open(path));
  const std::string_view text = opened.file_->text();
  const auto bad = [&] {
    return InvalidArgument(fmt::format("{} is damaged; remove it", path.string()));
  };
  Footer footer;
  if (text.size() < kTokenFileMagic.size() + sizeof(footer) || !text.starts_with(kTokenFileMagic))
    return bad();
  const uint64_t body = text.size() - sizeof(footer);
  std::memcpy(&footer, text.data() + body, sizeof(footer));
  if (std::string_view(footer.magic, sizeof(footer.magic)) != kTokenFileMagic ||
      (footer.id_bytes != 2 && footer.id_bytes != 4) || footer.index % 8 != 0 ||
      footer.index > body || footer.splits_bytes > body - footer.index ||
      footer.num_entries != (body - footer.index - footer.splits_bytes) / sizeof(Entry) ||
      footer.num_entries * sizeof(Entry) != body - footer.index - footer.splits_bytes)
    return bad();
  opened.id_bytes_ = static_cast<uint32_t>(footer.id_bytes);
  opened.entries_ = {reinterpret_cast<const Entry*>(text.data() + footer.index),
                     static_cast<size_t>(footer.num_entries)};
  std::string_view names = text.substr(body - footer.splits_bytes, footer.splits_bytes);
  while (!names.empty()) {
    const size_t end = names.find('\0');
    if (end == std::string_view::npos) return bad();
    opened.splits_.emplace_back(names.substr(0, end));
    names.remove_prefix(end + 1);
  }
  for (const Entry& entry : opened.entries_) {
    const uint64_t bytes = IdBytes(entry.num_tokens, footer.id_bytes) +
                           static_cast<uint64_t>(entry.num_runs) * sizeof(Run);
    if (entry.offset % 4 != 0 || entry.offset > footer.index ||
        bytes > footer.index - entry.offset || entry.split >= opened.splits_.size() ||
        entry.agent > 2 || entry.num_targets > entry.num_tokens)
      return bad();
  }
  return opened;
}

SftExample TokenFile::Read(size_t i) const {
  const Entry& entry = entries_[i];
  const std::byte* const from = file_->bytes().data() + entry.offset;
  SftExample example;
  example.agent = static_cast<rl::AgentKind>(entry.agent);
  example.split = splits_[entry.split];
  if (id_bytes_ == 2) {
    const auto* const ids = reinterpret_cast<const uint16_t*>(from);
    example.tokens.assign(ids, ids + entry.num_tokens);
  } else {
    const auto* const ids = reinterpret_cast<const int32_t*>(from);
    example.tokens.assign(ids, ids + entry.num_tokens);
  }
  example.targets.reserve(entry.num_targets);
  example.weights.reserve(entry.num_targets);
  const auto* const runs =
      reinterpret_cast<const Run*>(from + IdBytes(entry.num_tokens, id_bytes_));
  for (uint32_t r = 0; r < entry.num_runs; ++r)
    for (uint32_t t = 0; t < runs[r].count && example.targets.size() < entry.num_targets; ++t) {
      example.targets.push_back(static_cast<int32_t>(runs[r].begin + t));
      example.weights.push_back(runs[r].weight);
    }
  return example;
}

}  // namespace davinci::trainer
