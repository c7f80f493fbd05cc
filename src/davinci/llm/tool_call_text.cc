#include "davinci/llm/tool_call_text.h"

#include <algorithm>

namespace davinci::llm {
namespace {

using Json = nlohmann::json;
constexpr size_t kMaxCalls = 16;  // more is noise
constexpr auto kNpos = std::string_view::npos;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t start = text.find_first_not_of(kSpace);
  if (start == kNpos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

// {"name": …, "arguments": …}, also one level down in "function".
bool AppendNamedCall(const Json& value, std::vector<RawCall>* calls) {
  if (!value.is_object()) return false;
  if (const auto inner = value.find("function"); inner != value.end() && inner->is_object())
    return AppendNamedCall(*inner, calls);
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) return false;
  for (const char* key : {"arguments", "args", "parameters"}) {
    const auto arguments = value.find(key);
    if (arguments == value.end()) continue;
    RawCall call{name->get<std::string>(), *arguments};
    if (arguments->is_string()) {
      const Literal literal = ReadLiteral(arguments->get_ref<const std::string&>());
      call.error = literal.error;
      call.arguments = literal.value;
    }
    calls->push_back(std::move(call));
    return true;
  }
  return false;
}

bool LooksLikeItems(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& item) {
    return item.is_string() || (item.is_object() && item.contains("name"));
  });
}

// A value as one or more calls: named, several named ones, the arguments alone, or their list
// alone.
bool AppendCalls(const Json& value, const WantedCall& wanted, std::vector<RawCall>* calls) {
  if (AppendNamedCall(value, calls)) return true;
  if (value.is_object()) {
    if (!value.contains(wanted.list_key)) return false;
    calls->push_back({"", value});
    return true;
  }
  if (!value.is_array()) return false;
  bool any = false;
  for (const Json& element : value) {
    if (calls->size() < kMaxCalls) any |= AppendNamedCall(element, calls);
  }
  if (any) return true;
  if (!LooksLikeItems(value)) return false;
  calls->push_back({"", {{std::string(wanted.list_key), value}}});
  return true;
}

}  // namespace

Json DecodeText(std::string text) {
  const std::string_view trimmed = Trim(text);
  const Literal literal = ReadLiteral(trimmed);
  if (literal.ok() && literal.end == trimmed.size()) return literal.value;
  return text;
}

