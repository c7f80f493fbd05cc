// Replies of the form "delta" (data/reply_form.h): kernels, and the class or function that takes
// the place of the task's, which may extend what the task's file defines. The candidate that is
// judged and exported is one plain file:
//
//   the task's file | its sizes of the target | what the reply names of the prelude | the reply
//
// The prelude is python/davinci_runtime/prelude.py: imports and definitions, each of which stands
// alone or names others. A name of it that the task's file binds too gets another one, in the
// prelude and in the reply. Pure but for Load; threads may share a Prelude.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"

namespace davinci::agent {

class Prelude {
 public:
  static Result<Prelude> Load(const std::filesystem::path& file);
  static Result<Prelude> Parse(std::string text, const std::string& name);

  struct Piece {
    std::string name;  // that it binds
    std::string text;  // ends with a line end
  };
  const std::vector<Piece>& imports() const { return imports_; }
  const std::vector<Piece>& definitions() const { return definitions_; }
  // SHA-256 of the file.
  const std::string& hash() const { return hash_; }

 private:
  std::vector<Piece> imports_, definitions_;
  std::string hash_;
};

// The names that a Python text binds in lines of its own: imports, assignments, def, class.
std::vector<std::string> NamesBoundAtTop(const std::string& text);

// `reply`: the code of the reply (llm/code_extraction.h). The brief gives the task's file and
// sizes.
std::string AssembleCandidate(const Prelude& prelude, const TaskBrief& task,
                              const std::string& reply);

}  // namespace davinci::agent
