#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"

namespace davinci::teacher {
namespace {

// `text` with each whole name replaced that `other` gives another one.
template <typename Other>
std::string Renamed(const std::string& text, const Other& other) {
  std::string renamed;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && synth::IsWordChar(text[end])) ++end;
    if (end == at) {
      renamed += text[at++];
      continue;
    }
    renamed += other(text.substr(at, end - at));
    at = end;
  }
  return renamed;
}

std::vector<std::string> DefinedNames(const std::string& source) {
  static constexpr std::string_view kDefinition = "\ndef ";
  std::vector<std::string> names;
  for (size_t at = source.find(kDefinition); at != std::string::npos;
       at = source.find(kDefinition, at + 1)) {
    const size_t begin = at + kDefinition.size();
    names.push_back(source.substr(begin, source.find('(', begin) - begin));
  }
  return names;
}

// Variables of values and of steps: t12, v3.
bool IsNumbered(const std::string& name) {
  return name.size() > 1 && (name[0] == 't' || name[0] == 'v') &&
         std::all_of(name.begin() + 1, name.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// The kernels with numbers in place of their own names and those of their tensors.
std::string Unnamed(const std::string& source, const std::vector<std::string>& kernels) {
  static constexpr std::string_view kPointer = "_ptr";
  std::set<std::string> tensors;
  Renamed(source, [&](const std::string& name) {
    if (name.size() > kPointer.size() && name.ends_with(kPointer)) {
      tensors.insert(name);
      tensors.insert(name.substr(0, name.size() - kPointer.size()));
    }
    return name;
  });
  std::map<std::string, std::string> numbers;
  return Renamed(source, [&](const std::string& name) {
    const bool own = std::find(kernels.begin(), kernels.end(), name) != kernels.end();
    if (!own && !tensors.contains(name) && !IsNumbered(name)) return name;
    return numbers.try_emplace(name, "#" + std::to_string(numbers.size())).first->second;
  });
}

// Rounds to ten bits of fraction; what rounding would make infinite is cut off.
constexpr const char* kSplit = R"(@triton.jit
def split_tf32(x):
    bits = x.to(tl.int32, bitcast=True)
    high = ((bits + 0x1000) & -8192).to(tl.float32, bitcast=True)
    cut = (bits & -8192).to(tl.float32, bitcast=True)
    high = tl.where(tl.abs(high) < float("inf"), high, cut)
    high = tl.where(x == x, high, x)
    low = x - high
    return high, tl.where(low == low, low, 0.0)
)";
constexpr const char* kSplitRows = R"(@triton.jit
def split_rows_kernel(x_ptr, high_ptr, low_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    high, low = split_tf32(tl.load(x_ptr + i, mask=i < n, other=0.0))
    tl.store(high_ptr + i, high, mask=i < n)
    tl.store(low_ptr + i, low, mask=i < n)
)";
constexpr const char* kSplitTransposed = R"(@triton.jit
def split_transposed_kernel(x_ptr, high_ptr, low_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    matrix = tl.program_id(2).to(tl.int64) * rows * cols
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    x = tl.load(x_ptr + matrix + row[:, None] * cols + col[None, :], mask=inside, other=0.0)
    high, low = split_tf32(tl.trans(x))
    out = matrix + col[:, None] * rows + row[None, :]
    tl.store(high_ptr + out, high, mask=tl.trans(inside))
    tl.store(low_ptr + out, low, mask=tl.trans(inside))
)";

}  // namespace

std::pair<std::string, std::string> CandidateWriter::Split(Id factor, bool transposed) {
  const auto [found, added] = split_.try_emplace({factor, transposed});
  if (!added) return found->second;
  const std::string source = Host(factor);
  const std::string name = fmt::format("part{}", split_.size());
  found->second = {name, name + "_low"};
  Line(fmt::format("{0}, {0}_low = {1}.new_empty({1}.numel()), {1}.new_empty({1}.numel())", name,
                   source));
  const auto add = [&](const char* text) {
    if (kernels_.find(text) == std::string::npos)
      kernels_ += (kernels_.empty() ? "" : "\n\n") + std::string(text);
  };
  add(kSplit);
  add(transposed ? kSplitTransposed : kSplitRows);
  if (!transposed) {
    Line(
        fmt::format("split_rows_kernel[(({0}.numel() + 4095) // 4096,)]({0}, {1}, {1}_low, "
                    "{0}.numel(), BLOCK=4096, num_warps=8)",
                    source, name));
    return found->second;
  }
  const auto& shape = p_[factor].shape;
  const std::string rows = p_.SizeText(shape[shape.size() - 2]), cols = p_.SizeText(shape.back());
  std::string matrices = "1";
  if (shape.size() > 2) matrices = p_.SizeText(p_.Product({shape.begin(), shape.end() - 2}));
  Line(
      fmt::format("split_transposed_kernel[(({0} + 63) // 64, ({1} + 63) // 64, {2})]({3}, {4}, "
                  "{4}_low, {0}, {1}, BLOCK=64)",
                  rows, cols, matrices, source, name));
  return found->second;
}

bool CandidateWriter::TakeAgain(KernelText* text) {
  const std::vector<std::string> names = DefinedNames(text->source);
  const auto [found, added] = taken_.try_emplace(Unnamed(text->source, names), names);
  if (added) return false;
  for (std::string line : text->call) {
    for (size_t i = 0; i < names.size(); ++i)
      line = synth::WithWord(line, names[i], found->second[i]);
    Line(line);
  }
  ++candidate_.own_kernels;
  return true;
}

}  // namespace davinci::teacher
