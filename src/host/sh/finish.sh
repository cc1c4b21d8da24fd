# Takes away what the supervisor left of session $s.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
if [ -e "$s" ]; then
  rm -rf "$s/steps" "$s/run" "$s/boot-id" "$s/keeper" "$s/beat"
  [ "$journal" = keep ] || rm -f "$s/journal"
  [ -e "$s/journal" ] || rmdir "$s"
fi
if [ ! -e "$s/steps" ] && { [ "$journal" = keep ] || [ ! -e "$s" ]; }; then
  say finished
fi
