"""`cstream -t BYTES -- FILE`: a file on standard output, so many bytes a second."""

import os
import sys
import time

PIECE = 64 << 10


def main():
    words = sys.argv[1:]
    rate = int(words[words.index("-t") + 1])
    source = os.open(words[-1], os.O_RDONLY)
    begun, sent = time.monotonic(), 0
    while True:
        data = os.read(source, PIECE)
        if not data:
            return
        while data:
            count = os.write(1, data)
            data, sent = data[count:], sent + count
        time.sleep(max(0, begun + sent / rate - time.monotonic()))
