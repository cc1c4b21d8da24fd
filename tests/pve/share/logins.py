"""A login: a real SSH server for one connection, in a session of its own."""

import os
import signal


def serve(line, lang, *words):
    """Hands the connection over; what the server says goes to the log of the machine."""
    if os.fork() == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.setsid()
            log = os.open("/var/log/auth.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
            for end, number in ((line.fileno(), 0), (line.fileno(), 1), (log, 2)):
                os.dup2(end, number)
            os.closerange(3, 4096)
            os.execve("/usr/sbin/sshd", ["/usr/sbin/sshd", "-i", "-e", *words], {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": lang})
        finally:
            os._exit(1)
    line.close()
