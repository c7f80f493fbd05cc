// Is a proposed skill worth an experiment? Form, size, and whether it is advice about kernels at
// all. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "davinci/skill/skill.h"

namespace davinci::agent {

// 512 tokens at the four characters that mixed prose and code average.
inline constexpr int kMaxSkillContentChars = 2048;

// "Fuse Row_Softmax!" -> "fuse-row-softmax"; at most 64 characters. A model spells names as it
// likes; the library never renames, so it happens here, before anyone knows the name.
std::string KebabCase(std::string_view name);

// Everything that is wrong with it, "; " between, or "": required fields, sizes (the tool's schema
// states them), tags, scope and headings (skill::Validate), lazy advice.
std::string CheckProposal(const skill::Skill& skill);

// The sentence that makes a skill lazy: it tells the reader to leave the work to a library or a
// compiler instead of writing a kernel. Such a "skill" is always right and teaches nothing. Nothing
// is found in code blocks, nor where the advice is negated ("do not fall back to PyTorch").
std::optional<std::string> LazyAdvice(const skill::Skill& skill);

}  // namespace davinci::agent
