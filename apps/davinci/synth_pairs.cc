#include "synth_pairs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "davinci/agent/device_facts.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/skill/formats.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/demos/pair_rows.h"
#include "davinci/text/tokenizer.h"
#include "installation.h"
#include "python_texts.h"
#include "report.h"
#include "synth_flags.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Candidates of a shard, so that no two shards draw the same one.
constexpr uint64_t kStride = uint64_t{1} << 24;

struct PairArguments {
  SampleFlags sample;
  std::string out = "synth-pairs";
  std::string language = "triton";
  std::string reply = "delta";
  std::string prompts = "compact";
  std::vector<std::string> devices = {"NVIDIA H100 80GB HBM3",   "NVIDIA H200",
                                      "NVIDIA A100-SXM4-80GB",   "NVIDIA L40S",
                                      "NVIDIA GeForce RTX 4090", ""};
  std::string tokenizer;
  size_t shard = 8192;
  teacher::PairSettings settings;
};

struct Counts {
  size_t rows = 0;
  size_t prompt_bytes = 0, reply_bytes = 0;
  std::map<std::string, size_t> left_out;
};

// The arguments that decide the rows.
json ArgumentsOf(const PairArguments& arguments) {
  return {{"count", arguments.sample.count},
          {"split", arguments.sample.split},
          {"seed", arguments.sample.seed},
          {"pattern", arguments.sample.pattern},
          {"language", arguments.language},
          {"reply", arguments.reply},
          {"prompts", arguments.prompts},
          {"devices", arguments.devices},
          {"tokenizer", arguments.tokenizer},
          {"shard", arguments.shard},
          {"with_skills", arguments.settings.with_skills},
          {"with_cards", arguments.settings.cards.share},
          {"max_cards", arguments.settings.cards.most},
          {"varied", arguments.settings.varied},
          {"reply_tokens", arguments.settings.reply_tokens},
          {"policy_tokens", arguments.settings.limits.policy_tokens},
          {"max_skills", arguments.settings.limits.max_skills},
          {"version", DAVINCI_VERSION}};
}

class PairWriter {
 public:
  PairWriter(const synth::Grammar& grammar, const synth::StyleBook& styles,
             const synth::SampleOptions& options, const teacher::PairMaker& maker, fs::path out,
             size_t shard)
      : grammar_(grammar),
        styles_(styles),
        options_(options),
        maker_(maker),
        out_(std::move(out)),
        shard_(shard) {}

  // Shards that are there are not made again: a file has its name when it is whole.
  Status Run() {
    const size_t shards = (options_.count + shard_ - 1) / shard_;
    const auto work = [&] {
      for (size_t k; (k = next_.fetch_add(1)) < shards;) {
        const Status made = Shard(k, shards);
        if (made.ok()) continue;
        std::lock_guard lock(mutex_);
        if (status_.ok()) status_ = made;
        next_ = shards;
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options_.threads; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return status_;
  }

  const Counts& counts() const { return counts_; }

 private:
  Status Shard(size_t number, size_t shards) {
    const fs::path file = out_ / fmt::format("pairs-{:05}.jsonl", number);
    std::error_code error;
    if (fs::exists(file, error)) {
      std::lock_guard lock(mutex_);
      ++done_;
      return Status::Ok();
    }
    synth::SampleOptions options = options_;
    options.threads = 1;
    options.count = std::min(shard_, options_.count - number * shard_);
    options.first = number * kStride;
    std::string text;
    Counts own;
    const auto sampled = synth::SampleTasks(
        grammar_, styles_, options, [&](const synth::SampledTask& task) -> Status {
          DAVINCI_ASSIGN_OR_RETURN(const teacher::PairRow made, maker_.Make(task));
          if (!made.row) {
            ++own.left_out[made.left_out];
            return Status::Ok();
          }
          ++own.rows;
          for (const auto& message : made.row->messages)
            (message.role == "assistant" ? own.reply_bytes : own.prompt_bytes) +=
                message.content.size();
          text += JsonText(sftdata::ToJson(*made.row)) + "\n";
          return Status::Ok();
        });
    if (!sampled.ok()) return sampled.status();
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, text, Durability::kFastest));
    std::lock_guard lock(mutex_);
    counts_.rows += own.rows;
    counts_.prompt_bytes += own.prompt_bytes;
    counts_.reply_bytes += own.reply_bytes;
    for (const auto& [why, count] : own.left_out) counts_.left_out[why] += count;
    ++done_;
    if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r{} of {} shards ", done_, shards);
    return Status::Ok();
  }

