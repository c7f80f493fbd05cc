// The sub-commands. Each Add… registers its options on the app and stores its exit status when it
// ran: 0 fine, 1 the candidate failed, 2 bad usage or input, 3 davinci itself failed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace davinci::app {

struct GlobalOptions {
  std::string python;
};

void AddJudgeCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddDoctorCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddGenerateCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddLlmCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddOptimizeCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddBenchCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddRunsCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddReportCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddModelCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddCompletionCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddCoverageCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddCollectCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddSftDataCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddSftCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddTasksCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddTrainCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddSkillsCommand(CLI::App& app, GlobalOptions& global, int* exit_code);
void AddSynthCommand(CLI::App& app, GlobalOptions& global, int* exit_code);

}  // namespace davinci::app
