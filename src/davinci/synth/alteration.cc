#include "davinci/synth/alteration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "davinci/base/rng.h"
#include "davinci/synth/table_reader.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

constexpr int64_t kMostGrown = 2048;  // a size above it is made no larger

// For each character whether it is code: no part of a string or comment. Quotes count as code, so
// that keywords with their values are found.
std::vector<bool> CodeOf(std::string_view text) {
  std::vector<bool> code(text.size(), true);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#') {
      for (; i < text.size() && text[i] != '\n'; ++i) code[i] = false;
      continue;
    }
    if (text[i] != '"' && text[i] != '\'') continue;
    const std::string_view rest = text.substr(i);
    const bool triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const std::string_view quotes = rest.substr(0, triple ? 3 : 1);
    i += quotes.size();
    for (; i < text.size() && !text.substr(i).starts_with(quotes); ++i) {
      code[i] = false;
      if (!triple && text[i] == '\n') break;
      if (text[i] == '\\' && i + 1 < text.size()) code[++i] = false;
    }
    i += quotes.size() - 1;
  }
  return code;
}

struct Line {
  size_t begin = 0, end = 0;  // without the line break
  size_t indent = 0;
  std::string_view function;  // whose body it is in; "": none
};

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  std::string_view function;
  size_t depth = 0;  // indent of the function
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    Line line{begin, end, 0, {}};
    const std::string_view all = text.substr(begin, end - begin);
    line.indent = std::min(all.find_first_not_of(' '), all.size());
    const std::string_view rest = all.substr(line.indent);
    if (!rest.empty() && !function.empty() && line.indent <= depth && !rest.starts_with(')'))
      function = {};
    line.function = function;
    if (rest.starts_with("def ")) {
      function = rest.substr(4, rest.find('(') - 4);
      depth = line.indent;
    }
    lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number in the text, with its sign if that is no operator.
struct Number {
  size_t begin = 0, end = 0;
};

std::vector<Number> NumbersIn(std::string_view text, size_t begin, size_t end) {
  std::vector<Number> numbers;
  for (size_t i = begin; i < end; ++i) {
    if (!IsDigit(text[i]) || (i > 0 && (IsWordChar(text[i - 1]) || text[i - 1] == '.'))) continue;
    size_t last = i;
    while (last < end &&
           (IsDigit(text[last]) || text[last] == '.' || text[last] == '_' || text[last] == 'e' ||
            text[last] == 'x' || (text[last] == '-' && text[last - 1] == 'e')))
      ++last;
    numbers.push_back({i, last});
    i = last;
  }
  return numbers;
}

class Alteration {
 public:
  Alteration(const Exchanges& exchanges, std::string source, uint64_t seed)
      : exchanges_(exchanges), source_(std::move(source)), rng_(seed) {}

  std::string Run() {
    constexpr int kTries = 24;
    int left = 1 + static_cast<int>(rng_.Below(4));
    for (int i = 0; i < kTries && left > 0; ++i) left -= Edit() ? 1 : 0;
    return std::move(source_);
  }

 private:
  bool Edit() {
    const double kind = rng_.Uniform();
    if (kind < 0.4) return Exchange();
    if (kind < 0.6) return Size();
    if (kind < 0.72) return Constant();
    if (kind < 0.8) return Operator();
    if (kind < 0.87) return LeaveOut();
    return Insert();
  }

  bool Chance(double share) { return rng_.Uniform() < share; }
  template <typename List>
  const auto& Pick(const List& list) {
    return list[rng_.Below(list.size())];
  }

  // Imports what a text needs that was put in, where the file has not.
  void ImportFor(std::string_view text) {
    if (text.starts_with("F.") && source_.find("functional as F") == std::string::npos)
      source_.insert(0, "import torch.nn.functional as F\n");
  }

