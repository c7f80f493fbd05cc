// What a Python source imports from outside of the interpreter's installation: files and packages
// of its own folder, of the package that it belongs to, and of $PYTHONPATH. Nothing is executed;
// import statements are read as text, those of what is found included.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::task {

struct LocalImports {
  std::vector<std::string> folders;  // for sys.path, behind all others
  std::vector<std::string> visible;  // files and folders that a sandbox shows read-only
  // Top-level modules that are in none of the folders: installed, editable perhaps, or missing.
  std::vector<std::string> names;
  std::string package;  // dotted name, where relative imports ask for it
  std::string digest;   // of the content of `visible`; "" where there is none

  bool empty() const { return visible.empty() && names.empty(); }
  void Add(const LocalImports& more);
};

// {"folders", "package"}, as davinci_worker/source.py takes it.
nlohmann::json ToJson(const LocalImports& imports);

// `file` may not exist; its folder is searched first. Modules that every installation with torch
// has are left out, whatever lies beside the file.
LocalImports FindLocalImports(std::string_view source, const std::filesystem::path& file);

// Of the data of a task, "<stem>.*" beside it other than Python and its sidecar, such as
// "net.weights.pt" next to "net.py".
std::vector<std::filesystem::path> DataFilesOf(const std::filesystem::path& task_file);

// `paths` without what of a task its candidates may not see: the file, its sidecar, its data. A
// folder that holds one of them gives way to its other entries.
std::vector<std::string> WithoutTask(const std::vector<std::string>& paths,
                                     const std::vector<std::filesystem::path>& task_files);

// SHA-256 over names and contents of files, and of the Python of folders; of large files, and of
// what else folders hold, size and time.
std::string DigestOf(const std::vector<std::string>& paths);

}  // namespace davinci::task
