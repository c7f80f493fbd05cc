#!/usr/bin/env bash
# From a fresh machine to a faster kernel: installs what is missing, builds, and optimises one example on the best target
# of this machine (CUDA when there is a GPU, else cpu). The expert writes the kernels by its rules, the judge compiles, checks and
# times them; then davinci's own language model writes one in Triton (without a GPU it is compiled and interpreted, not timed).
# Run it as often as you like; arguments go to davinci optimize.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_build release -DDAVINCI_BUILD_TESTS=OFF

DAVINCI=$DAVINCI_ROOT/build/release/apps/davinci/davinci
target=cpu
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then target=cuda; fi
# A run of its own each time, because a finished run would only be shown again.
run=build/quickstart/$(date +%Y%m%d-%H%M%S)
EXPERT=(optimize examples/gated_gelu.py --target "$target" --llm expert --library skills --set judge.verdict_cache=false --run "$run")
MODEL=(optimize examples/gated_gelu.py --llm embedded --turns 1 --schemes 0 --set rollout.rollouts=1 --set judge.verdict_cache=false
  --run "$run-model")

say "davinci ${EXPERT[*]}"
status=0
"$DAVINCI" "${EXPERT[@]}" "$@" 9>&- || status=$?
# The model needs a build with LibTorch; its kernels need Triton.
if ((status == 0 && $# == 0)) && [[ -e $DAVINCI_ROOT/build/release/lib/libdavinci_model.so ]] && "$DAVINCI_PYTHON" -c 'import triton' 2>/dev/null; then
  say "davinci ${MODEL[*]}"
  # Status 1: nothing is certified without a GPU; 4: right, and not faster.
  "$DAVINCI" "${MODEL[@]}" 9>&- || (($? == 1 || $? == 4))
fi
exit "$status"
