// The records of several libraries together: what a run starts from, and what `davinci skills`
// shows without --library.
//
// A source is a library file, a .jsonl, a SKILL.md or a folder of skills. A name that several have
// is that of the first; where a later source has the very same skill, its evidence for other
// subjects, or newer one, joins. So a skill of the user's stands in the place of the shipped one of
// that name, every other shipped skill stays, and a new version of davinci brings its new ones.
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// All records, inactive ones too (an inactive one of the first source hides the later ones of that
// name). In the order of the sources. Bad entries of a source are InvalidArgument naming up to ten
// of them; a source that is not there is NotFound.
Result<std::vector<Record>> ReadTogether(const std::vector<std::string>& sources);

// The same skill: all fields but a published verify_speedup, which is a result and no advice.
bool SameAdvice(const Skill& a, const Skill& b);

}  // namespace davinci::skill
