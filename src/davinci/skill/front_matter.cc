#include "davinci/skill/front_matter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace davinci::skill {
namespace {

constexpr int kMaxDepth = 4;

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

struct Line {
  std::string_view text;  // without the line break
  size_t indent = 0;
  int number = 0;  // from 1
  bool blank = false;
};

// A scalar that ended before the end of its line.
struct Scalar {
  std::string text;
  std::string_view rest;
};

class Parser {
 public:
  Parser(std::vector<Line> lines, std::string_view source)
      : lines_(std::move(lines)), source_(source) {}

  Result<OrderedJson> Run() {
    DAVINCI_ASSIGN_OR_RETURN(OrderedJson values, ParseMapping(0, 0));
    if (SkipBlank(); next_ < lines_.size())
      return Error(lines_[next_], "expected \"key: value\" at the left margin");
    return values;
  }

 private:
  Status Error(const Line& line, std::string_view what) const {
    return InvalidArgument(fmt::format("{}:{}: {}", source_, line.number, what));
  }

  void SkipBlank() {
    while (next_ < lines_.size() && (lines_[next_].blank || IsComment(lines_[next_]))) ++next_;
  }
  static bool IsComment(const Line& line) { return TrimLeft(line.text).starts_with('#'); }
  static bool IsItem(const Line& line) {
    const std::string_view text = TrimRight(line.text.substr(line.indent));
    return text == "-" || text.starts_with("- ");
  }

  Result<OrderedJson> ParseMapping(size_t indent, int depth) {
    OrderedJson values = OrderedJson::object();
    if (depth > kMaxDepth) return Error(lines_[next_], "nested too deeply");
    for (SkipBlank(); next_ < lines_.size(); SkipBlank()) {
      const Line line = lines_[next_];
      if (line.indent < indent) break;
      if (line.indent > indent) return Error(line, "indented more than the line before it");
      const std::string_view text = line.text.substr(indent);
      const size_t key_end = std::min(text.find(':'), text.size());
      const std::string key(TrimRight(text.substr(0, key_end)));
      if (key_end == text.size() || key.empty() || !IsKey(key) ||
          (key_end + 1 < text.size() && text[key_end + 1] != ' ' && text[key_end + 1] != '\t' &&
           text[key_end + 1] != '\r'))
        return Error(line, "expected \"key: value\"");
      if (values.contains(key)) return Error(line, fmt::format("\"{}\" is there twice", key));
      ++next_;
      DAVINCI_ASSIGN_OR_RETURN(values[key],
                               ParseValue(TrimLeft(text.substr(key_end + 1)), line, indent, depth));
    }
    return values;
  }

  static bool IsKey(std::string_view key) {
    return std::all_of(key.begin(), key.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.';
    });
  }

  // What stands behind "key:" (`text`, of `line`), or below it.
  Result<OrderedJson> ParseValue(std::string_view text, const Line& line, size_t indent,
                                 int depth) {
    text = TrimRight(text);
    if (text.empty() || text.starts_with('#')) return ParseBelow(indent, depth);
    if (text[0] == '|' || text[0] == '>') return ParseBlock(text, line, indent);
    if (text[0] == '[') return ParseFlowList(text, line);
    if (text[0] == '"' || text[0] == '\'') {
      DAVINCI_ASSIGN_OR_RETURN(const Scalar scalar, ParseQuoted(text, line));
      const std::string_view rest = TrimLeft(scalar.rest);
      if (!rest.empty() && !rest.starts_with('#'))
        return Error(line, fmt::format("unexpected text behind the closing quote: {}", rest));
      return OrderedJson(scalar.text);
    }
    DAVINCI_ASSIGN_OR_RETURN(std::string plain, ParsePlain(text, line));
    // A plain scalar goes on in deeper lines; the break counts as a space.
    while (next_ < lines_.size() && !lines_[next_].blank && lines_[next_].indent > indent &&
           !IsComment(lines_[next_])) {
      const Line& more = lines_[next_];
      DAVINCI_ASSIGN_OR_RETURN(const std::string part,
                               ParsePlain(TrimRight(TrimLeft(more.text)), more));
      plain += " " + part;
      ++next_;
    }
    return OrderedJson(plain);
  }

  Result<OrderedJson> ParseBelow(size_t indent, int depth) {
    SkipBlank();
    if (next_ == lines_.size()) return OrderedJson("");
    const Line& line = lines_[next_];
    if (line.indent >= indent && IsItem(line)) return ParseItems(line.indent);
    if (line.indent > indent) return ParseMapping(line.indent, depth + 1);
    return OrderedJson("");
  }