  const synth::Grammar& grammar_;
  const synth::StyleBook& styles_;
  const synth::SampleOptions& options_;
  const teacher::PairMaker& maker_;
  const fs::path out_;
  const size_t shard_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  // guards the rest
  Counts counts_;
  size_t done_ = 0;
  Status status_;
};

Status Run(PairArguments arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, GrammarFolder(arguments.sample));
  DAVINCI_ASSIGN_OR_RETURN(auto options, SampleOptionsOf(arguments.sample));
  const fs::path out = arguments.out;
  DAVINCI_RETURN_IF_ERROR(MakeDirs(out));
  const json wanted = ArgumentsOf(arguments);
  if (const auto old = ReadFile(out / "arguments.json"); old.ok()) {
    if (json::parse(*old, nullptr, false) != wanted)
      return InvalidArgument(
          fmt::format("{} holds rows of other arguments (arguments.json); name another folder with "
                      "--out, or remove it",
                      out.string()));
  } else {
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "arguments.json", JsonText(wanted, 2) + "\n"));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto texts, ReadPythonTexts({(home / "tasks").string()}));
  const auto contamination = synth::ContaminationOf(texts);
  options.contamination = &contamination;
  DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
  DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
  DAVINCI_ASSIGN_OR_RETURN(const auto teacher, teacher::Teacher::Load(folder));
  DAVINCI_ASSIGN_OR_RETURN(
      const auto prompts,
      agent::PromptSet::Load(home / "prompts", arguments.prompts == "compact"
                                                   ? home / "prompts" / "compact"
                                                   : fs::path()));
  DAVINCI_ASSIGN_OR_RETURN(const auto read, skill::ReadSkills(home / "skills"));
  std::map<std::string, skill::Skill> library;
  for (const auto& document : read.documents) library[document.skill.name] = document.skill;
  teacher::PairSettings& settings = arguments.settings;
  settings.language = arguments.language == "cpp"    ? teacher::Language::kCpp
                      : arguments.language == "cuda" ? teacher::Language::kCuda
                                                     : teacher::Language::kTriton;
  settings.reply = arguments.reply == "delta" ? ReplyForm::kDelta : ReplyForm::kFile;
  agent::DeviceFacts facts;
  facts.target = arguments.language == "cpp" ? Target::kCpu : Target::kCuda;
  for (const std::string& name : arguments.devices) {
    facts.name = name;
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, agent::DescribeDevice(prompts, facts));
    settings.devices.push_back(text);
  }
  if (!arguments.tokenizer.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto tokenizer, text::Tokenizer::Load(arguments.tokenizer));
    settings.limits.count_tokens = [tokenizer](std::string_view text) {
      const auto ids = tokenizer.Encode(text);
      return ids.ok() ? static_cast<int64_t>(ids->size()) : llm::EstimateTokens(text);
    };
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto corpus, synth::LoadCorpus(folder));
  teacher::CardSettings card_settings{settings.language, settings.reply,
                                      teacher::CardFamilies::kTrain};
  // Rows of held-out families are no rows of training.
  if (options.split == synth::SplitKind::kFamily)
    card_settings.families = teacher::CardFamilies::kAll;
  std::optional<teacher::CardDeck> deck;
  if (settings.cards.share > 0) deck.emplace(grammar, styles, teacher, card_settings);
  const teacher::PairMaker maker(teacher, prompts, library, corpus, settings,
                                 deck ? &*deck : nullptr);
  const auto begin = std::chrono::steady_clock::now();
  PairWriter writer(grammar, styles, options, maker, out, arguments.shard);
  DAVINCI_RETURN_IF_ERROR(writer.Run());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Counts& counts = writer.counts();
  fmt::print("{} rows in {:.1f} s ({:.0f} a second, {} threads): {}\n", counts.rows, seconds,
             static_cast<double>(counts.rows) / std::max(seconds, 1e-9), options.threads,
             out.string());
  if (counts.rows > 0)
    fmt::print("mean characters: prompt {}, reply {}\n", counts.prompt_bytes / counts.rows,
               counts.reply_bytes / counts.rows);
  for (const auto& [why, number] : counts.left_out) fmt::print("{:>7} left out: {}\n", number, why);
  return Status::Ok();
}

