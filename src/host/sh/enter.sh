# Puts a script ($all_bytes) beside a step, for another host to begin it with.
# shellcheck disable=SC2154 # variables that come from the program
(
  umask 077
  cat >"$d/enter"
)
if [ "$(($(wc -c <"$d/enter")))" -eq "$all_bytes" ]; then
  say staged
else
  say refused 'a script could not be written to the state folder: is that disk full?'
fi
