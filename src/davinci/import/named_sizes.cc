#include "davinci/import/named_sizes.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace davinci::import {
namespace {

// A size at every shape that was traced, the module's own first.
using Size = std::vector<int64_t>;

// Smaller sizes are kernels, channels of colours, halves: they are numbers, but for inputs, for
// images that a convolution gives, and for values that have them at the same axis; weights are
// none. 1 is a number unless another shape changes it, or it is the batch of all inputs.
constexpr int64_t kLeastNamed = 8;

// Stand around a size with a name.
const std::string kMark = "\u27e6", kMarkEnd = "\u27e7";

class Namer {
 public:
  Namer(TracedModule module, const std::vector<TracedModule>& further)
      : module_(std::move(module)) {
    for (const TracedModule& other : further)
      if (IsLike(other)) further_.push_back(&other);
  }

  TracedModule Run() {
    const bool one = IsBatchOfOne();
    for (const TracedName& input : module_.inputs)
      for (size_t axis = 0; axis < Shape(input.id).size(); ++axis) {
        const Size size = At(input.id, axis);
        if (axis == 0 && one && IsOne(size))
          Add(&of_results_, std::pair(size, axis), 1);
        else
          Name(size, axis);
      }
    for (const TracedName& weight : module_.weights) {
      weights_.insert(weight.id);
      for (size_t axis = 0; axis < Shape(weight.id).size(); ++axis) NameLarge(At(weight.id, axis));
    }
    for (const TracedCall& call : module_.calls) {
      if (!call.name.starts_with("conv")) continue;
      for (const TracedCall::Given& given : call.gives)
        for (size_t axis = 2; axis < Shape(given.id).size(); ++axis)
          NameOfConvolution(At(given.id, axis), axis);
    }
    if (module_.symbols.empty()) return std::move(module_);
    std::map<int, const TracedCall*> makers;
    for (const TracedCall& call : module_.calls)
      for (const TracedCall::Given& given : call.gives) makers[given.id] = &call;
    for (size_t id = 0; id < module_.values.size(); ++id) {
      const auto maker = makers.find(static_cast<int>(id));
      TracedValue& value = module_.values[id];
      for (size_t axis = 0; axis < value.shape.size(); ++axis)
        value.sizes.push_back(SizeOf(At(static_cast<int>(id), axis), axis,
                                     weights_.contains(static_cast<int>(id)),
                                     maker == makers.end() ? nullptr : maker->second));
    }
    for (const TracedName& input : module_.inputs) Show(input.id);
    for (const TracedName& weight : module_.weights) Show(weight.id);
    for (TracedCall& call : module_.calls) {
      call.text = Marked(call);
      for (const TracedCall::Given& given : call.gives) Show(given.id);
    }
    return std::move(module_);
  }

 private:
  const std::vector<int64_t>& Shape(int id) const {
    return module_.values[static_cast<size_t>(id)].shape;
  }

  // The same values of the same ranks.
  bool IsLike(const TracedModule& other) const {
    return std::ranges::equal(module_.values, other.values,
                              [](const TracedValue& a, const TracedValue& b) {
                                return a.shape.size() == b.shape.size();
                              });
  }
  Size At(int id, size_t axis) const {
    Size size = {Shape(id)[axis]};
    for (const TracedModule* other : further_)
      size.push_back(other->values[static_cast<size_t>(id)].shape[axis]);
    return size;
  }
  static bool IsProduct(const Size& size, const Size& left, const Size& right) {
    for (size_t i = 0; i < size.size(); ++i)
      if (left[i] * right[i] != size[i]) return false;
    return true;
  }

  // Is the first axis of all inputs, but vectors, 1? Then it is a batch.
  bool IsBatchOfOne() const {
    return std::ranges::all_of(module_.inputs, [&](const TracedName& input) {
      return Shape(input.id).size() < 2 || Shape(input.id)[0] == 1;
    });
  }

  static bool IsOne(const Size& size) {
    return std::ranges::all_of(size, [](int64_t at) { return at == 1; });
  }

  void NameOfConvolution(const Size& size, size_t axis) {
    if (size[0] >= kLeastNamed)
      NameLarge(size);
    else if (!IsOne(size) && SymbolOf(size, axis) == nullptr)
      Add(&of_results_, std::pair(size, axis), size[0]);
  }

