// Recordings: replies kept in a file of JSON lines and given out again, without a model.
//
//   {"davinci_recording": 1, "label": "softmax/0/1/2/policy", "request_sha256": "…",
//    "parts": {"messages[0]": "…", "sampling": "…", "tools": "…"}, "reply": {…}}
//
// `parts` (short hashes) only serves to say what differs. A line without request_sha256 answers any
// request of its label: for recordings that are judged live, where measured times get into the next
// prompt. Replies are found by label, never by order, so that replay does not depend on threads. A
// request without label is found by its content.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/ledger.h"
#include "davinci/store/journal.h"

namespace davinci::llm {

// What a recording answers to a turn it has no reply for.
enum class RecordingGaps {
  kError,  // NotFound
  // A reply recorded for another turn of the same task, chosen by number: what is recorded for turn
  // 1 of its rollouts first, then turn 2, …; rollout r's turn t takes number r + width * (t - 1),
  // modulo their count, where width is the number of rollouts recorded. So a strategy other than
  // the recorded one has something to work on. Reply::endpoint says that, and what was drawn.
  kDraw,
};

enum class RecordingMatch {
  kContent,  // label and content must agree
  kLabel,    // the label suffices
};

// One line of a recording.
struct RecordedReply {
  std::string label;
  std::string request_sha256;                // empty: any content
  std::map<std::string, std::string> parts;  // part of the request -> short hash
  Reply reply;
};
nlohmann::json ToJson(const RecordedReply& record);
Result<RecordedReply> RecordedReplyFromJson(const nlohmann::json& json);
RecordedReply MakeRecord(const Request& request, const Reply& reply, RecordingMatch match);

// Where replies are looked up. Immutable after loading but for Add; not thread-safe.
class Recording {
 public:
  // NotFound without the file; InvalidArgument names file and line of a malformed record. A torn
  // last line (the recorder was killed) is left out.
  static Result<Recording> Load(const std::filesystem::path& file);

  void Add(RecordedReply record);  // replaces one with the same label and content
  // NotFound when nothing has this label, InvalidArgument when the content differs; both name the
  // label, the latter also the parts that differ.
  Result<Reply> Find(const Request& request) const;
  // As RecordingGaps::kDraw, with the label of what was drawn; NotFound when `label` is not a
  // turn's, or nothing is recorded for its task.
  Result<std::pair<Reply, std::string>> Draw(std::string_view label) const;
  size_t size() const;

 private:
  std::map<std::string, std::vector<RecordedReply>, std::less<>> by_label_;
  std::map<std::string, Reply, std::less<>> by_content_;
};

class RecordedBackbone : public Backbone {
 public:
  // The ledger (may be null, not owned) is charged with what the calls cost when they were
  // recorded, so that budgets act as they did then.
  static Result<std::unique_ptr<RecordedBackbone>> Open(const std::filesystem::path& file,
                                                        Ledger* ledger = nullptr,
                                                        RecordingGaps gaps = RecordingGaps::kError);
  RecordedBackbone(Recording recording, std::string name, Ledger* ledger = nullptr,
                   RecordingGaps gaps = RecordingGaps::kError);

  Result<Reply> Generate(const Request& request, const CancelToken& cancel) override;
  std::string Name() const override { return name_; }

 private:
  const Recording recording_;
  const std::string name_;
  Ledger* const ledger_;
  const RecordingGaps gaps_;
};

// Passes requests on to another backbone and writes down what it answers. A reply is in the file,
// durably, before Generate returns it. Requests the file already answers (same label, same content)
// are answered from it: a run that was killed does not pay twice.
class RecordingBackbone : public Backbone {
 public:
  // Creates or continues `file`; Unavailable when another process is recording to it. `inner` is
  // not owned.
  static Result<std::unique_ptr<RecordingBackbone>> Open(
      const std::filesystem::path& file, Backbone* inner,
      RecordingMatch match = RecordingMatch::kContent);

  Result<Reply> Generate(const Request& request, const CancelToken& cancel) override;
  Result<std::vector<Reply>> GenerateMany(const Request& request, int n,
                                          const CancelToken& cancel) override;
  int64_t CountTokens(std::string_view text) const override { return inner_->CountTokens(text); }
  int64_t CountPromptTokens(const Request& request) const override {
    return inner_->CountPromptTokens(request);
  }
  int64_t ContextTokens() const override { return inner_->ContextTokens(); }
  std::string Name() const override { return inner_->Name(); }

 private:
  RecordingBackbone(std::unique_ptr<store::Journal> journal, Recording known, Backbone* inner,
                    RecordingMatch match);
  Status Keep(const Request& request, const Reply& reply);

  const std::unique_ptr<store::Journal> journal_;
  Backbone* const inner_;
  const RecordingMatch match_;
  Mutex mutex_;
  Recording known_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::llm
