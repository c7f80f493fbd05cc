// davinci completion: the script that completes commands and options in a shell.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.h"
#include "completion.h"

namespace davinci::app {

void AddCompletionCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Completion of commands and options in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Prints a script. To have it in every shell:\n"
      "  bash   davinci completion bash > ~/.local/share/bash-completion/completions/davinci\n"
      "  zsh    davinci completion zsh > \"${fpath[1]}/_davinci\"\n"
      "  fish   davinci completion fish > ~/.config/fish/completions/davinci.fish\n"
      "In this shell alone:  source <(davinci completion bash)");
  command->callback([&app, shell, exit_code] {
    const auto commands = CommandsOf(app, "davinci");
    fmt::print("{}", *shell == "bash"  ? BashCompletion(commands)
                     : *shell == "zsh" ? ZshCompletion(commands)
                                       : FishCompletion(commands));
    *exit_code = 0;
  });
}

}  // namespace davinci::app
