#include "davinci/import/traced_module.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace davinci::import {
namespace {

using nlohmann::json;

constexpr size_t kMostAxes = 16;
constexpr int64_t kMostElements = int64_t{1} << 40;

// Reads members of an object; the first that is missing or of another type is kept.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {
    if (!object.is_object()) problem_ = "an object";
  }
  std::string Text(const char* key, size_t most = kMostTextBytes) {
    const json* value = Find(key);
    if (value == nullptr) return "";
    if (!value->is_string() || value->get_ref<const std::string&>().size() > most)
      return Wrong(key);
    return value->get<std::string>();
  }
  bool Flag(const char* key) {
    const json* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return !Wrong(key).empty();
    return value->get<bool>();
  }
  int64_t Integer(const char* key) {
    const json* value = Find(key);
    if (value == nullptr) return -1;
    if (!value->is_number_integer()) {
      Wrong(key);
      return -1;
    }
    return value->get<int64_t>();
  }
  const json& List(const char* key, size_t most = kMostValues) {
    static const json kNone = json::array();
    const json* value = Find(key);
    if (value == nullptr) return kNone;
    if (value->is_array() && value->size() <= most) return *value;
    Wrong(key);
    return kNone;
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> all;
    for (const json& item : List(key)) {
      if (!item.is_string() || item.get_ref<const std::string&>().size() > kMostTextBytes)
        Wrong(key);
      else
        all.push_back(item);
    }
    return all;
  }
  // Indices below `end`.
  std::vector<int> Indices(const char* key, size_t end) {
    std::vector<int> all;
    for (const json& item : List(key)) {
      if (!item.is_number_integer() || item.get<int64_t>() < 0 ||
          item.get<int64_t>() >= static_cast<int64_t>(end))
        Wrong(key);
      else
        all.push_back(item.get<int>());
    }
    return all;
  }
  int Index(const char* key, size_t end) {
    const int64_t index = Integer(key);
    if (index < 0 || index >= static_cast<int64_t>(end)) Wrong(key);
    return problem_.empty() ? static_cast<int>(index) : 0;
  }
  const json& Object(const char* key) {
    static const json kNone = json::object();
    const json* value = Find(key);
    return value != nullptr && value->is_object() ? *value : kNone;
  }
  std::string Wrong(const char* key) {
    if (problem_.empty()) problem_ = key;
    return "";
  }
  Status Finish() const {
    return problem_.empty() ? Status::Ok()
                            : Internal(fmt::format("the traced module: wrong {}", problem_));
  }

 private:
  const json* Find(const char* key) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    Wrong(key);
    return nullptr;
  }
  const json& object_;
  std::string problem_;
};

// Do {0}, {1}, … of a text name no more than `count` tensors?
bool PlaceholdersFit(const std::string& text, size_t count) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    if (i + 1 < text.size() && text[i + 1] == '{') {
      ++i;
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string::npos || end == i + 1 || end > i + 6) return false;
    size_t index = 0;
    for (size_t k = i + 1; k < end; ++k) {
      if (text[k] < '0' || text[k] > '9') return false;
      index = index * 10 + static_cast<size_t>(text[k] - '0');
    }
    if (index >= count) return false;
  }
  return true;
}

Status ReadNames(const json& list, size_t num_values, bool weights, std::set<int>* defined,
                 std::vector<TracedName>* names) {
  for (const json& item : list) {
    Reader reader(item);
    TracedName name;
    name.id = reader.Index("id", num_values);
    name.text = reader.Text("text");
    if (weights)
      name.contiguous = reader.Flag("contiguous");
    else
      name.order = reader.Indices("order", kMostAxes);
    DAVINCI_RETURN_IF_ERROR(reader.Finish());
    if (!defined->insert(name.id).second)
      return Internal("the traced module: a tensor with two origins");
    names->push_back(std::move(name));
  }
  return Status::Ok();
}

Status ReadSymbols(const json& document, TracedModule* module) {
  if (!document.is_object() || !document.contains("symbols")) return Status::Ok();
  Reader reader(document);
  for (const json& item : reader.List("symbols", kMostAxes)) {
    Reader part(item);
    TracedSymbol symbol;
    symbol.name = part.Text("name", 40);
    symbol.place = part.Text("place");
    for (const json& value : part.List("values")) {
      symbol.named.push_back(value.is_number_integer() ? value.get<int64_t>() : 0);
      if (symbol.named.back() < 2 || symbol.named.back() > kMostElements) part.Wrong("values");
    }
    if (symbol.named.empty()) part.Wrong("values");
    DAVINCI_RETURN_IF_ERROR(part.Finish());
    symbol.value = symbol.named[0];
    module->symbols.push_back(std::move(symbol));
  }
  for (const json& variant : reader.List("serves"))
    module->serves.push_back(variant.is_number_integer() ? variant.get<int>() : -1);
  for (const TracedSymbol& symbol : module->symbols)
    if (symbol.named.size() != module->serves.size()) reader.Wrong("serves");
  if (module->serves.empty() || module->serves[0] != 0) reader.Wrong("serves");
  return reader.Finish();
}

// The sizes of a tensor for the symbols' values; false: it has too many elements.
bool CountSizes(const std::vector<SizeExpression>& sizes, const std::vector<TracedSymbol>& symbols,
                std::vector<int64_t>* shape) {
  shape->clear();
  int64_t elements = 1;
  for (const SizeExpression& size : sizes) {
    const auto number = SizeAt(size, symbols);
    if (!number || *number < 0 || (*number > 0 && elements > kMostElements / *number)) return false;
    elements *= *number;
    shape->push_back(*number);
  }
  return true;
}

