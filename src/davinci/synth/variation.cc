#include "davinci/synth/variation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/synth/text.h"
#include "davinci/synth/wording.h"

namespace davinci::synth {
namespace {

size_t IndentOf(std::string_view line) {
  const size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

// A line that begins a docstring, and its quotes.
std::string_view QuotesAt(std::string_view line) {
  line.remove_prefix(IndentOf(line));
  if (line.starts_with('r')) line.remove_prefix(1);
  for (const std::string_view quotes : {"\"\"\"", "'''"})
    if (line.starts_with(quotes)) return quotes;
  return "";
}

// Steps with another name of an argument: functions and keywords are no arguments.
std::string WithArgument(const std::string& steps, const std::string& name,
                         const std::string& fresh) {
  const size_t head = steps.find('\n');
  return RenamedAt(steps, [&](const std::string& word, size_t at) {
    const size_t end = at + word.size();
    const char after = end < steps.size() ? steps[end] : '\n';
    const bool member = at > 0 && steps[at - 1] == '.';
    const bool other = at > head && (after == '(' || after == '=');
    return word == name && !member && !other ? fresh : word;
  });
}

// Kernels beside steps with another name of an argument: in the tensors of their comments,
// "# t2 linear: x, self.fc.weight -> t2", and in the lines behind them that launch them.
std::string WithNotedArgument(const std::string& kernels, const std::string& name,
                              const std::string& fresh) {
  std::string result;
  for (const std::string_view line : Split(kernels, '\n')) {
    const bool launches = !line.empty() && IsWordChar(line[0]) && !line.starts_with("def ");
    const size_t renamed = launches                  ? 0
                           : line.starts_with("# t") ? line.find(": ")
                                                     : std::string_view::npos;
    const size_t begin = std::min(renamed, line.size());
    result += line.substr(0, begin);
    result += WithWord(std::string(line.substr(begin)), name, fresh) + "\n";
  }
  result.pop_back();
  return result;
}

// Components of the paths that begin with self, or with a name that the answer gives such a path.
template <typename Take>
std::string WithMembers(const std::string& text, const Take& take) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string_view word(text.data() + i, end - i);
    const bool root =
        (i == 0 || text[i - 1] != '.') &&
        (word == "self" || (word.size() > 1 && word[0] == 'm' &&
                            word.find_first_not_of("0123456789", 1) == std::string_view::npos));
    result += word;
    i = end;
    while (root && i < text.size() && (text[i] == '.' || text[i] == '[')) {
      size_t next = i + 1;
      while (next < text.size() && IsWordChar(text[next])) ++next;
      if (next == i + 1) break;
      const std::string component = text.substr(i + 1, next - i - 1);
      if (text[i] == '.') {
        result += "." + take(component);
      } else {
        if (next >= text.size() || text[next] != ']') break;
        result += text.substr(i, next + 1 - i);
        ++next;
      }
      i = next;
    }
  }
  return result;
}

// Names that modules of PyTorch have themselves.
const std::set<std::string>& ForeignMembers() {
  static const std::set<std::string> names = {"weight",
                                              "bias",
                                              "running_mean",
                                              "running_var",
                                              "num_batches_tracked",
                                              "in_proj_weight",
                                              "in_proj_bias",
                                              "out_proj",
                                              "parameters",
                                              "buffers",
                                              "register_buffer",
                                              "register_parameter",
                                              "training",
                                              "modules",
                                              "named_parameters",
                                              "children",
                                              "append",
                                              "eps",
                                              "stride",
                                              "padding",
                                              "dilation",
                                              "groups",
                                              "kernel_size",
                                              "forward",
                                              "num_heads",
                                              "embed_dim",
                                              "normalized_shape",
                                              "negative_slope",
                                              "p",
                                              "dim",
                                              "to",
                                              "half",
                                              "float",
                                              "double",
                                              "type",
                                              "train",
                                              "eval",
                                              "apply",
                                              "compile",
                                              "cpu",
                                              "cuda",
                                              "ipu",
                                              "xpu"};
  return names;
}

constexpr std::string_view kForward = "def forward(self, ", kClass = "class ";

// Names that no attribute and no argument may have.
const std::set<std::string>& Keywords() {
  static const std::set<std::string> names = {
      "and",   "as",   "assert", "async",  "await",   "break",  "class",  "continue", "def",
      "del",   "elif", "else",   "for",    "from",    "if",     "import", "in",       "is",
      "None",  "not",  "or",     "pass",   "raise",   "self",   "try",    "while",    "with",
      "yield", "True", "False",  "except", "finally", "global", "lambda", "nonlocal", "return",
      "int",   "len",  "max",    "min",    "sum",     "range"};
  return names;
}

class Variation {
 public:
  Variation(const Corpus& corpus, PairText pair, uint64_t seed)
      : corpus_(corpus), pair_(std::move(pair)), rng_(seed), wording_(corpus, pair_.entry, &rng_) {}

