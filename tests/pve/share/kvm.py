"""A guest that runs: a process with mounts and processes of its own. Its first disk is its root, and
what its agent is asked to run runs there."""

import fcntl
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time

import agentd
import config as configuration
import faults
import logins
import storage
import upid
import wire

FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
# What a boot takes where nothing else was asked for, and a shutdown.
BOOT, SHUTDOWN = 0.7, 0.3


class Later(Exception):
    """The answer is given when the guest has booted."""


def address(number):
    """A guest's, of those that are for the testing of networks (RFC 2544)."""
    return f"198.19.{number >> 8 & 255}.{number & 255}"


class Guest:
    def __init__(self, number):
        self.config = configuration.load("qemu", number)
        self.number = number
        self.root = f"/run/qemu-server/{number}.root"
        self.loop = selectors.DefaultSelector()
        self.programs = agentd.Programs(self.root, self.loop)
        self.begun = time.time()
        self.up_at = None
        self.waiting = []
        self.frozen = None
        # A backup that runs in this process, and what was in the disks at the last one to a server.
        self.backup = None
        self.bitmaps = {}
        self.is_paused = False

    # Its root.

    def mount(self):
        os.makedirs(self.root, exist_ok=True)
        slot = self.config.boot_disk()
        if slot is None or faults.words("no-boot") is not None:
            return
        path = storage.path_of(configuration.split_disk(self.config.get(slot))[0])
        grow(path)
        how = ["-o", "noatime,nobarrier" + ("" if path.startswith("/dev/") else ",loop")]
        if subprocess.run(["mount", "-t", "ext4", *how, path, self.root], capture_output=True, check=False).returncode:
            return
        for name, kind, how in (("proc", "proc", []), ("dev", "tmpfs", ["-o", "mode=755,size=1m"]), ("run", "tmpfs", ["-o", "mode=755"]), ("sys", "tmpfs", ["-o", "mode=755,size=1m"])):
            subprocess.run(["mount", "-t", kind, *how, kind, f"{self.root}/{name}"], check=False)
        for name in DEVICES:
            self.device(name)
        for at, name in enumerate(("stdin", "stdout", "stderr")):
            os.symlink(f"/proc/self/fd/{at}", f"{self.root}/dev/{name}")
        os.symlink("/proc/self/fd", f"{self.root}/dev/fd")
        self.hardware()
        self.up_at = time.monotonic() + faults.number("boot", BOOT)

    def hardware(self):
        """What its kernel tells of its machine and cards; of a machine without a uuid nothing."""
        told = {"net/lo/address": "00:00:00:00:00:00"}
        uuid = re.search(r"uuid=([0-9A-Fa-f-]{36})", self.config.get("smbios1", ""))
        if uuid:
            told["dmi/id/product_uuid"] = uuid.group(1).lower()
        for at, key in enumerate(sorted(key for key in self.config.values if re.fullmatch(r"net\d+", key))):
            told[f"net/eth{at}/address"] = re.search(r"=([0-9A-Fa-f:]{17})", self.config.get(key)).group(1).lower()
        for name, line in told.items():
            path = f"{self.root}/sys/class/{name}"
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{line}\n")

    def device(self, name):
        before = os.stat(f"/dev/{name}")
        os.mknod(f"{self.root}/dev/{name}", before.st_mode, before.st_rdev)
        os.chmod(f"{self.root}/dev/{name}", 0o666)

    def unmount(self):
        self.thaw()
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.programs.reap()
        for name in ("sys", "run", "dev", "proc", ""):
            for _ in range(100):
                done = subprocess.run(["umount", f"{self.root}/{name}"], capture_output=True, check=False)
                if done.returncode == 0 or b"not mounted" in done.stderr:
                    break
                time.sleep(0.02)

    def freeze(self):
        if self.frozen is None:
            self.frozen = os.open(self.root, os.O_RDONLY)
            fcntl.ioctl(self.frozen, FIFREEZE, 0)
        return 1

    def thaw(self):
        if self.frozen is None:
            return 0
        fcntl.ioctl(self.frozen, FITHAW, 0)
        os.close(self.frozen)
        self.frozen = None
        return 1

    # What it is asked.

    def is_up(self):
        return self.up_at is not None and time.monotonic() >= self.up_at and not self.is_paused

    def agent(self):
        """Fails, or waits, where the agent does not answer."""
        if not self.config.agent() or faults.words("agent-silent") is not None or not self.is_up():
            raise Later

    def answer(self, request):
        name, *rest = request
        if name.startswith("guest-"):
            self.agent()
        handler = getattr(self, "do_" + name.replace("-", "_"), None)
        if handler is None:
            raise ValueError(f"The command {name} has not been found")
        return handler(*rest)

    def do_guest_ping(self):
        return {}

    def do_guest_exec(self, command, given):
        if faults.words("exec-disabled") is not None:
            raise ValueError("The command guest-exec has been disabled for this instance")
        last = faults.words("agent-silent-at")
        if last is not None and any(last[0] in word for word in command):
            faults.ask("agent-silent")
        return {"pid": self.programs.start(command, given)}

    def do_guest_exec_status(self, pid):
        program = self.programs.known.get(pid)
        if program is None:
            raise ValueError(f"PID {pid} does not exist")
        found = program.answer()
        if found["exited"]:
            del self.programs.known[pid]
        return found

    def do_guest_fsfreeze_freeze(self):
        return self.freeze()

    def do_guest_fsfreeze_thaw(self):
        return self.thaw()

    def do_guest_fsfreeze_status(self):
        return "thawed" if self.frozen is None else "frozen"

    def do_guest_get_fsinfo(self):
        found = os.statvfs(self.root)
        total, free = found.f_blocks * found.f_frsize, found.f_bfree * found.f_frsize
        return [{"disk": [], "mountpoint": "/", "name": "sda", "total-bytes": total, "type": "ext4", "used-bytes": total - free}]

    def do_guest_network_get_interfaces(self):
        lo = {"name": "lo", "hardware-address": "00:00:00:00:00:00",
              "ip-addresses": [{"ip-address": "127.0.0.1", "ip-address-type": "ipv4", "prefix": 8}]}
        card = re.search(r"=([0-9A-F:]{17})", self.config.get("net0", ""))
        if not card or "link_down=1" in self.config.get("net0"):
            return [lo]
        return [lo, {"name": "eth0", "hardware-address": card.group(1).lower(),
                     "ip-addresses": [{"ip-address": address(self.number), "ip-address-type": "ipv4", "prefix": 24}]}]

    def do_guest_get_osinfo(self):
        return {"id": "debian", "name": "Debian GNU/Linux", "version-id": "12", "kernel-release": os.uname().release}

    def do_guest_get_host_name(self):
        return {"host-name": self.config.name}

    def do_info(self):
        return {"begun": self.begun, "up": self.is_up(), "backup": self.backup, "paused": self.is_paused}

    def do_pause(self):
        self.is_paused = True

    def do_resume(self):
        self.is_paused = False

    def do_backup(self, name):
        if self.backup:
            raise ValueError("VM backup already in progress" if name else "")
        self.backup = name

    def do_backup_end(self):
        self.backup = None

    def do_bitmaps(self, found=None):
        """What the clusters of each disk were at the last backup to a server; told, or kept."""
        if found is not None:
            self.bitmaps = found
        return self.bitmaps

    def do_powerdown(self):
        if faults.words("ignores-shutdown") is None and self.is_up():
            self.up_at = None
            self.ends_at = time.monotonic() + faults.number("shutdown", SHUTDOWN)

    def do_stop(self):
        self.ends_at = time.monotonic()

    # Its life.

    ends_at = None

    def serve(self, listener, ssh):
        self.loop.register(listener, selectors.EVENT_READ, lambda _end: self.accept(listener))
        while self.ends_at is None or time.monotonic() < self.ends_at:
            if ssh and self.is_up():
                ssh.listen()
                self.loop.register(ssh, selectors.EVENT_READ, lambda _end, door=ssh: self.greet(door))
                ssh = None
            for key, _ in self.loop.select(0.05):
                key.data(key.fd)
            self.programs.reap()
            waiting, self.waiting = self.waiting, []
            for line, request in waiting:
                self.reply(line, request)
        self.unmount()

    def greet(self, door):
        line, _ = door.accept()
        if os.path.exists(f"{self.root}/etc/ssh/ssh_host_ed25519_key"):
            self.let_in(line)
            return
        try:
            line.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")
        except OSError:
            pass
        line.close()

    def let_in(self, line):
        """A guest with a key of its own has a real server, whose logins are in its root."""
        options = (
            f"HostKey={self.root}/etc/ssh/ssh_host_ed25519_key",
            f"AuthorizedKeysFile={self.root}/root/.ssh/authorized_keys",
            f'ForceCommand=exec chroot {self.root} /bin/sh -c "$SSH_ORIGINAL_COMMAND"',
            "PasswordAuthentication=no", "StrictModes=no", "UseDNS=no",
        )
        logins.serve(line, "C", "-f", "/dev/null", *(word for option in options for word in ("-o", option)))

    def accept(self, listener):
        line, _ = listener.accept()
        line.settimeout(5)
        data = bytearray()
        try:
            while not data.endswith(b"\n"):
                piece = line.recv(1 << 16)
                if not piece:
                    line.close()
                    return
                data += piece
        except OSError:
            line.close()
            return
        self.reply(line, wire.unpack(bytes(data)))

    def reply(self, line, request):
        try:
            said = (True, self.answer(request))
        except Later:
            if not is_gone(line):
                self.waiting.append((line, request))
            return
        except (ValueError, OSError, TypeError) as error:
            said = (False, str(error))
        line.settimeout(5)
        try:
            line.sendall(wire.pack(said))
        except OSError:
            pass
        line.close()


