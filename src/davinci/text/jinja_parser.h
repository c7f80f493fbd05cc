// Source of a template to a tree. Internal to jinja*.cc.
#pragma once

#include <string_view>
#include <vector>

#include "davinci/text/jinja_tree.h"

namespace davinci::text::jinja {

// JinjaError with the line.
std::vector<Statement::Pointer> ParseTemplate(std::string_view source);

}  // namespace davinci::text::jinja
