#include "davinci/text/jinja.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "davinci/text/jinja_builtins.h"
#include "davinci/text/jinja_lexer.h"
#include "davinci/text/jinja_parser.h"
#include "davinci/text/jinja_value.h"

namespace davinci::text {

using namespace jinja;  // NOLINT: this file is the engine's third part

struct JinjaTemplate::Program {
  std::vector<Statement::Pointer> body;
};

namespace {

constexpr size_t kLargestOutput_bytes = 64 << 20;
constexpr size_t kLargestSource_bytes = 1 << 20;
constexpr int kDeepestCalls = 40;

using Scope = std::map<std::string, Value, std::less<>>;
using Kind = Expression::Kind;

enum class Flow { kNext, kBreak, kContinue };

// Adds the line to an error that has none yet.
template <typename Body>
auto At(int line, Body&& body) {
  try {
    return body();
  } catch (const JinjaError& error) {
    if (std::string_view(error.what()).starts_with("line ")) throw;
    Fail(line, error.what());
  }
}

void RequireDefined(const Value& object) {
  if (object.IsUndefined())
    throw JinjaError(fmt::format("'{}' is undefined", object.AsUndefined()->name));
}

Value Integers(const std::string& name, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (name == "+") overflow = __builtin_add_overflow(a, b, &result);
  if (name == "-") overflow = __builtin_sub_overflow(a, b, &result);
  if (name == "*") overflow = __builtin_mul_overflow(a, b, &result);
  if (name == "//" || name == "%") {
    if (b == 0) throw JinjaError("division by zero");
    overflow = a == INT64_MIN && b == -1;
    if (!overflow) {
      int64_t quotient = a / b;
      if (a % b != 0 && (a < 0) != (b < 0)) --quotient;  // Python rounds down
      result = name == "//" ? quotient : a - quotient * b;
    }
  }
  if (overflow) throw JinjaError("an integer above 2^63");
  return result;
}

class Run {
 public:
  explicit Run(const nlohmann::ordered_json& variables) {
    scopes_.emplace_back();
    for (auto& [name, function] : GlobalFunctions(&budget_))
      scopes_[0].emplace(name, std::move(function));
    for (const auto& [name, value] : variables.items())
      scopes_[0].insert_or_assign(name, Value::FromJson(value));
  }

  Flow Execute(const std::vector<Statement::Pointer>& body, std::string* out) {
    for (const auto& statement : body)
      if (const Flow flow = One(*statement, out); flow != Flow::kNext) return flow;
    return Flow::kNext;
  }

 private:
  const Value* Lookup(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return &found->second;
    return nullptr;
  }

  void Emit(std::string_view text, std::string* out) {
    budget_.Spend(text.size());
    if (out->size() + text.size() > kLargestOutput_bytes)
      throw JinjaError("the template writes more than 64 MiB");
    *out += text;
  }

  Flow One(const Statement& statement, std::string* out) {
    budget_.Spend();
    switch (statement.kind) {
      case Statement::Kind::kText:
        Emit(statement.text, out);
        break;
      case Statement::Kind::kEmit:
        At(statement.line, [&] { Emit(Evaluate(*statement.expression).ToText(), out); });
        break;
      case Statement::Kind::kIf:
        for (const auto& branch : statement.branches)
          if (!branch.condition || Evaluate(*branch.condition).Truthy())
            return Execute(branch.body, out);
        break;
      case Statement::Kind::kFor:
        For(statement, out);
        break;
      case Statement::Kind::kSet:
        Set(statement);
        break;
      case Statement::Kind::kSetBlock: {
        std::string text;
        scopes_.emplace_back();
        Execute(statement.body, &text);
        scopes_.pop_back();
        scopes_.back().insert_or_assign(statement.names[0], Value(std::move(text)));
        break;
      }
      case Statement::Kind::kMacro:
        DefineMacro(statement);
        break;
      case Statement::Kind::kBreak:
        return Flow::kBreak;
      case Statement::Kind::kContinue:
        return Flow::kContinue;
      case Statement::Kind::kBlock:
        return Execute(statement.body, out);
    }
    return Flow::kNext;
  }

  void Bind(const std::vector<std::string>& names, const Value& value, int line) {
    if (names.size() == 1) {
      scopes_.back().insert_or_assign(names[0], value);
      return;
    }
    const List parts = At(line, [&] { return Iterate(value, "unpacking"); });
    if (parts.size() != names.size())
      Fail(line, fmt::format("{} values for {} variables", parts.size(), names.size()));
    for (size_t i = 0; i < names.size(); ++i) scopes_.back().insert_or_assign(names[i], parts[i]);
  }

