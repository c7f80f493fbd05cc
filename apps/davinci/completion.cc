#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace davinci::app {
namespace {

constexpr size_t kMaxDescription = 80;

// The first line, without what shells take for quotes or columns.
std::string OneLineOf(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > kMaxDescription) {
    line.resize(line.rfind(' ', kMaxDescription));
    line += " …";
  }
  std::erase_if(line,
                [](char c) { return c == '\'' || c == '"' || c == '`' || c == '\\' || c == '$'; });
  std::replace(line.begin(), line.end(), ':', ',');
  return line;
}

// CLI11 describes a choice as "TEXT:{cpu,cuda}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::vector<std::string> choices;
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string list = type.substr(open + 1, close - open - 1);
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    choices.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

void AddOptions(const CLI::App& app, std::vector<CompletionOption>* options) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() == false || option->get_group().empty()) continue;
    CompletionOption made;
    for (const std::string& name : option->get_snames()) made.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) made.names.push_back("--" + name);
    made.what = OneLineOf(option->get_description());
    made.takes_value = option->get_items_expected_max() > 0;
    made.choices = ChoicesOf(*option);
    options->push_back(std::move(made));
  }
}

void Collect(const CLI::App& app, const std::string& path,
             const std::vector<const CLI::App*>& parents,
             std::vector<CompletionCommand>* commands) {
  CompletionCommand made;
  made.path = path;
  made.what = OneLineOf(app.get_description());
  AddOptions(app, &made.options);
  const CLI::App* child = &app;
  for (auto parent = parents.rbegin(); parent != parents.rend() && child->get_fallthrough();
       child = *parent++)
    AddOptions(**parent, &made.options);
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      for (std::string& choice : ChoicesOf(*option)) made.choices.push_back(std::move(choice));
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) {
    made.commands.push_back(sub->get_name());
    made.command_descriptions.push_back(OneLineOf(sub->get_description()));
  }
  commands->push_back(std::move(made));
  std::vector<const CLI::App*> chain = parents;
  chain.push_back(&app);
  for (const CLI::App* sub : below) Collect(*sub, path + " " + sub->get_name(), chain, commands);
}

// "davinci skills" | "davinci skills list" | …: the words that lead one level down.
std::vector<std::string> Paths(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> paths;
  for (size_t i = 1; i < commands.size(); ++i) paths.push_back(commands[i].path);
  return paths;
}

std::vector<std::string> NamesOf(const CompletionCommand& command) {
  std::vector<std::string> names;
  for (const CompletionOption& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// "davinci judge --target", for the options that take a value.
std::vector<std::string> ValuePlaces(const CompletionCommand& command,
                                     const CompletionOption& option) {
  std::vector<std::string> places;
  for (const std::string& name : option.names) places.push_back(command.path + " " + name);
  return places;
}

std::string Alternatives(const std::vector<std::string>& texts, char quote) {
  std::string list;
  for (const std::string& text : texts)
    list += fmt::format("{}{}{}{}", list.empty() ? "" : "|", quote, text, quote);
  return list;
}

}  // namespace

std::vector<CompletionCommand> CommandsOf(const CLI::App& app, const std::string& name) {
  std::vector<CompletionCommand> commands;
  Collect(app, name, {}, &commands);
  return commands;
}

std::string BashCompletion(const std::vector<CompletionCommand>& commands) {
  std::string text = fmt::format(
      "_davinci() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local at=davinci words= options= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at ${{COMP_WORDS[i]}}\" in\n"
      "      {}) at=\"$at ${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$at $prev\" in\n",
      Alternatives(Paths(commands), '"'));
  for (const CompletionCommand& command : commands)
    for (const CompletionOption& option : command.options) {
      if (!option.takes_value) continue;
      text += fmt::format("    {}) ", Alternatives(ValuePlaces(command, option), '"'));
      if (!option.choices.empty())
        text += fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); ",
                            fmt::join(option.choices, " "));
      text += "return ;;\n";
    }
  text += "  esac\n  case \"$at\" in\n";
  for (const CompletionCommand& command : commands)
    text += fmt::format("    \"{}\") words=\"{}{}{}\"; options=\"{}\" ;;\n", command.path,
                        fmt::join(command.commands, " "), command.choices.empty() ? "" : " ",
                        fmt::join(command.choices, " "), fmt::join(NamesOf(command), " "));
  return text +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o default -F _davinci davinci\n";
}

std::string ZshCompletion(const std::vector<CompletionCommand>& commands) {
  std::string text = fmt::format(
      "#compdef davinci\n"
      "_davinci() {{\n"
      "  local at=davinci word\n"
      "  local -a found options choices\n"
      "  local -i i\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    word=\"$at $words[i]\"\n"
      "    case \"$word\" in\n"
      "      ({}) at=\"$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$at $words[CURRENT-1]\" in\n",
      Alternatives(Paths(commands), '"'));
  for (const CompletionCommand& command : commands)
    for (const CompletionOption& option : command.options) {
      if (!option.takes_value) continue;
      text += fmt::format("    ({}) ", Alternatives(ValuePlaces(command, option), '"'));
      text += option.choices.empty()
                  ? "_files"
                  : fmt::format("choices=({}); compadd -a choices", fmt::join(option.choices, " "));
      text += "; return ;;\n";
    }
  text += "  esac\n  case \"$at\" in\n";
  for (const CompletionCommand& command : commands) {
    text += fmt::format("    (\"{}\")\n      found=(", command.path);
    for (size_t i = 0; i < command.commands.size(); ++i)
      text += fmt::format(" '{}:{}'", command.commands[i], command.command_descriptions[i]);
    for (const std::string& choice : command.choices) text += fmt::format(" '{}'", choice);
    text += " )\n      options=(";
    for (const CompletionOption& option : command.options)
      for (const std::string& name : option.names)
        text += fmt::format(" '{}:{}'", name, option.what);
    text += " ) ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then _describe option options\n"
         "  elif (( $#found )); then _describe command found\n"
         "  else _files\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _davinci ]]; then _davinci \"$@\"; else compdef _davinci davinci; "
         "fi\n";
}

std::string FishCompletion(const std::vector<CompletionCommand>& commands) {
  std::string cases;
  for (const std::string& path : Paths(commands)) cases += fmt::format(" '{}'", path);
  std::string text = fmt::format(
      "function __davinci_at\n"
      "  set -l at davinci\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n"
      "      case{}\n"
      "        set at \"$at $word\"\n"
      "    end\n"
      "  end\n"
      "  echo $at\n"
      "end\n",
      cases);
  for (const CompletionCommand& command : commands) {
    const std::string here =
        fmt::format("complete -c davinci -n \"test (__davinci_at) = '{}'\"", command.path);
    for (size_t i = 0; i < command.commands.size(); ++i)
      text += fmt::format("{} -f -a '{}' -d '{}'\n", here, command.commands[i],
                          command.command_descriptions[i]);
    for (const std::string& choice : command.choices)
      text += fmt::format("{} -f -a '{}'\n", here, choice);
    for (const CompletionOption& option : command.options) {
      text += here;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      else if (option.takes_value)
        text += " -r";
      text += fmt::format(" -d '{}'\n", option.what);
    }
  }
  return text;
}

}  // namespace davinci::app