  Result<OrderedJson> ParseItems(size_t indent) {
    OrderedJson items = OrderedJson::array();
    for (SkipBlank();
         next_ < lines_.size() && lines_[next_].indent == indent && IsItem(lines_[next_]);
         SkipBlank()) {
      const Line line = lines_[next_++];
      const std::string_view text = TrimRight(TrimLeft(line.text.substr(indent + 1)));
      if (text.starts_with('"') || text.starts_with('\'')) {
        DAVINCI_ASSIGN_OR_RETURN(const Scalar scalar, ParseQuoted(text, line));
        const std::string_view rest = TrimLeft(scalar.rest);
        if (!rest.empty() && !rest.starts_with('#'))
          return Error(line, "unexpected text behind the closing quote");
        items.push_back(scalar.text);
        continue;
      }
      DAVINCI_ASSIGN_OR_RETURN(const std::string plain, ParsePlain(text, line));
      items.push_back(plain);
    }
    return items;
  }

  Result<OrderedJson> ParseFlowList(std::string_view text, const Line& line) {
    OrderedJson items = OrderedJson::array();
    std::string_view rest = TrimLeft(text.substr(1));
    while (!rest.starts_with(']')) {
      if (rest.empty()) return Error(line, "the list is not closed with ] on its line");
      if (rest[0] == '"' || rest[0] == '\'') {
        DAVINCI_ASSIGN_OR_RETURN(const Scalar scalar, ParseQuoted(rest, line));
        items.push_back(scalar.text);
        rest = TrimLeft(scalar.rest);
      } else {
        const size_t end = std::min(rest.find_first_of(",]"), rest.size());
        if (end == rest.size()) return Error(line, "the list is not closed with ] on its line");
        const std::string_view item = TrimRight(rest.substr(0, end));
        if (item.empty()) return Error(line, "an item of the list is empty");
        if (item.find_first_of("[{}") != std::string_view::npos)
          return Error(line, "lists of lists and {…} are not supported");
        DAVINCI_ASSIGN_OR_RETURN(const std::string plain, ParsePlain(item, line));
        items.push_back(plain);
        rest = rest.substr(end);
      }
      if (rest.starts_with(',')) {
        rest = TrimLeft(rest.substr(1));
      } else if (!rest.starts_with(']')) {
        return Error(line, "expected , or ] in the list");
      }
    }
    rest = TrimLeft(rest.substr(1));
    if (!rest.empty() && !rest.starts_with('#'))
      return Error(line, fmt::format("unexpected text behind the list: {}", rest));
    return items;
  }

  Result<std::string> ParsePlain(std::string_view text, const Line& line) const {
    if (const size_t comment = text.find(" #"); comment != std::string_view::npos)
      text = TrimRight(text.substr(0, comment));
    if (text.find(": ") != std::string_view::npos || text.ends_with(':'))
      return Error(line, "a value with \": \" inside needs quotes");
    if (!text.empty() && std::string_view("&*!{}%@`,?]").find(text[0]) != std::string_view::npos &&
        !(text[0] == '?' && text.size() > 1 && text[1] != ' '))
      return Error(line, fmt::format("a value that begins with {} needs quotes", text[0]));
    return std::string(text);
  }

  Result<Scalar> ParseQuoted(std::string_view text, const Line& line) const {
    const char quote = text[0];
    std::string value;
    for (size_t i = 1; i < text.size(); ++i) {
      if (text[i] == quote) {
        if (quote == '\'' && i + 1 < text.size() && text[i + 1] == '\'') {
          value += text[i++];
          continue;
        }
        return Scalar{std::move(value), text.substr(i + 1)};
      }
      if (quote == '"' && text[i] == '\\') {
        if (!Unescape(text, &i, &value))
          return Error(line, fmt::format("unknown escape \\{} in the quoted value",
                                         i < text.size() ? text.substr(i, 1) : ""));
        continue;
      }
      value += text[i];
    }
    return Error(line, "the quoted value does not end on its line");
  }

