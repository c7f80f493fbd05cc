#include "davinci/embedded/byte_grammar.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

namespace davinci::embedded {
namespace {

constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();

uint8_t Byte(char c) { return static_cast<uint8_t>(c); }

}  // namespace

ByteGrammar::Node ByteGrammar::Add(Inside inside) {
  parts_.emplace_back().inside = inside;
  return static_cast<Node>(parts_.size() - 1);
}

void ByteGrammar::Connect(Node from, uint8_t low, uint8_t high, Edge edge) {
  Part& part = parts_[from];
  size_t index = 0;
  while (index < part.edges.size() &&
         (part.edges[index].target != edge.target || part.edges[index].needs != edge.needs ||
          part.edges[index].uses != edge.uses))
    ++index;
  if (index == part.edges.size()) part.edges.push_back(edge);
  for (int byte = low; byte <= high; ++byte)
    part.edge_of[static_cast<size_t>(byte)] = static_cast<uint8_t>(index + 1);
}

ByteGrammar::Node ByteGrammar::Literal(std::string_view text, Node next) {
  for (size_t i = text.size(); i-- > 0;) {
    const Node node = Add();
    Connect(node, Byte(text[i]), Byte(text[i]), {next});
    next = node;
  }
  return next;
}

ByteGrammar::Node ByteGrammar::OptionalSpace(Node next) {
  const Node node = Add();
  parts_[node] = Part(parts_[next]);
  Connect(node, ' ', ' ', {next});
  return node;
}

ByteGrammar::Node ByteGrammar::Either(Node a, Node b) {
  const Node node = Add();
  for (int byte = 0; byte < 256; ++byte) {
    const auto at = static_cast<size_t>(byte);
    const Part& first = parts_[a].edge_of[at] != 0 ? parts_[a] : parts_[b];
    if (first.edge_of[at] == 0) continue;
    const Edge edge = first.edges[first.edge_of[at] - 1];
    Connect(node, static_cast<uint8_t>(byte), static_cast<uint8_t>(byte), edge);
  }
  return node;
}

void ByteGrammar::ConnectWide(Node from, Node to, Inside inside) {
  const Node one = Add(inside), two = Add(inside), three = Add(inside);
  Connect(one, 0x80, 0xbf, {to});
  Connect(two, 0x80, 0xbf, {one});
  Connect(three, 0x80, 0xbf, {two});
  const auto narrow = [&](uint8_t low, uint8_t high, Node next) {
    const Node node = Add(inside);
    Connect(node, low, high, {next});
    return node;
  };
  Connect(from, 0xc2, 0xdf, {one});
  Connect(from, 0xe1, 0xef, {two});
  Connect(from, 0xe0, 0xe0, {narrow(0xa0, 0xbf, one)});  // no overlong form
  Connect(from, 0xed, 0xed, {narrow(0x80, 0x9f, one)});  // no surrogate
  Connect(from, 0xf1, 0xf3, {three});
  Connect(from, 0xf0, 0xf0, {narrow(0x90, 0xbf, two)});
  Connect(from, 0xf4, 0xf4, {narrow(0x80, 0x8f, two)});
}

ByteGrammar::Node ByteGrammar::Characters(Node next, bool filled, uint32_t limit,
                                          const std::vector<std::string>& without) {
  const Inside within{limit, false};
  const Node plain = Add({limit, true});
  const Node escape = Add(within), hex4 = Add(within), hex3 = Add(within), hex2 = Add(within),
             hex1 = Add(within), surrogate = Add(within);
  const auto hex = [&](Node from, Node to) {
    Connect(from, '0', '9', {to});
    Connect(from, 'a', 'f', {to});
    Connect(from, 'A', 'F', {to});
  };
  for (const char c : std::string_view("\"\\/bfnrt")) Connect(escape, Byte(c), Byte(c), {plain});
  Connect(escape, 'u', 'u', {hex4});
  hex(hex4, hex3);
  for (const char d : {'d', 'D'}) Connect(hex4, Byte(d), Byte(d), {surrogate});
  Connect(surrogate, '0', '7', {hex2});  // half a character is none
  hex(hex3, hex2);
  hex(hex2, hex1);
  hex(hex1, plain);
  // Every place in the text takes these, whatever part of a forbidden text was read before.
  const Node any = Add(within);
  Connect(any, 0x20, 0x7f, {plain});
  Connect(any, '\\', '\\', {escape});
  ConnectWide(any, plain, within);
  parts_[any].edge_of['"'] = 0;
  std::map<std::string, Node> read = {{"", plain}};  // beginnings of forbidden texts
  for (const std::string& text : without)
    for (size_t size = 1; size < text.size(); ++size)
      if (!read.contains(text.substr(0, size))) read[text.substr(0, size)] = Add({limit, true});
  const auto first = read.find("<");
  for (const auto& [text, node] : read) {
    const Inside inside = parts_[node].inside;
    parts_[node] = Part(parts_[any]);
    parts_[node].inside = inside;
    Connect(node, '"', '"', {next});
    if (first != read.end()) Connect(node, '<', '<', {first->second});
    for (const std::string& whole : without)
      if (whole.size() > text.size() && whole.starts_with(text)) {
        const uint8_t byte = Byte(whole[text.size()]);
        if (whole.size() == text.size() + 1)
          parts_[node].edge_of[byte] = 0;
        else
          Connect(node, byte, byte, {read.at(whole.substr(0, text.size() + 1))});
      }
  }
  if (!filled) {
    const Node begin = Add(within);
    parts_[begin] = Part(parts_[plain]);
    parts_[begin].inside = within;
    return begin;
  }
  const Node begin = Add(within);
  parts_[begin] = Part(parts_[plain]);
  parts_[begin].inside = within;
  parts_[begin].edge_of['"'] = 0;
  parts_[begin].edge_of[' '] = 0;
  parts_[begin].edge_of['\\'] = 0;  // nor a line break
  return begin;
}

ByteGrammar::Node ByteGrammar::Until(std::string_view close, Node next) {
  std::vector<Node> read;
  for (size_t size = 0; size < close.size(); ++size) read.push_back(Add());
  const Node any = Add();
  Connect(any, 0x01, 0x7f, {read[0]});
  ConnectWide(any, read[0], {});
  for (size_t size = 0; size < close.size(); ++size) {
    parts_[read[size]] = Part(parts_[any]);
    if (close.size() > 1) Connect(read[size], Byte(close[0]), Byte(close[0]), {read[1]});
    const Node target = size + 1 < close.size() ? read[size + 1] : next;
    Connect(read[size], Byte(close[size]), Byte(close[size]), {target});
  }
  return read[0];
}

ByteGrammar::Node ByteGrammar::Word(const std::vector<std::string>& words, Node next) {
  const bool distinct = words.size() <= 64;
  std::map<std::string, uint64_t> below;  // beginnings, and the words that begin so
  for (size_t i = 0; i < words.size(); ++i)
    for (size_t size = 0; size <= words[i].size(); ++size)
      below[words[i].substr(0, size)] |= distinct ? uint64_t{1} << i : 0;
  std::map<std::string, Node> read;
  for (const auto& [text, mask] : below) read[text] = Add();
  for (const auto& [text, mask] : below) {
    if (text.empty()) continue;
    const bool whole = std::find(words.begin(), words.end(), text) != words.end();
    Edge edge{whole ? next : read.at(text), mask, whole ? mask : 0};
    const uint8_t byte = Byte(text.back());
    Connect(read.at(text.substr(0, text.size() - 1)), byte, byte, edge);
  }
  return read.at("");
}

void ByteGrammar::SetStart(Node start) {
  start_ = start;
  std::vector<std::vector<Node>> from(parts_.size());
  for (Node node = 0; node < parts_.size(); ++node) {
    parts_[node].distance = kFar;
    for (const Edge& edge : parts_[node].edges) from[edge.target].push_back(node);
  }
  parts_[end()].distance = 0;
  std::deque<Node> open = {end()};
  for (; !open.empty(); open.pop_front())
    for (const Node node : from[open.front()]) {
      // An edge counts where a byte takes it.
      if (parts_[node].distance != kFar) continue;
      const auto& edge_of = parts_[node].edge_of;
      if (!std::any_of(edge_of.begin(), edge_of.end(), [&](uint8_t edge) {
            return edge != 0 && parts_[node].edges[edge - 1].target == open.front();
          }))
        continue;
      parts_[node].distance = parts_[open.front()].distance + 1;
      open.push_back(node);
    }
}

const ByteGrammar::Edge* ByteGrammar::EdgeOf(const State& state, uint8_t byte) const {
  const Part& part = parts_[state.node];
  const uint8_t index = part.edge_of[byte];
  if (index == 0) return nullptr;
  const Edge& edge = part.edges[index - 1];
  if (edge.needs != 0 && (edge.needs & ~state.used) == 0) return nullptr;
  // A full text can only end.
  if (part.inside.counts && part.inside.limit > 0 && state.count >= part.inside.limit &&
      parts_[edge.target].inside.limit > 0)
    return nullptr;
  return &edge;
}

std::optional<ByteGrammar::State> ByteGrammar::Next(const State& state, uint8_t byte) const {
  const Edge* edge = EdgeOf(state, byte);
  if (edge == nullptr) return std::nullopt;
  const Inside& inside = parts_[edge->target].inside;
  const uint32_t count = inside.limit == 0 ? 0 : state.count + (inside.counts ? 1 : 0);
  return State{edge->target, count, state.used | edge->uses};
}

std::string ByteGrammar::Completion(State state) const {
  std::string text;
  while (!IsEnd(state)) {
    int best = -1;
    uint32_t least = kFar;
    // Letters first: of equal ways the one that reads best.
    for (int k = 0; k < 256; ++k) {
      const int byte = (k + 'a') % 256;
      const Edge* edge = EdgeOf(state, static_cast<uint8_t>(byte));
      if (edge == nullptr || parts_[edge->target].distance >= least) continue;
      least = parts_[edge->target].distance;
      best = byte;
    }
    if (best < 0) break;  // not reached: every node leads to the end
    text += static_cast<char>(best);
    state = Next(state, static_cast<uint8_t>(best)).value();
  }
  return text;
}

uint32_t ByteGrammar::Room(const State& state) const {
  const uint32_t limit = parts_[state.node].inside.limit;
  return limit == 0 ? kFar : limit - std::min(limit, state.count);
}

}  // namespace davinci::embedded
