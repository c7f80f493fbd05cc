#include "davinci/teacher/regions/view_strides.h"

#include <algorithm>
#include <map>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;
using Expression = PythonExpression;
using ExpressionKind = PythonExpression::Kind;
using Numbers = std::vector<int64_t>;

std::optional<int64_t> NumberOf(const Expression& e) {
  if (e.kind == ExpressionKind::kUnary && e.text == "-") {
    const auto positive = NumberOf(e.parts[0]);
    return positive ? std::optional(-*positive) : std::nullopt;
  }
  if (e.kind != ExpressionKind::kNumber || e.text.empty() || e.text.size() > 12 ||
      e.text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(e.text);
}

std::optional<Numbers> NumbersOf(const std::vector<Expression>& list) {
  if (list.size() == 1 && list[0].kind == ExpressionKind::kSequence)
    return NumbersOf(list[0].parts);
  Numbers numbers;
  for (const Expression& e : list) {
    const auto number = NumberOf(e);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Splits or joins axes where that needs no copy.
std::optional<StridedShape> Reshaped(const StridedShape& x, const Numbers& sizes) {
  StridedShape made{sizes, Numbers(sizes.size(), 1)};
  size_t from = 0, to = 0;
  const auto skip = [](const Numbers& all, size_t* at) {
    while (*at < all.size() && all[*at] == 1) ++*at;
  };
  for (skip(x.sizes, &from), skip(sizes, &to); from < x.sizes.size() && to < sizes.size();
       skip(x.sizes, &from), skip(sizes, &to)) {
    // The shortest run of axes of both that has the same elements.
    int64_t old = x.sizes[from], fresh = sizes[to];
    size_t last = from, end = to;
    while (old != fresh) {
      if (old < fresh) {
        if (++last >= x.sizes.size()) return std::nullopt;
        if (x.sizes[last] == 1) continue;
        const int64_t outer = [&] {
          size_t before = last - 1;
          while (x.sizes[before] == 1) --before;
          return x.strides[before];
        }();
        if (outer != x.strides[last] * x.sizes[last]) return std::nullopt;
        old *= x.sizes[last];
      } else {
        if (++end >= sizes.size()) return std::nullopt;
        fresh *= sizes[end];
      }
    }
    int64_t stride = x.strides[last];
    for (size_t i = end + 1; i-- > to;) {
      made.strides[i] = stride;
      stride *= sizes[i];
    }
    from = last + 1;
    to = end + 1;
  }
  if (from < x.sizes.size() || to < sizes.size()) return std::nullopt;
  return made;
}

std::optional<StridedShape> Expanded(const StridedShape& x, const Numbers& sizes) {
  if (sizes.size() < x.sizes.size()) return std::nullopt;
  StridedShape made{sizes, Numbers(sizes.size(), 0)};
  const size_t shift = sizes.size() - x.sizes.size();
  for (size_t i = 0; i < x.sizes.size(); ++i) {
    int64_t& size = made.sizes[i + shift];
    if (size == -1) size = x.sizes[i];
    if (size == x.sizes[i])
      made.strides[i + shift] = x.strides[i];
    else if (x.sizes[i] != 1)
      return std::nullopt;
  }
  return made;
}

class ViewReader {
 public:
  ViewReader(const StridedShape& base, const Numbers& sizes, std::optional<int> item)
      : base_(base), sizes_(sizes), item_(item) {}

  std::optional<StridedShape> Read(const Expression& e) {
    if (e.kind == ExpressionKind::kName)
      return e.text == "base" ? std::optional(base_) : std::nullopt;
    if (e.kind == ExpressionKind::kSubscript) return Subscripted(e);
    if (e.kind != ExpressionKind::kCall || e.parts[0].kind != ExpressionKind::kAttribute)
      return std::nullopt;
    const bool free = e.parts[0].parts[0].DottedName() == "torch";
    if (free && e.parts.size() < 2) return std::nullopt;
    auto x = Read(free ? e.parts[1] : e.parts[0].parts[0]);
    if (!x) return std::nullopt;
    return Called(e.parts[0].text, *std::move(x), {e.parts.begin() + (free ? 2 : 1), e.parts.end()},
                  e.keywords);
  }

 private:
  using Arguments = std::vector<Expression>;
  using Keywords = std::vector<Expression::Keyword>;

  // Returns an argument by position or keyword, else `otherwise`.
  static std::optional<int64_t> Argument(const Arguments& arguments, const Keywords& keywords,
                                         size_t at, const char* name,
                                         std::optional<int64_t> otherwise = {}) {
    if (at < arguments.size()) return NumberOf(arguments[at]);
    for (const auto& keyword : keywords)
      if (keyword.name == name) return NumberOf(keyword.value);
    return otherwise;
  }
  static std::optional<size_t> AxisOf(std::optional<int64_t> axis, size_t rank) {
    if (axis && *axis < 0) *axis += static_cast<int64_t>(rank);
    if (!axis || *axis < 0 || *axis >= static_cast<int64_t>(rank)) return std::nullopt;
    return static_cast<size_t>(*axis);
  }
  static void Drop(StridedShape* x, size_t axis) {
    x->sizes.erase(x->sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    x->strides.erase(x->strides.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  static void Insert(StridedShape* x, size_t axis, int64_t size, int64_t stride) {
    x->sizes.insert(x->sizes.begin() + static_cast<std::ptrdiff_t>(axis), size);
    x->strides.insert(x->strides.begin() + static_cast<std::ptrdiff_t>(axis), stride);
  }

  std::optional<StridedShape> Called(const std::string& name, StridedShape x,
                                     const Arguments& arguments, const Keywords& keywords) {
    if (name == "detach") return x;
    if (name == "permute") return Permuted(x, arguments);
    if (name == "reshape" || name == "view") {
      auto sizes = NumbersOf(arguments);
      return sizes && keywords.empty() ? WithOpenSize(x, *std::move(sizes)) : std::nullopt;
    }
    if (name == "expand") {
      const auto sizes = NumbersOf(arguments);
      return sizes ? Expanded(x, *sizes) : std::nullopt;
    }
    if (name == "expand_as") return Expanded(x, sizes_);
    if (name == "t" && x.sizes.size() == 2) {
      std::swap(x.sizes[0], x.sizes[1]);
      std::swap(x.strides[0], x.strides[1]);
      return x;
    }
    if (name == "squeeze" && arguments.empty() && keywords.empty()) {
      for (size_t i = x.sizes.size(); i-- > 0;)
        if (x.sizes[i] == 1) Drop(&x, i);
      return x;
    }
    return OfAxis(name, std::move(x), arguments, keywords);
  }

  std::optional<StridedShape> OfAxis(const std::string& name, StridedShape x,
                                     const Arguments& arguments, const Keywords& keywords) {
    const auto number = [&](size_t at, const char* keyword, std::optional<int64_t> otherwise = {}) {
      return Argument(arguments, keywords, at, keyword, otherwise);
    };
    if (name == "split" || name == "chunk") {
      const auto axis = AxisOf(number(1, "dim", 0), x.sizes.size());
      if (!axis || !item_ || sizes_.size() != x.sizes.size()) return std::nullopt;
      x.sizes[*axis] = sizes_[*axis];
      return x;
    }
    const bool unbind = name == "unbind";
    const size_t rank = x.sizes.size() + (name == "unsqueeze" ? 1 : 0);
    const auto axis = AxisOf(number(0, name == "transpose" ? "dim0" : "dim",
                                    unbind ? std::optional<int64_t>(0) : std::nullopt),
                             rank);
    if (!axis) return std::nullopt;
    if (name == "unsqueeze") {
      Insert(&x, *axis, 1, 1);
    } else if (name == "transpose" || name == "swapaxes") {
      const auto other = AxisOf(number(1, "dim1"), rank);
      if (!other) return std::nullopt;
      std::swap(x.sizes[*axis], x.sizes[*other]);
      std::swap(x.strides[*axis], x.strides[*other]);
    } else if (name == "select" || (unbind && item_)) {
      Drop(&x, *axis);
    } else if (name == "squeeze") {
      if (x.sizes[*axis] == 1) Drop(&x, *axis);
    } else if (name == "narrow") {
      const auto length = number(2, "length");
      if (!length || *length < 0 || *length > x.sizes[*axis]) return std::nullopt;
      x.sizes[*axis] = *length;
    } else if (name == "unfold") {
      const auto size = number(1, "size"), step = number(2, "step");
      if (!size || !step || *step < 1 || *size < 1 || *size > x.sizes[*axis]) return std::nullopt;
      Insert(&x, rank, *size, x.strides[*axis]);
      x.sizes[*axis] = (x.sizes[*axis] - *size) / *step + 1;
      x.strides[*axis] *= *step;
    } else {
      return std::nullopt;
    }
    return x;
  }

  static std::optional<StridedShape> Permuted(const StridedShape& x, const Arguments& arguments) {
    const auto order = NumbersOf(arguments);
    if (!order || order->size() != x.sizes.size()) return std::nullopt;
    StridedShape made;
    for (const int64_t axis : *order) {
      const auto from = AxisOf(axis, x.sizes.size());
      if (!from) return std::nullopt;
      made.sizes.push_back(x.sizes[*from]);
      made.strides.push_back(x.strides[*from]);
    }
    return made;
  }

  static std::optional<StridedShape> WithOpenSize(const StridedShape& x, Numbers sizes) {
    int64_t all = 1, given = 1;
    for (const int64_t size : x.sizes) all *= size;
    for (const int64_t size : sizes) given *= size == -1 ? 1 : size;
    for (int64_t& size : sizes)
      if (size == -1 && given > 0) size = all / given;
    return Reshaped(x, sizes);
  }

  // x[:, 2], x[..., None], x[:, 1:-1:2], (a tuple)[1]
  std::optional<StridedShape> Subscripted(const Expression& e) {
    const Expression& from = e.parts[0];
    if (from.kind == ExpressionKind::kCall && from.parts[0].kind == ExpressionKind::kAttribute) {
      const std::string& name = from.parts[0].text;
      if (name == "split" || name == "chunk" || name == "unbind") {
        const auto item = e.parts.size() == 2 ? NumberOf(e.parts[1]) : std::nullopt;
        if (!item || item_) return std::nullopt;
        item_ = static_cast<int>(*item);
        return Read(from);
      }
    }
    auto x = Read(from);
    if (!x) return std::nullopt;
    const auto takes_axis = [](const Expression& part) {
      return part.text != "..." && !(part.kind == ExpressionKind::kName && part.text == "None");
    };
    const auto given =
        static_cast<size_t>(std::count_if(e.parts.begin() + 1, e.parts.end(), takes_axis));
    if (given > x->sizes.size()) return std::nullopt;
    size_t axis = 0;
    for (size_t i = 1; i < e.parts.size(); ++i) {
      const Expression& part = e.parts[i];
      if (part.text == "...") {
        const auto behind = static_cast<size_t>(std::count_if(
            e.parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, e.parts.end(), takes_axis));
        axis = x->sizes.size() - behind;
      } else if (!takes_axis(part)) {
        Insert(&*x, axis++, 1, 1);
      } else if (part.kind == ExpressionKind::kSlice) {
        if (!Sliced(part, &x->sizes[axis], &x->strides[axis])) return std::nullopt;
        ++axis;
      } else if (NumberOf(part)) {
        Drop(&*x, axis);
      } else {
        return std::nullopt;
      }
    }
    return x;
  }

  static bool Sliced(const Expression& slice, int64_t* size, int64_t* stride) {
    const auto bound = [&](const Expression& e, int64_t otherwise) -> std::optional<int64_t> {
      if (e.kind == ExpressionKind::kNone) return otherwise;
      auto number = NumberOf(e);
      if (number && *number < 0) *number += *size;
      return number ? std::optional(std::clamp<int64_t>(*number, 0, *size)) : std::nullopt;
    };
    const auto begin = bound(slice.parts[0], 0), end = bound(slice.parts[1], *size);
    const auto step = slice.parts[2].kind == ExpressionKind::kNone ? std::optional<int64_t>(1)
                                                                   : NumberOf(slice.parts[2]);
    if (!begin || !end || !step || *step < 1 || *end <= *begin) return false;
    *size = (*end - *begin + *step - 1) / *step;
    *stride *= *step;
    return true;
  }

  const StridedShape& base_;
  const Numbers& sizes_;
  std::optional<int> item_;
};

// Views and what they are made of.
class StrideFinder {
 public:
  explicit StrideFinder(Program* program) : p_(*program) {}

  void Run() {
    for (size_t i = 0; i < p_.values.size(); ++i) {
      const auto id = static_cast<Id>(i);
      const auto found = Find(id);
      if (!found) continue;
      lies_.emplace(id, *found);
      if (!ReadInPlace(found->shape)) continue;
      p_.values[i].strides = found->shape.strides;
      p_.values[i].view_of = found->root;
    }
  }

 private:
  static constexpr int64_t kInCache = 65536;  // elements that a core reads in any order as fast
  struct Lie {
    StridedShape shape;
    Id root = -1;
  };

  // Returns whether a value lies contiguously once it is made, or is made contiguous behind the
  // call that gives it.
  bool IsRoot(Id id) const {
    const TensorValue& value = p_[id];
    switch (value.kind) {
      case Kind::kLeaf:
        return value.contiguous && value.order.empty() &&
               std::none_of(p_.updates.begin(), p_.updates.end(),
                            [&](const auto& update) { return update.second == id; });
      case Kind::kPoint:
        return !value.virtual_;
      case Kind::kReduce:
      case Kind::kScan:
      case Kind::kLoad:
        return true;
      case Kind::kReshape:
        return p_[value.operands[0]].kind != Kind::kOpaque && IsRoot(value.operands[0]);
      case Kind::kOpaque:
        return !value.view && !value.effect;
      case Kind::kItem:
        return !p_[value.operands[0]].view;
      default:
        return false;
    }
  }

  std::optional<Lie> LieOf(Id id) const {
    if (const auto found = lies_.find(id); found != lies_.end()) return found->second;
    const auto sizes = ConstantSizes(p_, id);
    if (!sizes || !IsRoot(id)) return std::nullopt;
    return Lie{StridedShape::Contiguous(*sizes), id};
  }

  std::optional<Lie> Find(Id id) const {
    const TensorValue& value = p_[id];
    const std::optional<int> place = ItemOf(value);
    const bool item = place.has_value();
    if (!item && !(value.kind == Kind::kOpaque && value.view) && value.kind != Kind::kReshape)
      return std::nullopt;
    const TensorValue& made = item ? p_[value.operands[0]] : value;
    const auto sizes = ConstantSizes(p_, id);
    if (!sizes || made.operands.empty()) return std::nullopt;
    const auto base = LieOf(made.operands[0]);
    if (!base) return std::nullopt;
    std::optional<StridedShape> view;
    if (value.kind == Kind::kReshape) {
      view = Reshaped(base->shape, *sizes);
    } else {
      const std::string text =
          synth::Replaced(synth::Replaced(made.text, "{0}", "base"), "{1}", "other");
      const auto expression = PythonExpression::Parse(text);
      if (expression.ok()) view = ViewOf(*expression, base->shape, *sizes, place);
    }
    if (!view) return std::nullopt;
    return Lie{*view, base->root};
  }

  // Returns the place of a member in its tuple; nothing: the value is no member.
  static std::optional<int> ItemOf(const TensorValue& value) {
    if (value.kind != Kind::kItem) return std::nullopt;
    if (value.text.empty()) return value.item;
    const auto member = PythonExpression::Parse("base" + value.text);
    if (!member.ok() || member->kind != ExpressionKind::kSubscript || member->parts.size() != 2)
      return std::nullopt;
    const auto place = NumberOf(member->parts[1]);
    return place ? std::optional(static_cast<int>(*place)) : std::nullopt;
  }

  static bool ReadInPlace(const StridedShape& shape) {
    int64_t elements = 1, last = 1;
    for (size_t i = 0; i < shape.sizes.size(); ++i) {
      elements *= shape.sizes[i];
      if (shape.sizes[i] != 1) last = shape.strides[i];
    }
    return elements > 0 && (last <= 1 || elements <= kInCache);
  }

  Program& p_;
  std::map<Id, Lie> lies_;  // of views
};

}  // namespace

StridedShape StridedShape::Contiguous(std::vector<int64_t> sizes) {
  StridedShape made{std::move(sizes), {}};
  made.strides.resize(made.sizes.size());
  int64_t stride = 1;
  for (size_t i = made.sizes.size(); i-- > 0;) {
    made.strides[i] = stride;
    stride *= made.sizes[i];
  }
  return made;
}

std::optional<StridedShape> ViewOf(const PythonExpression& text, const StridedShape& base,
                                   const std::vector<int64_t>& sizes, std::optional<int> item) {
  auto made = ViewReader(base, sizes, item).Read(text);
  return made && made->sizes == sizes ? made : std::nullopt;
}

void FindStrides(Program* program) { StrideFinder(program).Run(); }

}  // namespace davinci::teacher
