// SKILL.md: a skill that is read comes back from its canonical form. Any value written as a scalar
// is read as itself.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "davinci/base/utf8.h"
#include "davinci/skill/front_matter.h"
#include "davinci/skill/skill_md.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const std::string value = ValidUtf8(text.substr(0, 512));
  const auto scalar =
      skill::ParseFrontMatter("---\nk: " + skill::YamlScalar(value) + "\n---\n", "fuzz");
  if (!scalar.ok() || scalar->values["k"] != value) std::abort();

  auto read = skill::ParseSkillMd(text, "SKILL.md");
  if (!read.ok()) return 0;
  if (skill::FormatSkillMd(*read) != text) std::abort();
  read->skill_md.clear();
  const auto again = skill::ParseSkillMd(skill::FormatSkillMd(*read), "SKILL.md");
  if (!again.ok() || *again != *read) std::abort();
  return 0;
}
