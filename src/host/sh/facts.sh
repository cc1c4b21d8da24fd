# Says what this machine is. Every foreign text is one line behind our own word.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
# shellcheck disable=SC2044 # names of ZFS hold no blanks

# A text as one line of bounded length, in $flat. Most are that: to start programs for each takes long on
# a slow host.
flat() {
  flat=$1
  case $1 in
    *'
'* | *'	'*) ;;
    *) [ "${#1}" -gt 300 ] || return 0 ;;
  esac
  flat=$(printf '%s' "$1" | tr '\n\t' '  ' | cut -c1-300)
}

first_line() {
  line=
  read -r line 2>/dev/null <"$1"
  printf '%s' "$line"
}

# How a program is kept from taking long, where that is known; old BusyBox wants -t.
patience=
if timeout 5 true 2>/dev/null; then
  patience='timeout 5'
elif timeout -t 5 true 2>/dev/null; then
  patience='timeout -t 5'
fi

system() {
  name=$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null | head -n 1 | tr -d '"')
  if [ -z "$name" ] && command -v vmware >/dev/null; then
    name=$($patience vmware -v 2>/dev/null | head -n 1)
  fi
  # On what Proxmox builds, its own version says more than that of the Debian below.
  for ask in pveversion 'proxmox-backup-manager versions'; do
    command -v "${ask%% *}" >/dev/null || continue
    # shellcheck disable=SC2086 # it is split on purpose
    said=$($patience $ask 2>/dev/null </dev/null | head -n 1 | sed 's/ *(\{0,1\}running.*//')
    [ -z "$said" ] || name="$name, $said"
  done
  flat "${name:-$(uname -s) $(uname -r)}"
  say system "$flat"
  flat "$(uname -s) $(uname -r)"
  say kernel "$flat"
  cpu=$(sed -n 's/^\(model name\|Model\)[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
  flat "${cpu:-$(sysctl -n hw.model 2>/dev/null || uname -m)}"
  say cpu "$flat"
  cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || getconf NPROCESSORS_ONLN 2>/dev/null ||
    grep -c '^processor' /proc/cpuinfo 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null)
  say cpus "$cpus"
  memory=$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo 2>/dev/null)
  if [ "$memory" ]; then
    say memory-kib "$memory"
  else
    say memory "$(sysctl -n hw.physmem 2>/dev/null)"
  fi
  machine=$(first_line /proc/sys/kernel/random/boot_id)
  flat "${machine:-$(sysctl -n kern.hostuuid 2>/dev/null)}"
  say machine "$flat"
  uid=$(id -u)
  say uid "$uid"
  flat "$(id -un 2>/dev/null)"
  say user "$flat"
}

# Where the state is kept, and whether it can be; nothing is made for that.
state_folder() {
  if [ "$state" ]; then
    :
  elif [ "$uid" = 0 ]; then
    state=/var/lib/comeback
  else
    state=${XDG_STATE_HOME:-${HOME:-}/.local/state}/comeback
  fi
  case $state in
    *'
'*) return ;;
    /*) ;;
    *) return ;;
  esac
  there=$state
  while [ ! -e "$there" ] && [ "$there" ]; do
    there=${there%/*}
  done
  there=${there:-/}
  if [ -d "$there" ] && [ -w "$there" ] && [ -x "$there" ]; then
    say state-writable yes
  fi
  say state "$state"
}

shell() {
  exe=$(readlink "/proc/$$/exe" 2>/dev/null)
  exe=${exe##*/}
  if [ "${BASH_VERSION-}" ]; then
    say tool sh "bash $BASH_VERSION"
  elif [ "$exe" = busybox ]; then
    say tool sh "BusyBox ash"
  else
    flat "$exe"
    say tool sh "$flat"
  fi
}

