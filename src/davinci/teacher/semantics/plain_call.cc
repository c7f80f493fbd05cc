#include "davinci/teacher/semantics/plain_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using Keyword = PythonExpression::Keyword;
using EKind = PythonExpression::Kind;

const std::map<std::string, std::string, std::less<>> kSigns = {
    {"add", "+"},  {"sub", "-"},      {"subtract", "-"},    {"mul", "*"},     {"multiply", "*"},
    {"div", "/"},  {"divide", "/"},   {"true_divide", "/"}, {"matmul", "@"},  {"mm", "@"},
    {"bmm", "@"},  {"mv", "@"},       {"gt", ">"},          {"greater", ">"}, {"lt", "<"},
    {"less", "<"}, {"ge", ">="},      {"le", "<="},         {"eq", "=="},     {"ne", "!="},
    {"pow", "**"}, {"remainder", "%"}};

const std::map<std::string, std::string, std::less<>> kOtherNames = {
    {"clip", "clamp"},       {"concat", "cat"},
    {"concatenate", "cat"},  {"view", "reshape"},
    {"arctan", "atan"},      {"absolute", "abs"},
    {"negative", "neg"},     {"swapaxes", "transpose"},
    {"moveaxis", "movedim"}, {"special_expit", "sigmoid"},
    {"expit", "sigmoid"}};

// Functions that take sizes or axes one by one, too.
constexpr std::array<std::string_view, 7> kSpread = {"reshape", "permute", "expand", "repeat",
                                                     "tile",    "flip",    "squeeze"};
constexpr std::array<std::string_view, 6> kAxes = {"dim",  "dim0",      "dim1",
                                                   "dims", "start_dim", "end_dim"};
// Numbers of a window: (2, 2) is 2.
constexpr std::array<std::string_view, 6> kWindow = {
    "stride", "padding", "dilation", "kernel_size", "output_size", "output_padding"};
constexpr std::array<std::string_view, 4> kWeights = {"running_mean", "running_var", "weight",
                                                      "bias"};
// Functions whose layer has a weight alone.
constexpr std::array<std::string_view, 2> kWithoutBias = {"rms_norm", "embedding"};

