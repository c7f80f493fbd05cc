#include "davinci/llm/code_extraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "davinci/base/suggest.h"
#include "davinci/base/table.h"
#include "davinci/llm/thinking.h"

namespace davinci::llm {
namespace {

// Follows Python text line by line: which triple-quoted string, if any, is open after a line.
class QuoteState {
 public:
  void Feed(std::string_view line) {
    for (size_t i = 0; i < line.size();) {
      if (open_ != 0) {
        if (line[i] == '\\') {
          i += 2;
        } else if (line.substr(i, 3) == std::string(3, open_)) {
          open_ = 0;
          i += 3;
        } else {
          ++i;
        }
        continue;
      }
      const char c = line[i];
      if (c == '#') return;
      if (c != '"' && c != '\'') {
        ++i;
        continue;
      }
      if (line.substr(i, 3) == std::string(3, c)) {
        open_ = c;
        i += 3;
        continue;
      }
      // An ordinary string ends on its line, or there is nothing to follow.
      for (++i; i < line.size() && line[i] != c; ++i) {
        if (line[i] == '\\') ++i;
      }
      ++i;
    }
  }
  bool in_string() const { return open_ != 0; }

 private:
  char open_ = 0;
};

struct Fence {
  char mark = 0;
  size_t length = 0;
  bool has_info = false;
};

// A fence line: three or more marks, then an info string (without the mark itself) or nothing.
Fence ReadFence(std::string_view line) {
  size_t i = line.find_first_not_of(" \t");
  if (i == std::string_view::npos || (line[i] != '`' && line[i] != '~')) return {};
  const size_t end = std::min(line.find_first_not_of(line[i], i), line.size());
  if (end - i < 3) return {};
  const std::string_view rest = line.substr(end);
  if (line[i] == '`' && rest.find('`') != std::string_view::npos) return {};
  return {line[i], end - i, rest.find_first_not_of(" \t") != std::string_view::npos};
}

struct Block {
  Fence fence;
  size_t first_line = 0;
  size_t end_line = 0;  // one past the last
  bool closed = false;
  size_t first_inner_line = std::string_view::npos;  // fence of the first block inside
};

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool Closes(const Fence& fence, const Fence& open) {
  return fence.mark == open.mark && fence.length >= open.length && !fence.has_info;
}

// For every line, whether a fence there lies inside a triple-quoted string of the block that starts
// at `first` and that string ends before the text does (otherwise it is no string but a stray
// quote). Returns the lines to skip.
std::vector<bool> QuotedFences(const std::vector<std::string_view>& lines, size_t first) {
  std::vector<bool> quoted(lines.size(), false);
  QuoteState quotes;
  size_t string_start = 0;
  constexpr size_t kLongestSearch_lines = 2000;
  const size_t end = std::min(lines.size(), first + kLongestSearch_lines);
  for (size_t i = first; i < end; ++i) {
    const bool inside = quotes.in_string();
    const Fence fence = ReadFence(lines[i]);
    if (fence.mark != 0 && !inside) break;  // the block's end, or an inner block with its own state
    quotes.Feed(lines[i]);
    if (!inside && quotes.in_string()) string_start = i;
    if (inside && !quotes.in_string()) {
      std::fill(quoted.begin() + static_cast<std::ptrdiff_t>(string_start) + 1,
                quoted.begin() + static_cast<std::ptrdiff_t>(i), true);
    }
  }
  return quoted;
}

std::vector<Block> FindBlocks(const std::vector<std::string_view>& lines) {
  std::vector<Block> blocks;
  std::vector<size_t> open;  // indices into blocks, innermost last
  std::vector<bool> quoted;  // of the innermost block
  for (size_t i = 0; i < lines.size(); ++i) {
    const Fence fence = ReadFence(lines[i]);
    if (fence.mark == 0 || (!open.empty() && i < quoted.size() && quoted[i])) continue;
    if (!open.empty() && !fence.has_info) {
      // The innermost block whose fence has this very length, else the innermost this fence can
      // close; blocks inside it were never closed.
      const auto innermost = [&](auto fits) {
        size_t depth = open.size();
        while (depth > 0 && !fits(blocks[open[depth - 1]].fence)) --depth;
        return depth;
      };
      size_t depth = innermost([&](const Fence& opened) {
        return opened.mark == fence.mark && opened.length == fence.length;
      });
      if (depth == 0) depth = innermost([&](const Fence& opened) { return Closes(fence, opened); });
      if (depth == 0) continue;  // text of a block with a longer fence
      for (size_t k = depth; k < open.size(); ++k) blocks[open[k]].end_line = i;
      blocks[open[depth - 1]].end_line = i;
      blocks[open[depth - 1]].closed = true;
      open.resize(depth - 1);
      quoted.clear();
      continue;
    }
    // Nesting deeper than this is noise, not Markdown.
    constexpr size_t kMaxDepth = 8;
    if (open.size() >= kMaxDepth) continue;
    if (!open.empty()) {
      size_t& first_inner = blocks[open.back()].first_inner_line;
      first_inner = std::min(first_inner, i);
    }
    open.push_back(blocks.size());
    blocks.push_back({fence, i + 1, lines.size()});
    quoted = QuotedFences(lines, i + 1);
  }
  // A block that is not closed ends where the next one begins.
  for (Block& block : blocks) {
    if (!block.closed) block.end_line = std::min(block.end_line, block.first_inner_line);
  }
  return blocks;
}

// Names of the classes that lines [first, end) define at the top level, in order.
std::vector<std::string> TopLevelClasses(const std::vector<std::string_view>& lines,
                                         const Block& block) {
  std::vector<std::string> names;
  QuoteState quotes;
  // A block inside a list item is indented as a whole.
  size_t indent = std::string_view::npos;
  for (size_t i = block.first_line; i < block.end_line; ++i) {
    const size_t start = lines[i].find_first_not_of(" \t");
    if (start != std::string_view::npos) indent = std::min(indent, start);
  }
  for (size_t i = block.first_line; i < block.end_line; ++i) {
    const std::string_view line = lines[i];
    const bool inside = quotes.in_string();
    quotes.Feed(line);
    if (inside || indent == std::string_view::npos || line.size() < indent + 7) continue;
    std::string_view rest = line.substr(indent);
    if (!rest.starts_with("class ") && !rest.starts_with("class\t")) continue;
    rest.remove_prefix(6);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    size_t length = 0;
    while (length < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[length])) != 0 ||
                                    rest[length] == '_' || (rest[length] & 0x80) != 0)) {
      ++length;
    }
    if (length > 0) names.emplace_back(rest.substr(0, length));
  }
  return names;
}