  // `*i` stands on the backslash; afterwards on the last byte of the escape.
  static bool Unescape(std::string_view text, size_t* i, std::string* value) {
    if (++*i >= text.size()) return false;
    static constexpr std::string_view kFrom = "ntr0\"\\/ abefv";
    static constexpr std::string_view kTo("\n\t\r\0\"\\/ \a\b\x1b\f\v", 13);
    if (const size_t known = kFrom.find(text[*i]); known != std::string_view::npos) {
      *value += kTo[known];
      return true;
    }
    const size_t digits = text[*i] == 'x' ? 2 : text[*i] == 'u' ? 4 : text[*i] == 'U' ? 8 : 0;
    if (digits == 0 || *i + digits >= text.size()) return false;
    uint32_t code = 0;
    const char* from = text.data() + *i + 1;
    const auto [end, error] = std::from_chars(from, from + digits, code, 16);
    if (error != std::errc() || end != from + digits || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
      return false;
    AppendUtf8(code, value);
    *i += digits;
    return true;
  }

  Result<OrderedJson> ParseBlock(std::string_view header, const Line& line, size_t indent) {
    const bool folded = header[0] == '>';
    if (const size_t comment = header.find(" #"); comment != std::string_view::npos)
      header = TrimRight(header.substr(0, comment));
    const std::string_view chomp = header.substr(1);
    if (!chomp.empty() && chomp != "-" && chomp != "+")
      return Error(line, "only |, |-, |+, >, >- and >+ begin a block");
    std::vector<std::string_view> rows;
    std::optional<size_t> block_indent;
    for (; next_ < lines_.size(); ++next_) {
      const Line& row = lines_[next_];
      if (row.blank) {
        rows.emplace_back();
        continue;
      }
      if (row.indent <= indent) break;
      if (!block_indent) block_indent = row.indent;
      if (row.indent < *block_indent)
        return Error(row, "indented less than the first line of its block");
      std::string_view content = row.text.substr(*block_indent);
      if (content.ends_with('\r')) content.remove_suffix(1);
      rows.push_back(content);
    }
    size_t num_trailing = 0;
    while (num_trailing < rows.size() && rows[rows.size() - 1 - num_trailing].empty())
      ++num_trailing;
    rows.resize(rows.size() - num_trailing);
    std::string value;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool joins = folded && i > 0 && !rows[i].empty() && !rows[i - 1].empty() &&
                         rows[i][0] != ' ' && rows[i - 1][0] != ' ';
      if (i > 0 && joins) value += ' ';
      // Of the breaks around empty lines, folding takes away the first.
      if (i > 0 && !joins && !(folded && !rows[i].empty() && rows[i - 1].empty())) value += '\n';
      value += rows[i];
    }
    if (chomp != "-" && !value.empty()) value += '\n';
    if (chomp == "+") value.append(num_trailing, '\n');
    return OrderedJson(value);
  }

  const std::vector<Line> lines_;
  const std::string_view source_;
  size_t next_ = 0;
};

}  // namespace

Result<FrontMatter> ParseFrontMatter(std::string_view text, std::string_view source) {
  FrontMatter result;
  std::vector<Line> lines;
  int number = 0;
  size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  bool closed = false;
  while (begin < text.size() && !closed) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    Line line{text.substr(begin, end - begin), 0, ++number, false};
    begin = std::min(end + 1, text.size());
    const std::string_view bare = TrimRight(line.text);
    if (number == 1) {
      if (bare != "---") break;
      continue;
    }
    if (bare == "---" || bare == "...") {
      closed = true;
      break;
    }
    line.indent = std::min(line.text.find_first_not_of(' '), line.text.size());
    line.blank = bare.empty();
    if (!line.blank && line.text[line.indent] == '\t')
      return InvalidArgument(
          fmt::format("{}:{}: indentation is made of spaces, not tabs", source, number));
    lines.push_back(line);
  }
  if (!closed && lines.empty())
    return InvalidArgument(fmt::format(
        "{}:1: the file must begin with a line \"---\" and the skill's front matter", source));
  if (!closed)
    return InvalidArgument(
        fmt::format("{}:{}: the front matter has no closing line \"---\"", source, number));
  result.body_offset = begin;
  DAVINCI_ASSIGN_OR_RETURN(result.values, Parser(std::move(lines), source).Run());
  return result;
}

std::string YamlScalar(std::string_view text) {
  // What some YAML reader takes for something else than text.
  static const std::vector<std::string_view> kWords = {"true", "false", "yes",  "no",
                                                       "on",   "off",   "null", "~"};
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool plain =
      !text.empty() && text.front() != ' ' && text.back() != ' ' && text.back() != ':' &&
      std::string_view("-?:,[]{}#&*!|>'\"%@`=<.+0123456789").find(text[0]) ==
          std::string_view::npos &&
      text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos &&
      std::none_of(text.begin(), text.end(),
                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }) &&
      std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace davinci::skill
