#include "davinci/synth/variation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/synth/table_reader.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

size_t IndentOf(std::string_view line) {
  const size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

// A line that begins a docstring, and its quotes.
std::string_view QuotesAt(std::string_view line) {
  line.remove_prefix(IndentOf(line));
  for (const std::string_view quotes : {"\"\"\"", "'''"})
    if (line.starts_with(quotes)) return quotes;
  return "";
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
    const bool root = (i == 0 || text[i - 1] != '.') &&
                      (word == "self" ||
                       (word.size() == 2 && word[0] == 'm' && word[1] >= '1' && word[1] <= '9'));
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
                                              "dim"};
  return names;
}

class Variation {
 public:
  Variation(const Corpus& corpus, PairText pair, uint64_t seed)
      : corpus_(corpus), pair_(std::move(pair)), rng_(seed) {}

  PairText Run() {
    Sizes();
    Attributes();
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

  std::string Pick(const std::string& list) {
    const auto& texts = corpus_.lists.at(list);
    return Filled(texts[rng_.Below(texts.size())]);
  }

  std::string Filled(const std::string& form) {
    std::string text;
    for (size_t i = 0; i < form.size();) {
      const size_t end = form[i] == '{' ? form.find('}', i) : std::string::npos;
      if (end == std::string::npos) {
        text += form[i++];
        continue;
      }
      const std::string word = form.substr(i + 1, end - i - 1);
      text += word == "number"  ? std::to_string(1 + rng_.Below(Chance(0.7) ? 16 : 1024))
              : word == "entry" ? pair_.entry
                                : Pick(word);
      i = end + 1;
    }
    return text;
  }

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
    }
    // A name that also stands behind another dot may be a method.
    std::string rest = WithMembers(pair_.task, [](const std::string&) { return std::string(); });
    const auto& words = corpus_.lists.at("attribute");
    std::map<std::string, std::string> renamed;
    taken = owned;
    const double share = rng_.Uniform();
    for (const std::string& name : owned) {
      if (ForeignMembers().contains(name) || HasMember(rest, name) || !Chance(share)) continue;
      std::string fresh = words[rng_.Below(words.size())];
      if (Chance(0.2)) fresh += fmt::format("{}{}", Chance(0.5) ? "_" : "", 1 + rng_.Below(9));
      if (Chance(0.05)) fresh = "_" + fresh;
      if (ForeignMembers().contains(fresh) || HasWord(pair_.task, fresh) ||
          !taken.insert(fresh).second)
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
  }

  static bool HasMember(const std::string& text, const std::string& name) {
    const std::string member = "." + name;
    for (size_t at = 0; (at = text.find(member, at)) != std::string::npos; ++at) {
      const size_t end = at + member.size();
      if (end == text.size() || !IsWordChar(text[end])) return true;
    }
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
    pair_.task = pair_.task.substr(0, inputs) + second + "\n" + between.substr(1) + moved + "\n";
    pair_.task = Replaced(pair_.task, "\n\n\n\n", "\n\n\n");
  }

  const Corpus& corpus_;
  PairText pair_;
  SplitMix64 rng_;
};

}  // namespace

Result<Corpus> LoadCorpus(const std::filesystem::path& folder) {
  Corpus corpus;
  DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(folder / "corpus.toml"));
  TableReader table(tree);
  for (const std::string& key : table.Keys()) corpus.lists[key] = table.Texts(key);
  for (const char* key : {"sentence", "comment", "tail", "head", "noun", "thing", "verb",
                          "adjective", "place", "attribute"})
    if (corpus.lists[key].empty()) return table.Error(fmt::format("{} is missing", key));
  DAVINCI_RETURN_IF_ERROR(table.Finish());
  return corpus;
}

PairText Varied(const Corpus& corpus, PairText pair, uint64_t seed) {
  return Variation(corpus, std::move(pair), seed).Run();
}

}  // namespace davinci::synth
