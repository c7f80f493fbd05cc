// ByteGrammar: the texts that a reply may be, as a machine that reads bytes. Pure.
//
// Made from the end: each part is given the node that follows it and returns the node that begins
// it. Every node leads to the end, so a text that the machine has read so far can be completed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::embedded {

class ByteGrammar {
 public:
  using Node = uint32_t;

  struct State {
    Node node = 0;
    uint32_t count = 0;  // characters of the limited text that is being read
    uint64_t used = 0;   // words of Word() that were read, by their index
    bool operator==(const State&) const = default;
  };

  // --- making ---

  Node end() const { return 0; }
  Node Literal(std::string_view text, Node next);
  // The same, with one space in front or without. `next` must not begin with a space.
  Node OptionalSpace(Node next);
  // One of several parts, whose first bytes differ.
  Node Either(Node a, Node b);
  // Characters of a JSON text up to and including its closing quote: UTF-8, escapes. `filled`: at
  // least one character, and no space in front. `limit`: most characters; 0: any number.
  // `without`: texts that must not occur, each beginning with '<' and without a second one.
  Node Characters(Node next, bool filled, uint32_t limit, const std::vector<std::string>& without);
  // Any UTF-8 up to and including `close`, which begins with '<'.
  Node Until(std::string_view close, Node next);
  // One of `words`, none the beginning of another. At most 64 words: none that was read before;
  // then as many Word() as there are words may follow each other.
  Node Word(const std::vector<std::string>& words, Node next);
  void SetStart(Node start);

  // --- reading ---

  State start() const { return {start_, 0, 0}; }
  std::optional<State> Next(const State& state, uint8_t byte) const;
  bool IsEnd(const State& state) const { return state.node == end(); }
  // A short text from `state` to the end. What follows any beginning of it is the completion of the
  // state there.
  std::string Completion(State state) const;
  // Characters that may follow before a limit is met; a large number where there is none.
  uint32_t Room(const State& state) const;

 private:
  struct Edge {
    Node target = 0;
    uint64_t needs = 0;  // one of these words must be unused
    uint64_t uses = 0;
  };
  struct Inside {  // which node it is of a text
    uint32_t limit = 0;
    bool counts = false;  // a character ends here
  };
  struct Part {
    std::array<uint8_t, 256> edge_of{};  // index of the edge + 1; 0: none
    std::vector<Edge> edges;
    Inside inside;
    uint32_t distance = 0;  // bytes of the shortest way to the end, words unused
  };

  Node Add(Inside inside);
  Node Add() { return Add(Inside()); }
  void Connect(Node from, uint8_t low, uint8_t high, Edge edge);
  // Edges of the bytes of whole characters above 0x7f, from `from` to `to`.
  void ConnectWide(Node from, Node to, Inside inside);
  const Edge* EdgeOf(const State& state, uint8_t byte) const;

  std::vector<Part> parts_ = {Part{}};
  Node start_ = 0;
};

}  // namespace davinci::embedded
