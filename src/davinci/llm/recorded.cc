#include "davinci/llm/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/table.h"
#include "davinci/data/rollout.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;
constexpr int kFormatVersion = 1;

std::string QuotedLabel(std::string_view label) {
  return '"' + Ellipsize(Printable(label), 200) + '"';
}

// Short hashes of the parts of a request, so that a mismatch can be named.
std::map<std::string, std::string> PartsOf(const Request& request) {
  const auto hash = [](const Json& json) { return Sha256Hex(JsonText(json)).substr(0, 12); };
  const Json json = ToJson(request);
  std::map<std::string, std::string> parts;
  Json sampling = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (key == "messages") {
      for (size_t i = 0; i < value.size(); ++i)
        parts[fmt::format("messages[{}]", i)] = hash(value[i]);
    } else if (key == "tools") {
      parts["tools"] = hash(value);
    } else {
      sampling[key] = value;
    }
  }
  parts["sampling"] = hash(sampling);
  return parts;
}

std::string Differences(const std::map<std::string, std::string>& recorded,
                        const std::map<std::string, std::string>& asked) {
  std::set<std::string> names;
  for (const auto& [name, hash] : asked) {
    const auto found = recorded.find(name);
    if (found == recorded.end() || found->second != hash) names.insert(name);
  }
  for (const auto& [name, hash] : recorded) {
    if (!asked.contains(name)) names.insert(name);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "unknown parts" : list;
}

}  // namespace

Json ToJson(const RecordedReply& record) {
  Json json = {{"davinci_recording", kFormatVersion},
               {"label", record.label},
               {"reply", ToJson(record.reply)}};
  if (!record.request_sha256.empty()) {
    json["request_sha256"] = record.request_sha256;
    json["parts"] = record.parts;
  }
  return json;
}

Result<RecordedReply> RecordedReplyFromJson(const Json& json) {
  if (!json.is_object() || !json.contains("davinci_recording"))
    return InvalidArgument("not a recorded reply: there is no member \"davinci_recording\"");
  if (json["davinci_recording"] != kFormatVersion) {
    return InvalidArgument(
        fmt::format("recording format {}; this davinci reads {}",
                    json["davinci_recording"].dump(-1, ' ', true, Json::error_handler_t::replace),
                    kFormatVersion));
  }
  RecordedReply record;
  const auto text = [&](const char* key, std::string* value) {
    const auto found = json.find(key);
    if (found == json.end()) return true;
    if (!found->is_string()) return false;
    *value = found->get<std::string>();
    return true;
  };
  if (!text("label", &record.label)) return InvalidArgument("\"label\" is not text");
  if (!text("request_sha256", &record.request_sha256))
    return InvalidArgument("\"request_sha256\" is not text");
  if (record.label.empty() && record.request_sha256.empty())
    return InvalidArgument("neither \"label\" nor \"request_sha256\": nothing could match it");
  if (const auto parts = json.find("parts"); parts != json.end() && parts->is_object()) {
    for (const auto& [name, hash] : parts->items()) {
      if (hash.is_string()) record.parts[name] = hash.get<std::string>();
    }
  }
  if (!json.contains("reply")) return InvalidArgument("there is no \"reply\"");
  DAVINCI_ASSIGN_OR_RETURN(record.reply, ReplyFromJson(json["reply"]));
  return record;
}

RecordedReply MakeRecord(const Request& request, const Reply& reply, RecordingMatch match) {
  RecordedReply record;
  record.label = request.label;
  record.reply = reply;
  if (match == RecordingMatch::kContent || request.label.empty()) {
    record.request_sha256 = ContentHash(request);
    record.parts = PartsOf(request);
  }
  return record;
}

Result<Recording> Recording::Load(const std::filesystem::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const store::JournalContent content, store::Journal::Read(file));
  if (!content.damaged_lines.empty()) {
    return InvalidArgument(
        fmt::format("{}:{}: not JSON", file.string(), content.damaged_lines.front()));
  }
  Recording recording;
  for (size_t i = 0; i < content.records.size(); ++i) {
    auto record = RecordedReplyFromJson(content.records[i]);
    if (!record.ok())
      return record.status().Annotate(fmt::format("{}: record {}", file.string(), i + 1));
    recording.Add(std::move(record).value());
  }
  return recording;
}

void Recording::Add(RecordedReply record) {
  if (record.label.empty()) {
    by_content_[record.request_sha256] = std::move(record.reply);
    return;
  }
  std::vector<RecordedReply>& same_label = by_label_[record.label];
  const auto same = std::find_if(
      same_label.begin(), same_label.end(),
      [&](const RecordedReply& other) { return other.request_sha256 == record.request_sha256; });
  if (same == same_label.end()) {
    same_label.push_back(std::move(record));
  } else {
    *same = std::move(record);
  }
}

Result<Reply> Recording::Find(const Request& request) const {
  if (request.label.empty()) {
    const auto found = by_content_.find(ContentHash(request));
    if (found != by_content_.end()) return found->second;
    return NotFound("no recorded reply to this request, which has no label");
  }
  const auto found = by_label_.find(request.label);
  if (found == by_label_.end()) {
    return NotFound(fmt::format("no recorded reply for {} (the recording has {} others)",
                                QuotedLabel(request.label), size()));
  }
  const std::string hash = ContentHash(request);
  for (const bool exact : {true, false}) {
    for (const RecordedReply& record : found->second) {
      if (exact ? record.request_sha256 == hash : record.request_sha256.empty())
        return record.reply;
    }
  }
  return InvalidArgument(fmt::format(
      "the recorded reply for {} answers another request; what differs: {}. Record again, or "
      "replay "
      "with the settings and version that recorded it",
      QuotedLabel(request.label), Differences(found->second.back().parts, PartsOf(request))));
}

