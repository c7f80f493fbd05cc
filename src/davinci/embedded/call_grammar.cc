#include "davinci/embedded/call_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "davinci/base/json_text.h"

namespace davinci::embedded {
namespace {

using Json = nlohmann::json;
using Node = ByteGrammar::Node;

// Texts that readers of replies take for the beginning or the end of something else.
const std::vector<std::string>& Marks() {
  static const std::vector<std::string> marks = {"<think>",     "</think>",   "<thinking>",
                                                 "</thinking>", "<function=", "<tool_call>",
                                                 "</tool_call>"};
  return marks;
}

// The rest of a JSON text behind its opening quote.
std::string Rest(const std::string& text) { return JsonText(Json(text)).substr(1); }

class Builder {
 public:
  explicit Builder(ByteGrammar* grammar) : made_(*grammar) {}

  // `in_list`: part of a list's item.
  Result<Node> Value(const Json& schema, bool in_list, Node next) {
    if (!schema.is_object()) return InvalidArgument("a schema that is no object");
    const std::string type = schema.value("type", "");
    if (type == "string") return Text(schema, in_list, next);
    if (type == "array") return List(schema, next);
    if (type == "object") return Object(schema, in_list, next);
    return InvalidArgument(
        fmt::format("a schema of type \"{}\": object, array and string are supported", type));
  }

 private:
  Result<Node> Text(const Json& schema, bool in_list, Node next) {
    if (!schema.contains("enum")) {
      const auto limit = schema.value("maxLength", uint32_t{0});
      return made_.Literal("\"", made_.Characters(next, in_list, limit, Marks()));
    }
    std::vector<std::string> words;
    for (const Json& word : schema["enum"]) {
      if (!word.is_string()) return InvalidArgument("an enum of something other than texts");
      words.push_back(Rest(word.get<std::string>()));
    }
    if (words.empty()) return InvalidArgument("an empty enum");
    return made_.Literal("\"", made_.Word(words, next));
  }

  // Items that differ in a member are no more than its values.
  static size_t MostDistinct(const Json& item) {
    size_t most = std::numeric_limits<size_t>::max();
    const auto look = [&](const Json& schema) {
      if (schema.is_object() && schema.contains("enum"))
        most = std::min(most, schema["enum"].size());
    };
    look(item);
    if (item.is_object() && item.contains("properties"))
      for (const Json& member : item["properties"]) look(member);
    return most;
  }

  Result<Node> List(const Json& schema, Node next) {
    if (!schema.contains("items")) return InvalidArgument("an array without items");
    const Json& item = schema["items"];
    const size_t most = std::min<size_t>(schema.value("maxItems", kMostItems), MostDistinct(item));
    const size_t least = std::min<size_t>(schema.value("minItems", 0), most);
    const Node close = made_.Literal("]", next);
    Node behind = close;  // what follows item i
    Node item_node = 0;
    for (size_t i = most; i > 0; --i) {
      if (i < most) {
        const Node more = made_.Literal(",", made_.OptionalSpace(item_node));
        behind = i >= least ? made_.Either(close, more) : more;
      }
      DAVINCI_ASSIGN_OR_RETURN(item_node, Value(item, true, behind));
    }
    if (most == 0) return made_.Literal("[", close);
    return made_.Literal("[", least == 0 ? made_.Either(close, item_node) : item_node);
  }

  Result<Node> Object(const Json& schema, bool in_list, Node next) {
    const Json members = schema.value("required", Json::array());
    if (members.empty()) return made_.Literal("{}", next);
    Node at = made_.Literal("}", next);
    for (size_t i = members.size(); i-- > 0;) {
      const std::string name = members[i];
      if (!schema.contains("properties") || !schema["properties"].contains(name))
        return InvalidArgument(fmt::format("no schema of the required member \"{}\"", name));
      DAVINCI_ASSIGN_OR_RETURN(const Node value, Value(schema["properties"][name], in_list, at));
      at = made_.Literal(JsonText(Json(name)) + ":", made_.OptionalSpace(value));
      at = i > 0 ? made_.Literal(",", made_.OptionalSpace(at)) : made_.Literal("{", at);
    }
    return at;
  }

  ByteGrammar& made_;
};

}  // namespace

Result<ByteGrammar> GrammarOfCall(const CallForm& form, const Json& schema) {
  ByteGrammar grammar;
  const Node close = grammar.Literal(form.close, grammar.end());
  DAVINCI_ASSIGN_OR_RETURN(const Node arguments, Builder(&grammar).Value(schema, false, close));
  Node start = grammar.Literal(form.open, arguments);
  if (form.thinks) {
    constexpr std::string_view kOpen = "<think>";
    const Node thought = grammar.Until("</think>", grammar.Literal("\n\n", start));
    const std::string_view open = form.open;
    size_t shared = 0;
    while (shared < kOpen.size() && shared < open.size() && kOpen[shared] == open[shared]) ++shared;
    start = grammar.Literal(open.substr(0, shared),
                            grammar.Either(grammar.Literal(kOpen.substr(shared), thought),
                                           grammar.Literal(open.substr(shared), arguments)));
  }
  grammar.SetStart(start);
  return grammar;
}

}  // namespace davinci::embedded
