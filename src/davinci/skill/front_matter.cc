#include "davinci/skill/front_matter.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/utf8.h"

namespace davinci::skill {
namespace {

constexpr size_t kMaxFrontMatterBytes = 64 << 10;
constexpr size_t kMaxDepth = 16;
// Bytes of all values together, after aliases are replaced by copies of what they name.
constexpr size_t kMaxExpandedBytes = 256 << 10;

// Stops yaml-cpp from inside an event.
struct Refusal : std::exception {
  Refusal(int at, std::string why) : line(at), message(std::move(why)) {}
  const char* what() const noexcept override { return message.c_str(); }
  int line;  // from 0
  std::string message;
};

// Builds the document from the events of one YAML document. Throws Refusal.
class DocumentBuilder : public YAML::EventHandler {
 public:
  const OrderedJson& values() const { return values_; }
  int start_line() const { return start_line_; }   // from 0
  int line() const { return line_; }               // of the latest event
  const std::string& key() const { return key_; }  // the latest key

  void OnDocumentStart(const YAML::Mark& mark) override { start_line_ = mark.line; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // A key without a colon has its null where the key begins; {a, b} is a set.
    if (!open_.empty() && open_.back().is_block && open_.back().has_key &&
        mark.pos == key_position_)
      throw Refusal{mark.line, fmt::format("expected \"key: value\" instead of \"{}\"", key_)};
    Take(mark, anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) throw Refusal{mark.line, "an alias inside of what it names"};
    Take(mark, YAML::NullAnchor, named->second.value, named->second.bytes);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    Take(mark, anchor, text, text.size());
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, OrderedJson::array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(mark, anchor, OrderedJson::object(), style == YAML::EmitterStyle::Block);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Node {
    OrderedJson value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    YAML::Mark mark;
    bool is_block = false;  // a mapping that is not in braces
    bool has_key = false;   // of a mapping: `key` waits for its value
    std::string key;
    size_t bytes_before = 0;
  };
  struct Named {
    OrderedJson value;
    size_t bytes = 0;
  };

  // A complete value, scalar or not: an item, a key, or the value of the key that waits.
  void Take(const YAML::Mark& mark, YAML::anchor_t anchor, OrderedJson value, size_t bytes = 0) {
    line_ = mark.line;
    bytes_ += bytes + 1;  // 1: empty values count too
    if (bytes_ > kMaxExpandedBytes)
      throw Refusal{mark.line, fmt::format("the values are longer than {} KiB together",
                                           kMaxExpandedBytes >> 10)};
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {value, bytes + 1};
    Attach(mark, std::move(value));
  }

  void Attach(const YAML::Mark& mark, OrderedJson value) {
    if (open_.empty()) {
      values_ = std::move(value);
      return;
    }
    Node& node = open_.back();
    if (node.value.is_array()) {
      node.value.push_back(std::move(value));
    } else if (node.has_key) {
      node.value[node.key] = std::move(value);
      node.has_key = false;
    } else {
      if (!value.is_string()) throw Refusal{mark.line, "a key must be text"};
      node.key = value.get<std::string>();
      if (node.value.contains(node.key))
        throw Refusal{mark.line, fmt::format("\"{}\" is there twice", node.key)};
      node.has_key = true;
      key_ = node.key;
      key_position_ = mark.pos;
    }
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, OrderedJson value,
            bool is_block = false) {
    line_ = mark.line;
    if (open_.size() == kMaxDepth) throw Refusal{mark.line, "nested too deeply"};
    open_.push_back({std::move(value), anchor, mark, is_block, false, "", bytes_});
  }

  void Close() {
    Node node = std::move(open_.back());
    open_.pop_back();
    if (node.anchor != YAML::NullAnchor)
      anchors_[node.anchor] = {node.value, bytes_ - node.bytes_before + 1};
    Attach(node.mark, std::move(node.value));
  }

  OrderedJson values_;
  std::vector<Node> open_;  // outermost first
  std::map<YAML::anchor_t, Named> anchors_;
  size_t bytes_ = 0;
  int start_line_ = 0;
  int line_ = 0;
  std::string key_;
  int key_position_ = -1;
};

// What a person can do about an error of yaml-cpp; else its own words.
std::string Explain(const YAML::ParserException& error, std::string_view line,
                    const std::string& key) {
  const std::string_view what = error.msg;
  const auto begins = [&](std::string_view words) { return what.starts_with(words); };
  const auto column = static_cast<size_t>(std::max(error.mark.column, 0));
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
    return "indentation is made of spaces, not tabs";
  if (begins("illegal map value") || begins("illegal block entry"))
    return fmt::format(
        "a value with \": \" inside, or one that begins with \"- \", needs quotes: {}",
        key.empty() ? std::string(line) : key);
  if (begins("illegal document indicator") || begins("illegal EOF"))
    return fmt::format("the quoted value of \"{}\" is not closed", key);
  if (begins("end of sequence flow")) return "the list is not closed with ]";
  if (begins("end of map flow")) return "the mapping is not closed with }";
  if (begins("unknown token") || begins("alias not found") || begins("anchor not found") ||
      begins("the referenced anchor"))
    return fmt::format("a value that begins with {} needs quotes",
                       column < line.size() ? line.substr(column, 1) : "a special character");
  const size_t value = line.find_first_not_of(' ', line.find(':') + 1);
  if (begins("end of map not found") && line.find(':') != std::string_view::npos &&
      value != std::string_view::npos &&
      std::string_view("[{\"'").find(line[value]) != std::string_view::npos)
    return fmt::format("text stands behind the closing {}; put the whole value of \"{}\" in quotes",
                       line[value] == '[' || line[value] == '{' ? "bracket" : "quote", key);
  if (begins("end of map not found"))
    return "expected \"key: value\", indented like the lines before it";
  return std::string(what);
}

// The lines from "---" to the closing line.
struct Block {
  std::string_view text;
  std::vector<std::string_view> lines;
  size_t end = 0;  // of `text` in the file
};

Result<Block> FindBlock(std::string_view text, std::string_view source) {
  const size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  Block block;
  const auto error = [&](size_t line, std::string_view what) {
    return InvalidArgument(fmt::format("{}:{}: {}", source, line, what));
  };
  for (size_t next = begin; next < text.size();) {
    const size_t end = std::min(text.find('\n', next), text.size());
    const std::string_view line = text.substr(next, end - next);
    const std::string_view bare = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    next = std::min(end + 1, text.size());
    if (block.lines.empty() && bare != "---") break;
    block.lines.push_back(line);
    const bool marks = line.starts_with("---") || line.starts_with("...");
    if (block.lines.size() == 1 || !marks) continue;
    if (bare.size() == 3) {
      block.end = next;
      block.text = text.substr(begin, next - begin);
      break;
    }
    if (line[3] == ' ' || line[3] == '\t')
      return error(block.lines.size(), fmt::format("a second document: {}", bare));
  }
  if (block.lines.empty())
    return error(1, "the file must begin with a line \"---\" and the skill's front matter");
  if (block.end == 0)
    return error(block.lines.size(), "the front matter has no closing line \"---\"");
  if (block.text.size() > kMaxFrontMatterBytes)
    return error(1,
                 fmt::format("the front matter is longer than {} KiB", kMaxFrontMatterBytes >> 10));
  for (size_t i = 0; i < block.lines.size(); ++i) {
    const std::string_view line = block.lines[i];
    if (ValidUtf8Prefix(line) != line.size()) return error(i + 1, "not UTF-8");
    for (size_t k = 0; k < line.size(); ++k)
      if (const auto c = static_cast<unsigned char>(line[k]);
          (c < 0x20 && c != '\t' && !(c == '\r' && k + 1 == line.size())) || c == 0x7f)
        return error(
            i + 1, fmt::format("a control character (0x{:02x}); in quotes, write \\x{:02x}", c, c));
  }
  return block;
}

Result<OrderedJson> ParseBlock(const Block& block, std::string_view source) {
  const auto error = [&](int line, std::string_view what) {
    return InvalidArgument(fmt::format("{}:{}: {}", source, line + 1, what));
  };
  const auto closing = static_cast<int>(block.lines.size()) - 1;
  DocumentBuilder document;
  try {
    std::istringstream stream{std::string(block.text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(document);
    // yaml-cpp takes what it cannot make part of one document for the next.
    DocumentBuilder next;
    if (parser.HandleNextDocument(next) && next.start_line() < closing)
      return error(next.start_line(), "expected \"key: value\", indented like the lines before it");
  } catch (const Refusal& refusal) {
    return error(refusal.line, refusal.message);
  } catch (const YAML::ParserException& failure) {
    const int at = std::clamp(failure.mark.line, 0, closing);
    // A value that is not closed is found at the end.
    const int line = at == closing ? document.line() : at;
    return error(line, Explain(failure, block.lines[static_cast<size_t>(at)], document.key()));
  } catch (const YAML::Exception& failure) {
    return error(document.line(), failure.msg);
  }
  // NOLINTNEXTLINE(readability-container-size-empty): empty() is false for the JSON text ""
  if (document.values() == "") return OrderedJson::object();
  if (!document.values().is_object()) return error(document.line(), "expected \"key: value\"");
  return document.values();
}

}  // namespace

Result<FrontMatter> ParseFrontMatter(std::string_view text, std::string_view source) {
  DAVINCI_ASSIGN_OR_RETURN(const Block block, FindBlock(text, source));
  FrontMatter result;
  DAVINCI_ASSIGN_OR_RETURN(result.values, ParseBlock(block, source));
  result.body_offset = static_cast<size_t>(block.text.data() - text.data()) + block.text.size();
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
