"""What a guest's process is asked, and its answer: a line each, over a socket. What only some need is
imported where it is: a program begins in half the time, which counts where a processor is emulated."""

import os

import processes
from failure import Fail

# The longest answer: what a command printed is held whole.
LONGEST = 64 << 20


class Silent(Exception):
    """No answer came in time."""


def pack(value):
    return (repr(value) + "\n").encode()


def unpack(line):
    import ast
    return ast.literal_eval(line.decode())


def path(number):
    return f"/run/qemu-server/{number}.qmp"


def ask(number, request, timeout=10.0):
    """The answer. Fails with what the guest's process says of an error."""
    import socket
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        try:
            line.connect(path(number))
            line.sendall(pack(request))
            data = bytearray()
            while not data.endswith(b"\n"):
                piece = line.recv(1 << 16)
                if not piece:
                    raise Fail(f"VM {number} qmp command '{request[0]}' failed - client closed connection")
                data += piece
        except (FileNotFoundError, ConnectionRefusedError):
            raise Fail(f"VM {number} not running") from None
        except TimeoutError:
            raise Silent from None
        except (ConnectionResetError, BrokenPipeError):
            raise Fail(f"VM {number} qmp command '{request[0]}' failed - client closed connection") from None
    good, answer = unpack(bytes(data))
    if not good:
        raise Fail(answer)
    return answer


def pid(number):
    """The guest's process; nothing where it does not run."""
    found = processes.named(f"/run/qemu-server/{number}.pid", f"/usr/bin/kvm -id {number} ")
    return found if os.path.exists(path(number)) else None
