#include "davinci/agent/task_brief.h"

#include <fmt/format.h>

#include "davinci/base/json_text.h"

namespace davinci::agent {

TaskBrief BriefOf(const config::TaskConfig& config, Target target, Language language,
                  ReplyForm reply) {
  TaskBrief brief;
  brief.entry = !config.function.empty() ? config.function
                : !config.op.empty()     ? config.op
                                         : config.entry;
  brief.is_function = config.entry.empty();
  brief.class_name = config.CandidateClass();
  brief.target = target;
  brief.language = language;
  brief.precision = std::string(config::PrecisionName(config.precision));
  const auto& sizes = target == Target::kCuda ? config.sizes_cuda : config.sizes_cpu;
  for (const auto& [name, value] : sizes.items()) brief.sizes.emplace_back(name, JsonText(value));
  brief.other_shapes = !config.variants.empty();
  brief.reply = reply;
  return brief;
}

std::string_view LanguageTitle(Language language) {
  switch (language) {
    case Language::kTriton:
      return "Triton";
    case Language::kCuda:
      return "CUDA C++";
    case Language::kCudaInline:
      return "CUDA C++ as a PyTorch extension";
    case Language::kCpp:
      return "C++";
    case Language::kAuto:
    case Language::kPython:
      break;
  }
  return "";
}

Status CheckLanguage(const TaskBrief& task) {
  const bool is_cpp = task.language == Language::kCpp;
  if (!LanguageTitle(task.language).empty() && is_cpp == (task.target == Target::kCpu))
    return Status::Ok();
  return InvalidArgument(fmt::format(
      "candidates in {} cannot run on {}; languages for it: {}", LanguageName(task.language),
      TargetName(task.target), task.target == Target::kCpu ? "cpp" : "triton, cuda, cuda-inline"));
}

std::string SizesText(const TaskBrief& task) {
  std::string text;
  for (const auto& [name, value] : task.sizes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace davinci::agent
