#!/usr/bin/env bash
# Judges the corpus and records every trial: for the golden tables (tests/corpus) and the transcripts (tests/transcripts).
#
#   tools/record_trials.sh run OUT TARGET-GROUP…   cpu-attacks cpu-controls cpu-twins cpu-honest cpu-self cpu-relatives, the same with cuda-,
#                                                  and compile-only (cuda without a device); cpu-expert, cuda-expert and
#                                                  compile-only-expert: the expert's kernels for $MODULES (default: tests/import/modules)
#   tools/record_trials.sh pack OUT                tests/corpus/golden_*.json and tests/transcripts/*.tar.xz from all that OUT holds
#
# `run` goes on where OUT stops; each group has $SECONDS_EACH seconds (default 280) and $JOBS judges at a time (default: half the
# cores, 8 at most). It needs a built davinci ($DAVINCI_BUILD, default build/dev) and DAVINCI_PYTHON, a Python with torch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
(($# >= 2)) || usage
what=$1
mkdir -p "$2" && out=$(cd "$2" && pwd)
shift 2
build=${DAVINCI_BUILD:-build/dev}
python=${DAVINCI_PYTHON:-python3}
cores=$(nproc)
jobs=${JOBS:-$((cores / 2 > 8 ? 8 : cores / 2 > 0 ? cores / 2 : 1))}

# TARGET FOLDER CANDIDATES: kernels lie below the checkout, so that records name none of this machine's folders.
run_expert() {
  local language=cpp
  [[ $1 == cpu ]] || language=triton
  # shellcheck disable=SC2086
  [[ -e $3/jobs.jsonl ]] || "$build/apps/davinci/davinci" coverage ${MODULES:-tests/import/modules} -t "$1" -l $language --out "$3" >/dev/null
  timeout --signal=INT --kill-after=20 "${SECONDS_EACH:-280}" "$build/apps/davinci/davinci" judge --batch "$3/jobs.jsonl" -j "$jobs" --json \
    --record "$2/trials" --out "$2/results.jsonl"
}

run_group() {
  local section=$1 target=${1%%-*} group=${1#*-}
  local folder=$out/$section status=0
  mkdir -p "$folder/trials"
  if [[ -e $folder/trials.tar.xz ]]; then tar -xJf "$folder/trials.tar.xz" -C "$folder"; fi
  if [[ $section == compile-only* ]]; then
    target=cuda
    [[ $group == *expert ]] && group=expert || group=honest
    export CUDA_VISIBLE_DEVICES=
  fi
  if [[ $group == expert ]]; then
    run_expert "$target" "$folder" "build/expert/$section" >"$folder/log" 2>&1 || status=$?
  else
    timeout --signal=INT --kill-after=20 "${SECONDS_EACH:-280}" "$python" tests/corpus/corpus.py run --davinci "$build/apps/davinci/davinci" \
      --target "$target" --only "$group" --out "$folder/table.json" --record "$folder/trials" --timeout 90 -j "$jobs" \
      >"$folder/log" 2>&1 || status=$?
  fi
  unset CUDA_VISIBLE_DEVICES
  echo "$section: exit $status, $(find "$folder/trials" -name '*.trial' | wc -l) trials; $(tail -n 1 "$folder/log")"
  tar -cJf "$folder/trials.tar.xz" -C "$folder" trials
  rm -r "$folder/trials"
}

case $what in
  run) for section in "$@"; do run_group "$section"; done ;;
  pack)
    for target in cpu cuda; do
      tables=("$out/$target"-*/table.json)
      [[ -e ${tables[0]} ]] || continue
      "$python" tests/corpus/corpus.py golden "${tables[@]}" --out "tests/corpus/golden_$target.json"
    done
    "$python" tests/transcripts/pack.py "$out" tests/transcripts
    ;;
  *) usage ;;
esac