std::vector<RawCall> QwenXmlCalls(std::string_view text) {
  constexpr std::string_view kFunction = "<function=", kParameter = "<parameter=";
  constexpr std::string_view kFunctionEnd = "</function>", kParameterEnd = "</parameter>";
  std::vector<RawCall> calls;
  for (size_t at = text.find(kFunction); at != kNpos && calls.size() < kMaxCalls;
       at = text.find(kFunction, at)) {
    at += kFunction.size();
    const size_t name_end = text.find_first_of(">\n", at);
    if (name_end == kNpos || text[name_end] != '>') continue;
    RawCall call;
    call.name = Trim(text.substr(at, name_end - at));
    at = name_end + 1;

    const std::string_view body = text.substr(at);
    const size_t body_start = std::min(body.find_first_not_of(" \t\r\n"), body.size());
    if (body.substr(body_start, 1) == "{") {  // Llama writes JSON here
      Literal literal = ReadLiteral(body);
      call.arguments = std::move(literal.value);
      call.error = literal.error;
      at += std::max<size_t>(literal.end, 1);
      calls.push_back(std::move(call));
      continue;
    }
    call.arguments = Json::object();
    bool closed = false;
    while (!closed && call.error == LiteralError::kNone) {
      const size_t parameter = text.find(kParameter, at);
      const size_t end = std::min(text.find(kFunctionEnd, at), text.find(kFunction, at));
      if (end < parameter || parameter == kNpos) {
        closed = end != kNpos;
        if (!closed && text.find("</tool_call>", at) == kNpos)
          call.error = LiteralError::kTruncated;
        at = std::min(end, text.size());
        break;
      }
      const size_t key_end = text.find('>', parameter);
      if (key_end == kNpos) {
        call.error = LiteralError::kTruncated;
        break;
      }
      const size_t key_start = parameter + kParameter.size();
      const std::string key(Trim(text.substr(key_start, key_end - key_start)));
      // A value may stay unclosed: then the next parameter or the function's end closes it.
      size_t value_end = text.find(kParameterEnd, key_end);
      const size_t next_parameter = text.find(kParameter, key_end);
      if (value_end == kNpos)
        value_end = std::min(next_parameter, text.find(kFunctionEnd, key_end));
      if (value_end == kNpos) {
        call.error = LiteralError::kTruncated;
        at = text.size();
        break;
      }
      std::string_view value = text.substr(key_end + 1, value_end - key_end - 1);
      if (value.starts_with("\r\n")) value.remove_prefix(1);
      if (value.starts_with('\n')) value.remove_prefix(1);
      if (value.ends_with('\n')) value.remove_suffix(1);
      if (value.ends_with('\r')) value.remove_suffix(1);
      call.arguments[key] = DecodeText(std::string(value));
      at = value_end;
      if (text.substr(at).starts_with(kParameterEnd)) at += kParameterEnd.size();
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<RawCall> HermesCalls(std::string_view text, const WantedCall& wanted) {
  constexpr std::string_view kTag = "<tool_call>";
  std::vector<RawCall> calls;
  for (size_t at = text.find(kTag); at != kNpos && calls.size() < kMaxCalls;
       at = text.find(kTag, at)) {
    at += kTag.size();
    const Literal literal = ReadLiteral(text.substr(at));
    if (!literal.ok()) {
      calls.push_back({"", nullptr, literal.error});
    } else if (!AppendCalls(literal.value, wanted, &calls)) {
      calls.push_back({"", nullptr, LiteralError::kMalformed});
    } else {
      at += literal.end;
    }
  }
  return calls;
}

std::vector<RawCall> FencedCalls(std::string_view text, const WantedCall& wanted) {
  std::vector<RawCall> calls;
  LiteralError error = LiteralError::kNone;
  for (size_t line = 0; line < text.size() && calls.size() < kMaxCalls;) {
    const size_t line_end = std::min(text.find('\n', line), text.size());
    const std::string_view content = Trim(text.substr(line, line_end - line));
    line = line_end + 1;
    if (!content.starts_with("```") || line >= text.size()) continue;
    const std::string_view body = text.substr(line);
    const size_t start = std::min(body.find_first_not_of(" \t\r\n"), body.size());
    if (body.substr(start, 1) != "{" && body.substr(start, 1) != "[") continue;
    const Literal literal = ReadLiteral(body);
    if (literal.ok()) {
      // The fences of a code block inside the value are part of it.
      if (AppendCalls(literal.value, wanted, &calls)) line += literal.end;
    } else if (const std::string_view block = body.substr(0, body.find("\n```"));
               block.find(wanted.list_key) != kNpos) {
      error = literal.error;
    }
  }
  if (calls.empty() && error != LiteralError::kNone) calls.push_back({"", nullptr, error});
  return calls;
}

std::vector<RawCall> BareCalls(std::string_view text, const WantedCall& wanted) {
  std::vector<RawCall> calls;
  const std::string_view trimmed = Trim(text);
  if (trimmed.starts_with('[') || trimmed.starts_with('{')) {
    const Literal literal = ReadLiteral(trimmed);
    if (literal.ok() && literal.end == trimmed.size() && AppendCalls(literal.value, wanted, &calls))
      return calls;
  }
  // Otherwise a value that holds the list under its key: the nearest brackets before the key first.
  constexpr int kMaxKeys = 8, kMaxBrackets = 64;
  LiteralError error = LiteralError::kNone;
  size_t key = text.find(wanted.list_key);
  for (int i = 0; i < kMaxKeys && key != kNpos; ++i, key = text.find(wanted.list_key, key + 1)) {
    size_t bracket = key;
    for (int k = 0; k < kMaxBrackets && bracket > 0; ++k) {
      bracket = text.find_last_of('{', bracket - 1);
      if (bracket == kNpos) break;
      const Literal literal = ReadLiteral(text.substr(bracket));
      if (literal.ok() && AppendCalls(literal.value, wanted, &calls)) return calls;
      if (literal.error == LiteralError::kTruncated || error == LiteralError::kNone)
        error = literal.ok() ? LiteralError::kMalformed : literal.error;
    }
  }
  if (error != LiteralError::kNone) calls.push_back({"", nullptr, error});
  return calls;
}

}  // namespace davinci::llm
