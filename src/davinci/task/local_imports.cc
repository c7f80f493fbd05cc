#include "davinci/task/local_imports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci::task {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxSourceBytes = 4u << 20;
constexpr uint64_t kMaxHashedBytes = 16u << 20;
constexpr size_t kMaxFiles = 4000;  // of one package

constexpr std::string_view kInstalled =
    " "
    "__future__ abc argparse array ast asyncio atexit base64 bisect builtins cmath "
    "collections concurrent contextlib copy copyreg csv ctypes dataclasses "
    "datetime decimal dis enum errno fcntl fractions functools gc glob hashlib "
    "heapq importlib inspect io itertools json keyword linecache logging math mmap "
    "multiprocessing numbers operator os pathlib pickle platform pprint queue "
    "random re resource secrets select shutil signal socket sqlite3 stat "
    "statistics string struct subprocess sys tempfile textwrap threading time "
    "timeit tokenize traceback types typing unittest uuid warnings weakref zlib "
    "davinci_runtime davinci_worker numpy torch triton ";

struct Imports {
  std::set<std::string> names;  // top-level
  bool relative = false;
};

bool InName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

// The top-level module of "a.b as c"; "" where there is none.
std::string TopLevel(std::string_view text) {
  text = Trimmed(text);
  size_t end = 0;
  while (end < text.size() && InName(text[end])) ++end;
  return std::string(text.substr(0, end));
}

// By line, inside strings too: what is found too much is at worst a file that can be seen.
void Scan(std::string_view source, Imports* imports) {
  while (!source.empty()) {
    const size_t newline = source.find('\n');
    std::string_view line = Trimmed(source.substr(0, newline));
    source.remove_prefix(newline == std::string_view::npos ? source.size() : newline + 1);
    if (line.starts_with("from ")) {
      line = Trimmed(line.substr(5));
      if (line.starts_with('.'))
        imports->relative = true;
      else if (line.find(" import") != std::string_view::npos)
        imports->names.insert(TopLevel(line));
    } else if (line.starts_with("import ")) {
      line.remove_prefix(7);
      line = line.substr(0, line.find_first_of("#;"));
      while (!line.empty()) {
        const size_t comma = line.find(',');
        imports->names.insert(TopLevel(line.substr(0, comma)));
        line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
      }
    }
  }
  imports->names.erase("");
  std::erase_if(imports->names, [](const std::string& name) {
    return kInstalled.find(" " + name + " ") != std::string_view::npos;
  });
}

// A folder of anything else may be called like a module, too.
bool HoldsPython(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".py") || name.ends_with(".so")) return true;
    if (at->is_directory(error) && fs::exists(at->path() / "__init__.py", error)) return true;
  }
  return false;
}

// Where module `name` lies in `folder`; "" where it does not.
fs::path Place(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (const char* extension : {".py", ""}) {
    const fs::path path = folder / (name + extension);
    if (*extension != '\0' ? fs::is_regular_file(path, error) : HoldsPython(path)) return path;
  }
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    if (file.starts_with(name + ".") && file.ends_with(".so")) return at->path();
  }
  return {};
}

// Regular files of a file or folder, sorted; without bytecode and what begins with a dot.
std::vector<fs::path> FilesOf(const fs::path& place) {
  std::error_code error;
  if (!fs::is_directory(place, error)) return {place};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator
           at(place, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end && files.size() < kMaxFiles; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "__pycache__" || name.starts_with('.')) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(error)) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> PythonPath() {
  std::vector<fs::path> folders;
  const char* value = std::getenv("PYTHONPATH");
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (colon != 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return folders;
}

// {root, dotted name} of the package that a file lies in; {folder, ""} where it lies in none.
std::pair<fs::path, std::string> PackageOf(const fs::path& folder, bool relative) {
  std::error_code error;
  fs::path root = folder;
  std::string name;
  while (root.has_relative_path() &&
         (fs::exists(root / "__init__.py", error) || (relative && name.empty()))) {
    name = root.filename().string() + (name.empty() ? "" : "." + name);
    root = root.parent_path();
  }
  return {root, name};
}

void AddOnce(std::vector<std::string>* list, std::string text) {
  if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(std::move(text));
}

}  // namespace

