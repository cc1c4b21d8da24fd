# Says which steps of session $s still run, and whether anybody keeps it.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
for d in "$s"/steps/*/; do
  d=${d%/}
  step=${d##*/}
  tok=$name/steps/$step/
  if [ -e "$d/go" ] && [ ! -e "$d/void" ] && [ ! -e "$d/status" ]; then
    if supervised || find_leader; then
      say running "$step"
      for about in title stake; do
        line=
        read -r line 2>/dev/null <"$d/$about" || [ "$line" ] || continue
        say "$about" "$line"
      done
      # What ends it as a stop would: a signal to its group, where that is its own.
      ! find_leader || [ "$own" != own ] || say ends "kill -TERM -- -$leader"
    fi
  fi
done
tok=$name/keeper/
kept=
read -r kept _ 2>/dev/null <"$s/keeper"
if [ "$kept" ] && has_token "$kept"; then
  say kept
fi
say listed
