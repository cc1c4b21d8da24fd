# Sends what is in a stream from byte $from on; the program stops reading where it has enough.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
tail -c "+$from" "$d/$stream"
