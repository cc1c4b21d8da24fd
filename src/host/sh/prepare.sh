# Makes the folder of session $s, and puts the supervisor there that it reads ($all_bytes).
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
umask 077
full='what was written there did not arrive in full: is that disk full?'
if why=$(mkdir -p "$s/steps" 2>&1 && chmod 700 "$s" "$s/steps" 2>&1) &&
  why=$({ cat >"$s/run"; } 2>&1) &&
  why=$full && [ "$(($(wc -c <"$s/run")))" -eq "$all_bytes" ]; then
  cat /proc/sys/kernel/random/boot_id >"$s/boot-id" 2>/dev/null || rm -f "$s/boot-id"
  probe_clock
  say ready
else
  # A session that never was leaves nothing.
  rm -f "$s/run"
  rmdir "$s/steps" "$s" 2>/dev/null
  say refused "$(printf '%s' "$why" | tr '\n' ' ')"
fi
