"""A node that runs: what its programs print and return, and what they leave behind. Needs root."""

import os
import re
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
NAME = f"test-{os.getpid()}"
BACKUP = """INFO: starting new backup job: vzdump 401 .*
INFO: Starting Backup of VM 401 \\(qemu\\)
INFO: Backup started at DATE
INFO: status = running
INFO: VM Name: shop
INFO: include disk 'scsi0' 'btr:401/vm-401-disk-0.raw' 640M
INFO: backup mode: snapshot
INFO: ionice priority: 7
INFO: creating vzdump archive '/mnt/pve/bkp/dump/vzdump-qemu-401-[\\d_-]+.vma.zst'
INFO: issuing guest-agent 'fs-freeze' command
INFO: issuing guest-agent 'fs-thaw' command
INFO: started backup task '[0-9a-f-]{36}'
INFO: resuming VM again
INFO: 100% \\(640.0 MiB of 640.0 MiB\\) in \\d+s, read: SIZE/s, write: SIZE/s
INFO: backup is sparse: SIZE \\(\\d+%\\) total zero data
INFO: transferred 640.00 MiB in \\d+ seconds \\(SIZE/s\\)
INFO: archive file size: \\d+MB
INFO: Finished Backup of VM 401 \\(00:00:\\d\\d\\)
INFO: Backup finished at DATE
INFO: Backup job finished successfully
"""
RESTORE = """restore vma archive: zstd -q -d -c (\\S+) \\| vma extract -v -r (/var/tmp/vzdumptmp\\d+).fifo - \\2
CFG: size: \\d+ name: qemu-server.conf
DEV: dev_id=1 size: 671088640 devname: drive-scsi0
CTIME: \\w+ \\w+ +\\d+ [\\d:]+ \\d+
Formatting '/var/lib/vz/images/401/vm-401-disk-0.raw', fmt=raw size=671088640 preallocation=off
new volume ID is 'local:401/vm-401-disk-0.raw'
map 'drive-scsi0' to '/var/lib/vz/images/401/vm-401-disk-0.raw' \\(write zeros = 0\\)
(progress \\d+% \\(read \\d+ bytes, duration \\d+ sec\\)
){100}total bytes read 671088640, sparse bytes \\d+ \\([\\d.]+%\\)
space reduction due to 4K zero blocks [\\d.]+%
rescan volumes...
"""


class Done:
    def __init__(self, ended):
        self.out, self.err, self.code = ended.stdout, ended.stderr, ended.returncode


def node(*words, text=None):
    return Done(subprocess.run([f"{HERE}/node", "-n", NAME, *words], input=text, capture_output=True, text=True, check=False))


