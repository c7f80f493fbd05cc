// Text of shapes, inputs and pattern bodies.
#include <fmt/format.h>

#include <charconv>

#include "davinci/synth/grammar.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

Result<int64_t> Integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return InvalidArgument(fmt::format("'{}' is not an integer", text));
  return value;
}

// "2..4" or "3".
Status Range(std::string_view text, int64_t* least, int64_t* most) {
  const size_t dots = text.find("..");
  DAVINCI_ASSIGN_OR_RETURN(*least, Integer(text.substr(0, dots)));
  *most = *least;
  if (dots != std::string_view::npos) {
    DAVINCI_ASSIGN_OR_RETURN(*most, Integer(text.substr(dots + 2)));
  }
  return Status::Ok();
}

// The matching bracket of text[open], or npos.
size_t Matching(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

Result<PatternTerm> ParseTerm(std::string_view text) {
  text = Trim(text);
  PatternTerm term;
  if (IsName(text)) {
    term.name = text;
    return term;
  }
  const size_t open = text.find('(');
  if (open == std::string_view::npos || Matching(text, open) != text.size() - 1)
    return InvalidArgument(fmt::format("'{}' is no variable and no call", text));
  std::string_view name = Trim(text.substr(0, open));
  term.kind = PatternTerm::Kind::kOperator;
  if (name == "chain") {
    term.kind = PatternTerm::Kind::kChain;
  } else if (name.starts_with('@')) {
    term.kind = PatternTerm::Kind::kGroup;
    name.remove_prefix(1);
  } else if (name.starts_with('%')) {
    term.kind = PatternTerm::Kind::kPattern;
    name.remove_prefix(1);
  }
  term.name = name;
  size_t position = 0;
  for (const std::string_view piece :
       SplitTop(text.substr(open + 1, text.size() - open - 2), ',')) {
    const std::string_view part = Trim(piece);
    if (part.empty()) continue;
    if (term.kind == PatternTerm::Kind::kChain && position++ > 0) {
      if (position == 2) {
        DAVINCI_RETURN_IF_ERROR(Range(part, &term.least, &term.most));
      } else {
        term.name = part;
      }
      continue;
    }
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos && IsName(Trim(part.substr(0, equals)))) {
      auto& values = term.named[std::string(Trim(part.substr(0, equals)))];
      for (const std::string_view value : SplitTop(part.substr(equals + 1), '|')) {
        DAVINCI_ASSIGN_OR_RETURN(auto parsed, Expression::Parse(Trim(value)));
        values.push_back(std::move(parsed));
      }
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(auto argument, ParseTerm(part));
    term.arguments.push_back(std::move(argument));
  }
  return term;
}

class BodyParser {
 public:
  explicit BodyParser(std::string_view text) : lines_(Split(text, '\n')) {}

  // Up to a line that starts with '}' (kept as current) or the end.
  Result<std::vector<PatternStatement>> Block(bool outermost) {
    std::vector<PatternStatement> statements;
    for (; at_ < lines_.size(); ++at_) {
      std::string_view line = lines_[at_];
      if (const size_t comment = line.find('#'); comment != std::string_view::npos)
        line = line.substr(0, comment);
      line = Trim(line);
      if (line.empty()) continue;
      if (line.starts_with('}')) {
        if (outermost) return InvalidArgument(fmt::format("line {}: stray }}", at_ + 1));
        return statements;
      }
      PatternStatement statement;
      statement.line = static_cast<int>(at_ + 1);
      if (Status status = One(line, &statement); !status.ok())
        return status.Annotate(fmt::format("line {}", at_ + 1));
      statements.push_back(std::move(statement));
    }
    if (!outermost) return InvalidArgument("missing }");
    return statements;
  }

 private:
  Status One(std::string_view line, PatternStatement* statement) {
    using Kind = PatternStatement::Kind;
    const std::vector<std::string_view> words = Words(line);
    const std::string_view first = words[0];
    if (first == "return") {
      statement->kind = Kind::kReturn;
      for (const std::string_view part : SplitTop(line.substr(6), ',')) {
        DAVINCI_ASSIGN_OR_RETURN(auto term, ParseTerm(part));
        statement->terms.push_back(std::move(term));
      }
      return Status::Ok();
    }
    if (first == "let") {
      statement->kind = Kind::kLet;
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos) return InvalidArgument("let NAME = expression");
      statement->names = {std::string(Trim(line.substr(3, equals - 3)))};
      DAVINCI_ASSIGN_OR_RETURN(statement->expression,
                               Expression::Parse(Trim(line.substr(equals + 1))));
      return Status::Ok();
    }
    if (first == "new") {
      statement->kind = Kind::kNew;
      if (words.size() < 3) return InvalidArgument("new NAME role [%multiple]");
      statement->names = {std::string(words[1])};
      statement->role = words[2];
      if (words.size() > 3) {
        DAVINCI_ASSIGN_OR_RETURN(statement->multiple, Integer(words[3].substr(1)));
      }
      return Status::Ok();
    }
    if (first == "dims") {
      statement->kind = Kind::kDims;
      DAVINCI_ASSIGN_OR_RETURN(statement->dims, ParseInput(line.substr(4)));
      return Status::Ok();
    }
    if (line.ends_with('{')) {
      if (first == "repeat") {
        statement->kind = Kind::kRepeat;
        DAVINCI_RETURN_IF_ERROR(Range(words[1], &statement->least, &statement->most));
      } else if (first == "maybe") {
        statement->kind = Kind::kMaybe;
        statement->probability =
            words.size() > 2 ? std::strtod(std::string(words[1]).c_str(), nullptr) : 0.5;
      } else if (first == "choose") {
        statement->kind = Kind::kChoose;
      } else {
        return InvalidArgument(fmt::format("unknown block '{}'", first));
      }
      for (bool more = true; more;) {
        ++at_;
        DAVINCI_ASSIGN_OR_RETURN(auto body, Block(false));
        statement->bodies.push_back(std::move(body));
        more = statement->kind == Kind::kChoose && Trim(lines_[at_]).starts_with("} or");
      }
      return Status::Ok();
    }
    statement->kind = Kind::kAssign;
    size_t equals = line.find('=');
    if (const size_t open = line.find('('); equals == std::string_view::npos || equals > open)
      return InvalidArgument(fmt::format("'{}' assigns nothing", line));
    for (const std::string_view name : Split(line.substr(0, equals), ',')) {
      if (!IsName(Trim(name))) return InvalidArgument(fmt::format("'{}' is no name", name));
      statement->names.emplace_back(Trim(name));
    }
    DAVINCI_ASSIGN_OR_RETURN(auto term, ParseTerm(line.substr(equals + 1)));
    statement->terms.push_back(std::move(term));
    return Status::Ok();
  }

  std::vector<std::string_view> lines_;
  size_t at_ = 0;
};

}  // namespace

