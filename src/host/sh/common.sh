# What every script of the supervisor and of the facts has.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part

# One line for the program; $mark tells it from whatever a login shell prints.
say() {
  printf '%s %s\n' "$mark" "$*"
}

# A tenth of a second where sleep takes fractions.
nap() {
  sleep 0.1 2>/dev/null || sleep 1
}

# $bytes_out, $bytes_err: sizes of the streams of step $d; nothing is read for it.
sizes() {
  # shellcheck disable=SC2046,SC2012 # it is split on purpose, and the names are ours
  set -- $(cd "$d" && ls -n err out 2>/dev/null)
  bytes_err=${5:-0}
  bytes_out=${14:-0}
}

# $cut: whether each of the streams was cut back: 1 or 0.
cuts() {
  cut=
  for stream in out err; do
    if [ -e "$d/cut.$stream" ]; then cut="${cut}1 "; else cut="${cut}0 "; fi
  done
}

# Whether the machine has started anew since session $s began: nothing that ran, was mounted or
# attached then is there any more.
restarted() {
  boot='' was=
  [ -e "$s/boot-id" ] && read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id || return 1
  read -r was 2>/dev/null <"$s/boot-id"
  [ "$boot" != "$was" ]
}

# $now: whole seconds of a clock that nobody sets, where there is one.
read_now() {
  if read -r now _ 2>/dev/null </proc/uptime; then
    now=${now%.*}
  else
    now=$(date +%s)
  fi
}
