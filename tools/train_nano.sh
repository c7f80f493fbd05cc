#!/usr/bin/env bash
# Makes davinci-nano from nothing: rows of the teacher, tokenizer, initial weights, training, evaluation, conversion.
#
#   tools/train_nano.sh OUT [full|ci]
#
# Each stage is done once; what a stage wrote stays, and the same command continues. Variables:
#   DAVINCI   the program (default: build/release/apps/davinci/davinci, else build/dev/...)
#   MINUTES   end after about so many minutes, with a checkpoint: the same command continues (default: no end)
#   GPUS      ranks of the training (default: all CUDA devices; 1 without any)
#   STAGES    which stages, in order (default: all)
#   ROWS      rows in the place of the teacher's: a file, a folder of *.jsonl, or "folder/part-*.jsonl"
#   TASKS     tasks that the teacher answers (default: 1000000)
#   CARDS     share of their prompts that show operator cards (default: 0.4)
#   MIXED     share of tasks with operators in nearly any order (default: 0.6)
#   SELECTIONS  share of tasks that also give a row of the Selection agent (default: 0.02)
#   WITHOUT   techniques that no kernel follows and no prompt shows: "fuse-pointwise-chain softmax-row-in-registers"
#   OWN       modules of yours that rows are made of, too: "FILE DIR ..."
#   COPIES    altered copies of each of these and of synth/modules (default: 10; ci: 0)
#   MODULES   rows in the place of those: a folder of davinci synth pairs --tasks
#   MODULES_WEIGHT  times that an epoch sees each of these rows (default: 5)
#   JUDGED    tasks whose kernels, with mistakes, are judged on all cores: rows of repairs (default: 0; 1500 give some 10,000)
#   JUDGED_WEIGHT  times that an epoch sees each row of JUDGED and TIMED (default: 5)
#   TIMED     tasks whose kernels, without techniques in some, are judged on the device: rows of summaries, of selections, and of repairs
#             of slow kernels (default: 0)
#   HELD_OUT  held-out tasks of each split that the trained model answers (default: 200)
#   EPOCHS    of training (default: 1)
#   ASKED     what the trained model is asked: "combination style family right-card wrong-card own import feedback" (default: all)
#   PROBES    held-out tasks that each checkpoint answers, judged (default: 0)
#   SETS      further settings of the recipe: SETS="optimizer.learning_rate=1e-3 data.curriculum=0"
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:?tools/train_nano.sh OUT [full|ci]}
size=${2:-full}
all="rows modules tokenizer judged timed new sft evaluate convert"
. tools/stages.sh
rows=${ROWS:-$out/rows}
modules=${MODULES:-$out/modules}
case $size in
  full) recipe=recipes/train/nano/sft.toml; tasks=${TASKS:-1000000}; judged=${JUDGED:-0}; held_out=${HELD_OUT:-200}; vocab=8192; sizes=(); target=cuda; people=(synth/modules); copies=${COPIES:-10}
    pairs=(--task plan --part-steps 6 --reply-tokens 3000); demos=(--language triton --reply delta --task plan); language=triton; asking=recipes/nano.toml; asked=(combination style family right-card wrong-card own import feedback) ;;
  ci) recipe=recipes/train/nano/ci/sft.toml; tasks=${TASKS:-60}; judged=${JUDGED:-0}; held_out=${HELD_OUT:-2}; vocab=512; people=(); copies=${COPIES:-0}
    sizes=(--layers 2 --width 128); target=cpu; pairs=(--language cpp --reply file); demos=(--language cpp); language=cpp
    asking=recipes/nano_ci.toml; asked=(family right-card wrong-card) ;;
  *) echo "train_nano: size $size is not full or ci" >&2; exit 2 ;;
