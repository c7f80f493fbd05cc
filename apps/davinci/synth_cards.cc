#include "synth_cards.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "batch.h"
#include "davinci/agent/delta_reply.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/config/task_config.h"
#include "davinci/llm/token_count.h"
#include "davinci/runs/batch_results.h"
#include "davinci/skill/formats.h"
#include "davinci/teacher/cards/card.h"
#include "davinci/teacher/demos/pair_rows.h"
#include "installation.h"
#include "report.h"
#include "synth_flags.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct CardArguments {
  std::string out = "synth-cards";
  std::string language = "triton";
  std::string families = "all";
  std::string grammar;
  std::string proofs;  // results.jsonl of an earlier judgement
  std::string known;   // cards with proofs
  bool judge = false;
  int jobs = 0;
};

// The digest of the task and the reply that a card's proof is about.
std::string ProofDigest(const std::string& task, const std::string& reply) {
  return Sha256().Field(task).Field(reply).FinishHex();
}

class CardWriter {
 public:
  CardWriter(CardArguments arguments, const GlobalOptions& global)
      : arguments_(std::move(arguments)), global_(global) {}

  Status Run() {
    DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
    SampleFlags flags;
    flags.grammar = arguments_.grammar;
    DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, GrammarFolder(flags));
    DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto teacher, teacher::Teacher::Load(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto prelude,
                             Prelude::Load(home / "python" / "davinci_runtime" / "prelude.py"));
    teacher::CardSettings settings;
    settings.language =
        arguments_.language == "cpp" ? teacher::Language::kCpp : teacher::Language::kTriton;
    settings.reply = arguments_.language == "cpp" ? ReplyForm::kFile : ReplyForm::kDelta;
    settings.steps = arguments_.language == "triton";
    settings.families = arguments_.families == "train"      ? teacher::CardFamilies::kTrain
                        : arguments_.families == "held-out" ? teacher::CardFamilies::kHeldOut
                                                            : teacher::CardFamilies::kAll;
    const teacher::CardDeck deck(grammar, styles, teacher, settings);
    DAVINCI_RETURN_IF_ERROR(ReadKnown());
    for (const char* part : {"tasks", "candidates"}) {
      DAVINCI_RETURN_IF_ERROR(RemoveAll(Out() / part));
      DAVINCI_RETURN_IF_ERROR(MakeDirs(Out() / part));
    }
    std::string jobs, demos;
    for (const std::string& name : deck.names()) {
      const teacher::CardSubject* subject = deck.Find(name);
      const auto card = subject == nullptr ? std::nullopt : deck.Write(*subject, deck.Plain());
      if (!card) {
        without_.push_back(name);
        continue;
      }
      agent::PlainForward plain;
      if (card->steps) {
        DAVINCI_ASSIGN_OR_RETURN(plain,
                                 teacher.PlainOf(card->task.graph, card->task.text, *card->steps));
      }
      DAVINCI_RETURN_IF_ERROR(Add(*card, prelude, std::move(plain), settings, &jobs, &demos));
    }
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(Out() / "jobs.jsonl", jobs));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(Out() / "demos.jsonl", demos));
    if (arguments_.judge) {
      if (!jobs.empty()) {
        DAVINCI_RETURN_IF_ERROR(Judge());
        arguments_.proofs = (Out() / "results.jsonl").string();
      }
    }
    if (!arguments_.proofs.empty()) {
      DAVINCI_RETURN_IF_ERROR(Prove());
    }
    std::vector<skill::Document> documents;
    for (auto& [name, document] : cards_) {
      if (const auto proof = known_.find(name); proof != known_.end())
        document.skill.extra["proof"] = proof->second;
      documents.push_back(document);
    }
    DAVINCI_RETURN_IF_ERROR(skill::WriteJsonl(Out() / "cards.jsonl", documents));
    int64_t tokens = 0;
    for (const skill::Document& document : documents)
      tokens += llm::EstimateTokens(skill::RenderSkill(document.skill, Shown()));
    fmt::print(
        "{} cards of {} tokens in the mean (estimate), {} operators and patterns without: {}\n",
        documents.size(), tokens / std::max<int64_t>(1, static_cast<int64_t>(documents.size())),
        without_.size(), (Out() / "cards.jsonl").string());
    return Status::Ok();
  }

 private:
  fs::path Out() const { return arguments_.out; }
  davinci::Language Shown() const {
    return arguments_.language == "cpp" ? davinci::Language::kCpp : davinci::Language::kTriton;
  }

  Status Add(const teacher::Card& card, const Prelude& prelude, agent::PlainForward plain,
             const teacher::CardSettings& settings, std::string* jobs, std::string* demos) {
    const std::string& name = card.skill.name;
    const std::string sidecar = teacher::DemoSidecar(card.task.text);
    std::string candidate = card.candidate.source;
    const Target target = arguments_.language == "cpp" ? Target::kCpu : Target::kCuda;
    if (settings.reply == ReplyForm::kDelta) {
      DAVINCI_ASSIGN_OR_RETURN(const auto config, config::ParseTaskConfig(sidecar, name + ".toml"));
      agent::TaskBrief brief = agent::BriefOf(config, target, Shown(), settings.reply);
      brief.reference = card.task.text.source;
      brief.plain = std::move(plain);
      candidate = agent::AssembleCandidate(prelude, brief, candidate);
    }
    const fs::path task_file = Out() / "tasks" / (name + ".py");
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(task_file, card.task.text.source, Durability::kFastest));
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(Out() / "tasks" / (name + ".toml"), sidecar, Durability::kFastest));
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(Out() / "candidates" / (name + ".py"), candidate, Durability::kFastest));
    const std::string digest = ProofDigest(card.task.text.source + sidecar, card.candidate.source);
    digests_[name] = digest;
    const auto known = known_.find(name);
    const bool proven = known != known_.end() && known->second.value("digest", "") == digest;
    if (!proven) known_.erase(name);
    if (!proven)
      *jobs += JsonText(json{{"id", name},
                             {"reference", "tasks/" + name + ".py"},
                             {"candidate", "candidates/" + name + ".py"},
                             {"target", TargetName(target)},
                             {"protocol", "screening"}}) +
               "\n";
    json row = synth::ToJson(card.task);
    row["id"] = name;
    row["sidecar"] = sidecar;
    row["candidates"] = {{{"id", name},
                          {"language", arguments_.language},
                          {"source", candidate},
                          {"own_kernels", card.candidate.own_kernels}}};
    *demos += JsonText(row) + "\n";
    cards_[name].skill = card.skill;
    return Status::Ok();
  }

  // Proofs of cards that may have stayed the same.
  Status ReadKnown() {
    if (arguments_.known.empty()) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(const auto read, skill::ReadSkills(arguments_.known));
    for (const skill::Document& document : read.documents)
      if (const auto& extra = document.skill.extra; extra.contains("proof"))
        known_[document.skill.name] = extra["proof"];
    return Status::Ok();
  }

  Status Judge() const {
    BatchOptions batch;
    batch.in_flight = arguments_.jobs;
    batch.defaults.protocol = "screening";
    DAVINCI_ASSIGN_OR_RETURN(const int code, RunBatchIn(Out(), std::move(batch), global_));
    if (code == 3)
      return Unavailable("the judgement did not finish; the same command continues it");
    return Status::Ok();
  }

  // A card stays where its kernel was found correct by execution, and says how.
  Status Prove() {
    DAVINCI_ASSIGN_OR_RETURN(const auto verdicts, runs::ReadVerdicts(arguments_.proofs));
    for (const auto& [name, digest] : digests_) {
      if (known_.contains(name)) continue;
      const auto found = verdicts.find(name);
      const std::string status =
          found == verdicts.end() ? "not judged" : found->second.value("status", "?");
      const bool correct =
          found != verdicts.end() && found->second.value("correct", json()) == true;
      if (!correct) {
        fmt::print("left out: {}: {}\n", name, status);
        cards_.erase(name);
        continue;
      }
      skill::OrderedJson proof = {{"status", status}, {"digest", digest}};
      const json& device = found->second.value("device", json());
      if (device.is_object() && device.contains("name")) proof["device"] = device["name"];
      cards_[name].skill.extra["proof"] = proof;
    }
    return Status::Ok();
  }

  CardArguments arguments_;
  const GlobalOptions& global_;
  std::map<std::string, skill::Document> cards_;
  std::map<std::string, std::string> digests_;
  std::map<std::string, skill::OrderedJson> known_;  // proofs of unchanged cards
  std::vector<std::string> without_;
};

}  // namespace

