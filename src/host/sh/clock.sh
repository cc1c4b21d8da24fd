# Which clock times a step here, and how fine it is: the first that works.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
# shellcheck disable=SC3028 # EPOCHREALTIME is looked for before it is used
probe_clock() {
  # A shell that has it lets it run on; an inherited variable stands still.
  first=${EPOCHREALTIME-}
  for _ in 1 2 3; do
    case ${EPOCHREALTIME-} in
      "$first") ;;
      *.??????)
        say clock 0.000001 EPOCHREALTIME
        return
        ;;
    esac
  done
  # BusyBox prints a literal N; a coarse clock shows in its zeros.
  milli=0.001 micro=0.000001
  for _ in 1 2 3; do
    nanos=$(date +%s%N 2>/dev/null)
    case $nanos in *[!0-9]*) nanos= ;; esac
    if [ "${#nanos}" -ne 19 ]; then
      nanos=
      break
    fi
    case $nanos in *000000) ;; *) milli= ;; esac
    case $nanos in *000) ;; *) micro= ;; esac
  done
  if [ "$nanos" ]; then
    fine=${milli:-${micro:-0.000000001}}
    say clock "$fine" date +%s%N
  elif read -r _ 2>/dev/null </proc/uptime; then
    say clock 0.01 /proc/uptime
  else
    say clock 1 date +%s
  fi
}