  bool Exchange() {
    struct Place {
      size_t at;
      const std::vector<std::string>* group;
      const std::string* text;
    };
    std::vector<Place> places;
    const auto code = CodeOf(source_);
    for (const auto& group : exchanges_.groups)
      for (const std::string& text : group)
        for (size_t at = 0; (at = source_.find(text, at)) != std::string::npos; at += text.size()) {
          const bool begins = !IsWordChar(text[0]) || at == 0 ||
                              (!IsWordChar(source_[at - 1]) && source_[at - 1] != '.');
          const size_t end = at + text.size();
          const bool ends =
              !IsWordChar(text.back()) || end == source_.size() || !IsWordChar(source_[end]);
          if (code[at] && begins && ends) places.push_back({at, &group, &text});
        }
    if (places.empty()) return false;
    const Place place = Pick(places);
    const std::string& other = Pick(*place.group);
    if (other == *place.text) return false;
    const bool everywhere = Chance(0.5);
    for (auto it = places.rbegin(); it != places.rend(); ++it)
      if (it->text == place.text && (everywhere || it->at == place.at))
        source_.replace(it->at, it->text->size(), other);
    ImportFor(other);
    return true;
  }

  // A value near the number; multiples of 4 stay so, that heads, groups and vectors still divide.
  std::string Another(std::string_view number) {
    double value = 0;
    std::string digits(number);
    std::erase(digits, '_');
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return digits;
    if (digits.find_first_of(".e") != std::string::npos) {
      if (value < 1e-3) return Pick(std::vector<std::string>{"1e-5", "1e-6", "1e-8", "1e-3"});
      static constexpr double kFactors[] = {0.5, 2.0, 1.5, 0.8, 1.25, 0.1, 3.0};
      return fmt::format("{:#.3g}", value * kFactors[rng_.Below(std::size(kFactors))]);
    }
    const auto whole = static_cast<int64_t>(value);
    if (whole < 8)
      return std::to_string(
          std::max<int64_t>(whole == 0 ? 0 : 1, whole - 1 + static_cast<int64_t>(rng_.Below(3))));
    // Large ones only fall: a product of square matrices takes the cube of what several edits make.
    static constexpr double kFactors[] = {0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 3.0};
    const size_t allowed = whole > kMostGrown ? 3 : std::size(kFactors);
    auto other = static_cast<int64_t>(value * kFactors[rng_.Below(allowed)]);
    if (whole % 4 == 0) other -= other % 4;
    if (whole % 4 != 0 || Chance(0.1)) other += static_cast<int64_t>(rng_.Below(4));
    return std::to_string(std::max<int64_t>(other, 1));
  }

  bool Replace(const std::vector<Number>& numbers) {
    if (numbers.empty()) return false;
    const Number place = Pick(numbers);
    const std::string old = source_.substr(place.begin, place.end - place.begin);
    const std::string other = Another(old);
    if (other == old) return false;
    source_.replace(place.begin, place.end - place.begin, other);
    return true;
  }

  // Numbers of `NAME = 64` at the file's own level, and of what get_init_inputs returns.
  bool Size() {
    const auto code = CodeOf(source_);
    std::vector<Number> numbers;
    for (const Line& line : LinesOf(source_)) {
      const std::string_view text =
          std::string_view(source_).substr(line.begin, line.end - line.begin);
      const bool constant = line.indent == 0 && text.find(" = ") != std::string_view::npos;
      if (!constant && line.function != "get_init_inputs") continue;
      for (const Number& number : NumbersIn(source_, line.begin, line.end))
        if (code[number.begin]) numbers.push_back(number);
    }
    return Replace(numbers);
  }

  bool Constant() {
    const auto code = CodeOf(source_);
    std::vector<Number> numbers;
    for (const Line& line : LinesOf(source_)) {
      if (line.function.empty() || line.function.starts_with("get_")) continue;
      for (const Number& number : NumbersIn(source_, line.begin, line.end)) {
        const std::string_view text =
            std::string_view(source_).substr(number.begin, number.end - number.begin);
        if (code[number.begin] && text.find_first_of(".e") != std::string_view::npos)
          numbers.push_back(number);
      }
    }
    return Replace(numbers);
  }

  // Returns whether the line computes with tensors, by what it does not name.
  static bool Computes(std::string_view line) {
    for (const char* part : {"shape", "size(", "view(", "range(", "assert", "len(", "int(", "//",
                             "reshape(", "self.training", "if ", "for ", "import"})
      if (line.find(part) != std::string_view::npos) return false;
    return true;
  }

