// The query that finds skills for a task.
#pragma once

#include <string>
#include <string_view>

namespace davinci::skill {

// The identifiers of a reference source (Python), each once, in order of appearance, separated by
// spaces: what Library::Search takes. Left out is what every task has: comments, string literals,
// import lines, assignments of sizes at the left margin, get_inputs() and get_init_inputs(),
// Python's keywords, and the names of the layout itself (torch, nn, Model, forward, self, …).
// Operators written as symbols get their name ("@" -> matmul, "**" -> pow). Any text is accepted;
// one that is not Python gives the words that are left.
std::string QueryFromReference(std::string_view source);

}  // namespace davinci::skill