void LocalImports::Add(const LocalImports& more) {
  for (const auto& [own, other] :
       {std::pair{&folders, &more.folders}, std::pair{&visible, &more.visible},
        std::pair{&names, &more.names}})
    for (const std::string& text : *other) AddOnce(own, text);
}

nlohmann::json ToJson(const LocalImports& imports) {
  return {{"folders", imports.folders}, {"package", imports.package}};
}

LocalImports FindLocalImports(std::string_view source, const fs::path& file) {
  LocalImports found;
  Imports imports;
  Scan(source, &imports);
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  const auto [root, package] = PackageOf(folder, imports.relative);
  std::vector<fs::path> folders = {folder};
  if (!package.empty()) folders.push_back(root);
  for (const fs::path& more : PythonPath())
    folders.push_back(fs::absolute(more, error).lexically_normal());

  std::set<std::string> seen;
  std::vector<std::string> waiting(imports.names.begin(), imports.names.end());
  if (imports.relative && !package.empty()) {
    found.package = package;
    waiting.push_back(package.substr(0, package.find('.')));
  }
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(name).second) continue;
    fs::path place;
    for (const fs::path& searched : folders) {
      place = Place(searched, name);
      if (place.empty()) continue;
      AddOnce(&found.folders, searched.string());
      break;
    }
    if (place.empty()) {
      found.names.push_back(name);
      continue;
    }
    AddOnce(&found.visible, place.string());
    Imports more;
    for (const fs::path& part : FilesOf(place))
      if (part.extension() == ".py")
        if (const auto text = ReadFile(part, kMaxSourceBytes); text.ok()) Scan(*text, &more);
    for (const std::string& other : more.names) waiting.push_back(other);
  }
  std::sort(found.names.begin(), found.names.end());
  std::sort(found.visible.begin(), found.visible.end());
  if (!found.visible.empty()) found.digest = DigestOf(found.visible);
  return found;
}

std::vector<fs::path> DataFilesOf(const fs::path& task_file) {
  std::vector<fs::path> files;
  const std::string prefix = task_file.stem().string() + ".";
  std::error_code error;
  for (fs::directory_iterator at(task_file.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with(prefix) && path.extension() != ".py" &&
        path.extension() != ".toml" && at->is_regular_file(error))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> WithoutTask(const std::vector<std::string>& paths,
                                     const std::vector<fs::path>& task_files) {
  std::vector<std::string> kept;
  const auto hides = [&](const fs::path& path) {
    return std::any_of(task_files.begin(), task_files.end(), [&](const fs::path& task) {
      return path.parent_path() == task.parent_path() &&
             path.filename().string().starts_with(task.stem().string() + ".");
    });
  };
  const auto holds = [&](const fs::path& folder) {
    return std::any_of(task_files.begin(), task_files.end(), [&](const fs::path& task) {
      const auto inside = task.lexically_relative(folder);
      return !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
    });
  };
  for (const std::string& path : paths) {
    if (hides(path)) continue;
    std::error_code error;
    if (!holds(path) || !fs::is_directory(path, error)) {
      kept.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      if (at->path().filename() != "__pycache__") inside.push_back(at->path().string());
    std::sort(inside.begin(), inside.end());
    for (std::string& entry : WithoutTask(inside, task_files)) kept.push_back(std::move(entry));
  }
  return kept;
}

std::string DigestOf(const std::vector<std::string>& paths) {
  Sha256 hash;
  for (const std::string& path : paths) {
    for (const fs::path& file : FilesOf(path)) {
      std::error_code error;
      const uint64_t size = fs::file_size(file, error);
      hash.Field(file.string());
      const bool read = file.extension() == ".py" || file.string() == path;
      if (!error && read && size <= kMaxHashedBytes) {
        const auto content = Sha256HexOfFile(file);
        hash.Field(content.ok() ? *content : "");
      } else {
        const auto changed = fs::last_write_time(file, error).time_since_epoch().count();
        hash.Field(fmt::format("{} {}", size, changed));
      }
    }
  }
  return hash.FinishHex();
}

}  // namespace davinci::task