void AddSynthCards(CLI::App* synth, GlobalOptions& global, int* exit_code) {
  auto* cards = synth->add_subcommand(
      "cards", "operator cards: skills that say what an operator computes, with its kernel");
  auto arguments = std::make_shared<CardArguments>();
  cards->add_option("--out", arguments->out,
                    "folder for cards.jsonl, tasks/, candidates/, jobs.jsonl, demos.jsonl (default "
                    "synth-cards)");
  cards->add_option("--language", arguments->language, "triton (default), cpp")
      ->check(CLI::IsMember({"triton", "cpp"}));
  cards
      ->add_option("--families", arguments->families,
                   "all (default), train, held-out: operators and patterns of these families")
      ->check(CLI::IsMember({"all", "train", "held-out"}));
  cards->add_option("--grammar", arguments->grammar, "grammar folder (default: synth/)");
  cards->add_flag("--judge", arguments->judge,
                  "judge the kernels; only cards whose kernel is correct stay, and say so");
  cards->add_option("--proofs", arguments->proofs,
                    "results.jsonl of an earlier judgement of jobs.jsonl, in the place of --judge");
  cards->add_option("--known", arguments->known,
                    "cards with proofs: those of unchanged cards are not judged again");
  cards->add_option("-j,--jobs", arguments->jobs, "of --judge: evaluations in flight");
  cards->footer(
      "Examples:\n"
      "  davinci synth cards --out build/cards --known cards/triton.jsonl --judge      (on a GPU)\n"
      "  davinci skills search --library cards/triton.jsonl --reference my_module.py -l triton\n");
  cards->callback([arguments, exit_code, &global] {
    const Status status = CardWriter(*arguments, global).Run();
    if (!status.ok()) *exit_code = FailCommand("synth cards", status);
  });
}

}  // namespace davinci::app
