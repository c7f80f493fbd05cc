#include "davinci/agent/delta_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "davinci/agent/python_statements.h"
#include "davinci/llm/thinking.h"

namespace davinci::agent {
namespace {

// The code behind the last fence that kernels follow, up to a class; "": there is none.
std::string KernelsWithoutClass(std::string_view text) {
  constexpr std::string_view kFence = "```", kClass = "\nclass ";
  const size_t kernel = text.rfind("\n@kernel\n");
  if (kernel == std::string_view::npos) return "";
  const size_t fence = text.rfind(kFence, kernel);
  if (fence == std::string_view::npos) return "";
  const size_t begin = text.find('\n', fence) + 1;
  text = text.substr(begin, text.find(kFence, begin) - begin);
  return std::string(text.substr(0, text.find(kClass)));
}

}  // namespace

llm::Extraction ExtractReply(std::string_view text, llm::FinishReason finish,
                             const TaskBrief& task) {
  llm::Extraction found = llm::ExtractCode(text, finish, task.class_name);
  if (found.ok() || task.plain.code.empty()) return found;
  const auto base = ForwardOf(task.plain.code);
  const std::string kernels = KernelsWithoutClass(llm::SplitThinking(text).answer);
  if (!base || kernels.empty()) return found;
  found.outcome = llm::ExtractionOutcome::kOk;
  found.diagnosis.clear();
  found.source = kernels + "\n\n\n" + base->head + "        ...\n";
  return found;
}

std::string AssembleCandidate(const Prelude& prelude, const TaskBrief& task,
                              const std::string& written, SoundKernels* sound,
                              const std::vector<LeftOut>& wrong) {
  const std::string& kept = task.plain.file.empty() ? task.reference : task.plain.file;
  std::set<std::string> bound, own;
  for (std::string& name : NamesBoundAtTop(kept)) bound.insert(std::move(name));
  SoundKernels kernels;
  std::string reply = written;
  if (!task.plain.code.empty()) {
    KnownNames known;
    for (const auto* pieces : {&prelude.imports(), &prelude.definitions()})
      for (const Prelude::Piece& piece : *pieces) known.in_kernels.insert(piece.name);
    known.in_forward = bound;
    for (const auto& [name, value] : task.sizes) known.in_forward.insert(name);
    reply = FilledIn(task.plain, known, written, &kernels, wrong);
  }
  if (sound != nullptr) *sound = std::move(kernels);
  for (std::string& name : NamesBoundAtTop(reply)) own.insert(std::move(name));
  // Definitions that the reply names, and those that these name.
  std::set<std::string> needed = NamesIn(reply);
  for (bool more = true; more;) {
    more = false;
    for (const Prelude::Piece& piece : prelude.definitions()) {
      if (!needed.contains(piece.name) || own.contains(piece.name)) continue;
      for (const std::string& name : NamesIn(piece.text)) more |= needed.insert(name).second;
    }
  }
  std::map<std::string, std::string, std::less<>> renamed;
  std::string definitions, imports;
  for (const Prelude::Piece& piece : prelude.definitions()) {
    if (!needed.contains(piece.name) || own.contains(piece.name)) continue;
    if (bound.contains(piece.name)) renamed[piece.name] = piece.name + "_dv";
    definitions += "\n\n" + piece.text;
  }
  const auto rename = [&](const std::string& text) {
    if (renamed.empty()) return text;
    return WithNames(text, [&](std::string_view name) {
      const auto found = renamed.find(name);
      return found == renamed.end() ? std::string(name) : found->second;
    });
  };
  for (const Prelude::Piece& piece : prelude.imports()) {
    const bool there =
        kept.starts_with(piece.text) || kept.find("\n" + piece.text) != std::string::npos;
    if (needed.contains(piece.name) && !there) imports += piece.text;
  }
  std::string file = kept;
  if (!file.ends_with('\n')) file += '\n';
  std::string sizes;
  for (const auto& [name, value] : task.sizes)
    sizes += fmt::format("{} = {}\n", name,
                         value == "true"    ? "True"
                         : value == "false" ? "False"
                                            : value);
  for (const std::string* part : {&sizes, &imports})
    if (!part->empty()) file += "\n" + *part;
  file += rename(definitions) + "\n\n" + rename(reply);
  return file;
}

}  // namespace davinci::agent
