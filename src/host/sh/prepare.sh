# Makes the folder of session $s, and puts the supervisor there that it reads ($all_bytes).
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
umask 077
if why=$(mkdir -p "$s/steps" 2>&1 && chmod 700 "$s" "$s/steps" 2>&1) &&
  cat >"$s/run" && [ "$(($(wc -c <"$s/run")))" -eq "$all_bytes" ]; then
  probe_clock
  say ready
else
  say refused "$why"
fi