def grow(path):
    """The file system, as systems do at their first boot on a disk that has grown."""
    with open(path, "rb") as disk:
        size = disk.seek(0, os.SEEK_END)
        disk.seek(1024)
        head = disk.read(64)
    if head[56:58] != b"\x53\xef":
        return
    blocks = int.from_bytes(head[4:8], "little")
    block = 1024 << int.from_bytes(head[24:28], "little")
    if size >= (blocks + 2048) * block:
        subprocess.run(["e2fsck", "-fp", path], capture_output=True, check=False)
        subprocess.run(["resize2fs", path], capture_output=True, check=False)


def is_gone(line):
    """Whether whoever asked has hung up."""
    line.setblocking(False)
    try:
        return line.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def door(number):
    """Where the guest answers SSH, if its card is plugged in."""
    subprocess.run(["ip", "addr", "replace", f"{address(number)}/32", "dev", "lo"], capture_output=True, check=False)
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((address(number), 22))
    except OSError:
        return None
    return found


def main():
    number = int(sys.argv[sys.argv.index("-id") + 1])
    guest = Guest(number)
    with open("/proc/self/stat", encoding="utf-8") as file:
        outside = int(file.read().split()[0])
    memory = guest.config.get("memory", "512")
    upid.retitle(f"/usr/bin/kvm -id {number} -name {guest.config.name},debug-threads=on -no-shutdown -m {memory}")
    guest.mount()
    path = wire.path(number)
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(f"{path}.new")
    listener.listen(16)
    with open(f"/run/qemu-server/{number}.pid", "w", encoding="ascii") as file:
        file.write(f"{outside}\n")
    os.rename(f"{path}.new", path)
    plugged = "net0" in guest.config.values and "link_down=1" not in guest.config.get("net0")
    guest.serve(listener, door(number) if plugged else None)
    for left in (path, f"/run/qemu-server/{number}.pid"):
        os.unlink(left)
