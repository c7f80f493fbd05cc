#include "davinci/import/named_sizes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace davinci::import {
namespace {

// Smaller sizes are kernels, channels of colours, halves: they are numbers, but for inputs, and for
// values that have them at the same axis as an input.
constexpr int64_t kLeastNamed = 8;

class Namer {
 public:
  explicit Namer(TracedModule module) : module_(std::move(module)) {}

  TracedModule Run() {
    for (const TracedName& input : module_.inputs)
      for (size_t axis = 0; axis < Shape(input.id).size(); ++axis)
        Name(Shape(input.id)[axis], axis);
    for (const TracedName& weight : module_.weights)
      for (const int64_t size : Shape(weight.id)) NameLarge(size);
    for (const TracedCall& call : module_.calls)
      if (call.name.starts_with("conv"))
        for (const TracedCall::Given& given : call.gives)
          for (const int64_t size : Shape(given.id)) NameLarge(size);
    if (module_.symbols.empty()) return std::move(module_);
    std::map<int, const TracedCall*> makers;
    for (const TracedCall& call : module_.calls)
      for (const TracedCall::Given& given : call.gives) makers[given.id] = &call;
    for (size_t id = 0; id < module_.values.size(); ++id) {
      const auto maker = makers.find(static_cast<int>(id));
      TracedValue& value = module_.values[id];
      for (size_t axis = 0; axis < value.shape.size(); ++axis)
        value.sizes.push_back(
            SizeOf(value.shape[axis], axis, maker == makers.end() ? nullptr : maker->second));
    }
    for (TracedCall& call : module_.calls) call.text = Marked(call);
    return std::move(module_);
  }

 private:
  const std::vector<int64_t>& Shape(int id) const {
    return module_.values[static_cast<size_t>(id)].shape;
  }

  void Name(int64_t size, size_t axis) {
    if (size >= kLeastNamed)
      NameLarge(size);
    else if (size > 1)
      Add(&small_, std::pair(size, axis), size);
  }
  void NameLarge(int64_t size) {
    if (size >= kLeastNamed) Add(&large_, size, size);
  }

  template <typename Key>
  void Add(std::map<Key, size_t>* symbols, const Key& key, int64_t size) {
    if (!symbols->emplace(key, module_.symbols.size()).second) return;
    TracedSymbol symbol;
    symbol.name = "s" + std::to_string(module_.symbols.size());
    symbol.value = size;
    module_.symbols.push_back(std::move(symbol));
  }

  const size_t* SymbolOf(int64_t size, size_t axis) const {
    if (const auto found = large_.find(size); found != large_.end()) return &found->second;
    const auto found = small_.find({size, axis});
    return found == small_.end() ? nullptr : &found->second;
  }

  SizeExpression SizeOf(int64_t size, size_t axis, const TracedCall* maker) const {
    if (const size_t* symbol = SymbolOf(size, axis)) return {{1, {*symbol}}};
    if (maker != nullptr && size >= kLeastNamed)
      for (const int read : maker->reads) {
        const auto& shape = Shape(read);
        for (size_t i = 1; i < shape.size(); ++i) {
          const size_t *left = SymbolOf(shape[i - 1], i - 1), *right = SymbolOf(shape[i], i);
          if (shape[i - 1] * shape[i] == size && left != nullptr && right != nullptr)
            return {{1, {*left, *right}}};
        }
      }
    return {{size, {}}};
  }

  std::string TextOf(const SizeExpression& size) const {
    std::string text;
    for (const size_t symbol : size[0].symbols)
      text += (text.empty() ? "" : "*") + module_.symbols[symbol].name;
    return text.empty() ? std::to_string(size[0].factor) : text;
  }

  // A call whose whole numbers are the sizes of its result, in order, names them: views.
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
      marked += size[0].symbols.empty() ? TextOf(size) : "\u27e6" + TextOf(size) + "\u27e7";
      from = places[axis].end;
    }
    return marked.append(text.substr(from));
  }

  TracedModule module_;
  std::map<int64_t, size_t> large_;                     // by value
  std::map<std::pair<int64_t, size_t>, size_t> small_;  // by value and axis
};

}  // namespace

TracedModule WithNamedSizes(TracedModule module) {
  if (!module.symbols.empty()) return module;
  return Namer(std::move(module)).Run();
}

}  // namespace davinci::import
