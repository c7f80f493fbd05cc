#include "davinci/task/shrink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/config/task_config.h"

namespace davinci::task {
namespace {

using Constants = std::map<std::string, int64_t>;

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Integer arithmetic as Python has it, over `constants`; stops at what it does not know.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const Constants& constants)
      : text_(text), constants_(constants) {}

  // The whole text as one number.
  std::optional<int64_t> Whole() {
    const auto value = Sum();
    SkipSpace();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  static std::optional<int64_t> Apply(char op, std::optional<int64_t> a, std::optional<int64_t> b) {
    int64_t value = 0;
    if (!a || !b) return std::nullopt;
    if (op == '+')
      return __builtin_add_overflow(*a, *b, &value) ? std::nullopt : std::optional(value);
    if (op == '-')
      return __builtin_sub_overflow(*a, *b, &value) ? std::nullopt : std::optional(value);
    if (op == '*')
      return __builtin_mul_overflow(*a, *b, &value) ? std::nullopt : std::optional(value);
    return *a >= 0 && *b > 0 ? std::optional(*a / *b) : std::nullopt;
  }
  std::optional<int64_t> Sum() {
    auto value = Product();
    for (;;) {
      if (Take("+"))
        value = Apply('+', value, Product());
      else if (Take("-"))
        value = Apply('-', value, Product());
      else
        return value;
    }
  }
  std::optional<int64_t> Product() {
    auto value = Power();
    for (;;) {
      if (Take("//"))
        value = Apply('/', value, Power());
      else if (!text_.substr(at_).starts_with("**") && Take("*"))
        value = Apply('*', value, Power());
      else
        return value;
    }
  }
  std::optional<int64_t> Power() {
    const auto base = Atom();
    SkipSpace();
    if (!Take("**")) return base;
    const auto exponent = Power();
    if (!base || !exponent || *exponent < 0 || *exponent > 62) return std::nullopt;
    std::optional<int64_t> value = 1;
    for (int64_t i = 0; i < *exponent; ++i) value = Apply('*', value, base);
    return value;
  }
  std::optional<int64_t> Atom() {
    SkipSpace();
    if (++depth_ > kMaxDepth) return std::nullopt;
    std::optional<int64_t> value;
    if (Take("(")) {
      value = Sum();
      if (!Take(")")) value = std::nullopt;
    } else {
      const size_t begin = at_;
      while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
      value = Word(text_.substr(begin, at_ - begin));
    }
    --depth_;
    return value;
  }
  std::optional<int64_t> Word(std::string_view word) const {
    if (word.empty()) return std::nullopt;
    if (const auto found = constants_.find(std::string(word)); found != constants_.end())
      return found->second;
    int64_t value = 0;
    for (const char c : word) {
      if (c == '_') continue;
      if (c < '0' || c > '9' || value > std::numeric_limits<int64_t>::max() / 10 - 10)
        return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value;
  }

  static constexpr int kMaxDepth = 64;
  const std::string_view text_;
  const Constants& constants_;
  size_t at_ = 0;
  int depth_ = 0;
};

std::vector<std::string_view> LinesOf(std::string_view source) {
  std::vector<std::string_view> lines;
  while (!source.empty()) {
    const size_t end = source.find('\n');
    lines.push_back(source.substr(0, end));
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  return lines;
}

// The body of a module-level function: the indented lines after its `def`.
std::string BodyOf(std::string_view source, std::string_view name) {
  std::string body;
  bool inside = false;
  for (const std::string_view line : LinesOf(source)) {
    if (line.starts_with(fmt::format("def {}(", name))) {
      inside = true;
      continue;
    }
    if (inside && !line.empty() && line.front() != ' ' && line.front() != '\t') break;
    if (inside) body += fmt::format("{}\n", line.substr(0, line.find('#')));
  }
  return body;
}

// Parts of `list` between commas outside of brackets.
std::vector<std::string_view> Arguments(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth > 0) continue;
    const std::string_view part = list.substr(begin, i - begin);
    if (part.find_first_not_of(" \n\t") != std::string_view::npos) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

std::string_view Stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

// `NAME = value` of the module; nothing of other lines.
struct Assignment {
  std::string_view name;
  std::string_view value;
};
std::optional<Assignment> AssignmentIn(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && IsNameChar(line[end])) ++end;
  if (end == 0 || std::isdigit(static_cast<unsigned char>(line.front())) != 0) return std::nullopt;
  const size_t comment = std::min(line.find('#'), line.size());
  if (comment < end) return std::nullopt;
  const std::string_view rest = Stripped(line.substr(end, comment - end));
  if (!rest.starts_with('=') || rest.starts_with("==")) return std::nullopt;
  return Assignment{line.substr(0, end), Stripped(rest.substr(1))};
}

// Tuples and lists of the module: "input_shape = (64, dim)".
std::vector<std::pair<std::string, std::string_view>> ListsOf(std::string_view source) {
  std::vector<std::pair<std::string, std::string_view>> lists;
  for (const std::string_view line : LinesOf(source))
    if (const auto found = AssignmentIn(line); found && found->value.size() > 2)
      if (const char open = found->value.front(), close = found->value.back();
          (open == '(' && close == ')') || (open == '[' && close == ']'))
        lists.emplace_back(found->name, found->value);
  return lists;
}

std::optional<std::string_view> ListNamed(std::string_view source, std::string_view name) {
  for (const auto& [known, value] : ListsOf(source))
    if (known == name) return value;
  return std::nullopt;
}

// The integers of a list's text.
std::optional<std::vector<int64_t>> ValuesOf(std::string_view list, const Constants& constants) {
  std::vector<int64_t> values;
  for (const std::string_view part : Arguments(list.substr(1, list.size() - 2))) {
    const auto value = Arithmetic(Stripped(part), constants).Whole();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// Sizes of one drawn tensor: integers, one list of them, or *NAME of such a list.
std::optional<int64_t> Elements(std::string_view source, std::string_view list,
                                const Constants& constants, int depth = 0) {
  if (depth > 4) return std::nullopt;
  int64_t elements = 1;
  bool any = false;
  for (std::string_view part : Arguments(list)) {
    part = Stripped(part);
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = Stripped(part.substr(0, equals));
      if (key != "size") continue;  // dtype=…, low=…
      part = Stripped(part.substr(equals + 1));
    }
    std::optional<int64_t> size;
    const std::string_view name = part.starts_with('*') ? part.substr(1) : part;
    if (part.size() > 2 && (part.front() == '(' || part.front() == '[') &&
        (part.find(',') != std::string_view::npos || part.front() == '['))
      size = Elements(source, part.substr(1, part.size() - 2), constants, depth + 1);
    else if (const auto listed = ListNamed(source, name))
      size = Elements(source, listed->substr(1, listed->size() - 2), constants, depth + 1);
    else
      size = Arithmetic(part, constants).Whole();
    if (!size || *size < 1 || __builtin_mul_overflow(elements, *size, &elements))
      return std::nullopt;
    any = true;
  }
  return any ? std::optional(elements) : std::nullopt;
}

// Constants that `text` names, itself or through a list of the module, in order.
std::vector<std::string> NamesIn(std::string_view source, std::string_view text,
                                 const Constants& constants, int depth = 0) {
  std::vector<std::string> names;
  for (size_t i = 0; i < text.size();) {
    if (!IsNameChar(text[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && IsNameChar(text[i])) ++i;
    const std::string name(text.substr(begin, i - begin));
    if (constants.contains(name)) {
      names.push_back(name);
    } else if (const auto listed = ListNamed(source, name); listed && depth < 4) {
      const auto inner = NamesIn(source, *listed, constants, depth + 1);
      names.insert(names.end(), inner.begin(), inner.end());
    }
  }
  return names;
}

Constants MapOf(const std::vector<std::pair<std::string, int64_t>>& list) {
  Constants constants;
  for (const auto& [name, value] : list) constants[name] = value;
  return constants;
}

int64_t Half(int64_t size) {
  constexpr int64_t kKept = 16;  // powers of two up to it that divide a size go on dividing it
  const int64_t factor = std::min(size & -size, kKept);
  const int64_t half = size / 2 / factor * factor;
  return half > 0 ? half : size / 2;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> IntegerConstants(std::string_view source,
                                                              const Constants& instead) {
  std::vector<std::pair<std::string, int64_t>> list;
  for (const std::string_view line : LinesOf(source)) {
    const auto found = AssignmentIn(line);
    if (!found) continue;
    const std::string name(found->name);
    const auto value = Arithmetic(found->value, MapOf(list)).Whole();
    std::erase_if(list, [&](const auto& known) { return known.first == name; });
    if (!value) continue;
    const auto other = instead.find(name);
    list.emplace_back(name, other != instead.end() ? other->second : *value);
  }
  return list;
}

std::optional<int64_t> InputElements(std::string_view source, const Constants& constants) {
  const std::string body = BodyOf(source, "get_inputs");
  int64_t sum = 0;
  bool any = false;
  for (const std::string_view call :
       {"rand(", "randn(", "zeros(", "ones(", "empty(", "full(", "randint("}) {
    const std::string marked = fmt::format("torch.{}", call);
    for (size_t at = body.find(marked); at != std::string::npos; at = body.find(marked, at + 1)) {
      const size_t begin = at + marked.size();
      int depth = 1;
      size_t end = begin;
      while (end < body.size() && depth > 0) {
        if (body[end] == '(' || body[end] == '[') ++depth;
        if (body[end] == ')' || body[end] == ']') --depth;
        ++end;
      }
      std::string_view list = std::string_view(body).substr(begin, end - begin - 1);
      if (call == "randint(" || call == "full(") {
        // Only the list among the arguments holds sizes.
        for (const std::string_view part : Arguments(list)) {
          const std::string_view trimmed = Stripped(part);
          if (!trimmed.starts_with('(') && !trimmed.starts_with('[') &&
              !trimmed.starts_with("size") && !ListNamed(source, trimmed))
            continue;
          list = trimmed;
          break;
        }
      }
      const auto elements = Elements(source, list, constants);
      if (!elements) continue;
      any = true;
      if (__builtin_add_overflow(sum, *elements, &sum))
        sum = std::numeric_limits<int64_t>::max() / 2;
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::vector<ShrunkSize> ShrinkSizes(std::string_view source, int64_t most_elements) {
  const Constants own = MapOf(IntegerConstants(source));
  Constants set;
  Constants now = own;
  const auto names = NamesIn(source, BodyOf(source, "get_inputs"), own);
  if (names.empty()) return {};
  const auto in_model = NamesIn(source, BodyOf(source, "get_init_inputs"), own);
  const std::string& leading = names.front();
  const bool free = std::find(in_model.begin(), in_model.end(), leading) == in_model.end();
  std::vector<std::string> fixed;  // those whose half changes nothing, or would be too small
  const auto halve = [&](const std::string& name, int64_t smallest) {
    const auto before = InputElements(source, now);
    const int64_t kept = now[name];
    if (const int64_t half = Half(kept); half >= smallest) {
      set[name] = half;
      now = MapOf(IntegerConstants(source, set));
      const auto after = InputElements(source, now);
      if (before && after && *after < *before) return true;
      set[name] = kept;
      now = MapOf(IntegerConstants(source, set));
    }
    fixed.push_back(name);
    return false;
  };
  const auto too_large = [&] {
    const auto elements = InputElements(source, now);
    return elements && *elements > most_elements;
  };
  while (too_large() && halve(leading, free ? 1 : kSmallestSize)) {
  }
  while (too_large()) {
    const std::string* largest = nullptr;
    for (const std::string& name : names) {
      if (std::find(fixed.begin(), fixed.end(), name) != fixed.end()) continue;
      if (largest == nullptr || now[name] > now[*largest]) largest = &name;
    }
    if (largest == nullptr) break;
    halve(*largest, kSmallestSize);
  }
  std::vector<ShrunkSize> sizes;
  for (const auto& [name, value] : own)
    if (now[name] != value)
      sizes.push_back({name, std::to_string(value), std::to_string(now[name])});
  if (sizes.empty()) return sizes;
  for (const auto& [name, text] : ListsOf(source)) {
    const auto before = ValuesOf(text, own);
    const auto after = ValuesOf(text, now);
    if (before && after && *before != *after)
      sizes.push_back({name, fmt::format("[{}]", fmt::join(*before, ", ")),
                       fmt::format("[{}]", fmt::join(*after, ", "))});
  }
  return sizes;
}

Result<std::vector<ShrunkSize>> ShrinkForCpu(TaskEntry* entry, int64_t most_elements) {
  std::string source = entry->source;
  std::string sidecar = entry->sidecar;
  if (!entry->path.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(source, ReadFile(entry->path));
    std::filesystem::path beside = entry->path;
    beside.replace_extension(".toml");
    std::error_code error;
    if (std::filesystem::exists(beside, error)) {
      DAVINCI_ASSIGN_OR_RETURN(sidecar, ReadFile(beside));
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           config::ParseTaskConfig(sidecar, entry->id + ".toml"));
  if (!config.sizes_cpu.empty()) return std::vector<ShrunkSize>();
  const std::vector<ShrunkSize> sizes = ShrinkSizes(source, most_elements);
  if (sizes.empty()) return sizes;
  if (!sidecar.empty() && !sidecar.ends_with('\n')) sidecar += '\n';
  sidecar += "[sizes.cpu]\n";
  for (const ShrunkSize& size : sizes) sidecar += fmt::format("{} = {}\n", size.name, size.set);
  entry->source = std::move(source);
  entry->sidecar = std::move(sidecar);
  entry->path.clear();
  return sizes;
}

std::string ShrunkText(const std::vector<ShrunkSize>& sizes) {
  std::string text;
  for (const ShrunkSize& size : sizes)
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", size.name, size.own, size.set);
  return text;
}

}  // namespace davinci::task
