#include "davinci/teacher/candidate/host_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

// Sums, products and quotients of names and integers, folded.
struct SizeTree {
  enum class Kind { kInt, kName, kSum, kProduct, kQuotient };
  Kind kind = Kind::kInt;
  int64_t number = 0;  // kInt; the constant term of kSum, the constant factor of kProduct
  std::string name;
  struct Part;
  std::vector<Part> parts;

  bool IsInt() const { return kind == Kind::kInt; }
};

struct SizeTree::Part {
  bool subtracted = false;
  SizeTree tree;
};

SizeTree Number(int64_t number) {
  SizeTree tree;
  tree.number = number;
  return tree;
}

SizeTree Sum(SizeTree left, bool minus, SizeTree right) {
  SizeTree sum;
  sum.kind = SizeTree::Kind::kSum;
  const auto add = [&](SizeTree tree, bool negative) {
    if (tree.IsInt()) {
      sum.number += negative ? -tree.number : tree.number;
    } else if (tree.kind == SizeTree::Kind::kSum) {
      sum.number += negative ? -tree.number : tree.number;
      for (auto& [sign, part] : tree.parts) sum.parts.push_back({sign != negative, part});
    } else {
      sum.parts.push_back({negative, std::move(tree)});
    }
  };
  add(std::move(left), false);
  add(std::move(right), minus);
  if (sum.parts.empty()) return Number(sum.number);
  if (sum.parts.size() == 1 && sum.number == 0 && !sum.parts[0].subtracted) {
    SizeTree only = std::move(sum.parts[0].tree);
    return only;
  }
  return sum;
}

SizeTree Product(SizeTree left, SizeTree right) {
  SizeTree product;
  product.kind = SizeTree::Kind::kProduct;
  product.number = 1;
  for (SizeTree* tree : {&left, &right}) {
    if (tree->IsInt()) {
      product.number *= tree->number;
    } else if (tree->kind == SizeTree::Kind::kProduct) {
      product.number *= tree->number;
      for (auto& part : tree->parts) product.parts.push_back(std::move(part));
    } else {
      product.parts.push_back({false, std::move(*tree)});
    }
  }
  if (product.number == 0 || product.parts.empty()) return Number(product.number);
  if (product.parts.size() == 1 && product.number == 1) {
    SizeTree only = std::move(product.parts[0].tree);
    return only;
  }
  return product;
}

SizeTree Quotient(SizeTree left, SizeTree right) {
  if (right.IsInt() && right.number == 1) return left;
  if (left.IsInt() && right.IsInt() && left.number >= 0 && right.number > 0)
    return Number(left.number / right.number);
  SizeTree quotient;
  quotient.kind = SizeTree::Kind::kQuotient;
  quotient.parts.push_back({false, std::move(left)});
  quotient.parts.push_back({false, std::move(right)});
  return quotient;
}

// An expression at the beginning of a text; `end` is behind it. Null: none, or another kind.
class SizeParser {
 public:
  SizeParser(std::string_view text, const std::set<std::string>& names)
      : text_(text), names_(names) {}

  std::optional<SizeTree> Parse(size_t* end) {
    auto tree = ParseSum();
    Blank();
    *end = at_;
    return tree;
  }