Status ReadValue(const json& item, const std::vector<TracedSymbol>& symbols, TracedValue* value) {
  Reader reader(item);
  value->dtype = reader.Text("dtype", 40);
  bool symbolic = false;
  for (const json& size : reader.List("shape", kMostAxes)) {
    std::optional<SizeExpression> expression;
    if (size.is_number_integer()) expression = {SizeTerm{size.get<int64_t>(), {}}};
    if (size.is_string() && !symbols.empty())
      expression = ParseSize(size.get_ref<const std::string&>(), symbols);
    symbolic = symbolic || size.is_string();
    if (!expression) reader.Wrong("shape");
    value->sizes.push_back(expression.value_or(SizeExpression()));
  }
  if (!CountSizes(value->sizes, symbols, &value->shape)) reader.Wrong("shape");
  if (!symbolic) value->sizes.clear();
  return reader.Finish();
}

Status ReadCall(const json& item, size_t num_values, std::set<int>* defined, TracedCall* call) {
  Reader reader(item);
  call->text = reader.Text("text");
  call->name = reader.Text("name", 200);
  call->reads = reader.Indices("reads", num_values);
  call->view = reader.Flag("view");
  call->effect = reader.Flag("effect");
  call->place = reader.Text("place");
  call->module = reader.Text("module");
  for (const json& given : reader.List("gives")) {
    Reader part(given);
    TracedCall::Given result;
    result.id = part.Index("id", num_values);
    result.item = part.Text("item", 200);
    DAVINCI_RETURN_IF_ERROR(part.Finish());
    call->gives.push_back(std::move(result));
  }
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  for (const int read : call->reads)
    if (!defined->contains(read))
      return Internal("the traced module: a tensor is read before it is there");
  for (const TracedCall::Given& given : call->gives)
    if (!defined->insert(given.id).second)
      return Internal("the traced module: a tensor with two origins");
  if (!PlaceholdersFit(call->text, call->reads.size()))
    return Internal("the traced module: a text names tensors that its call does not read");
  return Status::Ok();
}

}  // namespace

Result<TracedModule> ParseTracedModule(const json& document) {
  if (document.is_object() && document.contains("untraceable"))
    return InvalidArgument(document["untraceable"].is_string()
                               ? document["untraceable"].get<std::string>().substr(0, 1000)
                               : "it cannot be traced");
  Reader reader(document);
  TracedModule module;
  DAVINCI_RETURN_IF_ERROR(ReadSymbols(document, &module));
  for (const json& item : reader.List("values")) {
    TracedValue value;
    DAVINCI_RETURN_IF_ERROR(ReadValue(item, module.symbols, &value));
    module.values.push_back(std::move(value));
  }
  const size_t count = module.values.size();
  std::set<int> defined;
  DAVINCI_RETURN_IF_ERROR(ReadNames(reader.List("inputs"), count, false, &defined, &module.inputs));
  for (const TracedName& input : module.inputs) {
    const std::set<int> axes(input.order.begin(), input.order.end());
    if (!input.order.empty() &&
        (axes.size() != input.order.size() ||
         axes.size() != module.values[static_cast<size_t>(input.id)].shape.size() ||
         *axes.rbegin() + 1 != static_cast<int>(axes.size())))
      return Internal(
          "the traced module: \"order\" of an input does not name each of its axes once");
  }
  DAVINCI_RETURN_IF_ERROR(
      ReadNames(reader.List("weights"), count, true, &defined, &module.weights));
  for (const json& item : reader.List("calls")) {
    TracedCall call;
    DAVINCI_RETURN_IF_ERROR(ReadCall(item, count, &defined, &call));
    if (!module.symbols.empty() &&
        !WithSizes(call.text, module.symbols, [](const SizeExpression&) { return ""; }))
      return Internal("the traced module: a text names sizes that no input has");
    module.calls.push_back(std::move(call));
  }
  module.outputs = reader.Indices("outputs", count);
  module.result = reader.Text("result");
  module.signature = reader.Text("signature");
  module.names = reader.Texts("names");
  module.training = reader.Flag("training");
  module.helpers = reader.Text("helpers", 8 * kMostTextBytes);
  module.guard = reader.Text("guard", 64 * kMostTextBytes);
  module.fallback = reader.Text("fallback");
  for (const json& item : reader.List("kept", 1000)) {
    Reader part(item);
    module.kept.push_back({part.Text("module"), part.Text("why")});
    DAVINCI_RETURN_IF_ERROR(part.Finish());
  }
  Reader source(reader.Object("source"));
  module.future = source.Text("future");
  module.source = source.Text("text", kMostSourceBytes);
  module.bound = source.Texts("names");
  DAVINCI_RETURN_IF_ERROR(source.Finish());
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  for (const int output : module.outputs)
    if (!defined.contains(output))
      return Internal("the traced module: an output that nothing computes");
  if (!PlaceholdersFit(module.result, module.outputs.size()))
    return Internal("the traced module: the result names outputs that are not there");
  return module;
}

std::string ForArguments(const TracedModule& module) {
  return module.guard.substr(0, module.guard.find(" and self.training is "));
}

std::optional<TracedModule> AtSizes(TracedModule module, const std::vector<int64_t>& values) {
  for (size_t i = 0; i < module.symbols.size(); ++i) module.symbols[i].value = values[i];
  for (TracedValue& value : module.values)
    if (!value.sizes.empty() && !CountSizes(value.sizes, module.symbols, &value.shape))
      return std::nullopt;
  return module;
}

}  // namespace davinci::import