# What program $1 says of its version, of those that can be asked without harm.
version() {
  case $1 in
    openssl | proxmox-backup-client | restic | zfs | zpool) set -- "$1" version ;;
    ssh) set -- ssh -V ;;
    pveversion) ;;
    attr | bash | borg | btrfs | bzip2 | cat | cp | cpio | curl | cut | dd | df | du | esxcli | \
      find | fio | fsfreeze | getfacl | getfattr | grep | gzip | head | losetup | ls | lsblk | \
      lvconvert | lvcreate | lvremove | lvs | lz4 | lzop | mariadb | mariadb-dump | mkfs.btrfs | \
      mount | mountpoint | mysql | mysqldump | nbdkit | nproc | pg_basebackup | pg_dump | \
      pg_restore | pigz | psql | pv | pvs | python3 | qemu-img | qemu-nbd | rclone | rsync | sed | \
      setfattr | setsid | sfdisk | sha256sum | sort | split | sqlite3 | stat | stdbuf | tail | \
      tar | tee | timeout | tr | truncate | umount | vgs | wc | wget | xargs | xz | zstd)
      set -- "$1" --version
      ;;
    *) return ;;
  esac
  # Called at the head of a pipe alone: it is in a shell of its own.
  exec $patience "$@" 2>&1 </dev/null
}

# Says which version is told of program $1 in what is read.
told_version() {
  said='' lines=0
  while [ "$lines" -lt 8 ] && { IFS= read -r line || [ "$line" ]; }; do
    said="$said$line
"
    lines=$((lines + 1))
  done
  all=$said
  said=
  while IFS= read -r line; do
    case $all in
      # What BusyBox answers to a question that it does not know.
      *BusyBox*) case $line in *BusyBox*) ;; *) continue ;; esac ;;
      *nrecognized* | *nvalid* | *llegal* | *nknown* | [Uu]sage* | *' option'*) break ;;
    esac
    case $line in
      *[!\ ]*)
        said=$line
        break
        ;;
    esac
  done <<EOF
$all
EOF
  flat "$said"
  say tool "$1" "$flat"
}

tools() {
  busybox=
  if command -v busybox >/dev/null; then
    busybox=$(busybox 2>&1 | head -n 1)
    busybox=${busybox%% (*}
  fi
  count=0
  for tool in $tools; do
    path=$(command -v "$tool") || continue
    case $path in
      /*) [ ! -L "$path" ] || path=$(readlink -f "$path" 2>/dev/null) ;;
      # A word of the shell itself.
      *) path=$exe ;;
    esac
    if [ "${path##*/}" = busybox ]; then
      flat "$busybox"
      say tool "$tool" "$flat"
      continue
    fi
    # A line of this length is written at once, so those of several do not mix.
    version "$tool" | told_version "$tool" &
    count=$((count + 1))
    [ $((count % 12)) -ne 0 ] || wait
  done
  wait
}

filesystems() {
  if [ -r /proc/self/mountinfo ]; then
    head -n 2000 /proc/self/mountinfo | cut -c1-2000 |
      grep -vE ' - (autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|fusectl|hugetlbfs|mqueue|nsfs|proc|pstore|ramfs|rpc_pipefs|securityfs|selinuxfs|squashfs|sysfs|tracefs) ' |
      head -n 500 | while read -r line; do say mount "$line"; done
  else
    mount -p 2>/dev/null | head -n 500 | while read -r line; do say fstab "$line"; done
  fi
  # A dead server behind a mount holds df up: then there are no figures, but an answer.
  $patience df -P -k 2>/dev/null | head -n 500 | cut -c1-2000 |
    while read -r line; do say df "$line"; done
}

disks() {
  for block in /sys/block/*; do
    name=${block##*/}
    case $name in
      loop* | ram* | zram* | dm-* | md* | sr* | fd* | zd*) continue ;;
    esac
    sectors=$(first_line "$block/size")
    [ "${sectors:-0}" != 0 ] || continue
    flat "$(first_line "$block/device/model")"
    say disk "$name" "$sectors" "$flat"
  done
  if [ ! -d /sys/block ]; then
    for name in $(sysctl -n kern.disks 2>/dev/null); do
      bytes=$(diskinfo "$name" 2>/dev/null | cut -f 3)
      say disk-bytes "$name" "${bytes:-0}"
    done
  fi
}

