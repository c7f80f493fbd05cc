// Words of skills and of queries, for retrieval.
//
// Rules, in this order:
//   1. A word is a maximal run of ASCII letters, digits, '_' and bytes >= 0x80. Everything else
//      separates words, the dot too: "nn.Conv2d" -> nn, conv2d; "torch.softmax" -> torch, softmax;
//      "warp-level" -> warp, level.
//   2. A word is split at '_', and where camel case says so: before an upper-case letter that
//      follows a lower-case letter or digit, and before the last of several upper-case letters when
//      a lower-case one follows it: "LogSoftmax" -> log, softmax; "CUDAGraph" -> cuda, graph.
//      Digits stay where they are: "conv2d", "float4", "sm90".
//   3. A word of several parts is also a token as a whole, without '_': "log_softmax" and
//      "LogSoftmax" both give log, softmax, logsoftmax.
//   4. ASCII letters become lower-case. Tokens of one byte and tokens of digits alone are dropped.
// No stop words, no stemming: a rare word is worth more by itself (idf).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/skill/skill.h"

namespace davinci::skill {

// In the order of the text, repetitions included.
std::vector<std::string> Tokenize(std::string_view text);

// The searchable text of a skill: name, description, tags and content.
std::vector<std::string> TokenizeSkill(const Skill& skill);

}  // namespace davinci::skill
