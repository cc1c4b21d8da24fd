"""The machine: `machine.py RUN HERE CACHE PART…`. Outside it binds the port; then it goes on as the
first process of namespaces of its own, with a root of its own, and is what listens there."""

import os
import selectors
import signal
import socket
import subprocess
import sys

NAME = "pve1"
# The machine's disk, and the one of its backups; holes cost nothing.
DISK, BACKUPS = 24 << 30, 8 << 30
# It has run for 500 days: the begin of a process, in hundredths of a second, has a ninth digit in hex.
UP_FOR = 500 * 86400
HIDDEN = ("tmp", "var/tmp", "var/lib/comeback", "root", "home", "work", "opt", "srv", "mnt", "media", "var/log", "var/backups", "etc/ssh", "etc/cron.d")


def call(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def outside(arguments):
    """Binds, and begins anew in the namespaces."""
    door = socket.socket()
    door.bind(("127.0.0.1", 0))
    door.listen(64)
    os.set_inheritable(door.fileno(), True)
    with open(f"{arguments[0]}/port", "w", encoding="ascii") as file:
        file.write(str(door.getsockname()[1]))
    command = ["unshare", "--mount", "--pid", "--uts", "--net", "--time", "--boottime", str(UP_FOR), "--fork", "--kill-child", "--"]
    command += ["/usr/bin/python3", "-IS", os.path.abspath(__file__), "inside", str(door.fileno()), *arguments]
    os.execvp(command[0], command)


# Inside.


def leave_copies():
    """The namespace begins with a copy of every mount, and a copy of a loop device's keeps it busy."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        points = [line.split()[1] for line in file if line.startswith("/dev/loop")]
    for point in points[::-1]:
        call("umount", "-l", point)


def file_system(image, size, point):
    """A new one, in a file that goes with its mount: nothing has to be safe there."""
    with open(image, "wb") as file:
        file.truncate(size)
    call("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-N", "65536", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", image)
    os.makedirs(point, exist_ok=True)
    call("mount", "-o", "loop,noatime,nobarrier", image, point)
    os.unlink(image)


def root(run):
    """A root over this machine's own, whose changes lie on the disk."""
    disk = f"{run}/at"
    file_system(f"{run}/disk", DISK, disk)
    for name in ("upper", "work", "root", "vz", "images"):
        os.mkdir(f"{disk}/{name}")
    for name in HIDDEN:
        # A session that goes on here may make its state folder at any time.
        if os.path.isdir(f"/{name}") or name == "var/lib/comeback":
            os.makedirs(f"{disk}/upper/{name}")
            os.setxattr(f"{disk}/upper/{name}", "trusted.overlay.opaque", b"y")
    for name in ("tmp", "var/tmp"):
        os.chmod(f"{disk}/upper/{name}", 0o1777)
    os.chmod(f"{disk}/upper/root", 0o700)
    options = f"lowerdir=/,upperdir={disk}/upper,workdir={disk}/work"
    call("mount", "-t", "overlay", "-o", options, "overlay", f"{disk}/root")
    return f"{disk}/root", disk


def furnish(new, disk, run):
    for name, kind, more in (("proc", "proc", []), ("sys", "sysfs", []), ("dev", "devtmpfs", []), ("run", "tmpfs", ["-o", "mode=755"])):
        os.makedirs(f"{new}/{name}", exist_ok=True)
        call("mount", "-t", kind, *more, kind, f"{new}/{name}")
    if os.path.isdir("/run/udev"):
        # LVM waits until that has seen to its devices.
        os.makedirs(f"{new}/run/udev")
        call("mount", "--bind", "/run/udev", f"{new}/run/udev")
    call("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620,gid=5", "devpts", f"{new}/dev/pts")
    call("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{new}/dev/shm")
    file_system(f"{run}/backups", BACKUPS, f"{new}/mnt/pve/bkp")
    os.makedirs(f"{new}/var/lib/vz", exist_ok=True)
    call("mount", "--bind", f"{disk}/vz", f"{new}/var/lib/vz")


def enter(new):
    """The old root is left, and all of its mounts with it."""
    os.makedirs(f"{new}/mnt/old", exist_ok=True)
    call("pivot_root", new, f"{new}/mnt/old")
    os.chdir("/")
    call("umount", "-l", "/mnt/old")
    os.rmdir("/mnt/old")


def module(name):
    """One of those that the node's programs have, once they are there."""
    modules = "/usr/share/pve-manager/modules"
    if modules not in sys.path:
        sys.path.insert(0, modules)
    return __import__(name)


class Machine:
    def __init__(self, door, held):
        self.door, self.held = door, held
        self.processes = module("processes")
        self.loop = selectors.DefaultSelector()
        self.over = False

    def serve(self):
        wake = os.pipe()
        os.set_blocking(wake[1], False)
        signal.set_wakeup_fd(wake[1])
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.loop.register(wake[0], selectors.EVENT_READ, lambda: self.reap(wake[0]))
        self.loop.register(self.door, selectors.EVENT_READ, self.accept)
        if self.held:
            self.loop.register(0, selectors.EVENT_READ, self.input)
        while not self.over:
            for key, _ in self.loop.select():
                key.data()

    def input(self):
        self.over = not os.read(0, 4096)

    def reap(self, end):
        os.read(end, 4096)
        self.processes.reap()

    def accept(self):
        line, _ = self.door.accept()
        module("logins").serve(line, "C.UTF-8")


def inside(door_number, run, here, cache, *parts):
    held = "--with-input" in parts
    ready = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    leave_copies()
    new, disk = root(run)
    furnish(new, disk, run)
    with open(f"{run}/guest", encoding="utf-8") as file:
        guest = file.read()
    call("/bin/sh", "-e", f"{here}/install", new, here, guest, NAME)
    call("/bin/sh", "-e", f"{here}/doors", new, cache)
    enter(new)
    socket.sethostname(NAME)
    call("ip", "link", "set", "lo", "up")
    call("/bin/sh", "-e", "/usr/share/pve-manager/setup", *[part for part in parts if part != "--with-input"])
    module("upid").retitle("/sbin/init")
    os.close(os.open("ready", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=ready))
    os.close(ready)
    for name in list(os.environ):
        del os.environ[name]
    Machine(socket.socket(fileno=int(door_number)), held).serve()


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        inside(*sys.argv[2:])
    else:
        outside(sys.argv[1:])