def sh(script):
    return node("ssh", "exec bash -s", text=script)


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/usr/sbin/sshd"), "needs root and an SSH server")
class Node(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hold = subprocess.Popen([f"{HERE}/node", "-n", NAME, "hold", "btrfs", "pbs", "tiny"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end)
        said = cls.hold.stdout.read()
        assert "NODE_PORT=" in said, said

    @classmethod
    def end(cls):
        cls.hold.stdin.close()
        cls.hold.wait()
        cls.hold.stdout.close()

    def good(self, script):
        done = sh(script)
        self.assertEqual((done.code, done.err), (0, ""), f"{script}\n{done.out}")
        return done.out

    def refused(self, script, code, err, out=""):
        done = sh(script)
        self.assertEqual((done.code, done.out, done.err), (code, out, err), script)

    def shaped(self, text, shape):
        shape = shape.replace("DATE", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d").replace("SIZE", r"[\d.]+ [KMG]?i?B")
        self.assertRegex(text, re.compile(f"\\A{shape}\\Z"))

    def guest(self, number, place="btr"):
        self.good(f"qm clone 9000 {number} --name shop --full 1 --storage {place} >/dev/null; qm resize {number} scsi0 +128M; qm start {number}; qm agent {number} ping")

    def last(self):
        return self.good("tail -n 1 /var/log/pve/tasks/index").rstrip("\n")

    def test_what_it_seems_to_be(self):
        out = self.good("which qm vzdump pvesh; hostname; ps -o args= -p 1; env | cut -d= -f1 | sort | tr '\\n' ' '")
        lines = out.splitlines()
        self.assertEqual(lines[:5], ["/usr/sbin/qm", "/usr/bin/vzdump", "/usr/bin/pvesh", "pve1", "/sbin/init"])
        for name in ("NODE", "STAND", "FAKE", "TEST"):
            self.assertNotIn(name, lines[5])

    def test_a_round(self):
        self.guest(401)
        self.assertEqual(self.good("qm status 401"), "status: running\n")
        out = self.good("qm guest exec 401 -- sh -c 'df -k / | tail -n 1; dd if=/dev/urandom of=/root/data bs=1M count=8 2>/dev/null; sync; sha256sum /root/data'")
        self.assertRegex(out, r'^\{\n   "exitcode" : 0,\n   "exited" : 1,\n   "out-data" : ".*"\n\}\n$')
        hashed = re.search(r"[0-9a-f]{64}", out).group()
        self.assertGreater(int(re.search(r"/dev/\S+ +(\d+)", out).group(1)), 600 << 10)

        self.assertEqual(self.good("qm snapshot 401 before"), "snapshotting 'drive-scsi0' (btr:401/vm-401-disk-0.raw)\n")
        self.good("qm guest exec 401 -- rm /root/data")
        self.assertEqual(self.good("qm rollback 401 before; qm status 401"), "status: stopped\n")
        self.good("qm start 401; qm agent 401 ping")
        self.assertIn(hashed, self.good("qm guest exec 401 -- sha256sum /root/data"))
        self.good("qm delsnapshot 401 before")

        out = self.good("vzdump 401 --storage bkp --mode snapshot --compress zstd --remove 0")
        self.shaped(out, BACKUP)
        self.assertRegex(self.last(), r"^UPID:pve1:[0-9A-F]{8}:[0-9A-F]{9}:[0-9A-F]{8}:vzdump:401:root@pam: [0-9A-F]{8} OK$")
        log = self.good("U=$(tail -n 1 /var/log/pve/tasks/index | cut -d' ' -f1); T=$(echo $U | cut -d: -f5); cat /var/log/pve/tasks/${T#???????}/$U")
        self.assertEqual(log, out + "TASK OK\n")
        self.assertIn("total bytes read 671088640", self.good("zstd -dc /mnt/pve/bkp/dump/vzdump-qemu-401-*.zst | vma verify - -v"))

        self.refused("qm destroy 401", 25, "VM 401 is running - destroy failed\n")
        self.good("qm shutdown 401; qm destroy 401")
        self.refused("qm status 401", 2, "Configuration file 'nodes/pve1/qemu-server/401.conf' does not exist\n")
        out = self.good("qmrestore bkp:backup/$(cd /mnt/pve/bkp/dump && echo vzdump-qemu-401-*.zst) 401 --storage local")
        self.shaped(out, RESTORE)
        self.good("qm start 401; qm agent 401 ping")
        self.assertIn(hashed, self.good("qm guest exec 401 -- sha256sum /root/data"))
        self.refused("qmrestore bkp:backup/$(cd /mnt/pve/bkp/dump && echo vzdump-qemu-401-*.zst) 401", 255,
                     "unable to restore VM 401 - VM 401 already exists on node 'pve1'\n")

    def test_a_program_in_the_guest_runs_by_itself(self):
        self.guest(402, "local")
        out = self.good("qm guest exec 402 --synchronous 0 -- sh -c 'echo a; echo b >&2; until [ -e /tmp/go ]; do sleep 0.1; done; exit 3'")
        pid = re.fullmatch(r'\{\n   "pid" : (\d+)\n\}\n', out).group(1)
        self.assertEqual(self.good(f"qm guest exec-status 402 {pid}"), '{\n   "exited" : 0\n}\n')
        self.good("qm guest exec 402 -- touch /tmp/go")
        until = time.monotonic() + 60
        while '"exited" : 0' in (said := self.good(f"qm guest exec-status 402 {pid}")) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(said, '{\n   "err-data" : "b\\n",\n   "exitcode" : 3,\n   "exited" : 1,\n   "out-data" : "a\\n"\n}\n')
        self.refused("qm guest exec 402 -- /no/such", 255, "Agent error: Failed to execute child process “/no/such” (No such file or directory)\n")
        node("fault", "agent-silent")
        self.refused("qm agent 402 ping", 255, "QEMU guest agent is not running\n")
        node("fault", "-d", "agent-silent")
        self.refused("qm snapshot 402 before", 255, "snapshot feature is not available\n")

    def test_a_backup_server(self):
        self.guest(403)
        self.good("qm guest exec 403 -- dd if=/dev/urandom of=/root/data bs=1M count=8")
        out = self.good("vzdump 403 --storage pbs1 --remove 0")
        self.assertIn("INFO: scsi0: dirty-bitmap status: created new\n", out)
        before = int(self.good("du -sB1 /mnt/pbs/ds1 | cut -f1"))
        self.good("qm guest exec 403 -- dd if=/dev/urandom of=/root/more bs=1M count=4")
        out = self.good("vzdump 403 --storage pbs1 --remove 0")
        self.assertRegex(out, r"dirty-bitmap status: OK \((\d+\.0) MiB of 640.0 MiB dirty\)\nINFO: using fast incremental mode \(dirty-bitmap\), \1 MiB dirty of 640.0 MiB total\n")
        grown = int(self.good("du -sB1 /mnt/pbs/ds1 | cut -f1")) - before
        self.assertTrue(4 << 20 <= grown < 24 << 20, grown)
        hashed = re.search(r"[0-9a-f]{64}", self.good("qm guest exec 403 -- sha256sum /root/more")).group()
        self.good("qm stop 403; qm destroy 403")
        out = self.good("qmrestore $(pvesm list pbs1 --vmid 403 | awk 'END { print $1 }') 403 --storage local")
        self.assertRegex(out, r"progress 100% \(read 671088640 bytes, zeroes = \d+% \(\d+ bytes\), duration \d+ sec\)\nrestore image complete \(bytes=671088640, duration=[\d.]+s, speed=[\d.]+MB/s\)\nrescan volumes...\n\Z")
        self.good("qm start 403; qm agent 403 ping")
        self.assertIn(hashed, self.good("qm guest exec 403 -- sha256sum /root/more"))
        self.assertIn("TASK OK\n", self.good("proxmox-backup-manager verify ds1"))

    def test_ends_that_are_not_good(self):
        self.guest(404)
        done = sh("vzdump 404 --storage tiny --compress zstd; echo; qm guest exec 404 -- dd if=/dev/urandom of=/root/data bs=1M count=40 >/dev/null; vzdump 404 --storage tiny --compress zstd")
        self.assertEqual((done.code, done.err), (255, "job errors\n"))
        self.assertIn("No space left on device", done.out)
        self.assertIn("ERROR: Backup of VM 404 failed - vma_queue_write: write error - Broken pipe\n", done.out)
        self.assertRegex(self.last(), r" job errors$")

        done = sh("vzdump 404 --storage bkp --bwlimit 10000 >/tmp/said & until grep -qs 'started backup task' /tmp/said; do sleep 0.1; done; kill -INT $!; wait $!; e=$?; cat /tmp/said; exit $e")
        self.assertEqual((done.code, done.err), (255, "interrupted by signal\n"))
        self.assertRegex(done.out, r"ERROR: interrupted by signal\nINFO: aborting backup job\nINFO: resuming VM again\nERROR: Backup of VM 404 failed - interrupted by signal\nINFO: Failed at .*\nERROR: Backup job failed - interrupted by signal\n\Z")
        self.assertEqual(self.good("ls -A /mnt/pve/bkp/dump | grep 404 | grep -v 'log$'; qm config 404 | grep lock || :"), "")

        node("fault", "backup-dies", "50")
        self.assertEqual(sh("vzdump 404 --storage bkp").code, 137)
        self.assertRegex(self.good("ls /mnt/pve/bkp/dump | grep 404; qm config 404 | grep lock"), r"(?s)404.*tmp\n.*vma.dat\nlock: backup\n")
        self.refused("qm snapshot 404 before", 255, "VM is locked (backup)\n")
        self.assertIn(" unexpected status", self.good("grep vzdump /var/log/pve/tasks/index | tail -n 1"))
        done = sh("qm unlock 404; vzdump 404 --storage bkp --compress zstd")
        self.assertEqual((done.code, done.err), (0, "Task finished with 1 warning(s)!\n"))
        self.assertIn("WARN: left-over backup job still running inside QEMU - canceling now\n", done.out)
        self.assertRegex(self.last(), r" WARNINGS: 1$")

        node("fault", "restore-dies", "30")
        archive = "bkp:backup/$(cd /mnt/pve/bkp/dump && echo vzdump-qemu-404-*.zst)"
        sh(f"qmrestore {archive} 414 --storage local")
        self.assertEqual(self.good("qm config 414; qm destroy 414; ls /var/lib/vz/images/414"), "memory: 128\nvm-414-disk-0.raw\n")

    def test_through_the_interface(self):
        self.good("qm clone 9000 405 --full 1 >/dev/null")
        done = sh("pvesh create /nodes/pve1/qemu/405/snapshot --snapname before --output-format json")
        self.assertEqual((done.code, done.err), (0, "snapshot feature is not available\n"))
        name = re.fullmatch(r'"(UPID:pve1:\S+:qmsnapshot:405:root@pam:)"\n', done.out).group(1)
        self.assertRegex(self.good(f"pvesh get /nodes/pve1/tasks/{name}/status --output-format json"), r'^\{"exitstatus":"snapshot feature is not available",.*"status":"stopped"')
        self.assertEqual(self.good(f"pvesh get /nodes/pve1/tasks/{name}/log --output-format json"),
                         '[{"n":1,"t":""},{"n":2,"t":"TASK ERROR: snapshot feature is not available"}]\n')
        self.refused("pvesh get /nodes/pve9/qemu --output-format json", 2, "hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known\n")
        self.refused("pvesh get /nodes/pve1/tasks/UPID:x/status", 2, "400 Parameter verification failed.\nupid: unable to parse worker upid\npvesh get <api_path> [OPTIONS] [FORMAT_OPTIONS]\n")

    def test_a_container(self):
        self.good("pct create 420 local:vztmpl/small_1.0_amd64.tar.gz --hostname box --rootfs btr:1 --memory 64 >/dev/null; pct start 420")
        hashed = self.good("pct exec 420 -- sh -c 'head -c 3000000 /dev/urandom >/root/data; sha256sum /root/data'")
        out = self.good("vzdump 420 --storage bkp --compress zstd --remove 0")
        self.assertIn("INFO: create storage snapshot 'vzdump'\n", out)
        self.assertRegex(out, r"INFO: Total bytes written: \d+ \(\d+MiB, \S+/s\)\nINFO: archive file size: \d+MB\nINFO: cleanup temporary 'vzdump' snapshot\n")
        self.assertNotIn("%", out)
        self.good("pct stop 420; pct destroy 420")
        out = self.good("pct restore 420 bkp:backup/$(cd /mnt/pve/bkp/dump && echo vzdump-lxc-420-*.zst) --storage local")
        self.assertRegex(out, r"Total bytes read: \d+ \(\d+MiB, \S+/s\)\nmerging backed-up and given configuration..\n\Z")
        self.assertEqual(self.good("pct start 420; pct exec 420 -- sha256sum /root/data; pct stop 420"), hashed)


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/usr/sbin/sshd"), "needs root and an SSH server")
class Killed(unittest.TestCase):
    def test_nothing_is_left(self):
        name = f"{NAME}-killed"
        with subprocess.Popen([f"{HERE}/node", "-n", name, "hold", "btrfs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hold:
            hold.stdout.read()
            subprocess.run([f"{HERE}/node", "-n", name, "ssh", "qm clone 9000 401 --full 1 >/dev/null; qm start 401"], check=True)
            self.assertTrue(loops(name))
            hold.kill()
        until = time.monotonic() + 10
        while loops(name) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(loops(name), [])
        with open("/proc/self/mounts", encoding="utf-8") as file:
            self.assertNotIn(name, file.read())


def loops(name):
    """The devices on a machine's files."""
    found = subprocess.run(["losetup", "-l", "-n", "-O", "BACK-FILE"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if f"/{name}/" in line]


if __name__ == "__main__":
    unittest.main()