  PairText Run() {
    Sizes();
    Attributes();
    Arguments();
    Keys();
    if (Chance(0.15)) AsFunction();
    Docstrings();
    Comments();
    if (Chance(0.3)) Breaks();
    Imports();
    if (Chance(0.3)) SwapFunctions();
    if (Chance(0.15)) pair_.task = Pick("head") + (Chance(0.5) ? "\n\n" : "\n") + pair_.task;
    while (pair_.task.ends_with('\n')) pair_.task.pop_back();
    pair_.task += '\n';
    if (Chance(0.35)) {
      const std::string tail = Pick("tail");
      pair_.task += (Chance(0.3) ? "" : Chance(0.5) ? "\n" : "\n\n") + tail + "\n";
    }
    return std::move(pair_);
  }

 private:
  bool Chance(double share) { return rng_.Uniform() < share; }
  std::string Pick(const std::string& list) { return wording_.Text(list); }
  std::string FreshName() { return wording_.Name(); }

  // A file whose own sizes are the target's needs no table of them, as files that people write have
  // none.
  void Sizes() {
    const size_t at = pair_.sidecar.find("[sizes.cuda]\n");
    if (at == std::string::npos || !Chance(0.8)) return;
    const size_t end = std::min(pair_.sidecar.find("\n[", at), pair_.sidecar.size());
    const std::string all = "\n" + pair_.task;
    for (const std::string_view line :
         Split(std::string_view(pair_.sidecar).substr(at + 13, end - at - 13), '\n'))
      if (!line.empty() && all.find("\n" + std::string(line) + "\n") == std::string::npos) return;
    pair_.sidecar.resize(pair_.sidecar.find("\n["));
    pair_.sidecar += '\n';
  }

  void Attributes() {
    std::set<std::string> owned, taken;
    for (size_t at = 0; (at = pair_.task.find("self.", at)) != std::string::npos; at += 5) {
      size_t end = at + 5;
      while (end < pair_.task.size() && IsWordChar(pair_.task[end])) ++end;
      const std::string name = pair_.task.substr(at + 5, end - at - 5);
      if (pair_.task.compare(end, 3, " = ") == 0 || pair_.task.compare(end, 2, ": ") == 0)
        owned.insert(name);
      const std::string_view next = std::string_view(pair_.task).substr(end, 2);
      if (name != "register_buffer" || (next != "(\"" && next != "('")) continue;
      const size_t close = pair_.task.find(pair_.task[end + 1], end + 2);
      if (close != std::string::npos) owned.insert(pair_.task.substr(end + 2, close - end - 2));
    }
    // A name that also stands behind another dot may be a method, and one between quotes a key.
    std::string rest = WithMembers(pair_.task, [](const std::string&) { return std::string(); });
    for (const std::string& name : owned)
      for (const char quote : {'"', '\''})
        rest = Replaced(rest, fmt::format("self.({0}{1}{0}", quote, name), "");
    std::map<std::string, std::string> renamed;
    taken = owned;
    const double share = rng_.Uniform();
    for (const std::string& name : owned) {
      if (ForeignMembers().contains(name) || HasMember(rest, name) || !Chance(share)) continue;
      std::string fresh = FreshName();
      if (Chance(0.05)) fresh = "_" + fresh;
      if (ForeignMembers().contains(fresh) || Keywords().contains(fresh) ||
          HasWord(pair_.task, fresh) || !taken.insert(fresh).second)
        continue;
      renamed[name] = fresh;
    }
    if (renamed.empty()) return;
    const auto rename = [&](const std::string& component) {
      const auto found = renamed.find(component);
      return found == renamed.end() ? component : found->second;
    };
    pair_.task = WithMembers(pair_.task, rename);
    pair_.answer = WithMembers(pair_.answer, rename);
    pair_.steps = WithMembers(pair_.steps, rename);
    for (const auto& [name, fresh] : renamed)
      for (const char quote : {'"', '\''})
        pair_.task =
            Replaced(pair_.task, fmt::format("self.register_buffer({0}{1}{0}", quote, name),
                     fmt::format("self.register_buffer({0}{1}{0}", quote, fresh));
  }

