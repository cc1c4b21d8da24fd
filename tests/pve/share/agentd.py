"""The programs that run in a guest because its agent was asked to, and what they print."""

import os
import selectors

# What is held of a program's output.
LONGEST = 16 << 20
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Program:
    def __init__(self):
        self.output = {"out": bytearray(), "err": bytearray()}
        self.truncated = set()
        self.open = set()
        self.status = None

    def take(self, name, data):
        room = LONGEST - len(self.output[name])
        self.output[name] += data[:room]
        if len(data) > room:
            self.truncated.add(name)

    def answer(self):
        """As the agent tells it; what was printed is told at the end."""
        if self.status is None or self.open:
            return {"exited": 0}
        found = {"exited": 1}
        if os.WIFSIGNALED(self.status):
            found["signal"] = os.WTERMSIG(self.status)
        else:
            found["exitcode"] = os.WEXITSTATUS(self.status)
        for name, data in self.output.items():
            if data:
                found[f"{name}-data"] = bytes(data)
            if name in self.truncated:
                found[f"{name}-truncated"] = 1
        return found


class Programs:
    """All of them, by their pids in the guest."""

    def __init__(self, root, loop):
        self.root, self.loop = root, loop
        self.known = {}

    def start(self, command, given):
        if not command:
            raise ValueError("no command")
        pipes = {name: os.pipe() for name in ("in", "out", "err", "failed")}
        pid = os.fork()
        if pid == 0:
            self.enter(command, pipes)
        program = Program()
        self.known[pid] = program
        os.close(pipes["in"][0])
        os.close(pipes["failed"][1])
        for name in ("out", "err"):
            read, write = pipes[name]
            os.close(write)
            program.open.add(name)
            self.loop.register(read, selectors.EVENT_READ, lambda end, name=name: self.read(program, name, end))
        self.feed(pipes["in"][1], given)
        error = os.read(pipes["failed"][0], 4096)
        os.close(pipes["failed"][0])
        if error:
            os.waitpid(pid, 0)
            program.status, program.open = 0, set()
            del self.known[pid]
            raise OSError(f"Failed to execute child process “{command[0]}” ({error.decode()})")
        return pid

    def feed(self, end, given):
        """Its standard input, from a process of its own: it may take its time."""
        if given and os.fork() == 0:
            try:
                while given:
                    given = given[os.write(end, given):]
            finally:
                os._exit(0)
        os.close(end)

    def enter(self, command, pipes):
        try:
            os.setsid()
            os.dup2(pipes["in"][0], 0)
            os.dup2(pipes["out"][1], 1)
            os.dup2(pipes["err"][1], 2)
            os.set_inheritable(pipes["failed"][1], False)
            os.chroot(self.root)
            os.chdir("/")
            # Nothing of this process is open there.
            os.closerange(3, pipes["failed"][1])
            os.closerange(pipes["failed"][1] + 1, 4096)
            os.execvpe(command[0], command, {"PATH": PATH, "LANG": "C"})
        except OSError as error:
            os.write(pipes["failed"][1], error.strerror.encode())
        finally:
            os._exit(127)

    def read(self, program, name, end):
        data = os.read(end, 1 << 16)
        if data:
            program.take(name, data)
            return
        self.loop.unregister(end)
        os.close(end)
        program.open.discard(name)

    def reap(self):
        """Takes the status of all that ended, whoever started it."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.known:
                self.known[pid].status = status
