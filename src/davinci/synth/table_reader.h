// Strict reading of a TOML table: every key must be asked for, every type must fit; the first
// problem is kept and returned by Finish() with file and line. Internal.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/toml_tree.h"

namespace davinci::synth {

Result<std::shared_ptr<const config::TomlTree>> LoadTable(const std::filesystem::path& file);

class TableReader {
 public:
  explicit TableReader(std::shared_ptr<const config::TomlTree> tree, std::string pointer = "");

  bool Has(const std::string& key) const;
  bool IsText(const std::string& key) const;
  std::string Text(const std::string& key, std::string_view otherwise);
  // A text is a list of one.
  std::vector<std::string> Texts(const std::string& key);
  double Number(const std::string& key, double otherwise);  // true is 1
  int64_t Integer(const std::string& key, int64_t otherwise);
  std::vector<double> Numbers(const std::string& key);
  std::vector<std::pair<std::string, TableReader>> Tables(const std::string& key);
  std::vector<TableReader> Rows(const std::string& key);
  std::vector<std::string> Keys() const;

  std::string Where() const;
  Status Error(const std::string& what) const;
  // The first wrong type, else the first key that was never asked for.
  Status Finish() const;

 private:
  const config::Json* Find(const std::string& key);
  void Wrong(const std::string& key, std::string_view want);

  std::shared_ptr<const config::TomlTree> tree_;
  std::string pointer_;
  const config::Json* values_;
  std::set<std::string> asked_;
  Status problem_;
};

}  // namespace davinci::synth
