// The verdict as a person reads it.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/judge.h"

namespace davinci::app {

// A short table: verdict, speedup with interval, times, labels, message. `color` uses ANSI escapes.
std::string RenderEvaluation(const Evaluation& evaluation, const judge::JobFiles& job, bool color);

// The record of a job that could not be judged: judge_error, evidence.kind "bad_input" or
// "internal".
Evaluation FailedEvaluation(const Status& status);

// What --json prints on stdout where there is no result: {"schema": "davinci.error/1", "command",
// "error": {"code", "message"}, "exit_status"}.
void PrintErrorDocument(std::string_view command, const Status& status, int exit_status);

// Of a command that failed: 2 where input, usage or the machine's set-up is to be mended, 3 where
// davinci failed.
int ExitStatus(const Status& status);

// Says on stderr why `command` ended, with `json` on stdout, too. Returns the exit status.
int FailCommand(std::string_view command, const Status& status, bool json = false);

}  // namespace davinci::app
