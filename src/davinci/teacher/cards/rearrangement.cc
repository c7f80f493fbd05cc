#include "davinci/teacher/cards/rearrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

constexpr double kTwoParts = 0.5;     // share of formulas with two further parts
constexpr double kPlaneApart = 0.5;   // share of these that take H and W apart, …
constexpr double kTwiceApart = 0.25;  // … and that take C apart twice
constexpr double kAlike = 0.7;        // share of planes whose axes are taken apart alike
constexpr double kNeighbours = 0.5;   // share of H and W that are taken apart into neighbours
constexpr double kReversed = 0.2;     // share of parts that count downwards
constexpr double kInOrder = 0.5;      // share of results that keep the order of C, H and W
constexpr double kFlat = 0.35;        // share with two axes in one
constexpr std::array<const char*, 3> kAxes = {"C", "H", "W"};
constexpr std::array<char, 3> kNames = {'c', 'p', 'q'};
constexpr std::array<const char*, 3> kHeldOut = {"cij|p|q|", "cij|pq|", "c|pi|qj|"};

bool IsNumber(const std::string& size) {
  return std::ranges::all_of(size, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "C", "(H//2)"
std::string Factor(const std::string& size) {
  return IsNumber(size) || size.size() == 1 ? size : "(" + size + ")";
}

// "C*4", "H//2"; "" for none. Numbers are one, the last factor.
std::string Product(const std::vector<std::string>& sizes) {
  if (sizes.size() == 1) return sizes[0];
  std::string text;
  int number = 1;
  for (const std::string& size : sizes) {
    if (IsNumber(size))
      number *= std::stoi(size);
    else
      text += (text.empty() ? "" : "*") + Factor(size);
  }
  if (text.empty()) return number > 1 ? std::to_string(number) : "";
  return number > 1 ? fmt::format("{}*{}", text, number) : text;
}

std::vector<std::string> SizesBehind(const Rearrangement& drawn, const std::vector<size_t>& axis,
                                     size_t at) {
  std::vector<std::string> sizes;
  for (size_t i = at + 1; i < axis.size(); ++i) sizes.push_back(drawn.parts[axis[i]].size);
  return sizes;
}

// How an axis is taken apart.
struct Apart {
  bool neighbours = false, reversed = false, outer = false;
  uint64_t count = 2, dilation = 1, step = 1, border = 0;
};

class Drawing {
 public:
  explicit Drawing(SplitMix64* rng) : rng_(*rng) {}

  Rearrangement Run() {
    for (size_t axis = 0; axis < 3; ++axis) {
      drawn_.parts.push_back({kNames[axis], kAxes[axis]});
      drawn_.indices[axis] = fmt::format("{{{}}}", kNames[axis]);
    }
    if (rng_.Uniform() >= kTwoParts) {
      Take(rng_.Below(3), DrawApart());
    } else if (const double kind = rng_.Uniform(); kind < kPlaneApart) {
      const Apart rows = DrawApart();
      Take(1, rows);
      Take(2, rng_.Uniform() < kAlike ? rows : DrawApart());
    } else if (kind < kPlaneApart + kTwiceApart) {
      TakeTwice();
    } else {
      Take(0, DrawApart());
      Take(1 + rng_.Below(2), DrawApart());
    }
    for (size_t axis = 0; axis < 3; ++axis)
      drawn_.input += fmt::format(" {}{}", kAxes[axis],
                                  divides_[axis] > 1 ? fmt::format("%{}", divides_[axis]) : "");
    drawn_.input = "N" + drawn_.input;
    Order();
    return std::move(drawn_);
  }

 private:
  bool Chance(double share) { return rng_.Uniform() < share; }

  Apart DrawApart() {
    Apart apart;
    apart.neighbours = Chance(kNeighbours);
    apart.count = 2 + rng_.Below(3);
    apart.dilation = Chance(0.3) ? 2 : 1;
    if (Chance(0.4)) apart.border = 1 + rng_.Below(2);
    if (apart.border == 0 && Chance(0.4)) apart.step = 2 + rng_.Below(2);
    apart.reversed = Chance(kReversed);
    apart.outer = Chance(0.5);
    return apart;
  }

  std::string Further(uint64_t count) {
    const char name = drawn_.parts.size() == 3 ? 'i' : 'j';
    drawn_.parts.push_back({name, std::to_string(count)});
    return fmt::format("{{{}}}", name);
  }

  // Channels have no neighbours.
  void Take(size_t axis, const Apart& apart) {
    const std::string part = Further(apart.count), name = kAxes[axis];
    std::string& index = drawn_.indices[axis];
    std::string& size = drawn_.parts[axis].size;
    if (apart.neighbours && axis > 0) {
      const uint64_t reach = (apart.count - 1) * apart.dilation;
      if (apart.step > 1) index += fmt::format("*{}", apart.step);
      index += " + " + part;
      if (apart.dilation > 1) index += fmt::format("*{}", apart.dilation);
      if (apart.border > 0) index += fmt::format(" - {}", apart.border);
      if (apart.step > 1)
        size = fmt::format("({}-{})//{}+1", name, reach + 1, apart.step);
      else if (apart.border == 0)
        size = fmt::format("{}-{}", name, reach);
      return;
    }
    divides_[axis] = apart.count;
    size = fmt::format("{}//{}", name, apart.count);
    const std::string counted =
        apart.reversed ? fmt::format("({} - {})", apart.count - 1, part) : part;
    index = apart.outer ? fmt::format("{}*({}) + {}", counted, size, index)
                        : fmt::format("{}*{} + {}", index, apart.count, counted);
  }

  void TakeTwice() {
    const uint64_t outer = 2 << rng_.Below(2), inner = outer == 4 ? 2 : 2 << rng_.Below(2);
    const std::string i = Further(outer), j = Further(inner);
    divides_[0] = outer * inner;
    drawn_.parts[0].size = fmt::format("C//{}", outer * inner);
    drawn_.indices[0] =
        Chance(0.5) ? fmt::format("{{c}}*{} + {}*{} + {}", outer * inner, i, inner, j)
                    : fmt::format("{}*(C//{}) + {}*(C//{}) + {{c}}", i, outer, j, outer * inner);
  }

  void Order() {
    std::array<size_t, 3> order = {0, 1, 2};
    if (!Chance(kInOrder))
      for (size_t i = 3; i > 1; --i) std::swap(order[i - 1], order[rng_.Below(i)]);
    for (const size_t axis : order) drawn_.axes.push_back({axis});
    for (size_t part = 3; part < drawn_.parts.size(); ++part) {
      auto& axis = drawn_.axes[rng_.Below(3)];
      axis.insert(axis.begin() + static_cast<std::ptrdiff_t>(rng_.Below(axis.size() + 1)), part);
    }
    if (!Chance(kFlat)) return;
    const size_t first = rng_.Below(2);
    auto& joined = drawn_.axes[first];
    joined.insert(joined.end(), drawn_.axes[first + 1].begin(), drawn_.axes[first + 1].end());
    drawn_.axes.erase(drawn_.axes.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  }

  SplitMix64& rng_;
  Rearrangement drawn_;
  std::array<uint64_t, 3> divides_ = {1, 1, 1};
};

}  // namespace

std::string Rearrangement::Shape() const {
  std::string text = "N";
  for (const auto& axis : axes) {
    std::vector<std::string> sizes;
    for (const size_t part : axis) sizes.push_back(parts[part].size);
    text += ", " + Product(sizes);
  }
  return text;
}

std::string Rearrangement::Place() const {
  return std::string("o[n, c, p, q").substr(0, 3 * (axes.size() + 1)) + "]";
}

std::string Rearrangement::Indices() const {
  std::string text = "n";
  for (const std::string& index : indices) text += ", " + index;
  for (size_t a = 0; a < axes.size(); ++a)
    for (size_t i = 0; i < axes[a].size(); ++i) {
      const Part& part = parts[axes[a][i]];
      const std::string behind = Product(SizesBehind(*this, axes[a], i));
      std::string place(1, kNames[a]);
      if (!behind.empty()) place += " // " + Factor(behind);
      if (i > 0) place += " % " + Factor(part.size);
      const bool alone = axes[a].size() == 1;
      text = synth::Replaced(std::move(text), fmt::format("{{{}}}", part.name),
                             alone ? place : "(" + place + ")");
    }
  return text;
}

std::string Rearrangement::PlaceByParts() const {
  std::string text = "o[n";
  for (const auto& axis : axes) {
    text += ", ";
    for (size_t i = 0; i < axis.size(); ++i) {
      const std::string behind = Product(SizesBehind(*this, axis, i));
      text += fmt::format("{}{}{}", i > 0 ? " + " : "", parts[axis[i]].name,
                          behind.empty() ? "" : "*" + Factor(behind));
    }
  }
  return text + "]";
}

std::string Rearrangement::IndicesByParts() const {
  std::string text = "n";
  for (const std::string& index : indices) text += ", " + index;
  std::erase_if(text, [](char c) { return c == '{' || c == '}'; });
  return text;
}

bool Rearrangement::IsHeldOut() const {
  std::string order;
  for (const auto& axis : axes) {
    for (const size_t part : axis) order += parts[part].name;
    order += '|';
  }
  return std::ranges::find(kHeldOut, order) != kHeldOut.end();
}

Rearrangement DrawRearrangement(SplitMix64* rng) { return Drawing(rng).Run(); }

}  // namespace davinci::teacher