  void Name(const Size& size, size_t axis) {
    if (size[0] >= kLeastNamed)
      NameLarge(size);
    else if (size[0] > 1 || std::ranges::adjacent_find(size, std::not_equal_to()) != size.end())
      Add(&small_, std::pair(size, axis), size[0]);
  }
  void NameLarge(const Size& size) {
    if (size[0] >= kLeastNamed) Add(&large_, size, size[0]);
  }

  template <typename Key>
  void Add(std::map<Key, size_t>* symbols, const Key& key, int64_t size) {
    if (!symbols->emplace(key, module_.symbols.size()).second) return;
    TracedSymbol symbol;
    symbol.name = "s" + std::to_string(module_.symbols.size());
    symbol.value = size;
    module_.symbols.push_back(std::move(symbol));
  }

  const size_t* SymbolOf(const Size& size, size_t axis, bool weight = false) const {
    if (const auto found = large_.find(size); found != large_.end()) return &found->second;
    const auto found = small_.find({size, axis});
    if (found != small_.end()) return &found->second;
    const auto of_result = of_results_.find({size, axis});
    return weight || of_result == of_results_.end() ? nullptr : &of_result->second;
  }

  SizeExpression SizeOf(const Size& size, size_t axis, bool weight, const TracedCall* maker) {
    if (const size_t* symbol = SymbolOf(size, axis, weight)) return {{1, {*symbol}}};
    if (maker != nullptr && size[0] >= kLeastNamed)
      for (const int read : maker->reads)
        for (size_t i = 1; i < Shape(read).size(); ++i) {
          const Size before = At(read, i - 1), at = At(read, i);
          const size_t *left = SymbolOf(before, i - 1), *right = SymbolOf(at, i);
          if (IsProduct(size, before, at) && left != nullptr && right != nullptr)
            return products_[{size, axis}] = {{1, {*left, *right}}};
        }
    // A tensor that is computed of a product has its size.
    if (const auto product = products_.find({size, axis}); !weight && product != products_.end())
      return product->second;
    if (maker != nullptr && size[0] >= kLeastNamed && !further_.empty())
      if (auto sum = SumOf(size, SymbolsRead(*maker))) return *std::move(sum);
    return {{size[0], {}}};
  }

  struct Read {
    Size size;
    size_t symbol;
  };
  std::vector<Read> SymbolsRead(const TracedCall& maker) const {
    std::vector<Read> symbols;
    for (const int read : maker.reads)
      for (size_t axis = 0; axis < Shape(read).size(); ++axis)
        if (const size_t* symbol = SymbolOf(At(read, axis), axis))
          symbols.push_back({At(read, axis), *symbol});
    return symbols;
  }

  // A size of the call's operands that is repeated, with a border, or behind another one, at every
  // shape that was traced.
  std::optional<SizeExpression> SumOf(const Size& size, const std::vector<Read>& reads) const {
    constexpr int64_t kMostTimes = 16, kMostBorder = 64;
    const auto at_all = [&](const auto& is) {
      for (size_t i = 0; i < size.size(); ++i)
        if (!is(i)) return false;
      return true;
    };
    for (const Read& read : reads) {
      const int64_t times = size[0] / read.size[0], border = size[0] - read.size[0];
      if (times > 1 && times <= kMostTimes &&
          at_all([&](size_t i) { return size[i] == times * read.size[i]; }))
        return SizeExpression{{times, {read.symbol}}};
      if (border != 0 && std::abs(border) <= kMostBorder &&
          at_all([&](size_t i) { return size[i] == read.size[i] + border; }))
        return SizeExpression{{1, {read.symbol}}, {border, {}}};
    }
    for (const Read& first : reads)
      for (const Read& second : reads)
        if (first.symbol < second.symbol &&
            at_all([&](size_t i) { return size[i] == first.size[i] + second.size[i]; }))
          return SizeExpression{{1, {first.symbol}}, {1, {second.symbol}}};
    return std::nullopt;
  }

  // Texts may name the value's sizes from now on.
  void Show(int id) {
    for (const SizeExpression& size : module_.values[static_cast<size_t>(id)].sizes)
      if (size.size() == 1 && size[0].factor == 1 && size[0].symbols.size() == 1)
        shown_.insert(size[0].symbols[0]);
  }
  bool IsShown(const SizeExpression& size) const {
    return std::ranges::all_of(size, [&](const SizeTerm& term) {
      return std::ranges::all_of(term.symbols, [&](size_t one) { return shown_.contains(one); });
    });
  }

