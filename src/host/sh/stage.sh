# Puts a step into its folder: $s the session's, $d the step's. Reads the command ($cmd_bytes of
# $all_bytes) and what the command reads from its standard input.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part

refuse() {
  say refused "$(printf '%s' "$*" | tr '\n' ' ')"
  exit 1
}

if restarted; then
  say restarted
  exit 1
fi
why=$(mkdir -m 700 "$d" 2>&1) || refuse "$why."
(
  umask 077
  cat >"$d/cmd"
) || refuse 'its command could not be written to the state folder: is that disk full?'
# A connection that broke off must not run half a command.
if [ "$(($(wc -c <"$d/cmd")))" -ne "$all_bytes" ]; then
  rm -f "$d/cmd"
  refuse 'the command did not arrive in full.'
fi
if [ "$cmd_bytes" -ne "$all_bytes" ]; then
  (
    umask 077
    tail -c "+$((cmd_bytes + 1))" "$d/cmd" >"$d/stdin" &&
      dd of="$d/cmd" bs=1 seek="$cmd_bytes" count=0 2>/dev/null
  ) || refuse 'its input could not be written to the state folder: is that disk full?'
fi
{ true >"$d/out" && true >"$d/err"; } || refuse 'the state folder cannot be written: is that disk full?'
[ -z "$load" ] || true >"$d/load"
[ -z "$title" ] || printf '%s\n' "$title" >"$d/title"
[ -z "$stake" ] || printf '%s\n' "$stake" >"$d/stake"