template <typename List>
bool Among(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

std::optional<int64_t> WholeNumberOf(const Expression& e) {
  if (e.kind == EKind::kUnary && e.text == "-") {
    const auto number = WholeNumberOf(e.parts[0]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  if (e.kind != EKind::kNumber || e.text.find_first_not_of("0123456789") != std::string::npos ||
      e.text.size() > 15)
    return std::nullopt;
  return std::stoll(e.text);
}

Expression Number(int64_t value) {
  Expression number{EKind::kNumber, std::to_string(std::abs(value)), {}, {}};
  return value < 0 ? Expression{EKind::kUnary, "-", {std::move(number)}, {}} : number;
}

Expression Named(std::string text) { return {EKind::kName, std::move(text), {}, {}}; }

// Axes counted from the end, of a tensor with `rank` of them.
Expression FromTheEnd(Expression axes, int64_t rank) {
  if (axes.kind == EKind::kSequence) {
    for (Expression& axis : axes.parts) axis = FromTheEnd(std::move(axis), rank);
    return axes.parts.size() == 1 ? axes.parts[0] : axes;
  }
  const auto axis = WholeNumberOf(axes);
  return axis && *axis >= 0 && *axis < rank ? Number(*axis - rank) : axes;
}

// (2, 2) -> 2
Expression OneOfEqual(Expression window) {
  if (window.kind != EKind::kSequence || window.parts.empty()) return window;
  const std::string first = window.parts[0].Text();
  const bool equal = std::ranges::all_of(
      window.parts, [&](const Expression& part) { return part.Text() == first; });
  return equal ? window.parts[0] : window;
}

// 2 and 2.0 are one number.
bool IsAlike(const Expression& a, const Expression& b) {
  if (a.kind == EKind::kNumber && b.kind == EKind::kNumber)
    return std::stod(a.text) == std::stod(b.text);
  return a.Text() == b.Text();
}

class Plainer {
 public:
  Plainer(const Tables& tables, std::string name, const RankOf& rank)
      : tables_(tables), name_(std::move(name)), rank_(rank) {
    if (name_.ends_with('_') && !name_.ends_with("__")) name_.pop_back();
    if (const auto other = kOtherNames.find(name_); other != kOtherNames.end())
      name_ = other->second;
  }

  Expression Run(std::vector<Expression> arguments, std::vector<Keyword> keywords) {
    std::erase_if(keywords, [](const Keyword& keyword) {
      return keyword.name == "inplace" || keyword.name == "_stacklevel" ||
             (keyword.value.kind == EKind::kName && keyword.value.text == "None");
    });
    if (Among(kSpread, name_) && arguments.size() > 2) {
      Expression all{EKind::kSequence, "", {arguments.begin() + 1, arguments.end()}, {}};
      arguments = {arguments[0], std::move(all)};
    }
    if (keywords.empty() || name_ == "pow") {
      std::vector<Expression> both = arguments;
      for (const Keyword& keyword : keywords) both.push_back(keyword.value);
      if (auto sign = Sign(both)) return std::move(*sign);
    }
    const auto found = tables_.signatures.find(name_);
    if (found != tables_.signatures.end() && Bind(found->second, arguments, keywords))
      return Written(found->second);
    Expression call{EKind::kCall, "", {Named(name_)}, {}};
    call.parts.insert(call.parts.end(), arguments.begin(), arguments.end());
    call.keywords = std::move(keywords);
    return call;
  }

 private:
  std::optional<Expression> Sign(const std::vector<Expression>& arguments) const {
    if (arguments.size() == 2)
      if (const auto sign = kSigns.find(name_); sign != kSigns.end())
        return Expression{EKind::kBinary, sign->second, arguments, {}};
    if (arguments.size() != 1) return std::nullopt;
    if (name_ == "neg") return Expression{EKind::kUnary, "-", arguments, {}};
    if (name_ == "logical_not" || name_ == "bitwise_not")
      return Expression{EKind::kUnary, "~", arguments, {}};
    if (name_ == "square") return Expression{EKind::kBinary, "**", {arguments[0], Number(2)}, {}};
    return std::nullopt;
  }

  bool Bind(const Signature& signature, const std::vector<Expression>& arguments,
            const std::vector<Keyword>& keywords) {
    if (arguments.size() > signature.parameters.size()) return false;
    // Tensor.unfold(dimension, size, step) is another function of the name.
    if (name_ == "unfold" && arguments.size() == 4 && keywords.empty()) return false;
    for (size_t i = 0; i < arguments.size(); ++i)
      bound_.emplace(signature.parameters[i], arguments[i]);
    for (const Keyword& keyword : keywords) {
      std::string name = keyword.name;
      if (name == "input" && !signature.parameters.empty()) name = signature.parameters[0];
      if (name == "target" && Among(signature.parameters, std::string("y"))) name = "y";
      if (!Among(signature.parameters, name) || !bound_.emplace(name, keyword.value).second)
        return false;
    }
    return std::ranges::all_of(signature.parameters, [&](const std::string& parameter) {
      return bound_.contains(parameter) || signature.defaults.contains(parameter);
    });
  }

  std::optional<int64_t> Rank() const {
    const auto first = std::ranges::find_if(bound_, [](const auto& one) {
      return one.first == "x" || one.first == "tensors" || one.first == "query";
    });
    if (first == bound_.end()) return std::nullopt;
    const Expression& tensor =
        first->second.kind == EKind::kSequence && !first->second.parts.empty()
            ? first->second.parts[0]
            : first->second;
    const auto rank = rank_(tensor);
    if (!rank) return std::nullopt;
    const bool adds = name_ == "unsqueeze" || name_ == "stack";
    return static_cast<int64_t>(*rank) + (adds ? 1 : 0);
  }

  Expression Written(const Signature& signature) {
    const auto rank = Rank();
    for (auto& [parameter, value] : bound_) {
      if (Among(kAxes, parameter) && rank) value = FromTheEnd(std::move(value), *rank);
      if (Among(kWindow, parameter)) value = OneOfEqual(std::move(value));
    }
    if (const auto shape = bound_.find("normalized_shape");
        shape != bound_.end() &&
        (shape->second.kind != EKind::kSequence || shape->second.parts.size() == 1))
      bound_.erase(shape);
    const auto own_stride = signature.defaults.find("stride");
    if (const auto stride = bound_.find("stride");
        stride != bound_.end() && bound_.contains("kernel_size") &&
        own_stride != signature.defaults.end() && own_stride->second.Text() == "None" &&
        stride->second.Text() == bound_.at("kernel_size").Text())
      bound_.erase(stride);
    Expression call{EKind::kCall, "", {Named(name_)}, {}};
    for (const std::string& parameter : signature.parameters)
      if (!signature.defaults.contains(parameter)) call.parts.push_back(bound_.at(parameter));
    if (!call.parts.empty())
      if (auto layer = Layer()) call.parts.push_back(std::move(*layer));
    for (const std::string& parameter : signature.parameters) {
      const auto standard = signature.defaults.find(parameter);
      const auto given = bound_.find(parameter);
      if (standard == signature.defaults.end() || given == bound_.end()) continue;
      if (IsAlike(given->second, standard->second) ||
          (given->second.kind == EKind::kName && given->second.text == "None"))
        continue;
      call.keywords.push_back({parameter, given->second});
    }
    return call;
  }

  // "self.fc" where its tensors are the call's weights, which then are written.
  std::optional<Expression> Layer() {
    std::string layer;
    size_t given = 0;
    for (const std::string_view weight : kWeights) {
      const auto found = bound_.find(std::string(weight));
      if (found == bound_.end()) continue;
      const std::string text = found->second.Text(), end = "." + std::string(weight);
      if (text == "None") continue;
      if (found->second.kind != EKind::kName || !text.ends_with(end)) return std::nullopt;
      const std::string path = text.substr(0, text.size() - end.size());
      if (path == "self" || (given > 0 && path != layer)) return std::nullopt;
      layer = path;
      ++given;
    }
    const size_t all = name_ == "batch_norm" ? 4 : Among(kWithoutBias, name_) ? 1 : 2;
    if (given != all || !bound_.contains("weight")) return std::nullopt;
    for (const std::string_view weight : kWeights) bound_.erase(std::string(weight));
    return Named(layer);
  }

  const Tables& tables_;
  std::string name_;
  const RankOf& rank_;
  std::map<std::string, Expression, std::less<>> bound_;
};

}  // namespace

PythonExpression PlainCall(const Tables& tables, std::string name,
                           std::vector<PythonExpression> arguments,
                           std::vector<PythonExpression::Keyword> keywords, const RankOf& rank) {
  return Plainer(tables, std::move(name), rank).Run(std::move(arguments), std::move(keywords));
}

std::string FunctionOfLayer(const std::string& constructor) {
  constexpr std::string_view kModule = "nn.";
  static const std::map<std::string, std::string, std::less<>> kOthers = {
      {"nn.PReLU", "prelu"},
      {"nn.RMSNorm", "rms_norm"},
      {"nn.Upsample", "interpolate"},
      {"nn.CrossEntropyLoss", "cross_entropy"},
      {"nn.NLLLoss", "nll_loss"}};
  if (const auto found = kOthers.find(constructor); found != kOthers.end()) return found->second;
  static const std::set<std::string, std::less<>> kSame = {
      "Linear",         "Bilinear",          "Embedding",       "LayerNorm",       "GroupNorm",
      "MaxPool",        "AvgPool",           "AdaptiveAvgPool", "AdaptiveMaxPool", "Conv",
      "ConvTranspose",  "BatchNorm",         "InstanceNorm",    "PixelShuffle",    "PixelUnshuffle",
      "ChannelShuffle", "LocalResponseNorm", "Unfold"};
  if (!constructor.starts_with(kModule)) return "";
  std::string name = constructor.substr(kModule.size()), axes;
  if (name.ends_with("1d") || name.ends_with("2d") || name.ends_with("3d")) {
    axes = name.substr(name.size() - 2);
    name.resize(name.size() - 2);
  }
  if (!kSame.contains(name)) return "";
  const bool normalizes = name == "BatchNorm" || name == "InstanceNorm";
  std::string function;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !function.empty()) function += '_';
    function += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return normalizes ? function : function + axes;
}

std::vector<PythonExpression::Keyword> ArgumentsOfLayer(const Tables& tables,
                                                        const PythonExpression& constructor,
                                                        const std::string& path, bool training) {
  const std::string made_by = constructor.parts[0].DottedName();
  const std::string function = FunctionOfLayer(made_by);
  const auto of_function = tables.signatures.find(function);
  const auto of_constructor = tables.signatures.find(made_by);
  std::vector<Keyword> given = constructor.keywords;
  const auto name_by = [&](const Signature& signature, size_t skipped) {
    for (size_t i = 1; i < constructor.parts.size(); ++i)
      if (i - 1 + skipped < signature.parameters.size())
        given.push_back({signature.parameters[i - 1 + skipped], constructor.parts[i]});
  };
  if (of_function == tables.signatures.end()) {
    if (of_constructor != tables.signatures.end()) name_by(of_constructor->second, 0);
    return given;
  }
  // Without weights the constructor takes what the function takes behind its input.
  if (of_constructor == tables.signatures.end()) {
    name_by(of_function->second, 1);
    return given;
  }
  name_by(of_constructor->second, 0);
  const auto flag = [&](const char* name, bool otherwise) {
    const auto found = std::ranges::find(given, name, &Keyword::name);
    return found == given.end() ? otherwise : found->value.text == "True";
  };
  const auto knows = [](const Signature& signature, std::string_view parameter) {
    return Among(signature.parameters, parameter);
  };
  const Signature& made = of_constructor->second;
  const auto usual = [&](const char* name) {
    const auto found = made.defaults.find(name);
    return found != made.defaults.end() && found->second.text == "True";
  };
  const bool affine =
      knows(made, "affine") ? flag("affine", usual("affine")) : flag("elementwise_affine", true);
  std::vector<Keyword> arguments;
  for (const Keyword& keyword : given)
    if (knows(of_function->second, keyword.name) && keyword.name != "bias")
      arguments.push_back(keyword);
  const auto weight = [&](const char* name) {
    if (knows(of_function->second, name))
      arguments.push_back({name, Named(fmt::format("{}.{}", path, name))});
  };
  if (affine) weight("weight");
  if (affine && flag("bias", true)) weight("bias");
  if (knows(made, "track_running_stats") &&
      flag("track_running_stats", usual("track_running_stats"))) {
    weight("running_mean");
    weight("running_var");
  }
  if (function == "batch_norm" && training) arguments.push_back({"training", Named("True")});
  return arguments;
}

}  // namespace davinci::teacher