  void Set(const Statement& statement) {
    Value value = Evaluate(*statement.expression);
    if (statement.attribute.empty()) {
      Bind(statement.names, value, statement.line);
      return;
    }
    const Value* target = Lookup(statement.names[0]);
    Dict* dict = target == nullptr ? nullptr : target->AsDict();
    if (dict == nullptr || !dict->is_namespace)
      Fail(statement.line, fmt::format("'{}' is not a namespace", statement.names[0]));
    // A namespace that holds itself would never be freed, and printing it would not end.
    if (value.AsDict() != nullptr && value.AsDict()->is_namespace)
      Fail(statement.line, "a namespace inside a namespace");
    dict->Set(statement.attribute, std::move(value));
  }

  void For(const Statement& statement, std::string* out) {
    List items =
        At(statement.line, [&] { return Iterate(Evaluate(*statement.expression), "for"); });
    budget_.Spend(items.size() * 16);
    scopes_.emplace_back();
    if (statement.condition) {
      List kept;
      for (const Value& item : items) {
        Bind(statement.names, item, statement.line);
        if (Evaluate(*statement.condition).Truthy()) kept.push_back(item);
      }
      items = std::move(kept);
    }
    const auto count = static_cast<int64_t>(items.size());
    for (int64_t i = 0; i < count; ++i) {
      budget_.Spend();
      scopes_.back().clear();  // what a turn sets does not outlive it
      const auto at = static_cast<size_t>(i);
      Dict loop;
      loop.items = {
          {"index", i + 1},
          {"index0", i},
          {"revindex", count - i},
          {"revindex0", count - i - 1},
          {"first", i == 0},
          {"last", i + 1 == count},
          {"length", count},
          {"previtem", i > 0 ? items[at - 1] : Value(Undefined{"loop.previtem"})},
          {"nextitem", i + 1 < count ? items[at + 1] : Value(Undefined{"loop.nextitem"})}};
      scopes_.back().emplace("loop", Value(std::move(loop)));
      Bind(statement.names, items[at], statement.line);
      if (Execute(statement.body, out) == Flow::kBreak) break;
    }
    scopes_.pop_back();
    if (count == 0) Execute(statement.otherwise, out);
  }

  void DefineMacro(const Statement& statement) {
    const Statement* macro = &statement;
    scopes_.back().insert_or_assign(
        statement.text, Value(Function([this, macro](const Arguments& arguments) -> Value {
          return CallMacro(*macro, arguments);
        })));
  }

  Value CallMacro(const Statement& macro, const Arguments& arguments) {
    if (++calls_ > kDeepestCalls) Fail(macro.line, "macros call each other too deeply");
    if (arguments.positional.size() > macro.names.size())
      Fail(macro.line, fmt::format("macro {} takes {} arguments", macro.text, macro.names.size()));
    for (const auto& [name, value] : arguments.named)
      if (std::find(macro.names.begin(), macro.names.end(), name) == macro.names.end())
        Fail(macro.line, fmt::format("macro {} has no argument {}", macro.text, name));
    Scope scope;
    for (size_t i = 0; i < macro.names.size(); ++i) {
      const Value* given = arguments.Get(i, macro.names[i]);
      scope[macro.names[i]] = given != nullptr    ? *given
                              : macro.defaults[i] ? Evaluate(*macro.defaults[i])
                                                  : Value(Undefined{macro.names[i]});
    }
    // A macro sees what is set at the top, not where it is called.
    std::vector<Scope> outside(std::make_move_iterator(scopes_.begin() + 1),
                               std::make_move_iterator(scopes_.end()));
    scopes_.resize(1);
    scopes_.push_back(std::move(scope));
    std::string text;
    Execute(macro.body, &text);
    scopes_.resize(1);
    for (Scope& one : outside) scopes_.push_back(std::move(one));
    --calls_;
    return text;
  }

  Value Evaluate(const Expression& expression) {
    budget_.Spend();
    return At(expression.line, [&] { return EvaluateInner(expression); });
  }

