// Rearrangements: index formulas of invented operators, of a tensor (N, C, H, W) whose axes are
// taken apart and put together in another way. Pure: the same random numbers give the same formula.
//
//   by position  o[n, c, p, q] = x[n, c // 2, p*2 + c % 2, q]
//   by parts     o[n, c*2 + i, p, q] = x[n, c, p*2 + i, q]
//
// An axis is a sum of parts: H is p*2 + i, or p + i - 1, its neighbours. An axis of the result is a
// product of parts in any order, the last of which changes fastest.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::teacher {

struct Rearrangement {
  struct Part {
    char name = 'c';   // c, p, q of C, H, W; i and j are further parts
    std::string size;  // "C", "H//2", "3"
  };

  std::string input;                      // shape as operators of synth/ have it: "N C H%2 W"
  std::vector<Part> parts;                // c, p and q first
  std::array<std::string, 3> indices;     // of C, H and W, by parts in braces: "{p}*2 + {i}"
  std::vector<std::vector<size_t>> axes;  // parts of each axis of the result behind n

  std::string Shape() const;    // of the result: "N, C*2, H//2, W"
  std::string Place() const;    // "o[n, c, p, q]"
  std::string Indices() const;  // "n, c // 2, p*2 + c % 2, q"
  std::string PlaceByParts() const;
  std::string IndicesByParts() const;
  // Is the order of the parts that of an operator of the held-out families (synth/splits.toml)?
  bool IsHeldOut() const;
};

Rearrangement DrawRearrangement(SplitMix64* rng);

}  // namespace davinci::teacher
