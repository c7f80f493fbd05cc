#include "davinci/agent/step_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "davinci/agent/python_statements.h"

namespace davinci::agent {
namespace {

// "2 * C" and "C * 2" are one size.
std::string Sorted(std::string_view size) {
  std::vector<std::string> factors;
  if (size.find_first_of("()+-/%") != std::string_view::npos) return std::string(size);
  for (size_t begin = 0; begin <= size.size();) {
    const size_t end = std::min(size.find('*', begin), size.size());
    std::string factor(size.substr(begin, end - begin));
    std::erase(factor, ' ');
    factors.push_back(std::move(factor));
    begin = end + 1;
  }
  std::ranges::sort(factors);
  std::string text;
  for (const std::string& factor : factors) text += factor + "*";
  return text;
}

// Numbers of a reply are taken as they are: the step may have a letter there.
bool IsSameShape(std::string_view given, std::string_view step) {
  return std::ranges::equal(ItemsOf(given), ItemsOf(step), [](const std::string& a, const auto& b) {
    return a.find_first_not_of("0123456789") == std::string::npos || Sorted(a) == Sorted(b);
  });
}

// "(A, B)" without its brackets; "A" as it is.
std::string_view Inside(std::string_view shape) {
  const bool tuple = shape.size() > 1 && shape.front() == '(' && shape.back() == ')';
  return tuple ? shape.substr(1, shape.size() - 2) : shape;
}

// Of "NAME = LIKE.new_empty(SHAPE, …)" or "NAME = torch.empty_like(LIKE, …)". What calls
// empty_like() without being torch is taken for it.
struct Maker {
  std::string like;
  std::optional<std::string> shape;   // nothing: that of `like`
  std::vector<std::string> keywords;  // "dtype=torch.bool"
};

std::optional<Maker> MakerOf(std::string_view call) {
  constexpr std::string_view kNew = ".new_empty(", kLike = ".empty_like(";
  if (!call.ends_with(')')) return std::nullopt;
  const bool like = call.find(kLike) != std::string_view::npos;
  const size_t at = call.find(like ? kLike : kNew);
  if (at == std::string_view::npos ||
      call.substr(0, at).find_first_of(like ? "() " : "()[] ") != std::string_view::npos)
    return std::nullopt;
  const size_t open = at + (like ? kLike : kNew).size();
  const std::string_view arguments = call.substr(open, call.size() - 1 - open);
  int depth = 0;
  for (const char c : arguments) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) return std::nullopt;  // another call's bracket ends the line
  }
  Maker maker;
  std::vector<std::string> given;
  for (std::string& part : ItemsOf(arguments))
    (part.find('=') == std::string::npos ? given : maker.keywords).push_back(std::move(part));
  if (like) {
    if (given.size() != 1) return std::nullopt;
    if (call.substr(0, at) == "torch") maker.like = given[0];
    return maker;
  }
  maker.like = call.substr(0, at);
  std::string shape;
  for (const std::string& part : given) shape += (shape.empty() ? "" : ", ") + part;
  maker.shape = given.size() == 1 ? std::string(Inside(shape)) : shape;
  return maker;
}

// "bool", "int" or "", which is a floating point type: of "dtype=torch.int64", as steps have it.
std::string_view KindOf(std::string_view type) {
  for (const std::string_view kind : {"bool", "int"})
    if (type.find(kind) != std::string_view::npos) return kind;
  return "";
}

class Mender {
 public:
  Mender(const PlainForward& plain, const Forward& reply) : plain_(plain) {
    for (const auto& [name, tensor] : plain.tensors) {
      const bool there = reply.parameters.contains(name) || plain.inputs.contains(name) ||
                         name.starts_with("self.");
      if (there && (likes_[tensor.type].empty() || plain.inputs.contains(name)))
        likes_[tensor.type] = name;
    }
  }

  void Mend(Statement* statement) {
    if (statement->makes.size() != 1) return;
    const std::string name = statement->makes[0], begin = name + " = ";
    const auto step = plain_.tensors.find(name);
    if (step == plain_.tensors.end() || plain_.inputs.contains(name) ||
        !statement->text.starts_with(begin))
      return;
    auto maker = MakerOf(std::string_view(statement->text).substr(begin.size()));
    if (!maker) return;
    const auto& [type, shape] = step->second;
    const auto like = plain_.tensors.find(maker->like);
    const bool known = like != plain_.tensors.end();
    // A path of the module is a tensor that no step names.
    const bool is_tensor = known || maker->like.find('.') != std::string::npos;
    const auto is_type = [](const std::string& one) { return one.starts_with("dtype="); };
    std::erase_if(maker->keywords, [&, &type = type](const std::string& one) {
      return is_type(one) && KindOf(one) != KindOf(type);
    });
    const bool typed = std::ranges::any_of(maker->keywords, is_type);
    const bool same_type = typed || (known ? like->second.type == type : is_tensor);
    const std::string* const given = maker->shape ? &*maker->shape
                                     : known      ? &like->second.shape
                                                  : nullptr;
    const bool same_shape = given == nullptr ? is_tensor : IsSameShape(*given, shape);
    if (same_shape && same_type) return;
    if (maker->like.empty()) maker->like = likes_[""];
    if (maker->like.empty()) return;
    if (!same_type && type.empty()) {  // as a tensor of the task's floating point type has it
      if (likes_[""].empty()) return;
      maker->like = likes_[""];
    } else if (!same_type) {
      if (!is_tensor && likes_[""].empty()) return;
      if (!is_tensor) maker->like = likes_[""];
      maker->keywords.push_back(type == "bool" ? "dtype=torch.bool" : "dtype=torch.int64");
    }
    std::string text = fmt::format("{}{}.new_empty(({}{})", begin, maker->like, shape,
                                   ItemsOf(shape).size() == 1 ? "," : "");
    for (const std::string& keyword : maker->keywords)
      if (!keyword.starts_with("memory_format=")) text += ", " + keyword;
    *statement = {text + ")", {}, {}};
    Describe(statement);
  }

 private:
  const PlainForward& plain_;
  std::map<std::string, std::string> likes_;  // a tensor that forward has, by its type
};

}  // namespace

void MendStepMemory(const PlainForward& plain, Forward* reply) {
  Mender mender(plain, *reply);
  for (Statement& statement : reply->body) mender.Mend(&statement);
}

}  // namespace davinci::agent
