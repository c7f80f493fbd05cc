// Cuts text into the pieces that byte-pair encoding works on, by the tokenizer's own patterns.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::text {

class PreTokenizer {
 public:
  // `patterns` in the syntax of tokenizer.json (Oniguruma), of which a part with the same meaning
  // in PCRE2 is accepted: literals, classes, \s \S \d \p{…} \P{…} \r \n \t, groups, look-around,
  // alternatives, quantifiers. Anything else is InvalidArgument.
  static Result<PreTokenizer> Make(const std::vector<std::string>& patterns);
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;
  ~PreTokenizer();

  // Appends the pieces of `text`, which must be UTF-8, in order; joined they are `text`. Any
  // thread. InvalidArgument when a pattern exceeds PCRE2's limits.
  Status Split(std::string_view text, std::vector<std::string_view>* pieces) const;

 private:
  struct Pattern;
  PreTokenizer();
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

// The PCRE2 equivalent of one pattern; InvalidArgument as above.
Result<std::string> ToPcre2(std::string_view pattern);

}  // namespace davinci::text
