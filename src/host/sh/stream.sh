# Begins a step that was put into its folder, and whose input ($reads) or output ($writes) is
# this shell's own: a side of a stream. What is said goes to standard error; the output comes
# between $head and $tail, which says that nothing of it is missing. Where another host began it
# ($direct), it has no output, and says to that host that it began and that all has arrived.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
exec 5<&0 6>&1 </dev/null
[ "$direct" ] || exec >&2

# A session of its own: what happens to this shell does not reach it.
if command -v setsid >/dev/null; then
  lead=setsid
elif command -v perl >/dev/null; then
  lead='perl -MPOSIX=setsid -e setsid;exec@ARGV'
else
  lead=
fi
if [ "$reads" ] && ! why=$(mkfifo -m 600 "$d/pipe" 2>&1); then
  say refused "$(printf '%s' "$why" | tr '\n' ' ')"
  exit 1
fi
[ "$writes" ] && printf '%s\n' "$head" >&6
$lead "$sh" "$s/run" "$tok" "$d" "$sh" "$clock" "$keep" "$limit" "$lead" "$mark" "$reads" "$writes" \
  </dev/null 3>&1 5<&5 6>&6 >/dev/null 2>&1 &
run=$!
exec 5<&-
wait "$run"
if [ "$writes" ] && [ -e "$d/status" ]; then
  printf '%s' "$tail" >&6
fi
exec 6>&-
[ "$direct" ] || until_ended