std::string SourceOf(const std::vector<std::string_view>& lines, const Block& block) {
  size_t indent = std::string_view::npos;
  for (size_t i = block.first_line; i < block.end_line; ++i) {
    const size_t start = lines[i].find_first_not_of(" \t");
    if (start != std::string_view::npos) indent = std::min(indent, start);
  }
  std::string source;
  for (size_t i = block.first_line; i < block.end_line; ++i) {
    source += lines[i].substr(std::min(indent, lines[i].size()));
    source += '\n';
  }
  return source;
}

std::string NamesFound(const std::vector<std::string>& found) {
  std::string list;
  constexpr size_t kMaxShown = 5;
  for (size_t i = 0; i < std::min(found.size(), kMaxShown); ++i)
    list += fmt::format("{}`{}`", i == 0 ? "" : ", ", Ellipsize(Printable(found[i]), 60));
  if (found.size() > kMaxShown) list += ", …";
  return list;
}

}  // namespace

std::string_view ExtractionOutcomeName(ExtractionOutcome outcome) {
  constexpr std::array<std::string_view, 6> kNames = {"ok",       "empty_reply", "only_thinking",
                                                      "no_fence", "no_class",    "truncated"};
  return kNames[static_cast<size_t>(outcome)];
}

Extraction ExtractCode(std::string_view text, FinishReason finish, std::string_view class_name) {
  Extraction result;
  const bool cut = finish == FinishReason::kLength;
  const auto fail = [&](ExtractionOutcome outcome, std::string diagnosis) {
    result.outcome = outcome;
    result.diagnosis = std::move(diagnosis);
    return result;
  };
  const std::string asked = fmt::format(
      "Reply with the complete module in one fenced block (```python … ```) that defines `class "
      "{}`.",
      class_name);

  const ThoughtAndAnswer split = SplitThinking(text);
  if (split.answer.find_first_not_of(" \t\r\n") == std::string::npos) {
    if (split.unclosed) {
      return fail(ExtractionOutcome::kOnlyThinking,
                  fmt::format("The reply ends inside its thinking section{}; there is no answer. "
                              "Think more briefly. {}",
                              cut ? ", at the length limit" : "", asked));
    }
    return fail(ExtractionOutcome::kEmptyReply, "The reply holds no text. " + asked);
  }

  const std::vector<std::string_view> lines = SplitLines(split.answer);
  const std::vector<Block> blocks = FindBlocks(lines);
  result.num_blocks = static_cast<int>(blocks.size());
  if (blocks.empty()) {
    return fail(ExtractionOutcome::kNoFence,
                fmt::format("The reply has no fenced code block{}. {}",
                            cut ? " and was cut at the length limit" : "", asked));
  }

  const Block* chosen = nullptr;
  std::vector<std::string> others;
  for (const Block& block : blocks) {
    bool has_class = false;
    for (std::string& name : TopLevelClasses(lines, block)) {
      if (name == class_name) {
        has_class = true;
      } else if (std::find(others.begin(), others.end(), name) == others.end()) {
        others.push_back(std::move(name));
      }
    }
    if (has_class && (chosen == nullptr || block.closed || !chosen->closed)) chosen = &block;
  }
  if (chosen == nullptr) {
    std::string what = others.empty()
                           ? "no class at the top level"
                           : "only " + NamesFound(others) + DidYouMean(class_name, others);
    return fail(
        ExtractionOutcome::kNoClass,
        fmt::format("None of the {} fenced code blocks defines `class {}`; they define {}{}. {}",
                    blocks.size(), class_name, what,
                    cut ? ", and the reply was cut at the length limit" : "", asked));
  }
  if (!chosen->closed && cut) {
    return fail(
        ExtractionOutcome::kTruncated,
        fmt::format("The reply was cut at the length limit inside the code block that defines "
                    "`class {}`. Write less around the code, and shorter code. {}",
                    class_name, asked));
  }
  result.outcome = ExtractionOutcome::kOk;
  result.unclosed = !chosen->closed;
  result.source = SourceOf(lines, *chosen);
  return result;
}

}  // namespace davinci::llm
