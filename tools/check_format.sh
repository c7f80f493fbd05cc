#!/usr/bin/env bash
# C++ sources follow .clang-format.   check_format.sh [--fix]
# Exit status 77 (skipped) without the clang-format of the version below: other versions break lines differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=14

clang_format=$(command -v "clang-format-$wanted" || command -v .tools/bin/clang-format || command -v .venv/bin/clang-format || command -v clang-format || true)
if [[ -z $clang_format ]] || ! "$clang_format" --version | grep -q "version $wanted\."; then
  echo "skipped: clang-format $wanted is not installed (./test.sh installs it into .tools)"
  exit 77
fi
mapfile -t files < <(find src apps tests bench -name '*.h' -o -name '*.cc' 2>/dev/null | sort)
if [[ ${1:-} == --fix ]]; then
  exec "$clang_format" -i "${files[@]}"
fi
"$clang_format" --dry-run --Werror --ferror-limit=3 "${files[@]}" || {
  echo "remedy: tools/check_format.sh --fix"
  exit 1
}
echo "${#files[@]} files are formatted"