esac
[ -z "${ASKED:-}" ] || read -ra asked <<< "$ASKED"
make_rows() {
  local split
  [ -n "${ROWS:-}" ] || limited "$davinci" synth pairs --count "$tasks" --mixed "${MIXED:-0.6}" --with-cards "${CARDS:-0.4}" --selections "${SELECTIONS:-0.02}" --select 2 ${WITHOUT:+--without $WITHOUT} "${pairs[@]}" --out "$rows"
  for split in combination style family; do
    "$davinci" synth pairs --count $held_out --split $split --seed 1 "${pairs[@]}" --out "$out/held_out/$split"
  done
  cat "$out"/held_out/*/*.jsonl > "$out/held_out.jsonl"
}

# Rows of modules that people wrote, each traced; so are their copies.
make_modules() {
  [ -z "${MODULES:-}" ] && [ -n "${people[*]}${OWN:-}" ] || return 0
  limited "$davinci" synth pairs --count 0 --tasks "${people[@]}" ${OWN:-} --copies "$copies" ${WITHOUT:+--without $WITHOUT} "${pairs[@]}" --out "$modules"
}

has_modules() { compgen -G "$modules/*.jsonl" > /dev/null; }

# Rows that hold the judge's words: judged_rows FOLDER COUNT SEED FLAG...
judged_rows() {
  local folder=$1 count=$2 seed=$3; shift 3
  [ "$count" -gt 0 ] || return 0
  limited "$davinci" synth demos --count "$count" --seed "$seed" "${demos[@]}" ${WITHOUT:+--without $WITHOUT} --skills 2 --judge --protocol staged --out "$folder" "$@" ||
    echo "train_nano: some candidates of $folder were not judged; rows are made of the others" >&2
  "$davinci" synth rows "$folder" --tokenizer "$out/tokenizer"
  [ -s "$folder/rows.jsonl" ] || { echo "train_nano: $folder has no rows" >&2; return 1; }
}

# Without a device Triton is compiled and interpreted: what is wrong is known, what is slow is not.
make_judged() { CUDA_VISIBLE_DEVICES= judged_rows "$out/judged" "$judged" 7 --level best --mutated=12 -j "$(nproc)"; }

make_timed() { judged_rows "$out/timed" "${TIMED:-0}" 8 --level better best --mutated=2 --without-each; }

make_tokenizer() {
  local texts=("$rows")
  if has_modules; then texts+=("$modules"); fi
  "$davinci" model tokenizer "${texts[@]}" --vocab $vocab --out "$out/tokenizer"
}

make_model() { "$davinci" model new --tokenizer "$out/tokenizer" --out "$out/new" "${sizes[@]}"; }

newest() { ls -d "$out"/sft/checkpoints/step-* | tail -1; }

# One process a device.
train() {
  local data="\"$rows\"" weights=1.0 part
  if has_modules; then
    data+=", \"$modules\""
    weights+=", ${MODULES_WEIGHT:-5}.0"
  fi
  for part in judged timed; do
    [ -s "$out/$part/rows.jsonl" ] || continue
    data+=", \"$out/$part/rows.jsonl\""
    weights+=", ${JUDGED_WEIGHT:-5}.0"
  done
  local sets=(--set "model.path=\"$out/new\"" --set "data.train=[$data]" --set "data.weights=[$weights]" --set "data.epochs=${EPOCHS:-1}")
  [ -e "$out/held_out.jsonl" ] && sets+=(--set "data.eval=\"$out/held_out.jsonl\"")
  if [ "${PROBES:-0}" -gt 0 ]; then
    tasks_of "$out/probes/combination" "$PROBES" combination 2
    sets+=(--set "evaluation.tasks=[\"$out/probes/combination\"]" --set "evaluation.recipe=\"$asking\"")
  fi
  for set in ${SETS:-}; do sets+=(--set "$set"); done
  ranks "$gpus" "$davinci" sft "$recipe" "${sets[@]}" --out "$out/sft"
}

shares() { grep -E "^(davinci bench|correct.*, best turn|correct, first answer wrong|fast_1 .*, best turn)" "$out/evaluation-$1.txt" || true; }

# Greedy answers to held-out tasks, judged: a table for each of `asked`. Held-out families are asked without a card, with the right one,
# and with one of another operator; none of their kernels is left to PyTorch, which would hide whether a card is read. own, import: files
# that people wrote. feedback: a second turn, for what the first got wrong.
evaluate() {
  local model asked_of set skills turns judged_as
  model=$(newest)
  "$davinci" synth cards --families held-out --language $language --out "$out/cards/right-card"
  "$davinci" synth cards --families train --language $language --out "$out/cards/wrong-card"
  for asked_of in "${asked[@]}"; do
    skills=(--skills none) turns=1
    [[ $asked_of = *-card || $asked_of = family ]] && judged_as=(--set policy.isolate=0) || judged_as=()
    case $asked_of in
      own) set=tasks ;;
      import) set=tests/import/modules ;;
      feedback) set=$out/tasks/combination; turns=2 ;;
      right-card) set=$out/tasks/family; skills=(--skills bm25) ;;
      wrong-card) set=$out/tasks/family; skills=(--skills random) ;;
      *) set=$out/tasks/$asked_of ;;
    esac
    [ ${skills[1]} = none ] || skills+=(--library "$out/cards/$asked_of/cards.jsonl" --set selection.select=1)
    [[ $asked_of = own || $asked_of = import ]] || tasks_of "$set" "$held_out" "$(basename "$set")" 1
    echo "train_nano: $asked_of"
    limited "$davinci" bench --tasks "$set" --target $target --llm embedded --model "$model" --samples 1 --turns $turns \
      --recipe "$asking" "${skills[@]}" --set policy.temperature=0 "${judged_as[@]}" --set 'judge.turn_protocol="screening"' --set 'judge.final_protocol="screening"' \
      --set rollout.tasks_in_flight=64 --run "$out/bench/$(basename "$model")-$asked_of" > "$out/evaluation-$asked_of.txt"
    shares "$asked_of"
  done
}

# Markdown: what the model is, how it was made, what it scored.
card() {
  local model=$1 split
  echo "# davinci-nano"
  echo
  echo "A writer of kernels for davinci-kernel: a Qwen3 model of $("$davinci" model inspect "$out/new" | awk '$1 == "parameters" { print $2 }') parameters, trained from nothing on answers of the"
  echo "project's teacher to generated tasks. It knows the prompts of \`davinci.toml\` alone, and answers nothing else."
  echo
  echo "| | |"
  echo "|---|---|"
  echo "| made by | \`tools/train_nano.sh\`, recipe \`$recipe\` |"
  [ -e "$rows/arguments.json" ] && echo "| rows | \`davinci synth pairs\` with $(tr -d '\n' < "$rows/arguments.json" | tr -s ' ') |"
  echo "| digest of rows and tokenizer | $(grep -o '"data": *"[0-9a-f]*"' "$model/state.json" | tail -c 66 | tr -d '"') |"
  echo "| updates | $((10#$(basename "$model" | tr -dc 0-9))) |"
  echo "| weights | Q8_0 |"
  echo
  echo "Held-out tasks, one greedy answer each, judged under \`screening\`; in brackets 95 % intervals:"
  for split in "${asked[@]}"; do
    [ -e "$out/evaluation-$split.txt" ] || continue
    echo
    case $split in *-card) echo "family, with the $(tr - ' ' <<< "$split"):" ;; *) echo "$split:" ;; esac
    echo
    echo '```'
    shares "$split"
    echo '```'
  done
}

convert() {
  rm -rf "$out/davinci-nano"
  "$davinci" model convert "$(newest)" "$out/davinci-nano/davinci-nano.gguf" --quantize q8_0 --split 8MiB
  cp "$asking" "$out/davinci-nano/davinci.toml"
  card "$(newest)" > "$out/davinci-nano/README.md"
  du -sh "$out/davinci-nano"
}

stage rows make_rows
stage modules make_modules
stage tokenizer make_tokenizer
stage judged make_judged
stage timed make_timed
stage new make_model
stage sft train
stage evaluate evaluate
stage convert convert
echo "train_nano: done: $out"