  // The names of forward's arguments, where task and answer have one such function each.
  void Arguments() {
    const size_t module = pair_.task.find("class " + pair_.entry + "(");
    const size_t answer = pair_.answer.find(kForward);
    if (module == std::string::npos || answer == std::string::npos ||
        pair_.answer.find(kForward, answer + 1) != std::string::npos)
      return;
    const size_t begin = pair_.task.find(kForward, module);
    if (begin == std::string::npos || pair_.task.find(kClass, module + 1) < begin) return;
    size_t end = begin;  // of the function
    do {
      end = pair_.task.find('\n', end + 1);
    } while (end != std::string::npos && end + 1 < pair_.task.size() &&
             (pair_.task[end + 1] == '\n' || pair_.task.compare(end + 1, 5, "     ") == 0));
    if (end == std::string::npos) return;
    const size_t names = begin + kForward.size();
    const size_t close = pair_.task.find(')', names);
    if (close >= end) return;
    std::string forward = pair_.task.substr(begin, end - begin);
    std::string kernels = pair_.answer.substr(0, answer), body = pair_.answer.substr(answer);
    const double share = rng_.Uniform();
    for (const std::string_view argument :
         SplitTop(std::string_view(pair_.task).substr(names, close - names), ',')) {
      const std::string_view text = Trim(argument);
      const std::string name(text.substr(0, text.find_first_of(":= ")));
      const std::string fresh = FreshName();
      // A keyword of a call is not the argument.
      if (name.empty() || name[0] == '*' || !Chance(share) || !HasWord(body, name) ||
          forward.find(name + "=") != std::string::npos || IsQuoted(pair_.task, name) ||
          Keywords().contains(fresh) || HasWord(pair_.task, fresh) ||
          HasWord(pair_.answer, fresh) || HasWord(forward, fresh) || HasWord(pair_.steps, fresh))
        continue;
      pair_.steps = WithArgument(pair_.steps, name, fresh);
      if (!pair_.steps.empty()) kernels = WithNotedArgument(kernels, name, fresh);
      forward = WithWord(forward, name, fresh);
      body = WithWord(body, name, fresh);
    }
    if (Chance(0.12)) AddOptional(&forward, &body);
    pair_.task.replace(begin, end - begin, forward);
    pair_.answer = kernels + body;
  }

  // Gives forward one more argument, with a default value. The answer leaves its annotation out.
  void AddOptional(std::string* forward, std::string* body) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kDefaults = {
        {{"None", "torch.Tensor"},
         {"None", "int"},
         {"False", "bool"},
         {"True", "bool"},
         {"1.0", "float"},
         {"1e-5", "float"},
         {"0", "int"}}};
    const auto& [value, type] = kDefaults[rng_.Below(kDefaults.size())];
    const std::string name = FreshName();
    const size_t in_task = forward->find(')'), in_answer = body->find(')');
    if (Keywords().contains(name) || HasWord(pair_.task, name) || HasWord(pair_.answer, name) ||
        HasWord(*forward, name) || in_task == std::string::npos || in_answer == std::string::npos)
      return;
    forward->insert(in_task, Chance(0.3) ? fmt::format(", {}: {} = {}", name, type, value)
                                         : fmt::format(", {}={}", name, value));
    body->insert(in_answer, fmt::format(", {}={}", name, value));
    if (!pair_.steps.empty())
      pair_.steps.insert(pair_.steps.find(')'), fmt::format(", {}={}", name, value));
  }

