#!/usr/bin/env bash
# What reinforcement with skills makes of davinci-nano, stage by stage, each with a table as text and JSON in OUT/tables.
#
#   tools/learn_nano.sh OUT [full|ci]
#
#   start      the model, the library (techniques and operator cards), tasks to train on, held-out tasks
#   varied     with VARIED: the start is first taught what each technique is, and not when it pays, on answers that follow half of them
#   rl         joint reinforcement: OUT/rl
#   evaluate   the start against the model after rl, on held-out combinations, styles, families (their cards are in the library), files
#              that people wrote: correct, fast_1, fast_1.2, speedups; greedy, and best of SAMPLES; paired by task
#   selection  skills chosen by the model after rl, against the best matches, random ones and none, as many; paired
#   wins       its largest wins over the expert, judged against each other; what it tried to cheat with in training
#   library    training without eight of the teacher's techniques: what was learned, and which of them it resembles
#   ablations  the same start, SHORT steps of each variant: evaluated alike, paired with the start
#
# A stage that is done is not done again, and what is interrupted continues with the same command. Variables:
#   DAVINCI, MINUTES, GPUS, STAGES   as of tools/train_nano.sh; OUT may be its folder
#   MODEL      the start: a folder in Hugging Face layout or a GGUF file (default: the newest checkpoint of OUT/sft, else models/davinci-nano)
#   TARGET     what kernels run on (default: cuda; ci: cpu)
#   TASKS      tasks to train on, of operator combinations that supervised training has not seen, beside the modules of tests/corpus that
#              people wrote (full only) (default: 512)
#   TRAINED    folders of OUT/tasks that are trained on (default: train modules; ci: train)
#   MIXED      share of them with operators in any order, in which a model that knows the usual orders is less sure (default: 0.5)
#   LEAST_ELEMENTS  of a call of a generated task, trained on or held out: the host's pace decides how long a small one takes, and its
#              speedup is noise then (full only) (default: 5e7)
#   MOST_OPERATORS  of a generated task to train on: short tasks are judged sooner (default: 0, any number)
#   VARIED     tasks that the teacher answers for the stage varied (default: 0, which leaves it out), a quarter of them beside cards
#   CARDS      operator cards of the library: all (default), or held-out: those of held-out families, so that selections choose techniques
#   REPLAY     rows that are learned along with reinforcement, so that what no reward asks for stays (default: those of varied with cards, else the
#              rows of tools/train_nano.sh in OUT, else none)
#   STEPS      of rl (default: 60); SHORT: of a variant and of library (default: 20)
#   HELD_OUT   held-out tasks of each split, and so many files of tasks/ and of the import corpus (default: 64)
#   SAMPLES    answers of which the best counts, beside the greedy one (default: 4)
#   RANKS      processes of rl (default: 1, which samples and judges on GPUS devices)
#   WITHOUT    the techniques of library (default: eight); MODEL_WITHOUT: a start that has not seen them (default: the start)
#   VARIANTS   of ablations (default: all below)
#   SETS       further settings of every training and evaluation: SETS="train.tasks_per_step=8 train.eval_protocol=staged"
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:?tools/learn_nano.sh OUT [full|ci]}
size=${2:-full}
all="start varied rl evaluate selection wins library ablations"
. tools/stages.sh
case $size in
  full) target=${TARGET:-cuda}; world=recipes/train/nano/world.toml; steps=${STEPS:-60}; short=${SHORT:-20}; train_tasks=${TASKS:-512}
    held_out=${HELD_OUT:-64}; samples=${SAMPLES:-4}; language=triton; splits=(combination style family own import); expert=(); trained=(train modules)
    taught=recipes/train/nano/sft.toml; pairs=(--task steps) ;;
  ci) LEAST_ELEMENTS=0; target=${TARGET:-cpu}; world=recipes/train/nano/ci/world.toml; steps=${STEPS:-2}; short=${SHORT:-1}; train_tasks=${TASKS:-4}
    held_out=${HELD_OUT:-1}; samples=${SAMPLES:-1}; language=cpp; splits=(combination family); expert=(--samples 1); trained=(train)
    taught=recipes/train/nano/ci/sft.toml; pairs=(--language cpp --reply file) ;;
  *) echo "learn_nano: size $size is not full or ci" >&2; exit 2 ;;
