// einsum of two operands: a product of matrices, a pass of products and sums, or PyTorch's call.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/matmul.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

bool HasLetter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// "...k,ko->...o" for operands of these ranks with a letter for every axis; nothing: not of this
// kind.
struct Equation {
  std::string a, b, out;
};
std::optional<Equation> ParseEquation(std::string text, size_t rank_a, size_t rank_b) {
  std::erase(text, ' ');
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow ||
      text.find(',', comma + 1) != std::string::npos)
    return std::nullopt;
  Equation parts{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                 text.substr(arrow + 2)};
  size_t wide = 0;
  for (const auto& [letters, rank] : {std::pair{parts.a, rank_a}, {parts.b, rank_b}})
    if (letters.find("...") != std::string::npos) {
      if (letters.size() - 3 > rank) return std::nullopt;
      const size_t own = rank - (letters.size() - 3);
      if (wide != 0 && own != wide) return std::nullopt;  // they would broadcast
      wide = own;
    }
  std::string many;
  for (size_t i = 0; i < wide; ++i) many += static_cast<char>('A' + i);
  for (std::string* letters : {&parts.a, &parts.b, &parts.out})
    if (const size_t dots = letters->find("..."); dots != std::string::npos)
      letters->replace(dots, 3, many);
  if (parts.a.size() != rank_a || parts.b.size() != rank_b) return std::nullopt;
  for (const std::string& letters : {parts.a, parts.b, parts.out})
    for (const char letter : letters)
      if (!std::isalpha(static_cast<unsigned char>(letter)) ||
          std::count(letters.begin(), letters.end(), letter) != 1)
        return std::nullopt;
  for (const char letter : parts.out)
    if (!HasLetter(parts.a, letter) && !HasLetter(parts.b, letter)) return std::nullopt;
  for (const std::string& letters : {parts.a, parts.b})
    for (const char letter : letters)
      if (!HasLetter(parts.out, letter) &&
          !(HasLetter(parts.a, letter) && HasLetter(parts.b, letter)))
        return std::nullopt;  // summed on its own
  return parts;
}

// The letters by their role: `summed` are in both operands alone.
struct EinsumAxes {
  std::map<char, DimId> size;
  std::string batch, left, right, summed;
};
Result<EinsumAxes> AxesOf(const Program& p, const Equation& parts, Id first, Id second) {
  const auto& shape_a = p[first].shape;
  const auto& shape_b = p[second].shape;
  EinsumAxes axes;
  for (size_t i = 0; i < shape_a.size(); ++i) axes.size[parts.a[i]] = shape_a[i];
  for (size_t i = 0; i < shape_b.size(); ++i) {
    const auto [found, added] = axes.size.try_emplace(parts.b[i], shape_b[i]);
    if (!added && !p.Same(found->second, shape_b[i])) return Unknown("einsum that broadcasts");
  }
  for (const char letter : parts.out)
    (!HasLetter(parts.b, letter)   ? axes.left
     : !HasLetter(parts.a, letter) ? axes.right
                                   : axes.batch) += letter;
  for (const char letter : parts.a)
    if (!HasLetter(parts.out, letter)) axes.summed += letter;
  return axes;
}

// One pass over the larger operand: products and a sum.
Result<Meaning> OnePass(Builder& b, const Equation& parts, const EinsumAxes& axes, Id first,
                        Id second) {
  const std::string space = parts.out + axes.summed;
  std::vector<DimId> sizes;
  for (const char letter : space) sizes.push_back(axes.size.at(letter));
  const auto read = [&](Id id, const std::string& letters) -> Result<Meaning> {
    std::vector<size_t> places;
    for (const char letter : letters) places.push_back(space.find(letter));
    if (std::is_sorted(places.begin(), places.end())) {
      std::vector<DimId> shape(space.size(), b.Constant(1));
      for (const size_t place : places) shape[place] = sizes[place];
      while (!shape.empty() && shape.size() > letters.size() && b.p.IsOne(shape.front()) &&
             !places.empty() && places.front() > 0 && shape.size() > space.size() - places.front())
        shape.erase(shape.begin());
      return shape.size() == letters.size() ? Meaning::Tensor(id) : b.Reshape(id, shape);
    }
    std::vector<Id> at;
    for (const size_t place : places) at.push_back(b.Position(sizes, place));
    return b.Load(id, at);
  };
  DAVINCI_ASSIGN_OR_RETURN(const Meaning x, read(first, parts.a));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning y, read(second, parts.b));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning product, b.Point("mul", {x, y}));
  if (axes.summed.empty()) return product;
  Meaning summed = Meaning::Sequence({});
  for (size_t i = parts.out.size(); i < space.size(); ++i)
    summed.items.push_back(Meaning::Number(static_cast<double>(i)));
  return Reduce(b, ReduceKind::kSum, product.id, summed, false);
}

// A product of matrices, perhaps of batches of them; nothing: it is another one.
std::optional<Result<Meaning>> AsMatmul(Builder& b, const Equation& parts, const EinsumAxes& axes,
                                        Id first, Id second) {
  const auto& [size, batch, left, right, summed] = axes;
  if (summed.size() != 1 || right.size() != 1 || !parts.out.ends_with(right)) return std::nullopt;
  const bool plain = parts.a == batch + left + summed && parts.out == batch + left + right;
  const bool turned =
      left.size() == 1 && parts.a == batch + summed + left && parts.out == batch + left + right;
  const bool straight = parts.b == batch + summed + right;
  const bool across = parts.b == batch + right + summed;
  const bool fits = batch.empty() || left.size() == 1;
  if (!fits || !(plain || turned) || !(straight || across)) return std::nullopt;
  const auto transposed = [&](Id id) {
    auto swapped = b.p[id].shape;
    const size_t rank = swapped.size();
    std::swap(swapped[rank - 1], swapped[rank - 2]);
    return b.View(id, fmt::format("{{0}}.transpose({}, {})", rank - 2, rank - 1), swapped).id;
  };
  if (turned) first = transposed(first);
  if (across) second = transposed(second);
  return Matmul(b, first, second);
}

Result<Meaning> Einsum(const Call& call) {
  Builder& b = call.b;
  const Meanings& given = call.arguments;
  if (given.size() < 2 || given[0].kind != Meaning::Kind::kText) return call.NotKnown();
  if (given.size() != 3 || !given[1].IsTensor() || !given[2].IsTensor())
    return Unknown("einsum of these");
  const Id first = given[1].id, second = given[2].id;
  const auto parts =
      ParseEquation(given[0].text, b.p[first].shape.size(), b.p[second].shape.size());
  if (!parts || b.p[first].dtype != DType::kFloat || b.p[second].dtype != DType::kFloat)
    return Unknown("this einsum");
  DAVINCI_ASSIGN_OR_RETURN(const EinsumAxes axes, AxesOf(b.p, *parts, first, second));
  if (axes.summed.empty() || axes.left.empty() || axes.right.empty())
    return OnePass(b, *parts, axes, first, second);
  if (auto product = AsMatmul(b, *parts, axes, first, second)) return std::move(*product);
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.text = fmt::format("torch.einsum(\"{}\", {{0}}, {{1}})", given[0].text);
  value.what = "matmul";
  value.contiguous = false;  // its axes may be permuted
  value.operands = {first, second};
  for (const char letter : parts->out) value.shape.push_back(axes.size.at(letter));
  return Meaning::Tensor(b.p.Add(std::move(value)));
}

}  // namespace

void AddEinsum(FunctionRegistry* registry) { registry->AddFree({"einsum"}, Einsum); }

}  // namespace davinci::teacher
