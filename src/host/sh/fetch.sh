# Sends what is in a stream from byte $from on; the program stops reading where it has enough.
tail -c "+$from" "$d/$stream"
