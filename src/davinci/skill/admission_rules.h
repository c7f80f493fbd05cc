// Who may enter a library. Pure.
//
// Similarity is the Jaccard index of the sets of 3-word shingles of two contents (minhash.h). At or
// above kNearDuplicate two skills say the same thing.
//
//   newcomer                               becomes
//   equal to a record in every field       merged: its evidence joins (the later one counts per
//                                          target and language); unchanged when that adds nothing
//   near-duplicate of a record, with       merged: content, description, scope and evidence are
//     better evidence                      replaced; name, statistics and arrival stay; tags unite
//   better version of a record (a claim    merged as a near-duplicate is, however different the
//     of the newcomer's, same name)          text: by better evidence only
//   near-duplicate without it              refused
//   name taken by something different      refused
//   anything else                          added
//
// A record of the same name is asked first, then the most similar one. Evidence is better when it
// shows that correctness rose and the record's does not, or when its
// lower bound lies above that of the record's on the same target and language, or when the record
// has none at all. A retired or evicted record is judged like any other and comes back by better
// evidence only. Nothing is ever renamed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/skill/skill.h"

namespace davinci::skill {

inline constexpr double kNearDuplicate = 0.7;

// What became of a skill that asked to enter.
enum class Admission { kAdded, kUnchanged, kMerged, kRefused };
std::string_view AdmissionName(Admission admission);

struct AdmissionResult {
  Admission admission = Admission::kRefused;
  std::string name;    // under which it is in the library; of a refused one, its own
  std::string reason;  // why merged or refused; "" when added
};

// What the newcomer meets.
struct Encounter {
  std::optional<Record> same_name;
  double same_name_similarity = 0;  // of the contents
  std::optional<Record> similar;    // the most similar other record, at least kNearDuplicate
  double similarity = 0;
};

struct Decision {
  AdmissionResult result;
  // The record to write, except for kUnchanged and kRefused. Of an added one the position is not
  // set.
  Record record;
};

// `skill` and `evidence` are valid (Validate), with at most one evidence per target
// and language. `is_version`: it was made to replace the record of its name.
Decision DecideAdmission(const Skill& skill, const std::vector<Evidence>& evidence,
                         const Encounter& encounter, bool is_version = false);

// Before any experiment: could it enter at all, if the evidence were good?
struct Prospect {
  std::string refused;      // why not; "": it could
  bool is_version = false;  // in the place of the record of its name
};
// `may_replace`: its author knew the record of that name and was asked for a better version.
Prospect ProspectOf(const Skill& skill, const Encounter& encounter, bool may_replace);

}  // namespace davinci::skill
