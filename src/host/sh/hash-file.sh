# The sha256 of file or device $file.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
if openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then
  hasher='openssl dgst -sha256 -r'
elif sha256sum </dev/null >/dev/null 2>&1; then
  hasher=sha256sum
elif sha256 -r </dev/null >/dev/null 2>&1; then
  hasher='sha256 -r'
else
  echo 'there is neither openssl nor sha256sum nor sha256 to hash with' >&2
  exit 1
fi
said=$($hasher <"$file") || exit 1
if [ -b "$file" ]; then
  bytes=$(blockdev --getsize64 "$file") || exit 1
else
  bytes=$(stat -L -c %s "$file" 2>/dev/null || stat -L -f %z "$file") || exit 1
fi
printf 'sha256 %s\nbytes %s\ntool %s\n' "${said%% *}" "$bytes" "$hasher"
