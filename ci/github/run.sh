#!/usr/bin/env bash
# The second half of the GitHub Action: runs mvpcheck as the inputs in MVPCHECK_* say, and ends with its exit code.
#
# The configurations may come from a pull request of a stranger. So no input is ever evaluated, and the report, which quotes
# the files, is printed where the runner takes no commands from it. macOS has bash 3.2: an empty array is an unset one there.
set -euo pipefail

work=$(mktemp -d "${RUNNER_TEMP:?}/mvpcheck-run.XXXXXX")
trap 'rm -rf "$work"' EXIT
mvpcheck=$RUNNER_TEMP/mvpcheck/mvpcheck

# The runner refuses larger summaries.
summary_limit=$((1024 * 1024))

# complain prints a message as an annotation.
complain() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  echo "::error title=mvpcheck::${text//$'\n'/%0A}"
}

usage() {
  complain "$1"
  output cannot-tell 0 ""
  exit 2
}

# output writes the outputs of the step: verdict, errors, SARIF file.
output() {
  printf 'verdict=%s\nerrors=%s\nsarif=%s\n' "$1" "$2" "$3" >>"$GITHUB_OUTPUT"
}

# flag adds a flag whose value is not empty; with = a value is never taken for another flag.
flag() {
  if [[ -n $2 ]]; then args+=("$1=$2"); fi
}

# lines prints the lines of a text that are not empty, without the blanks around them.
lines() {
  sed -e 's/^[[:blank:]]*//' -e 's/[[:space:]]*$//' -e '/^$/d' <<<"$1"
}

# is tells whether an input is true; anything but true and false is a mistake.
is() {
  case $2 in
  true) return 0 ;;
  false) return 1 ;;
  esac
  usage "the input $1 is neither true nor false"
}

# summed prints a value of the summary in the report for machines.
summed() {
  awk -v key="$1:" '/^[^ ]/ { inside = ($1 == "summary:") } inside && $1 == key { print $2; exit }' "$work/report.yaml"
}

# quoted prints a file where the runner looks for no commands in it.
quoted() {
  local token
  if [[ ! -s $1 ]]; then return; fi
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$token"
  cat "$1"
  if [[ -n $(tail -c 1 "$1") ]]; then echo; fi # the token ends it at the beginning of a line only
  echo "::$token::"
}

command=${MVPCHECK_COMMAND:-check}
sarif=${MVPCHECK_SARIF:-}
args=("$command")
case $command in
check) ;;
plan) [[ -z $sarif ]] || usage "the input sarif is for the command check" ;;
*) usage "the input command is neither check nor plan" ;;
esac
[[ $sarif != *$'\n'* ]] || usage "the input sarif is one file"
summary=false annotations=false
if is summary "${MVPCHECK_SUMMARY:-true}"; then summary=true; fi
if is annotations "${MVPCHECK_ANNOTATIONS:-true}"; then annotations=true; fi

flag --from "${MVPCHECK_FROM:-}"
flag --to "${MVPCHECK_TO:-}"
flag --fail-on "${MVPCHECK_FAIL_ON:-}"
flag --only "${MVPCHECK_ONLY:-}"
flag --skip "${MVPCHECK_SKIP:-}"
while IFS= read -r arg; do
  args+=("$arg")
done < <(lines "${MVPCHECK_ARGS:-}")
# The format github has the text, where the runner takes no commands from it, and the annotations. plan has it not, but its
# lines are found by a problem matcher.
format=text matcher=false
if $annotations; then
  case $command in
  check) format=github ;;
  plan) matcher=true ;;
  esac
fi
args+=(-o "$format" -o "yaml=$work/report.yaml")
if $summary; then args+=(-o "markdown=$work/summary.md"); fi
if [[ -n $sarif ]]; then
  mkdir -p -- "$(dirname -- "$sarif")"
  args+=(-o "sarif=$sarif")
fi
args+=(--)
count=0
while IFS= read -r path; do
  args+=("$path")
  count=$((count + 1))
done < <(lines "${MVPCHECK_PATHS:-}")
[[ $count -gt 0 ]] || usage "the input paths names nothing"

code=0
"$mvpcheck" "${args[@]}" >"$work/out" 2>"$work/errors" || code=$?

if $matcher; then echo "::add-matcher::$GITHUB_ACTION_PATH/.github/mvpcheck-matcher.json"; fi
if [[ $format == github ]]; then cat "$work/out"; else quoted "$work/out"; fi
quoted "$work/errors"
if $matcher; then
  for owner in mvpcheck mvpcheck-info mvpcheck-input; do
    echo "::remove-matcher owner=$owner::"
  done
fi
if [[ ! -f $work/report.yaml ]]; then
  # Nothing was checked: the reason stands in standard error only.
  complain "$(cat "$work/errors")"
  output cannot-tell 0 ""
  exit "$code"
fi
if [[ -f $work/summary.md ]]; then
  if [[ $(wc -c <"$work/summary.md") -le $summary_limit ]]; then
    cat "$work/summary.md" >>"$GITHUB_STEP_SUMMARY"
  else
    echo "The report is too long for a summary. It is in the log of the step." >>"$GITHUB_STEP_SUMMARY"
  fi
fi
if [[ ! -f $sarif ]]; then sarif=""; fi
output "$(summed verdict)" "$(summed errors)" "$sarif"
exit "$code"