Result<std::pair<Reply, std::string>> Recording::Draw(std::string_view label) const {
  const auto nothing = [&] {
    return NotFound(fmt::format("no recorded reply to draw from for {}", QuotedLabel(label)));
  };
  const auto asked = ParseTurnId(label);
  if (!asked.ok()) return nothing();
  std::vector<std::pair<TurnId, const RecordedReply*>> pool;
  for (const auto& [name, records] : by_label_) {
    const auto id = ParseTurnId(name);
    if (id.ok() && id->rollout.task == asked->rollout.task) pool.emplace_back(*id, &records.back());
  }
  if (pool.empty()) return nothing();
  std::ranges::sort(pool, {}, [](const auto& entry) {
    const TurnId& id = entry.first;
    return std::tuple(id.turn, id.rollout.step, id.rollout.scheme, id.rollout.rollout);
  });
  const auto width = static_cast<size_t>(
      std::ranges::count_if(pool, [](const auto& entry) { return entry.first.turn == 1; }));
  const size_t number = static_cast<size_t>(asked->rollout.rollout) +
                        std::max<size_t>(width, 1) * static_cast<size_t>(asked->turn - 1);
  const auto& [id, record] = pool[number % pool.size()];
  return std::pair(record->reply, ToString(id));
}

size_t Recording::size() const {
  size_t count = by_content_.size();
  for (const auto& [label, records] : by_label_) count += records.size();
  return count;
}

Result<std::unique_ptr<RecordedBackbone>> RecordedBackbone::Open(const std::filesystem::path& file,
                                                                 Ledger* ledger,
                                                                 RecordingGaps gaps) {
  DAVINCI_ASSIGN_OR_RETURN(Recording recording, Recording::Load(file));
  return std::make_unique<RecordedBackbone>(std::move(recording),
                                            "recorded:" + file.filename().string(), ledger, gaps);
}

RecordedBackbone::RecordedBackbone(Recording recording, std::string name, Ledger* ledger,
                                   RecordingGaps gaps)
    : recording_(std::move(recording)), name_(std::move(name)), ledger_(ledger), gaps_(gaps) {}

Result<Reply> RecordedBackbone::Generate(const Request& request, const CancelToken& cancel) {
  if (cancel.stop_requested()) return Cancelled("generating " + QuotedLabel(request.label));
  auto reply = recording_.Find(request);
  if (gaps_ == RecordingGaps::kDraw && reply.status().code() == StatusCode::kNotFound) {
    auto drawn = recording_.Draw(request.label);
    if (drawn.ok()) {
      drawn->first.endpoint =
          fmt::format("{}, drawn: this reply was recorded for {}", name_, drawn->second);
      reply = std::move(drawn->first);
    }
  }
  if (!reply.ok()) return reply.status().Annotate(name_);
  if (ledger_ != nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(Ledger::Entry entry,
                             ledger_->Open(reply->model, 1, reply->cost_usd, cancel));
    entry.Charge(reply->model, reply->usage, reply->cost_usd);
  }
  if (request.on_token) request.on_token({.text = reply->text});
  return reply;
}

RecordingBackbone::RecordingBackbone(std::unique_ptr<store::Journal> journal, Recording known,
                                     Backbone* inner, RecordingMatch match)
    : journal_(std::move(journal)), inner_(inner), match_(match), known_(std::move(known)) {}

Result<std::unique_ptr<RecordingBackbone>> RecordingBackbone::Open(
    const std::filesystem::path& file, Backbone* inner, RecordingMatch match) {
  DAVINCI_ASSIGN_OR_RETURN(std::unique_ptr<store::Journal> journal, store::Journal::Open(file));
  DAVINCI_ASSIGN_OR_RETURN(Recording known, Recording::Load(file));
  return std::unique_ptr<RecordingBackbone>(
      new RecordingBackbone(std::move(journal), std::move(known), inner, match));
}

Status RecordingBackbone::Keep(const Request& request, const Reply& reply) {
  RecordedReply record = MakeRecord(request, reply, match_);
  DAVINCI_RETURN_IF_ERROR(journal_->Append(ToJson(record)));
  const MutexLock lock(mutex_);
  known_.Add(std::move(record));
  return Status::Ok();
}

Result<Reply> RecordingBackbone::Generate(const Request& request, const CancelToken& cancel) {
  {
    const MutexLock lock(mutex_);
    if (auto known = known_.Find(request); known.ok()) {
      if (request.on_token) request.on_token({.text = known->text});
      return known;
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(Reply reply, inner_->Generate(request, cancel));
  DAVINCI_RETURN_IF_ERROR(Keep(request, reply));
  return reply;
}

Result<std::vector<Reply>> RecordingBackbone::GenerateMany(const Request& request, int n,
                                                           const CancelToken& cancel) {
  {
    const MutexLock lock(mutex_);
    std::vector<Reply> known;
    for (int i = 0; i < n; ++i) {
      auto reply = known_.Find(SampleOf(request, i));
      if (!reply.ok()) break;
      known.push_back(std::move(reply).value());
    }
    if (known.size() == static_cast<size_t>(n)) return known;
  }
  DAVINCI_ASSIGN_OR_RETURN(std::vector<Reply> replies, inner_->GenerateMany(request, n, cancel));
  for (size_t i = 0; i < replies.size(); ++i)
    DAVINCI_RETURN_IF_ERROR(Keep(SampleOf(request, static_cast<int>(i)), replies[i]));
  return replies;
}

}  // namespace davinci::llm