Result<ShapeSpec> ParseShape(std::string_view text) {
  ShapeSpec shape;
  for (const std::string_view word : Words(text)) {
    ShapeToken token;
    if (word == "*") {
      token.kind = ShapeToken::Kind::kStar;
    } else if (word == "*1") {
      token.kind = ShapeToken::Kind::kStarOnes;
    } else if (word == "~*") {
      token.kind = ShapeToken::Kind::kBroadcast;
    } else if (const size_t percent = word.find('%');
               IsName(word.substr(0, percent)) && word.find('(') == std::string_view::npos) {
      token.name = word.substr(0, percent);
      if (percent != std::string_view::npos) {
        DAVINCI_ASSIGN_OR_RETURN(token.multiple, Integer(word.substr(percent + 1)));
      }
    } else {
      token.kind = ShapeToken::Kind::kExpression;
      DAVINCI_ASSIGN_OR_RETURN(token.expression, Expression::Parse(word));
    }
    shape.push_back(std::move(token));
  }
  return shape;
}

Result<InputSpec> ParseInput(std::string_view text) {
  InputSpec input;
  const auto parts = Split(text, ':');
  if (parts.size() < 2) return InvalidArgument(fmt::format("'{}': want name: shape", text));
  input.name = Trim(parts[0]);
  const std::string_view shape = Trim(parts[1]);
  if (shape.starts_with('@')) {
    input.any = shape.substr(1);
  } else {
    DAVINCI_ASSIGN_OR_RETURN(input.shape, ParseShape(shape));
  }
  if (parts.size() > 2) {
    const auto words = Words(parts[2]);
    if (words.empty()) return InvalidArgument(fmt::format("'{}': empty kind", text));
    input.kind = words[0];
    if (words.size() > 1) {
      DAVINCI_ASSIGN_OR_RETURN(input.bound, Expression::Parse(words[1]));
    }
  }
  return input;
}

Result<std::vector<PatternStatement>> ParseBody(std::string_view text) {
  return BodyParser(text).Block(true);
}

}  // namespace davinci::synth