  // A module without state as the function that it is. Rollouts ask for a class all the same.
  void AsFunction() {
    const std::string head = fmt::format("class {}(nn.Module):\n", pair_.entry);
    const std::string answer = fmt::format("class {0}New({0}):\n", pair_.entry);
    const size_t begin = pair_.task.find(head),
                 forward = pair_.task.find("    " + std::string(kForward), begin);
    if (begin == std::string::npos || forward == std::string::npos ||
        pair_.task.find(kClass) != begin ||
        pair_.task.find(kClass, begin + 1) != std::string::npos ||
        pair_.answer.find(answer) == std::string::npos ||
        pair_.answer.find("self.") != std::string::npos)
      return;
    size_t end = forward;  // of the class: of the last line in front of one that is not indented
    for (size_t line = forward; line != std::string::npos && line < pair_.task.size();) {
      const char first = pair_.task[line];
      if (first != ' ' && first != '\n') break;
      const size_t next = std::min(pair_.task.find('\n', line), pair_.task.size());
      if (first == ' ') end = next;
      line = next + 1;
    }
    const size_t init = pair_.task.find("def get_init_inputs");
    if (pair_.task.substr(begin, end - begin).find("self.") != std::string::npos ||
        pair_.task.find("\n    def ", forward + 1) < end ||
        (init != std::string::npos && pair_.task.find("return []", init) == std::string::npos))
      return;
    const std::string name = FreshName();
    if (Keywords().contains(name) || HasWord(pair_.task, name) || HasWord(pair_.answer, name))
      return;
    std::string body;
    for (const std::string_view line : Split(pair_.task.substr(forward, end - forward), '\n'))
      body += std::string(line.empty() ? line : line.substr(4)) + "\n";
    body.pop_back();
    body = fmt::format("def {}(", name) + body.substr(kForward.size());
    pair_.task.replace(begin, end - begin, body);
    pair_.answer = Replaced(pair_.answer, answer, "class ModelNew(nn.Module):\n");
    pair_.sidecar = fmt::format("function = \"{}\"\n", name) +
                    Replaced(pair_.sidecar, fmt::format("entry = \"{}\"\n", pair_.entry), "");
    pair_.entry = name;
  }

  // Keys of the dict that forward returns.
  void Keys() {
    const size_t begin = pair_.answer.rfind("return {");
    if (begin == std::string::npos || !Chance(0.7)) return;
    const std::string returned = pair_.answer.substr(begin, pair_.answer.find('\n', begin) - begin);
    for (size_t at = 0; (at = returned.find('"', at)) != std::string::npos;) {
      const size_t end = returned.find('"', at + 1);
      if (end == std::string::npos) return;
      const std::string key = returned.substr(at + 1, end - at - 1), fresh = FreshName();
      at = end + 1;
      if (returned.compare(at, 2, ": ") != 0 || IsQuoted(pair_.task, fresh)) continue;
      for (const char quote : {'"', '\''})
        pair_.task = Replaced(pair_.task, fmt::format("{0}{1}{0}:", quote, key),
                              fmt::format("{0}{1}{0}:", quote, fresh));
      for (std::string* text : {&pair_.answer, &pair_.steps})
        *text = Replaced(*text, fmt::format("\"{}\":", key), fmt::format("\"{}\":", fresh));
    }
  }

  static bool HasMember(const std::string& text, const std::string& name) {
    const std::string member = "." + name;
    for (size_t at = 0; (at = text.find(member, at)) != std::string::npos; ++at) {
      const size_t end = at + member.size();
      if (end == text.size() || !IsWordChar(text[end])) return true;
    }
    return IsQuoted(text, name);
  }

