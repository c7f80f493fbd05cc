// The part of JSON Schema 2020-12 that docs/evaluation.schema.json uses, for tests: no package of
// the distributions that we support validates this draft.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace davinci {

// What is wrong with `document`, one line each ("/speedup/low: expected number"); empty when it is
// valid. A keyword that is not understood is reported as a problem as well, so that the schema
// cannot contain an unchecked rule.
std::vector<std::string> Violations(const nlohmann::json& schema, const nlohmann::json& document);

// The schema with every object closed that lists its members and leaves others open: what a writer
// of ours may use, where readers must expect more.
nlohmann::json Closed(nlohmann::json schema);

}  // namespace davinci