esac
[ -z "${TRAINED:-}" ] || read -ra trained <<< "$TRAINED"
recipe=recipes/train/nano/rl.toml
cards=${CARDS:-all}
sized=(--least-elements "${LEAST_ELEMENTS:-5e7}")
tables=$out/tables
mkdir -p "$tables"
python=${DAVINCI_PYTHON:-python3}
without=${WITHOUT:-fuse-pointwise-chain fuse-add-into-norm two-results-from-one-load vendor-matmul-plus-epilogue softmax-row-in-registers
  many-short-rows-per-program one-pass-lane-variance lanes-along-contiguous-dim}

list() {  # list WORD...: a TOML list of texts
  local text
  text=$(printf '"%s",' "$@")
  echo "[${text%,}]"
}
devices() {  # the devices of one process that samples on all
  [ "$target" = cuda ] || return 0
  echo "--set train.sample_devices=$(list $(seq -f 'cuda:%g' 0 $((gpus - 1))))"
}
# davinci train with the settings that all share: train FOLDER MODEL RECIPE SETTING...
training() {
  local folder=$1 model=$2 recipe=$3 set; shift 3
  command=("$davinci" train "$recipe" "$world" --set "model.path=\"$model\"" --set "train.tasks=$(list "${trained[@]/#/$out/tasks/}")"
    --set "skills.library=\"$out/library.db\"" --set "task.target=$target" --out "$folder")
  for set in ${SETS:-} "$@"; do command+=(--set "$set"); done
}
# Rows that are learned along by davinci's own recipe.
replay() {
  if [ -n "${REPLAY:-}" ]; then
    echo "replay.rows=$(list "$REPLAY")"
  elif [ -d "$out/varied-cards" ]; then
    echo "replay.rows=$(list "$out/varied-cards")"  # those without cards would hold techniques at one half
  elif [ -d "$out/rows" ]; then
    echo "replay.rows=$(list "$out/rows")"
  fi
}
after_rl() { ls -d "$out"/rl/checkpoints/step-* | tail -1; }

# Some files of a folder, evenly spread, with their sidecars.
some_of() {  # some_of FROM TO
  local files file count=0 each
  mapfile -t files < <(find "$1" -name '*.py' | sort)
  each=$(((${#files[@]} + held_out - 1) / held_out))
  mkdir -p "$2"
  for file in "${files[@]}"; do
    if ((count++ % each == 0)); then
      cp "$file" "$2/"
      [ ! -e "${file%.py}.toml" ] || cp "${file%.py}.toml" "$2/"
    fi
  done
}

start() {
  local model split
  model=${MODEL:-$( (ls -d "$out"/sft/checkpoints/step-* 2>/dev/null || true) | tail -1)}
  model=${model:-models/davinci-nano/davinci-nano-00001-of-00004.gguf}
  rm -rf "$out/start" "$out/start-before" "$out/library.db"
  "$davinci" model convert "$model" "$out/start"
  "$davinci" skills --library "$out/library.db" import skills --exact > /dev/null
  [ $language = triton ] && [ $cards = all ] || "$davinci" synth cards --language $language --families $cards --out "$out/cards/$cards" > /dev/null
  "$davinci" skills --library "$out/library.db" import "$([ $language = triton ] && [ $cards = all ] && echo cards/triton.jsonl || echo "$out/cards/$cards/cards.jsonl")" --exact > /dev/null
  tasks_of "$out/tasks/train" "$train_tasks" reinforcement 3 --mixed "${MIXED:-0.5}" --most-operators "${MOST_OPERATORS:-0}" "${sized[@]}"
  [[ " ${trained[*]} " != *" modules "* ]] || "$python" tests/corpus/modules.py "$out/tasks/modules"
  for split in "${splits[@]}"; do
    case $split in
      own) some_of tasks "$out/tasks/own" ;;
      import) some_of tests/import/modules "$out/tasks/import" ;;
      *) tasks_of "$out/tasks/$split" "$held_out" "$split" 1 "${sized[@]}" ;;
    esac
  done
}

varied() {
  [ "${VARIED:-0}" -gt 0 ] || return 0
  local command=("$davinci" synth pairs --mixed 0.6 --some-rules 1 --select 2 "${pairs[@]}") beside=$((VARIED / 4))
  limited "${command[@]}" --count $((VARIED - beside)) --seed 9 --with-skills 0.6 --with-cards 0 --selections 0.1 --out "$out/varied-rows"
  limited "${command[@]}" --count $beside --seed 10 --with-skills 0 --with-cards 0.8 --selections 0.35 --out "$out/varied-cards"
  [ -e "$out/start-before" ] || mv "$out/start" "$out/start-before"
  limited "$davinci" sft "$taught" --set "model.path=\"$out/start-before\"" --set "data.train=$(list "$out/varied-rows" "$out/varied-cards")" --set data.curriculum=0 \
    --set optimizer.learning_rate=2e-3 --out "$out/sft-varied"
  rm -rf "$out/start"
  "$davinci" model convert "$(ls -d "$out"/sft-varied/checkpoints/step-* | tail -1)" "$out/start"
}

# One process samples and judges on all devices; RANKS processes also share its updates.
rl() {
  local command
  training "$out/rl" "$out/start" $recipe "train.steps=$steps" $(replay)
  if [ "${RANKS:-1}" -gt 1 ]; then ranks "$RANKS" "${command[@]}"; else limited "${command[@]}" $(devices); fi
  "$davinci" report "$out/rl" --html "$tables/rl.html" --json > "$tables/rl.json"
}

# The answers of a model to the held-out tasks, all under one recipe: evaluated NAME MODEL SPLITS SETTING...
evaluated() {
  local name=$1 model=$2 sets=() split command; shift 2
  for split in $1; do sets+=("$out/tasks/$split"); done
  shift
  training "$out/evaluated/$name" "$model" $recipe train.steps=0 train.eval_every=1 "train.eval_samples=$samples" "train.held_out=$(list "${sets[@]}")" "$@"
  limited "${command[@]}" $(devices)
}
# Two models' answers, task by task: compared TABLE NAME AGAINST
compared() {
  "$davinci" report "$out/evaluated/$2@0" --against "$out/evaluated/$3@0" > "$tables/$1.txt"
  "$davinci" report "$out/evaluated/$2@0" --against "$out/evaluated/$3@0" --json > "$tables/$1.json"
}

evaluate() {
  evaluated start "$out/start" "${splits[*]}"
  evaluated rl "$(after_rl)" "${splits[*]}"
  compared evaluate rl start
  cat "$tables/evaluate.txt"
}

selection() {
  local method sets
  for method in bm25 random none; do
    sets=(selection.schemes=1 "selection.method=$method")
    [ $method != none ] || sets=(selection.schemes=0)
    evaluated "selection-$method" "$(after_rl)" "combination family" "${sets[@]}"
    compared "selection-$method" rl "selection-$method"
  done
  cat "$tables"/selection-*.txt
}

# Kernels of the model after rl that are much faster than the expert's, on the tasks of `evaluate`.
wins() {
  local split
  for split in "${splits[@]}"; do
    limited "$davinci" bench --tasks "$out/tasks/$split" --target "$target" --llm expert "${expert[@]}" --set 'judge.turn_protocol="screening"' --set 'judge.final_protocol="screening"' \
      --run "$out/expert/$split" > "$out/expert-$split.txt"
  done
  limited "$python" tools/learn_tables.py wins "$davinci" "$out" "$target"
  limited "$python" tools/learn_tables.py cheats "$out"
  cat "$tables/wins.txt" "$tables/cheats.txt"
}

library() {
  local command name
  if [ ! -e "$out/library-without.db" ]; then
    rm -f "$out/library-building.db"
    "$davinci" skills --library "$out/library-building.db" import skills --exact > /dev/null
    for name in $without; do "$davinci" skills --library "$out/library-building.db" retire "$name" --reason "left out" > /dev/null; done
    mv "$out/library-building.db" "$out/library-without.db"
  fi
  training "$out/library" "${MODEL_WITHOUT:-$out/start}" $recipe "train.steps=$short" "skills.library=\"$out/library-without.db\"" \
    'verification.protocol="davinci"' verification.repetitions=1 $(replay)
  limited "${command[@]}" $(devices)
  "$python" tools/learn_tables.py library "$davinci" "$out" $without
  cat "$tables/library.txt"
}

# The recipe and the settings of a variant, one a line.
variant() {
  case $1 in
    trloo) echo $recipe ;;
    grpo) printf '%s\n' $recipe advantage.kind=grpo ;;
    no-mismatch-rejection) printf '%s\n' $recipe mismatch.rule=none ;;
    screening) printf '%s\n' $recipe judge.turn_protocol=screening judge.paid_best=0 ;;
    profile-rejection) printf '%s\n' $recipe judge.turn_protocol=screening judge.paid_best=0 profile_rejection.enabled=true ;;
    one-turn) printf '%s\n' $recipe rollout.turns=1 ;;
    no-null-scheme) printf '%s\n' $recipe selection.null_scheme=false advantage.null_in_baseline=false ;;
    policy-alone) printf '%s\n' $recipe advantage.selection_weight=0 advantage.summary_weight=0 learn.enabled=false ;;
    as-published) printf '%s\n' recipes/train/as-published.toml train.max_batches=1 rollout.turns=3 ;;
    drkernel) echo recipes/train/drkernel.toml ;;
    # Its algorithm, asked as this model is; its rules read whole files alone.
    kevin) printf '%s\n' recipes/train/kevin.toml search.strategy=davinci rollout.conversation=append_only policy.static_rules=none ;;
    cuda-agent) printf '%s\n' recipes/train/cuda-agent.toml rollout.turns=3 rollout.rollouts=12 ;;
    *) echo "learn_nano: no variant $1" >&2; return 2 ;;
  esac
}
# One variant on one device: it is trained, and evaluated as all are.
ablation() {
  local name=$1 lines command
  mapfile -t lines < <(variant "$name")
  training "$out/ablations/$name" "$out/start" "${lines[0]}" "train.steps=$short" "${lines[@]:1}" $([ "${lines[0]}" != $recipe ] || replay)
  limited "${command[@]}" > "$out/ablations/$name.log"
  evaluated "ablation-$name" "$(ls -d "$out/ablations/$name"/checkpoints/step-* | tail -1)" "combination family" > "$out/ablations/$name.evaluated.log"
  compared "ablation-$name" "ablation-$name" start
  touch "$out/ablations/$name.done"
}
ablations() {
  local names=(${VARIANTS:-trloo grpo no-mismatch-rejection screening profile-rejection one-turn no-null-scheme policy-alone as-published drkernel kevin cuda-agent})
  local name device pids=() pid status=0 cores each
  mkdir -p "$out/ablations"
  for name in "${names[@]}"; do variant "$name" > /dev/null; done
  # As many at once as there are devices, each with a device and cores of its own.
  mapfile -t cores < <("$python" -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
  each=$((${#cores[@]} / gpus))
  for ((device = 0; device < gpus; ++device)); do
    (
      [ "$gpus" = 1 ] || taskset -cp "$(IFS=,; echo "${cores[*]:device * each:each}")" $BASHPID > /dev/null
      for ((i = device; i < ${#names[@]}; i += gpus)); do
        [ -e "$out/ablations/${names[i]}.done" ] && continue
        [ "$target" != cuda ] || export CUDA_VISIBLE_DEVICES=$device
        gpus=1 ablation "${names[i]}"
      done
    ) &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  [ $status = 0 ] || return $status
  for name in "${names[@]}"; do [ -e "$out/ablations/$name.done" ] || over; done
  "$python" tools/learn_tables.py ablations "$out" "${names[@]}"
  cat "$tables/ablations.txt"
}

stage start start
stage varied varied
stage rl rl
stage evaluate evaluate
stage selection selection
stage wins wins
stage library library
stage ablations ablations
echo "learn_nano: done: $out"
