# What this machine is. Each line begins with a mark, so that what a profile prints is passed over.
fact() { printf 'comeback-fact %s\n' "$*"; }
first_line() { head -n 1 | tr -d '\r' | cut -c 1-200; }
limited() {
  if command -v timeout >/dev/null 2>&1; then timeout 5 "$@"; else "$@"; fi
}

# shellcheck disable=SC1091
fact system "$( (. /etc/os-release && printf '%s' "$PRETTY_NAME") 2>/dev/null || uname -s)"
fact kernel "$(uname -sr)"
fact cpu "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | first_line)"
fact cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
fact memory "$(awk '$1 == "MemTotal:" { printf "%.0f", $2 * 1024 }' /proc/meminfo 2>/dev/null)"
fact uid "$(id -u)"
fact user "$(id -un)"

# Where sessions keep their state: it must survive a reboot.
if [ "$(id -u)" = 0 ]; then
  state=/var/lib/comeback
else
  state=${XDG_STATE_HOME:-${HOME:-}/.local/state}/comeback
fi
above=$state
while [ "$above" ] && [ ! -e "$above" ]; do above=${above%/*}; done
if [ -d "${above:-/}" ] && [ -w "${above:-/}" ]; then
  case $state in /*) fact state "$state" ;; esac
fi

# The version is asked of programs that are known to tell it and do nothing else.
tool() {
  command -v "$1" >/dev/null 2>&1 || return 0
  case $1 in
    openssl) version=$(limited openssl version 2>/dev/null </dev/null | first_line) ;;
    zfs | zpool) version=$(limited "$1" version 2>/dev/null </dev/null | first_line) ;;
    bash | borg | btrfs | cp | curl | dd | find | fio | getfattr | gzip | head | losetup | lvs | lzop | mkfs.btrfs | mount | pv | qemu-img | restic | rsync | sed | setsid | sha256sum | split | stat | tar | umount | xargs | zstd)
      version=$(limited "$1" --version 2>&1 </dev/null | first_line)
      ;;
    *) version= ;;
  esac
  fact tool "$1" "$version"
}

LC_ALL=C df -P -k -T 2>/dev/null | awk 'NR > 1 { at = $7; for (i = 8; i <= NF; i++) at = at " " $i; print $1, $2, $3, $5, at }' |
  while read -r source kind size free at; do
    case $kind in
      tmpfs | devtmpfs | proc | sysfs | squashfs | efivarfs) ;;
      *) fact filesystem "$source" "$kind" "$size" "$free" "$at" ;;
    esac
  done

if command -v lsblk >/dev/null 2>&1; then
  lsblk -b -d -n -o NAME,TYPE,SIZE,MODEL 2>/dev/null | while read -r name kind size model; do
    [ "$kind" = disk ] && [ "$size" != 0 ] && fact disk "$name" "$size" "$model"
  done
fi

# The physical disks under a block device, or under the file behind a loop device.
disks_of() {
  command -v lsblk >/dev/null 2>&1 || return 0
  lsblk -s -n -r -o NAME,TYPE "$1" 2>/dev/null | while read -r name kind; do
    case $kind in
      disk) echo "$name" ;;
      loop)
        behind=$(losetup -n -O BACK-FILE "/dev/$name" 2>/dev/null)
        [ "$behind" ] && disks_of "$(LC_ALL=C df -P -k "$behind" 2>/dev/null | awk 'NR == 2 { print $1 }')"
        ;;
    esac
  done | sort -u
}

# Where path number $1, $2, stands or would stand.
place() {
  p=$2
  while [ "$p" ] && [ ! -e "$p" ]; do p=${p%/*}; done
  LC_ALL=C df -P -k -T -- "${p:-/}" 2>/dev/null | awk 'NR == 2 { at = $7; for (i = 8; i <= NF; i++) at = at " " $i; print $1, $2, $5, at }' | {
    read -r source kind free at || exit 0
    fact path "$1" "$source" "$kind" "$free" "$at"
    case $kind in
      zfs)
        limited zpool list -v -H -P -L "${source%%/*}" 2>/dev/null | awk '$1 ~ /^\// { print $1 }' |
          while read -r device; do
            if [ -b "$device" ]; then disks_of "$device"; else disks_of "$(df -P -k "$device" | awk 'NR == 2 { print $1 }')"; fi
          done
        ;;
      *) case $source in /dev/*) disks_of "$source" ;; esac ;;
    esac | sort -u | while read -r disk; do fact path-disk "$1" "$disk"; done
  }
}
