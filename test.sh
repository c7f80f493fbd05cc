#!/usr/bin/env bash
# Installs what is missing, builds and runs every test that needs no GPU. Arguments go to ctest:
#   ./test.sh -L unit          one tier           ./test.sh -R Table           by name
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_build dev

say "testing"
status=0
ctest --preset dev --parallel 2 "$@" 9>&- || status=$?
if ((status == 0)); then
  say "all tests passed"
else
  say "tests failed (ctest status $status); one test alone:  ./test.sh -R NAME -V"
fi
exit "$status"