  static bool IsQuoted(const std::string& text, const std::string& name) {
    return text.find("\"" + name + "\"") != std::string::npos ||
           text.find("'" + name + "'") != std::string::npos;
  }

  void Docstrings() {
    std::string result;
    const auto lines = Split(pair_.task, '\n');
    const double removed = rng_.Uniform() * 0.8;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string_view quotes = QuotesAt(lines[i]);
      if (quotes.empty()) {
        result += std::string(lines[i]) + "\n";
        continue;
      }
      const size_t indent = IndentOf(lines[i]);
      size_t last = i;
      if (lines[i].find(quotes, indent + 3) == std::string_view::npos)
        for (last = i + 1;
             last < lines.size() && lines[last].find(quotes) == std::string_view::npos;)
          ++last;
      const double what = rng_.Uniform();
      if (what < removed) {
        if (last + 1 < lines.size() && lines[last + 1].empty() && indent > 0) ++last;
      } else if (what < removed + (1 - removed) * 0.8) {
        result += Docstring(indent, std::string(quotes));
      } else {
        for (size_t k = i; k <= last && k < lines.size(); ++k)
          result += std::string(lines[k]) + "\n";
      }
      i = last;
    }
    result.pop_back();
    pair_.task = std::move(result);
  }

  std::string Docstring(size_t indent, const std::string& quotes) {
    const std::string space(indent, ' ');
    std::string text = space + quotes;
    const size_t sentences = 1 + rng_.Below(Chance(0.6) ? 1 : 4);
    if (sentences == 1 && Chance(0.7)) return text + Pick("sentence") + quotes + "\n";
    if (Chance(0.5)) text += "\n" + space;
    for (size_t k = 0; k < sentences; ++k)
      text += (k == 0 ? "" : Chance(0.5) ? " " : "\n" + space) + Pick("sentence");
    if (Chance(0.3))
      text += fmt::format("\n\n{0}Args:\n{0}    {1}: {2}\n\n{0}Returns:\n{0}    {3}", space,
                          corpus_.lists.at("noun")[rng_.Below(corpus_.lists.at("noun").size())],
                          Pick("sentence"), Pick("comment"));
    return text + "\n" + space + quotes + "\n";
  }

  void Comments() {
    std::string result;
    int depth = 0;
    bool in_text = false;
    const double share = Chance(0.4) ? 0.25 * rng_.Uniform() : 0;
    const double kept = rng_.Uniform();
    for (const std::string_view line : Split(pair_.task, '\n')) {
      const std::string_view quotes = QuotesAt(line);
      const bool plain = !in_text && quotes.empty() && depth == 0;
      if (!quotes.empty() &&
          (in_text || line.find(quotes, IndentOf(line) + 3) == std::string_view::npos))
        in_text = !in_text;
      const size_t indent = IndentOf(line);
      const bool own = plain && indent < line.size() && line[indent] == '#';
      if (own) {
        if (!Chance(kept)) continue;
        result += std::string(indent, ' ') + "# " + Pick("comment") + "\n";
        continue;
      }
      if (plain && indent == 8 && indent < line.size() && line[indent] != ')' && Chance(share))
        result += std::string(indent, ' ') + "# " + Pick("comment") + "\n";
      std::string text(line);
      if (plain || depth > 0) {
        const size_t hash = text.find("  # ");
        if (hash != std::string::npos && text.find('"') == std::string::npos) {
          text.resize(hash);
          if (Chance(kept)) text += "  # " + Pick("comment");
        } else if (plain && indent >= 8 && indent < text.size() && Chance(share * 0.5)) {
          text += "  # " + Pick("comment");
        }
        for (const char c : line.substr(0, line.find('#')))
          depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      }
      result += text + "\n";
    }
    result.pop_back();
    pair_.task = std::move(result);
  }

  // Arguments of modules one a line.
  void Breaks() {
    std::string result;
    for (const std::string_view line : Split(pair_.task, '\n')) {
      const size_t indent = IndentOf(line), open = line.find('(');
      const size_t equals = line.find(" = nn.");
      if (indent != 8 || equals == std::string_view::npos || open == std::string_view::npos ||
          !line.ends_with(')') || line.find('#') != std::string_view::npos || !Chance(0.4)) {
        result += std::string(line) + "\n";
        continue;
      }
      const auto parts = SplitTop(line.substr(open + 1, line.size() - open - 2), ',');
      int depth = 0;
      bool whole = parts.size() > 1;
      for (size_t i = open; i + 1 < line.size(); ++i) {
        depth += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
        whole = whole && depth > 0;
      }
      if (!whole) {
        result += std::string(line) + "\n";
        continue;
      }
      const std::string space(indent, ' ');
      result += std::string(line.substr(0, open + 1)) + "\n";
      for (size_t k = 0; k < parts.size(); ++k)
        result +=
            space + "    " + std::string(Trim(parts[k])) + (k + 1 < parts.size() ? "," : "") + "\n";
      result += space + ")\n";
    }
    result.pop_back();
    pair_.task = std::move(result);
  }

  void Imports() {
    const double kind = rng_.Uniform();
    const std::string usual = "import torch.nn as nn\n";
    if (pair_.task.find(usual) == std::string::npos) return;
    if (kind < 0.15) {
      pair_.task = Replaced(pair_.task, usual, "from torch import nn\n");
    } else if (kind < 0.22) {
      pair_.task = Replaced(pair_.task, usual, "");
      std::string text;
      for (size_t i = 0; i < pair_.task.size(); ++i) {
        const bool begins =
            pair_.task.compare(i, 3, "nn.") == 0 &&
            (i == 0 || (!IsWordChar(pair_.task[i - 1]) && pair_.task[i - 1] != '.'));
        if (begins) text += "torch.";
        text += pair_.task[i];
      }
      pair_.task = std::move(text);
    } else if (kind < 0.3) {
      pair_.task =
          Replaced(pair_.task, usual, usual + (Chance(0.5) ? "import math\n" : "import os\n"));
    }
    if (Chance(0.2) && pair_.task.find("import torch.nn.functional as F\n") == std::string::npos)
      pair_.task =
          Replaced(pair_.task, "import torch\n", "import torch\nimport torch.nn.functional as F\n");
  }

  void SwapFunctions() {
    const size_t inputs = pair_.task.find("\ndef get_inputs");
    const size_t init = pair_.task.find("\ndef get_init_inputs");
    if (inputs == std::string::npos || init == std::string::npos || init < inputs) return;
    const std::string first = pair_.task.substr(inputs, init - inputs);
    std::string second = pair_.task.substr(init);
    while (second.ends_with('\n')) second.pop_back();
    std::string between;
    std::string moved = first;
    while (moved.ends_with('\n')) {
      moved.pop_back();
      between += '\n';
    }
    pair_.task = pair_.task.substr(0, inputs) + second + "\n" +
                 between.substr(between.empty() ? 0 : 1) + moved + "\n";
    pair_.task = Replaced(pair_.task, "\n\n\n\n", "\n\n\n");
  }

  const Corpus& corpus_;
  PairText pair_;
  SplitMix64 rng_;
  Wording wording_;
};

}  // namespace

PairText Varied(const Corpus& corpus, PairText pair, uint64_t seed) {
  return Variation(corpus, std::move(pair), seed).Run();
}

PairText VariedTask(const Corpus& corpus, PairText task, uint64_t seed) {
  // Names are changed where the answer has them, too: this one has the arguments alone.
  const size_t module = task.task.find("class " + task.entry + "(");
  const size_t begin = task.task.find(kForward, module);
  if (module != std::string::npos && begin != std::string::npos)
    task.answer = fmt::format("class {0}New({0}):\n    {1}):\n        pass\n", task.entry,
                              task.task.substr(begin, task.task.find(')', begin) - begin));
  task = Varied(corpus, std::move(task), seed);
  task.answer.clear();
  return task;
}

}  // namespace davinci::synth
