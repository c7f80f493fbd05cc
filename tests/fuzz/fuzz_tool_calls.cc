// Tool calls in whatever a model writes: any bytes give a result within its bounds, or an error
// with a message. The first byte says where the text goes: into the reply, or into a native call.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "davinci/llm/tool_calls.h"

namespace {

void Check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::llm;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Reply reply;
  if (data[0] == 'n') {
    reply.tool_calls = {{"1", std::string(kSelectSkillsTool), text},
                        {"2", std::string(kUpdateSkillLibraryTool), text}};
  } else {
    reply.text = text;
    if (data[0] == 'l') reply.finish_reason = FinishReason::kLength;
  }
  const std::vector<std::string> shown = {"vector-loads", "fuse-epilogue", "online-softmax", "a"};
  constexpr size_t kMax = 3;
  const auto selection = ParseSelectSkills(reply, shown, kMax);
  if (selection.ok()) {
    std::set<std::string> names;
    for (const SkillChoice& choice : selection.value.value().choices) {
      Check(std::find(shown.begin(), shown.end(), choice.name) != shown.end());
      Check(names.insert(choice.name).second);
      // What was read can be kept.
      Check(!nlohmann::json(choice.reason).dump().empty());
    }
    Check(names.size() <= kMax);
  } else {
    Check(!selection.message.empty());
  }
  const auto proposals = ParseUpdateSkillLibrary(reply, kMax);
  if (proposals.ok()) {
    const auto& skills = proposals.value.value().skills;
    Check(skills.size() <= kMax);
    for (const ProposedSkill& skill : skills) {
      Check(!skill.name.empty() && !skill.content.empty());
      Check(!nlohmann::json({skill.name, skill.content, skill.tags, skill.scope}).dump().empty());
    }
  } else {
    Check(!proposals.message.empty());
  }
  return 0;
}