void AddCardOptions(CLI::App* pairs, PairArguments* arguments) {
  pairs
      ->add_option("--with-cards", arguments->settings.cards.share,
                   "share of prompts that show operator cards, most of them under other names and "
                   "with other numbers (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  pairs
      ->add_option("--max-cards", arguments->settings.cards.most,
                   "most cards of a prompt (default 2)")
      ->check(CLI::Range(size_t{1}, size_t{8}));
}

}  // namespace

void AddSynthPairs(CLI::App* synth, int* exit_code) {
  auto* pairs = synth->add_subcommand(
      "pairs", "rows of the policy from generated tasks and the teacher's kernels, not judged");
  auto arguments = std::make_shared<PairArguments>();
  AddSampleFlags(pairs, &arguments->sample);
  pairs->add_option("--out", arguments->out,
                    "folder for pairs-NNNNN.jsonl; an interrupted command continues there "
                    "(default synth-pairs)");
  pairs->add_option("--language", arguments->language, "triton (default), cpp, cuda")
      ->check(CLI::IsMember({"triton", "cpp", "cuda"}));
  pairs
      ->add_option("--reply", arguments->reply,
                   "delta (default; triton alone): kernels and forward; file: the whole file")
      ->check(CLI::IsMember({"delta", "file"}));
  pairs->add_option("--prompts", arguments->prompts, "compact (default) or full")
      ->check(CLI::IsMember({"compact", "full"}));
  pairs->add_option("--device", arguments->devices,
                    "names of devices, of which a prompt has one (default: some GPUs, and none)");
  pairs->add_option("--tokenizer", arguments->tokenizer,
                    "tokenizer.json, or folder of the model to be trained, that counts tokens "
                    "(default: an estimate)");
  pairs->add_option("--shard", arguments->shard, "tasks of a file (default 8192)")
      ->check(CLI::Range(size_t{1}, size_t{1} << 20));
  pairs
      ->add_option("--with-skills", arguments->settings.with_skills,
                   "share of prompts that show skills (default 0.15)")
      ->check(CLI::Range(0.0, 1.0));
  AddCardOptions(pairs, arguments.get());
  pairs
      ->add_option("--varied", arguments->settings.varied,
                   "share of tasks with other names, texts and formatting around the same code "
                   "(default 0.9)")
      ->check(CLI::Range(0.0, 1.0));
  pairs->add_option("--max-skills", arguments->settings.limits.max_skills,
                    "most skills of a prompt (default 2)");
  pairs->add_option("--reply-tokens", arguments->settings.reply_tokens,
                    "longest reply (default 1000)");
  pairs->add_option("--policy-tokens", arguments->settings.limits.policy_tokens,
                    "longest prompt (default 3500)");
  pairs->footer(
      "Examples:\n"
      "  davinci synth pairs --count 1000000 --out pairs\n"
      "  davinci synth pairs --count 200 --split combination --out held-out-rows\n");
  pairs->callback([arguments, exit_code] {
    const Status status = Run(*arguments);
    if (status.ok()) return;
    fmt::print(stderr, "davinci synth pairs: {}\n", status.ToString());
    *exit_code = IsBadInput(status) ? 2 : 3;
  });
}

}  // namespace davinci::app