  Value EvaluateInner(const Expression& expression) {
    switch (expression.kind) {
      case Kind::kLiteral:
        return expression.literal;
      case Kind::kName: {
        const Value* found = Lookup(expression.name);
        return found == nullptr ? Value(Undefined{expression.name}) : *found;
      }
      case Kind::kList: {
        List list;
        for (const auto& child : expression.children) list.push_back(Evaluate(*child));
        return list;
      }
      case Kind::kDict: {
        Dict dict;
        for (size_t i = 0; i + 1 < expression.children.size(); i += 2)
          dict.Set(Evaluate(*expression.children[i]).ToStringRef("a mapping's key"),
                   Evaluate(*expression.children[i + 1]));
        return dict;
      }
      case Kind::kAttribute:
        return Attribute(Evaluate(*expression.children[0]), expression.name);
      case Kind::kIndex:
        return Index(Evaluate(*expression.children[0]), Evaluate(*expression.children[1]));
      case Kind::kSlice:
        return Slice(expression);
      case Kind::kCall: {
        const Value callee = Evaluate(*expression.children[0]);
        if (callee.AsFunction() == nullptr)
          throw JinjaError(
              callee.IsUndefined()
                  ? fmt::format("'{}' is undefined", callee.AsUndefined()->name)
                  : fmt::format("a value of type {} cannot be called", callee.TypeName()));
        return (*callee.AsFunction())(EvaluateArguments(expression));
      }
      case Kind::kFilter:
        return ApplyFilter(expression.name, Evaluate(*expression.children[0]),
                           EvaluateArguments(expression), &budget_);
      case Kind::kTest:
        return ApplyTest(expression.name, Evaluate(*expression.children[0]),
                         EvaluateArguments(expression)) != expression.negated;
      case Kind::kUnary:
        return Unary(expression);
      case Kind::kBinary:
        return Binary(expression);
      case Kind::kCompare:
        return Compare(expression);
      case Kind::kCondition:
        if (Evaluate(*expression.children[1]).Truthy()) return Evaluate(*expression.children[0]);
        if (!expression.children[2]) return Undefined{"the value of an if without else"};
        return Evaluate(*expression.children[2]);
    }
    return {};
  }

  Arguments EvaluateArguments(const Expression& expression) {
    Arguments arguments;
    for (const auto& child : expression.arguments) arguments.positional.push_back(Evaluate(*child));
    for (const auto& [name, child] : expression.named)
      arguments.named.emplace_back(name, Evaluate(*child));
    return arguments;
  }

  Value Attribute(const Value& object, const std::string& name) {
    RequireDefined(object);
    Value method = Method(object, name, &budget_);
    if (!method.IsUndefined()) return method;
    const Dict* dict = object.AsDict();
    const Value* found = dict == nullptr ? nullptr : dict->Find(name);
    return found == nullptr ? Value(Undefined{name}) : *found;
  }

  Value Index(const Value& object, const Value& index) {
    RequireDefined(object);
    if (const std::string* key = index.AsString()) {
      const Dict* dict = object.AsDict();
      const Value* found = dict == nullptr ? nullptr : dict->Find(*key);
      return found != nullptr ? *found : Method(object, *key, &budget_);
    }
    const auto place = [&](size_t size) -> std::optional<size_t> {
      const int64_t i = index.ToInteger("an index");
      const auto count = static_cast<int64_t>(size);
      const int64_t at = i < 0 ? i + count : i;
      if (at < 0 || at >= count) return std::nullopt;
      return static_cast<size_t>(at);
    };
    if (const List* list = object.AsList()) {
      const auto at = place(list->size());
      return at ? (*list)[*at] : Value(Undefined{"an element outside the list"});
    }
    if (const std::string* text = object.AsString()) {
      budget_.Spend(text->size());
      const auto characters = Characters(*text);
      const auto at = place(characters.size());
      return at ? Value(std::string(characters[*at])) : Value(Undefined{"a character"});
    }
    return Undefined{"an element"};
  }