# The physical disks under block device $1 (its kernel name), $2 steps down. A subshell, for
# its variables: it calls itself.
disks_under() (
  name=$1 depth=$2
  sys=/sys/class/block/$name
  [ "$depth" -lt 10 ] && [ -e "$sys" ] || exit 0
  if [ -e "$sys/partition" ]; then
    whole=$(cd -P "$sys/.." && pwd -P)
    disks_under "${whole##*/}" $((depth + 1))
  elif [ -e "$sys/loop/backing_file" ]; then
    disks_of_file "$(first_line "$sys/loop/backing_file")" $((depth + 1))
  else
    case $name in
      zd*)
        for volume in $(find /dev/zvol -type l 2>/dev/null); do
          if [ "$(readlink -f "$volume")" = "/dev/$name" ]; then
            volume=${volume#/dev/zvol/}
            disks_of_pool "${volume%%/*}" $((depth + 1))
          fi
        done
        exit 0
        ;;
    esac
    set -- "$sys"/slaves/*
    if [ -e "$1" ]; then
      for slave; do
        disks_under "${slave##*/}" $((depth + 1))
      done
    else
      echo "$name"
    fi
  fi
)

# The row of `df` for a path. A subvolume that is not mounted by itself has no source there: that of the
# folder around it holds.
df_row() {
  row=$($patience df -P -k "$1" 2>/dev/null | tail -n 1)
  around=$1
  while :; do
    case $row in '- '* | 'Filesystem '*) ;; *) break ;; esac
    [ "$around" != / ] || break
    around=$(readlink -f "$around") || break
    around=${around%/*}
    around=${around:-/}
    row=$($patience df -P -k "$around" 2>/dev/null | tail -n 1)
  done
}

disks_of_file() {
  df_row "$1"
  disks_of_source "${row%% *}" "$2"
}

disks_of_pool() {
  for device in $($patience zpool status -P -L "$1" 2>/dev/null | awk '$1 ~ "^/" { print $1 }'); do
    if [ -b "$device" ]; then
      device=${device#/dev/}
      disks_under "$device" "$2"
    elif [ -f "$device" ]; then
      disks_of_file "$device" "$2"
    fi
  done
}

# The physical disks under what is mounted.
disks_of_source() {
  case $1 in
    /dev/root)
      number=$(awk '$5 == "/" { n = $3 } END { print n }' /proc/self/mountinfo 2>/dev/null)
      name=$(readlink "/sys/dev/block/$number")
      name=${name##*/}
      ;;
    /dev/*)
      name=$(readlink -f "$1" 2>/dev/null)
      name=$(printf '%s' "${name#/dev/}" | tr / '!')
      ;;
    *:* | //*) return ;;
    *)
      command -v zpool >/dev/null && disks_of_pool "${1%%/*}" "$2"
      return
      ;;
  esac
  # Btrfs has one source, but may have several devices.
  for member in /sys/fs/btrfs/*/devices/"$name"; do
    if [ -e "$member" ]; then
      for device in "${member%/*}"/*; do
        disks_under "${device##*/}" "$2"
      done
      return
    fi
  done
  disks_under "$name" "$2"
}

# Where path $2 stands, which may not be there yet; or the dataset, or the volume with its group.
place() {
  path=$2
  row=
  case $path in
    [!/]*)
      if [ -b "/dev/$path" ]; then
        row="/dev/$path 0 0 0 0% /dev/$path"
      elif command -v zfs >/dev/null && $patience zfs list -H -o name "$path" >/dev/null 2>&1; then
        row="$path 0 0 0 0% $path"
      fi
      ;;
  esac
  case $path in
    /*) ;;
    *) path=./$path ;;
  esac
  while [ ! -e "$path" ]; do
    case $path in
      */) path=${path%/} ;;
      */*) path=${path%/*} ;;
      *) break ;;
    esac
    [ "$path" ] || path=/
  done
  [ "$row" ] || df_row "$path"
  say place "$1" "$(printf '%s' "$row" | tr '\n' ' ')"
  for disk in $(disks_of_source "${row%% *}" 0 | sort -u); do
    say on "$1" "$disk"
  done
}

all() {
  say wall "$(date +%s)"
  system
  state_folder
  shell
  probe_clock
  tools
  filesystems
  disks
  say wall "$(date +%s)"
}
