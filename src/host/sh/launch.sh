# Begins a step: $s the session's folder, $d the step's. Reads the command ($cmd_bytes of
# $all_bytes) and what the command reads from its standard input.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part

refuse() {
  say refused "$(printf '%s' "$*" | tr '\n' ' ')"
  exit 1
}

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

# A session of its own: what happens to this shell does not reach it.
if command -v setsid >/dev/null; then
  lead=setsid
elif command -v perl >/dev/null; then
  lead='perl -MPOSIX=setsid -e setsid;exec@ARGV'
else
  lead=
fi
$lead "$sh" "$s/run" "$tok" "$d" "$sh" "$clock" "$keep" "$limit" "$lead" "$mark" \
  </dev/null 3>&1 >/dev/null 2>&1 &
run=$!
if [ "$detach" ]; then
  while [ ! -e "$d/go" ] && kill -0 "$run" 2>/dev/null; do
    nap
  done
  exit 0
fi
wait "$run"
until_ended