  std::string TextOf(const SizeExpression& size) const {
    std::string text;
    for (const SizeTerm& term : size) {
      if (!text.empty()) text += term.factor < 0 ? " - " : " + ";
      const int64_t factor = text.empty() ? term.factor : std::abs(term.factor);
      std::string product = factor == 1 && !term.symbols.empty() ? "" : std::to_string(factor);
      for (const size_t symbol : term.symbols)
        product += (product.empty() ? "" : "*") + module_.symbols[symbol].name;
      text += product;
    }
    return text;
  }

  // A call whose whole numbers are the sizes of its result, in order, names them, where a tensor
  // before it has them: views.
  std::string Marked(const TracedCall& call) const {
    if (call.gives.size() != 1) return call.text;
    struct Place {
      size_t begin, end;
    };
    std::vector<Place> places;
    const std::string_view text = call.text;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '{') i = std::min(text.find('}', i), text.size() - 1);
      if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
      size_t end = i;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      const auto part = [&](size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                    text[at] == '_' || text[at] == '.' || text[at] == '-');
      };
      if (end - i > 12 || (i > 0 && part(i - 1)) || part(end)) return call.text;
      places.push_back({i, end});
      i = end - 1;
    }
    const TracedValue& value = module_.values[static_cast<size_t>(call.gives[0].id)];
    if (places.size() != value.shape.size() || places.empty()) return call.text;
    for (size_t axis = 0; axis < places.size(); ++axis)
      if (std::stoll(std::string(text.substr(
              places[axis].begin, places[axis].end - places[axis].begin))) != value.shape[axis])
        return call.text;
    std::string marked;
    size_t from = 0;
    for (size_t axis = 0; axis < places.size(); ++axis) {
      marked += text.substr(from, places[axis].begin - from);
      const SizeExpression& size = value.sizes[axis];
      marked += size[0].symbols.empty() || !IsShown(size) ? std::to_string(value.shape[axis])
                                                          : kMark + TextOf(size) + kMarkEnd;
      from = places[axis].end;
    }
    return marked.append(text.substr(from));
  }

  TracedModule module_;
  std::vector<const TracedModule*> further_;
  std::map<Size, size_t> large_;                     // by value
  std::map<std::pair<Size, size_t>, size_t> small_;  // by value and axis
  // Likewise of what is no weight: images that a convolution gives, a batch of one.
  std::map<std::pair<Size, size_t>, size_t> of_results_;
  std::map<std::pair<Size, size_t>, SizeExpression> products_;  // by value and axis
  std::set<int> weights_;
  std::set<size_t> shown_;  // symbols
};

// "0.375", "1e-05" and "-1" of a call's text, in order; kMark for a size with a name.
std::vector<std::string> NumbersOf(const std::string& text) {
  std::vector<std::string> numbers;
  const auto digit = [&](size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') i = std::min(text.find('}', i), text.size() - 1);
    if (text.compare(i, kMark.size(), kMark) == 0) {
      numbers.push_back(kMark);
      i = std::min(text.find(kMarkEnd, i), text.size() - 1);
    }
    if (!digit(i)) continue;
    size_t end = i;
    while (digit(end) || (end < text.size() && (text[end] == '.' || text[end] == 'e')) ||
           (end < text.size() && text[end] == '-' && text[end - 1] == 'e'))
      ++end;
    const bool word = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 ||
                                text[i - 1] == '_' || text[i - 1] == '.');
    if (!word)
      numbers.push_back((i > 0 && text[i - 1] == '-' ? "-" : "") + text.substr(i, end - i));
    i = end - 1;
  }
  return numbers;
}

}  // namespace

bool IsOfOneShape(const TracedModule& named, const std::vector<TracedModule>& further) {
  const auto alike = [](const TracedCall& own, const TracedCall& at) {
    return own.name == at.name &&
           std::ranges::equal(NumbersOf(own.text), NumbersOf(at.text),
                              [](const std::string& number, const std::string& other) {
                                return number == kMark || number == other;
                              });
  };
  return std::ranges::any_of(further, [&](const TracedModule& other) {
    return !std::ranges::equal(named.calls, other.calls, alike);
  });
}

TracedModule WithNamedSizes(TracedModule module, const std::vector<TracedModule>& further) {
  if (!module.symbols.empty()) return module;
  return Namer(std::move(module), further).Run();
}

}  // namespace davinci::import