 private:
  void Blank() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view op) {
    Blank();
    if (text_.compare(at_, op.size(), op) != 0) return false;
    if (op == "*" && text_.compare(at_, 2, "**") == 0) return false;
    at_ += op.size();
    return true;
  }
  std::optional<SizeTree> ParseSum() {
    auto left = ParseProduct();
    while (left) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) break;
      auto right = ParseProduct();
      if (!right) return std::nullopt;
      left = Sum(std::move(*left), !plus, std::move(*right));
    }
    return left;
  }
  std::optional<SizeTree> ParseProduct() {
    auto left = ParseAtom();
    while (left) {
      const bool times = Take("*");
      if (!times && !Take("//")) break;
      auto right = ParseAtom();
      if (!right) return std::nullopt;
      left = times ? Product(std::move(*left), std::move(*right))
                   : Quotient(std::move(*left), std::move(*right));
    }
    return left;
  }
  std::optional<SizeTree> ParseAtom() {
    if (Take("(")) {
      auto inner = ParseSum();
      if (!inner || !Take(")") || (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[')))
        return std::nullopt;
      return inner;
    }
    Blank();
    size_t end = at_;
    while (end < text_.size() && synth::IsWordChar(text_[end])) ++end;
    const std::string word(text_.substr(at_, end - at_));
    if (word.empty() || word.size() > 15 ||
        (end < text_.size() && std::string_view(".[(").find(text_[end]) != std::string_view::npos))
      return std::nullopt;
    SizeTree tree;
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      tree.number = std::stoll(word);
    } else if (names_.contains(word)) {
      tree.kind = SizeTree::Kind::kName;
      tree.name = word;
    } else {
      return std::nullopt;
    }
    at_ = end;
    return tree;
  }

  std::string_view text_;
  const std::set<std::string>& names_;
  size_t at_ = 0;
};

using Names = std::map<std::string, std::string>;  // of expressions

std::string Print(const SizeTree& tree, const Names& names, bool named = true);

std::string Operand(const SizeTree& tree, const Names& names, bool tight) {
  const std::string text = Print(tree, names);
  const bool simple = text.find(' ') == std::string::npos || text.starts_with("cdiv(");
  const bool product = tree.kind == SizeTree::Kind::kProduct;
  return simple || (product && !tight) ? text : "(" + text + ")";
}

std::string Print(const SizeTree& tree, const Names& names, bool named) {
  std::string text;
  switch (tree.kind) {
    case SizeTree::Kind::kInt:
      return std::to_string(tree.number);
    case SizeTree::Kind::kName:
      return tree.name;
    case SizeTree::Kind::kSum:
      for (const auto& [minus, part] : tree.parts) {
        const bool loose =
            part.kind == SizeTree::Kind::kProduct || part.kind == SizeTree::Kind::kQuotient;
        const std::string own = loose ? Print(part, names) : Operand(part, names, minus);
        text += text.empty() ? (minus ? "-" + own : own) : (minus ? " - " : " + ") + own;
      }
      if (tree.number != 0)
        text += fmt::format(" {} {}", tree.number < 0 ? '-' : '+', std::abs(tree.number));
      break;
    case SizeTree::Kind::kProduct:
      for (const auto& [minus, part] : tree.parts)
        text += (text.empty() ? "" : " * ") + Operand(part, names, true);
      if (tree.number != 1) text += fmt::format(" * {}", tree.number);
      break;
    case SizeTree::Kind::kQuotient: {
      const SizeTree &left = tree.parts[0].tree, &right = tree.parts[1].tree;
      constexpr int64_t kLeastBlock =
          16;  // of a grid: quotients of sizes stay as people write them
      if (right.IsInt() && right.number >= kLeastBlock && left.kind == SizeTree::Kind::kSum &&
          left.number == right.number - 1) {
        text = fmt::format("cdiv({}, {})", Print(Sum(left, true, Number(left.number)), names),
                           right.number);
        break;
      }
      text = Operand(left, names, false) + " // " + Operand(right, names, true);
      break;
    }
  }
  if (named)
    if (const auto found = names.find(text); found != names.end()) return found->second;
  return text;
}

void Count(const SizeTree& tree, std::map<std::string, size_t>* counts) {
  if (!tree.parts.empty()) {
    const std::string text = Print(tree, {}, false);
    if (!text.starts_with("cdiv(")) ++(*counts)[text];
  }
  for (const auto& [minus, part] : tree.parts) Count(part, counts);
}

// Calls `take` with the sizes that are whole arguments, elements or operands in brackets; its text
// takes their place.
template <typename Take>
std::string ForEachSize(const std::string& line, const std::set<std::string>& names,
                        const Take& take) {
  std::string text;
  for (size_t i = 0; i < line.size();) {
    size_t before = i;
    while (before > 0 && line[before - 1] == ' ') --before;
    const bool begins = line[i] != ' ' && before > 0 &&
                        std::string_view("([,=").find(line[before - 1]) != std::string_view::npos &&
                        (before < 2 || line[before - 1] != '=' ||
                         std::string_view("<>=!").find(line[before - 2]) == std::string_view::npos);
    if (begins && (synth::IsWordChar(line[i]) || line[i] == '(')) {
      size_t end = 0;
      const auto tree = SizeParser(std::string_view(line).substr(i), names).Parse(&end);
      const size_t next = i + end;
      if (tree && !tree->parts.empty() &&
          (next == line.size() ||
           std::string_view(")],").find(line[next]) != std::string_view::npos)) {
        text += take(*tree);
        i = next;
        continue;
      }
    }
    text += line[i++];
  }
  return text;
}

// "1 << (n - 1).bit_length()"
std::string WithPowers(std::string line) {
  static constexpr std::string_view kBegin = "1 << (", kEnd = " - 1).bit_length()";
  for (size_t at; (at = line.find(kBegin)) != std::string::npos;) {
    const size_t end = line.find(kEnd, at);
    if (end == std::string::npos) break;
    const std::string inner = line.substr(at + kBegin.size(), end - at - kBegin.size());
    line.replace(at, end + kEnd.size() - at, "pow2(" + inner + ")");
  }
  return line;
}

class Shortener {
 public:
  Shortener(std::vector<std::string> lines, const std::map<std::string, size_t>& ranks,
            std::map<std::string, size_t> result_ranks, const HostNames* wanted)
      : lines_(std::move(lines)),
        ranks_(ranks),
        result_ranks_(std::move(result_ranks)),
        wanted_(wanted) {}

  std::vector<std::string> Run() {
    for (std::string& line : lines_) line = WithPowers(std::move(line));
    JoinContiguous();
    if (wanted_ == nullptr) JoinReturn();
    RenameVariables(wanted_ != nullptr ? wanted_->variables : Numbers());
    for (char c = 'A'; c <= 'Z'; ++c) {
      const std::string letter(1, c);
      const bool taken = c == 'F' || ranks_.contains(letter) ||
                         (wanted_ != nullptr && wanted_->letters.contains(letter)) ||
                         std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
                           return synth::HasWord(line, letter);
                         });
      if (!taken) free_.push_back(letter);
    }
    std::reverse(free_.begin(), free_.end());
    const size_t formulas = wanted_ == nullptr ? 0 : AddFormulas();
    NameShapes();
    if (wanted_ == nullptr) NameExpressions();
    FoldSizes();
    NameFormulas(formulas);
    NameMembers(wanted_ != nullptr ? wanted_->members : ChooseMemberNames(lines_), &lines_);
    for (std::string& line : lines_) line = WithoutTuple(std::move(line));
    return std::move(lines_);
  }

 private:
  // "t7 = x.chunk(2)[0]", "t7 = t7.contiguous()"
  void JoinContiguous() {
    for (size_t i = 1; i < lines_.size(); ++i) {
      const size_t equals = lines_[i].find(" = ");
      if (equals == std::string::npos) continue;
      const std::string name = lines_[i].substr(0, equals);
      std::string& before = lines_[i - 1];
      if (lines_[i] != fmt::format("{0} = {0}.contiguous()", name) ||
          !before.starts_with(name + " = ") || !synth::IsAtomic(before.substr(equals + 3)))
        continue;
      before += ".contiguous()";
      lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }

  // "t7 = self.fc(t6)", "return t7"
  void JoinReturn() {
    if (lines_.size() < 2) return;
    const std::string variable = lines_.back().substr(std::string_view("return ").size());
    std::string& before = lines_[lines_.size() - 2];
    if (variable.find_first_of(" ,()[]{}.") != std::string::npos ||
        !before.starts_with(variable + " = "))
      return;
    before = "return " + before.substr(variable.size() + 3);
    lines_.pop_back();
  }

  // t1, t2, … in the order in which they are made.
  Names Numbers() const {
    Names names;
    for (const std::string& variable : MadeVariables(lines_))
      names.emplace(variable, fmt::format("t{}", names.size() + 1));
    return names;
  }

  void RenameVariables(const Names& names) {
    for (std::string& line : lines_)
      line = synth::RenamedAt(line, [&](const std::string& word, size_t at) {
        const auto found = at > 0 && line[at - 1] == '.' ? names.end() : names.find(word);
        return found == names.end() ? word : found->second;
      });
    std::map<std::string, size_t> ranks;
    for (const auto& [name, number] : names)
      if (const auto found = result_ranks_.find(name); found != result_ranks_.end())
        ranks[number] = found->second;
    result_ranks_ = std::move(ranks);
  }

  // 0: not known.
  size_t RankOf(const std::string& source) const {
    if (const auto found = ranks_.find(source); found != ranks_.end()) return found->second;
    const auto found = result_ranks_.find(source);
    return found == result_ranks_.end() ? 0 : found->second;
  }

  std::string Letter() {
    if (free_.empty()) return "";
    std::string letter = free_.back();
    free_.pop_back();
    return letter;
  }

  // "x.shape[1]" of whatever stands in front of it.
  void NameShapes() {
    struct Uses {
      std::map<int, size_t> axes;
    };
    std::vector<std::pair<std::string, Uses>> sources;
    static constexpr std::string_view kShape = ".shape[";
    for (const std::string& line : lines_)
      for (size_t at = 0; (at = line.find(kShape, at)) != std::string::npos; ++at) {
        size_t begin = at;
        while (begin > 0 && (synth::IsWordChar(line[begin - 1]) || line[begin - 1] == '.' ||
                             line[begin - 1] == ']' || (line[begin - 1] == '[' && begin < at)))
          --begin;
        // A bracket that is not closed within belongs to the line.
        const std::string_view all(line);
        std::string_view name = all.substr(begin, at - begin);
        while (std::count(name.begin(), name.end(), '[') >
               std::count(name.begin(), name.end(), ']'))
          name.remove_prefix(name.find('[') + 1);
        const size_t digits = at + kShape.size();
        const size_t close = line.find_first_not_of("0123456789", digits);
        if (name.empty() || close == digits || close == std::string::npos || line[close] != ']')
          continue;
        const std::string source(name);
        auto found = std::find_if(sources.begin(), sources.end(),
                                  [&](const auto& other) { return other.first == source; });
        if (found == sources.end()) found = sources.insert(sources.end(), {source, {}});
        ++found->second.axes[std::stoi(line.substr(digits, close - digits))];
      }
    size_t top = 0;  // lines at the beginning that name sizes
    for (const auto& [source, uses] : sources) {
      size_t total = 0;
      for (const auto& [axis, count] : uses.axes) total += count;
      if ((total < 2 && wanted_ == nullptr) || uses.axes.size() > free_.size()) continue;
      std::map<int, std::string> letters;
      for (const auto& [axis, count] : uses.axes) {
        letters[axis] = LetterOf(source, axis);
        names_.insert(letters[axis]);
      }
      for (std::string& line : lines_)
        for (const auto& [axis, letter] : letters)
          line = Without(line, fmt::format("{}.shape[{}]", source, axis), letter);
      const size_t rank = RankOf(source);
      std::string definition;
      if (rank > 1) {
        for (size_t axis = 0; axis < rank; ++axis) {
          const auto found = letters.find(static_cast<int>(axis));
          definition += (axis ? ", " : "") + (found == letters.end() ? "_" : found->second);
        }
        definition += fmt::format(" = {}.shape", source);
      } else {
        std::string left, right;
        for (const auto& [axis, letter] : letters) {
          left += (left.empty() ? "" : ", ") + letter;
          right += fmt::format("{}{}.shape[{}]", right.empty() ? "" : ", ", source, axis);
        }
        definition = left + " = " + right;
      }
      // A variable has its shape from its line on. Where names are wanted, sizes of others than
      // arguments stand where they are first read.
      size_t place = top;
      if (wanted_ != nullptr && !ranks_.contains(source))
        for (place = top; place < lines_.size() && !ReadsOneOf(lines_[place], letters);) ++place;
      else
        for (size_t i = 0; i < lines_.size(); ++i)
          if (lines_[i].starts_with(source + " = ") && !ranks_.contains(source)) {
            place = i + 1;
            break;
          }
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(place), definition);
      if (place == top) ++top;
    }
  }

  static bool ReadsOneOf(const std::string& line, const std::map<int, std::string>& letters) {
    return std::ranges::any_of(
        letters, [&](const auto& letter) { return synth::HasWord(line, letter.second); });
  }

  // That which is wanted for the size, where it is not taken for another one.
  std::string LetterOf(const std::string& source, int axis) {
    if (wanted_ != nullptr)
      if (const auto found = wanted_->sizes.find(fmt::format("{}.shape[{}]", source, axis));
          found != wanted_->sizes.end() && !names_.contains(found->second))
        return found->second;
    return Letter();
  }

  static std::string Without(const std::string& line, const std::string& what,
                             const std::string& instead) {
    std::string text;
    size_t from = 0;
    for (size_t at; (at = line.find(what, from)) != std::string::npos; from = at + what.size()) {
      const bool own = at == 0 || (!synth::IsWordChar(line[at - 1]) && line[at - 1] != '.');
      text += line.substr(from, at - from) + (own ? instead : what);
    }
    return text + line.substr(from);
  }

  void NameExpressions() {
    Names names;
    while (!free_.empty()) {
      std::map<std::string, size_t> counts;
      for (const std::string& line : lines_)
        ForEachSize(line, names_, [&](const SizeTree& tree) {
          Count(tree, &counts);
          return std::string();
        });
      const auto best = WorthAName(counts);
      if (!best) break;
      const std::string &text = *best, letter = Letter();
      const Names one = {{text, letter}};
      size_t first = lines_.size();
      for (size_t i = 0; i < lines_.size(); ++i) {
        const std::string before = lines_[i];
        lines_[i] =
            ForEachSize(before, names_, [&](const SizeTree& tree) { return Print(tree, one); });
        if (first == lines_.size() && synth::HasWord(lines_[i], letter)) first = i;
      }
      names_.insert(letter);
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(first), letter + " = " + text);
    }
  }

  // Lines behind the last one, for the sizes that the lines compute.
  size_t AddFormulas() {
    std::vector<std::string> added;
    for (const auto& [letter, size] : wanted_->formulas)
      if (std::ranges::any_of(lines_, [&](const std::string& line) {
            return line.find(size) != std::string::npos;
          }))
        added.push_back(fmt::format("{} = {}", letter, size));
    lines_.insert(lines_.end(), added.begin(), added.end());
    return added.size();
  }

  // The last `count` lines are formulas, "E = C // 2": each moves in front of the first line that
  // computes its size, which has the letter then.
  void NameFormulas(size_t count) {
    std::vector<std::string> formulas(lines_.end() - static_cast<std::ptrdiff_t>(count),
                                      lines_.end());
    lines_.resize(lines_.size() - count);
    for (std::string& formula : formulas) {
      const std::string letter = formula.substr(0, formula.find(' ')),
                        size = formula.substr(letter.size() + 3);
      if (names_.contains(letter)) continue;
      const Names one = {{size, letter}};
      const auto named = [&](const std::string& line) {
        return ForEachSize(line, names_, [&](const SizeTree& tree) { return Print(tree, one); });
      };
      size_t first = lines_.size();
      for (size_t i = 0; i < lines_.size(); ++i) {
        std::string line = named(lines_[i]);
        if (line != lines_[i] && first == lines_.size()) first = i;
        lines_[i] = std::move(line);
      }
      if (first == lines_.size()) continue;
      for (std::string& other : formulas)
        if (&other > &formula) other = named(other);
      names_.insert(letter);
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(first), formula);
    }
  }

  void FoldSizes() {
    for (std::string& line : lines_)
      line = ForEachSize(line, names_, [&](const SizeTree& tree) { return Print(tree, {}); });
  }

  // "f1[(A,)](" -> "f1[A]("
  static std::string WithoutTuple(std::string line) {
    const size_t at = line.find("[("), end = line.find(",)](");
    if (!line.starts_with('f') || at == std::string::npos || end == std::string::npos) return line;
    const std::string inner = line.substr(at + 2, end - at - 2);
    return line.substr(0, at + 1) + inner + line.substr(end + 2);
  }

  std::vector<std::string> lines_;
  const std::map<std::string, size_t>& ranks_;
  std::map<std::string, size_t> result_ranks_;
  const HostNames* const wanted_;
  std::vector<std::string> free_;  // letters, the next one last
  std::set<std::string> names_;    // of sizes
};

}  // namespace

std::vector<std::string> MadeVariables(const std::vector<std::string>& lines) {
  std::vector<std::string> variables;
  for (const std::string& line : lines) {
    if (!line.starts_with('t')) continue;
    const size_t end = line.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string::npos || line.compare(end, 3, " = ") != 0) continue;
    std::string name = line.substr(0, end);
    if (std::ranges::find(variables, name) == variables.end()) variables.push_back(std::move(name));
  }
  return variables;
}

std::vector<std::string> ShortHostText(std::vector<std::string> lines,
                                       const std::map<std::string, size_t>& ranks,
                                       std::map<std::string, size_t> result_ranks,
                                       const HostNames* names) {
  return Shortener(std::move(lines), ranks, std::move(result_ranks), names).Run();
}

}  // namespace davinci::teacher
