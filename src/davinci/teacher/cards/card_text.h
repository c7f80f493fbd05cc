// The skill of a card. Pure.
#pragma once

#include <string>
#include <string_view>

#include "davinci/skill/skill.h"
#include "davinci/teacher/cards/card_subject.h"
#include "davinci/teacher/cards/veil.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

// The name of the card of an operator or a pattern, or of a veil's function.
std::string CardName(std::string_view subject);

// `task`: the subject's, as the kernel `example` was written for it; `veil` may be null. A
// shortened card of a block leaves out pointwise kernels.
skill::Skill CardSkill(const CardSubject& subject, const synth::SampledTask& task,
                       const std::string& example, Language language, const Veil* veil,
                       bool shortened);

}  // namespace davinci::teacher