  Value Slice(const Expression& expression) {
    const Value object = Evaluate(*expression.children[0]);
    RequireDefined(object);
    const auto part = [&](size_t i) -> std::optional<int64_t> {
      if (!expression.children[i]) return std::nullopt;
      const Value value = Evaluate(*expression.children[i]);
      if (value.IsNone()) return std::nullopt;
      return value.ToInteger("a slice");
    };
    const auto start = part(1);
    const auto stop = part(2);
    const int64_t step = part(3).value_or(1);
    if (step == 0) throw JinjaError("a slice with step 0");
    if (object.AsList() == nullptr && object.AsString() == nullptr)
      throw JinjaError(fmt::format("a value of type {} has no slices", object.TypeName()));
    const List items = Iterate(object, "a slice");
    budget_.Spend(items.size() * 16);
    const auto count = static_cast<int64_t>(items.size());
    const auto clamp = [&](int64_t at) {
      if (at < 0) at = at < -count ? -1 : at + count;
      const int64_t low = step > 0 ? 0 : -1;
      return std::clamp(at, low, step > 0 ? count : count - 1);
    };
    const int64_t begin = start ? clamp(*start) : step > 0 ? 0 : count - 1;
    const int64_t end = stop ? clamp(*stop) : step > 0 ? count : -1;
    List result;
    for (int64_t i = begin; step > 0 ? i < end : i > end;) {
      result.push_back(items[static_cast<size_t>(i)]);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    if (object.AsString() == nullptr) return result;
    std::string text;
    for (const Value& c : result) text += *c.AsString();
    return text;
  }

  Value Unary(const Expression& expression) {
    const Value value = Evaluate(*expression.children[0]);
    if (expression.name == "not") return !value.Truthy();
    if (value.AsInt() != nullptr || value.AsBool() != nullptr) {
      const int64_t integer = value.ToInteger("a number");
      if (expression.name == "+") return integer;
      int64_t result = 0;
      if (__builtin_sub_overflow(int64_t{0}, integer, &result)) throw JinjaError("overflow");
      return result;
    }
    const double number = value.ToNumber("a number");
    return expression.name == "+" ? number : -number;
  }

  Value Binary(const Expression& expression) {
    const std::string& name = expression.name;
    Value left = Evaluate(*expression.children[0]);
    if (name == "and") return left.Truthy() ? Evaluate(*expression.children[1]) : left;
    if (name == "or") return left.Truthy() ? left : Evaluate(*expression.children[1]);
    const Value right = Evaluate(*expression.children[1]);
    if (name == "~") return Joined(left.ToText(), right.ToText());
    if (name == "+" && left.AsString() && right.AsString())
      return Joined(*left.AsString(), *right.AsString());
    if (name == "+" && left.AsList() && right.AsList()) {
      List list = *left.AsList();
      list.insert(list.end(), right.AsList()->begin(), right.AsList()->end());
      budget_.Spend(list.size() * 16);
      return list;
    }
    if (name == "*" && left.AsString() && right.AsInt()) {
      std::string text;
      for (int64_t i = 0; i < *right.AsInt(); ++i) text = Joined(std::move(text), *left.AsString());
      return text;
    }
    if (name == "%" && left.AsString()) throw JinjaError("formatting with % is not supported");
    const auto integral = [](const Value& v) { return v.AsInt() || v.AsBool(); };
    if (integral(left) && integral(right) && name != "/" && name != "**")
      return Integers(name, left.ToInteger(name), right.ToInteger(name));
    const double a = left.ToNumber(name);
    const double b = right.ToNumber(name);
    if ((name == "/" || name == "//" || name == "%") && b == 0)
      throw JinjaError("division by zero");
    if (name == "+") return a + b;
    if (name == "-") return a - b;
    if (name == "*") return a * b;
    if (name == "/") return a / b;
    if (name == "//") return std::floor(a / b);
    if (name == "%") return a - b * std::floor(a / b);
    const double power = std::pow(a, b);
    if (integral(left) && integral(right) && b >= 0 && std::fabs(power) < 9e15)
      return static_cast<int64_t>(power);
    return power;
  }

  std::string Joined(std::string left, const std::string& right) {
    budget_.Spend(left.size() + right.size());
    if (left.size() + right.size() > kLargestOutput_bytes)
      throw JinjaError("a text of more than 64 MiB");
    return std::move(left += right);
  }

  Value Compare(const Expression& expression) {
    Value left = Evaluate(*expression.children[0]);
    for (size_t i = 0; i < expression.operators.size(); ++i) {
      const std::string& name = expression.operators[i];
      Value right = Evaluate(*expression.children[i + 1]);
      bool holds = false;
      if (name == "==")
        holds = left.Equals(right);
      else if (name == "!=")
        holds = !left.Equals(right);
      else if (name == "in")
        holds = Contains(right, left);
      else if (name == "not in")
        holds = !Contains(right, left);
      else if (name == "<")
        holds = Order(left, right) < 0;
      else if (name == "<=")
        holds = Order(left, right) <= 0;
      else if (name == ">")
        holds = Order(left, right) > 0;
      else
        holds = Order(left, right) >= 0;
      if (!holds) return false;
      left = std::move(right);
    }
    return true;
  }

  Budget budget_;
  std::vector<Scope> scopes_;
  int calls_ = 0;
};

}  // namespace

Result<JinjaTemplate> JinjaTemplate::Parse(std::string_view source) {
  if (source.size() > kLargestSource_bytes)
    return InvalidArgument("chat template: more than 1 MiB");
  try {
    auto program = std::make_shared<Program>();
    program->body = ParseTemplate(source);
    return JinjaTemplate(std::move(program));
  } catch (const JinjaError& error) {
    return InvalidArgument(fmt::format("chat template: {}", error.what()));
  }
}

Result<std::string> JinjaTemplate::Render(const nlohmann::ordered_json& variables) const {
  try {
    Run run(variables);
    std::string out;
    run.Execute(program_->body, &out);
    return out;
  } catch (const JinjaError& error) {
    return InvalidArgument(fmt::format("chat template: {}", error.what()));
  }
}

}  // namespace davinci::text
