// The part of Jinja that chat templates use, parsed and run on JSON values. Environment as in
// transformers: trim_blocks, lstrip_blocks, no autoescape, loop controls, tojson without escapes.
//
// Statements   if/elif/else, for/else (with `if`, unpacking, break, continue), set (variables,
//              namespace attributes, blocks), macro, generation (its body), comments
// Expressions  literals, lists, tuples, dicts, . [] [a:b:c], calls with keywords, filters, tests,
//              or and not, in, comparisons (chained), + - * / // % ** ~, x if c else y
// Filters      capitalize count d default dictsort first float indent int items join last length
//              list lower map reject rejectattr replace reverse safe select selectattr string title
//              tojson trim unique upper
// Tests        boolean callable defined divisibleby eq equalto even false float ge gt in integer
//              iterable le lower lt mapping ne none number odd sameas sequence string true
//              undefined upper
// Functions    namespace range raise_exception strftime_now dict
// Methods      of strings: capitalize count endswith find join lower lstrip replace rstrip split
//              splitlines startswith strip title upper; of mappings: get items keys values
//
// Tuples are lists, and print as lists.
//
// Everything else is an error that names line and construct. A run is limited in steps, depth and
// output, so a hostile template ends.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci::text {

class JinjaTemplate {
 public:
  static Result<JinjaTemplate> Parse(std::string_view source);

  // `variables` is an object. Any thread.
  Result<std::string> Render(const nlohmann::ordered_json& variables) const;

 private:
  struct Program;
  explicit JinjaTemplate(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace davinci::text
