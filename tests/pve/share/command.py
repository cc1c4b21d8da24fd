"""What every program of the node does before and after its own work."""

import os
import signal
import sys

import faults
import upid
import worker
from failure import Fail


def out(text):
    data = f"{text}\n".encode(errors="surrogateescape")
    while data:
        data = data[os.write(1, data):]


def locale():
    """What Perl says where the locale that was asked for is not here."""
    asked = os.environ.get("LC_ALL") or os.environ.get("LANG") or "C"
    if asked.split(".")[0] in ("C", "POSIX", "en_US"):
        return
    lines = ["perl: warning: Setting locale failed.", "perl: warning: Please check that your locale settings:", "\tLANGUAGE = (unset),"]
    for name in ("LC_ALL", "LANG"):
        value = os.environ.get(name)
        shown = f'"{value}"' if value else "(unset)"
        lines.append(f"\t{name} = {shown}" + ("," if name == "LC_ALL" else ""))
    lines += ["    are supported and installed on your system.", 'perl: warning: Falling back to the standard locale ("C").']
    for line in lines:
        worker.complain(line)


def run(main):
    """Ends the process as its failure says."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.umask(0o027)
    locale()
    if os.geteuid() == 0:
        upid.retitle("/usr/bin/perl -T " + "\0".join(sys.argv), os.path.basename(sys.argv[0]))
    try:
        if os.geteuid() != 0:
            raise Fail("please run as root", 2)
        faults.pause("slow-commands")
        code = main(sys.argv[1:]) or 0
    except Fail as failure:
        worker.complain(failure.text)
        code = failure.code
    except BrokenPipeError:
        code = 141
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def task(kind, ident, work, quiet=False):
    """Does it as a task; the exit status."""
    done = worker.run(kind, ident, work, quiet)
    return 255 if done.error is not None else 0
