#include "davinci/agent/prompt_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "davinci/base/suggest.h"

namespace davinci::agent {
namespace {

bool IsName(std::string_view text) {
  return !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The line that starts at `at`, without its end; moves `at` behind it.
std::string_view NextLine(std::string_view text, size_t* at) {
  const size_t end = std::min(text.find('\n', *at), text.size());
  const std::string_view line = text.substr(*at, end - *at);
  *at = std::min(end + 1, text.size());
  return line;
}

int CountLines(std::string_view text) { return static_cast<int>(std::ranges::count(text, '\n')); }

}  // namespace

Status PromptTemplate::Error(int line, std::string_view what) const {
  return InvalidArgument(fmt::format("{}:{}: {}", source_, line, what));
}

bool PromptTemplate::Declares(std::string_view name) const {
  return std::ranges::any_of(variables_, [&](const Variable& v) { return v.name == name; });
}

Result<size_t> PromptTemplate::ParseHeader(std::string_view text, int* line) {
  size_t at = 0;
  if (Trim(NextLine(text, &at)) != "---")
    return Error(1, "a prompt begins with a header between two lines \"---\"");
  bool in_variables = false;
  for (*line = 2; at < text.size(); ++*line) {
    const std::string_view raw = NextLine(text, &at);
    const std::string_view content = Trim(raw);
    if (content == "---") {
      header_end_line_ = *line;
      return at;
    }
    if (content.empty()) continue;
    const size_t colon = content.find(':');
    const std::string_view key = Trim(content.substr(0, colon));
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (colon == std::string_view::npos)
      return Error(*line, fmt::format("\"{}\" is no \"key: text\"", content));
    if (!indented) {
      if (key != "about" && key != "variables")
        return Error(*line, fmt::format("unknown key \"{}\"; a header has about and variables "
                                        "(variables are indented below it)",
                                        key));
      in_variables = key == "variables";
      if (in_variables && !Trim(content.substr(colon + 1)).empty())
        return Error(*line, "variables are listed below this line, one each, indented");
      continue;
    }
    if (!in_variables) return Error(*line, "an indented line outside \"variables:\"");
    if (!IsName(key))
      return Error(*line, fmt::format("\"{}\" is no variable name: lower-case letters, digits "
                                      "and _, a letter first",
                                      key));
    if (Declares(key)) return Error(*line, fmt::format("{} is declared twice", key));
    variables_.push_back({std::string(key), std::string(Trim(content.substr(colon + 1))), *line});
  }
  return Error(1, "the header is not closed with \"---\"");
}

Status PromptTemplate::ParseBody(std::string_view body, int line) {
  struct Open {
    size_t piece;
    int line;
  };
  std::vector<Open> open;
  std::vector<std::string> known;
  for (const Variable& variable : variables_) known.push_back(variable.name);

  size_t at = 0;
  while (at < body.size()) {
    const size_t tag = std::min(body.find("{{", at), body.size());
    if (tag > at) {
      pieces_.push_back({Piece::Kind::kText, std::string(body.substr(at, tag - at)), 0});
      line += CountLines(body.substr(at, tag - at));
    }
    if (tag == body.size()) break;
    const size_t close = body.find("}}", tag);
    const std::string_view inside =
        close == std::string_view::npos ? "" : body.substr(tag + 2, close - tag - 2);
    const char mark = inside.empty() ? '\0' : inside.front();
    const bool section = mark == '#' || mark == '^' || mark == '/';
    const std::string_view name = section ? inside.substr(1) : inside;
    if (!IsName(name))
      return Error(line, "\"{{\" opens a tag: {{name}}, {{#name}}, {{^name}} or {{/name}}");
    if (!Declares(name))
      return Error(
          line, fmt::format("{} is not declared in the header{}", name, DidYouMean(name, known)));
    at = close + 2;
    if (!section) {
      pieces_.push_back({Piece::Kind::kValue, std::string(name), 0});
      continue;
    }
    if (mark == '/') {
      if (open.empty() || pieces_[open.back().piece].text != name)
        return Error(line, fmt::format("{{{{/{}}}}} closes nothing that is open", name));
      pieces_[open.back().piece].end = pieces_.size();
      open.pop_back();
      pieces_.push_back({Piece::Kind::kEnd, std::string(name), 0});
    } else {
      open.push_back({pieces_.size(), line});
      pieces_.push_back(
          {mark == '#' ? Piece::Kind::kIfSet : Piece::Kind::kIfEmpty, std::string(name), 0});
    }
    // Alone on its line: the line goes with the tag.
    const size_t line_start = tag == 0 ? 0 : body.rfind('\n', tag - 1) + 1;  // npos + 1 == 0
    const size_t line_end = std::min(body.find('\n', at), body.size());
    if (line_start == tag && Trim(body.substr(at, line_end - at)).empty()) {
      at = std::min(line_end + 1, body.size());
      ++line;
    }
  }
  if (!open.empty())
    return Error(open.back().line,
                 fmt::format("the section of {} is not closed", pieces_[open.back().piece].text));
  return Status::Ok();
}

Result<PromptTemplate> PromptTemplate::Parse(std::string_view text, std::string_view source) {
  PromptTemplate parsed;
  parsed.source_ = source;
  int line = 1;
  DAVINCI_ASSIGN_OR_RETURN(size_t body, parsed.ParseHeader(text, &line));
  DAVINCI_RETURN_IF_ERROR(parsed.ParseBody(text.substr(body), line + 1));
  return parsed;
}

Status PromptTemplate::CheckDeclares(const std::vector<std::string>& names) const {
  for (const Variable& variable : variables_) {
    if (std::ranges::find(names, variable.name) == names.end())
      return Error(
          variable.line,
          fmt::format("there is no variable {} for this prompt{}; it has: {}", variable.name,
                      DidYouMean(variable.name, names), fmt::join(names, ", ")));
  }
  for (const std::string& name : names) {
    if (!Declares(name))
      return Error(header_end_line_, fmt::format("the header must declare {}", name));
  }
  return Status::Ok();
}

Result<std::string> PromptTemplate::Render(const PromptValues& values) const {
  for (const Variable& variable : variables_) {
    if (!values.contains(variable.name))
      return Error(variable.line, fmt::format("no value for {}", variable.name));
  }
  for (const auto& [name, value] : values) {
    if (!Declares(name))
      return Error(header_end_line_,
                   fmt::format("a value for {}, which the header does not declare", name));
  }
  std::string text;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    switch (piece.kind) {
      case Piece::Kind::kText:
        text += piece.text;
        break;
      case Piece::Kind::kValue:
        text += values.find(piece.text)->second;
        break;
      case Piece::Kind::kIfSet:
        if (values.find(piece.text)->second.empty()) i = piece.end;
        break;
      case Piece::Kind::kIfEmpty:
        if (!values.find(piece.text)->second.empty()) i = piece.end;
        break;
      case Piece::Kind::kEnd:
        break;
    }
  }
  const size_t first = text.find_first_not_of('\n');
  if (first == std::string::npos) return std::string();
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

}  // namespace davinci::agent