  static bool IsForward(const Line& line) {
    return !line.function.empty() && line.function != "__init__" &&
           !line.function.starts_with("get_");
  }

  bool Operator() {
    const auto code = CodeOf(source_);
    std::vector<size_t> places;
    for (const Line& line : LinesOf(source_)) {
      if (!IsForward(line) ||
          !Computes(std::string_view(source_).substr(line.begin, line.end - line.begin)))
        continue;
      for (size_t i = line.begin + line.indent + 1; i + 1 < line.end; ++i)
        if (code[i] && std::string_view("+-*/").find(source_[i]) != std::string_view::npos &&
            source_[i - 1] == ' ' && source_[i + 1] == ' ')
          places.push_back(i);
    }
    if (places.empty()) return false;
    const char other = "+-*"[rng_.Below(3)];
    char& place = source_[places[rng_.Below(places.size())]];
    if (place == other) return false;
    place = other;
    return true;
  }

  // Lines `x = …` that are whole, with the name that they assign.
  std::vector<std::pair<Line, std::string>> Steps() const {
    std::vector<std::pair<Line, std::string>> steps;
    const auto code = CodeOf(source_);
    int depth = 0;
    for (const Line& line : LinesOf(source_)) {
      const std::string_view text =
          std::string_view(source_).substr(line.begin, line.end - line.begin);
      const bool first = depth == 0;
      for (size_t i = line.begin; i < line.end; ++i)
        if (code[i])
          depth += std::string_view("([{").find(source_[i]) != std::string_view::npos   ? 1
                   : std::string_view(")]}").find(source_[i]) != std::string_view::npos ? -1
                                                                                        : 0;
      if (!first || depth != 0 || !IsForward(line) || !Computes(text)) continue;
      const size_t equals = text.find(" = ");
      if (equals == std::string_view::npos) continue;
      const std::string_view name = text.substr(line.indent, equals - line.indent);
      if (name.empty() || !std::all_of(name.begin(), name.end(), IsWordChar)) continue;
      steps.emplace_back(line, name);
    }
    return steps;
  }

  bool LeaveOut() {
    auto steps = Steps();
    std::erase_if(steps, [&](const auto& step) {
      const std::string_view text =
          std::string_view(source_).substr(step.first.begin, step.first.end - step.first.begin);
      return !HasWord(text.substr(text.find(" = ")), step.second);
    });
    if (steps.empty()) return false;
    const Line line = Pick(steps).first;
    source_.erase(line.begin, line.end + 1 - line.begin);
    return true;
  }

  bool Insert() {
    const auto steps = Steps();
    if (steps.empty()) return false;
    const auto& [line, name] = Pick(steps);
    const std::string form =
        WithPlaceholders(Pick(exchanges_.steps), [&](const std::string&, bool) { return name; });
    source_.insert(line.end, fmt::format("\n{}{} = {}", std::string(line.indent, ' '), name, form));
    ImportFor(form);
    return true;
  }

  const Exchanges& exchanges_;
  std::string source_;
  SplitMix64 rng_;
};

}  // namespace

Result<Exchanges> LoadExchanges(const std::filesystem::path& folder) {
  Exchanges exchanges;
  DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(folder / "exchanges.toml"));
  TableReader table(tree);
  exchanges.steps = table.Texts("step");
  if (exchanges.steps.empty()) return table.Error("step is missing");
  TableReader groups(tree, "/group");
  for (const std::string& name : groups.Keys()) {
    exchanges.groups.push_back(groups.Texts(name));
    if (exchanges.groups.back().size() < 2)
      return groups.Error(fmt::format("{} needs two texts or more", name));
  }
  DAVINCI_RETURN_IF_ERROR(groups.Finish());
  return exchanges;
}

std::string Altered(const Exchanges& exchanges, const std::string& source, uint64_t seed) {
  return Alteration(exchanges, source, seed).Run();
}

}  // namespace davinci::synth
