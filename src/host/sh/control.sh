# Tells the program how a step ended.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part

# The end, and with it the output where it is short: one round trip less.
report() {
  line=
  read -r line 2>/dev/null <"$d/status"
  say ended "$line"
  # shellcheck disable=SC2086 # it is split on purpose
  set -- $line
  inline "${6:-0}" "${7:-0}"
}

inline() {
  if [ "$1" -gt 65536 ] || [ "$2" -gt 65536 ]; then
    return
  fi
  say inline "$1" "$2"
  [ "$1" -eq 0 ] || dd if="$d/out" bs="$1" count=1 2>/dev/null
  [ "$2" -eq 0 ] || dd if="$d/err" bs="$2" count=1 2>/dev/null
}

# Says what became of a step that has no status, or that the machine has restarted.
over() {
  if restarted; then say restarted; else say "$@"; fi
}

# Waits for the end, and tells it. Without a supervisor there will be no status: then for the
# end of the command.
until_ended() {
  tries=0
  while [ ! -e "$d/status" ]; do
    if supervised; then
      tries=$((tries + 1))
      if [ "$tries" -lt 20 ]; then nap; else sleep 1; fi
    elif [ -e "$d/status" ]; then
      break
    elif find_leader; then
      sleep 1
    elif [ ! -d "$d" ]; then
      say missing
      return
    elif void; then
      over void
      return
    else
      sizes
      cuts
      over lost "$bytes_out" "$bytes_err" "$cut"
      return
    fi
  done
  report
}
