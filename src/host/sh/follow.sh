# Sends both streams from the given bytes on, until its standard input ends. What tail itself
# remarks (a file was cut) is not output.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
out=
err=
if [ "$from_out" ]; then
  tail -c "+$from_out" -f "$d/out" 2>/dev/null &
  out=$!
fi
if [ "$from_err" ]; then
  tail -c "+$from_err" -f "$d/err" 2>/dev/null >&2 &
  err=$!
fi
cat >/dev/null
# shellcheck disable=SC2086 # either may be absent
kill $out $err 2>/dev/null
exit 0
