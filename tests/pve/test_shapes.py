"""What the node's programs print is of the shape that the real ones' output has."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "share"))

import config  # noqa: E402
import jsonish  # noqa: E402
import options  # noqa: E402
import pbs_sizes  # noqa: E402
import qm_snapshots  # noqa: E402
import retention  # noqa: E402
import storage  # noqa: E402
import table  # noqa: E402
import tasks  # noqa: E402
import units  # noqa: E402
import upid  # noqa: E402
from failure import Fail  # noqa: E402

CONF = """agent: 1
boot: order=scsi0
memory: 384
name: shop
net0: virtio=BC:24:11:0A:0B:0C,bridge=vmbr0
parent: monday
scsi0: fast:301/vm-301-disk-0.raw,size=3G
scsi1: fast:301/vm-301-disk-1.raw,backup=0,size=528K
unused0: fast:301/vm-301-disk-2.raw

[monday]
#two lines
#of text
memory: 384
name: shop
scsi0: fast:301/vm-301-disk-0.raw,size=3G
snaptime: 1790000000
vmstate: fast:301/vm-301-state-monday.raw
"""


class Units(unittest.TestCase):
    def test_sizes(self):
        for count, text in ((0, "0 B"), (512, "512 B"), (491 << 10, "491.0 KiB"), (244108493, "232.8 MiB"), (1 << 30, "1.0 GiB")):
            self.assertEqual(units.size(count), text)
        self.assertEqual(units.size(801811333, 2), "764.67 MiB")
        self.assertEqual(units.transferred(0), "0.0 B")

    def test_archives_are_cut(self):
        for count, text in ((4095, "3KB"), ((258 << 20) + 900000, "258MB"), (9628654680, "8.97GB")):
            self.assertEqual(units.archive(count), text)

    def test_times(self):
        self.assertEqual([units.duration(count) for count in (0, 14, 63, 3723)], ["0s", "14s", "1m 3s", "1h 2m 3s"])
        self.assertEqual(units.clock(3674), "01:01:14")

    def test_disks(self):
        for text in ("3G", "528K", "1536M", "1000"):
            self.assertEqual(units.disk(units.parse_disk(text)), text)

    def test_the_backup_servers(self):
        self.assertEqual([pbs_sizes.human(count) for count in (0, 1 << 30, 271632713, 1077936)], ["0 B", "1 GiB", "259.049 MiB", "1.028 MiB"])


class Tasks(unittest.TestCase):
    def test_names(self):
        text = "UPID:alpha:0000C0DE:1ABCDEF01:6B0EFF4A:vzdump::root@pam!nightly-1:"
        name = upid.parse(text)
        self.assertEqual((name.node, name.pid, name.pstart, name.kind, name.id), ("alpha", 0xC0DE, 0x1ABCDEF01, "vzdump", ""))
        self.assertEqual(str(name), text)
        self.assertEqual(name.log(), f"/var/log/pve/tasks/A/{text}")
        self.assertEqual((name.fields()["user"], name.fields()["tokenid"]), ("root@pam", "nightly-1"))
        self.assertIsNone(upid.parse("UPID:alpha:1:2:3:x:1:root@pam:"))

    def test_ends(self):
        import tempfile
        for log, status in (
            ("x\nTASK OK\n", "OK"),
            ("x\n\nTASK WARNINGS: 2\n", "WARNINGS: 2"),
            ("x\n\nTASK ERROR: job errors\n", "job errors"),
            ("x\n\nTASK ERROR: broken pipe \n", "broken pipe "),
            ("INFO:  40% (1.2 GiB", "unexpected status"),
            ("", "unable to read tail (got 0 bytes)"),
        ):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(log)
                file.flush()
                self.assertEqual(tasks.status_of(file.name), status)


class Configs(unittest.TestCase):
    def setUp(self):
        self.config = config.parse(CONF, config.Config("qemu", 301))

    def test_it_is_written_as_it_was_read(self):
        self.assertEqual(self.config.text(), CONF)

    def test_what_belongs_to_it(self):
        self.assertEqual([slot for slot, _, _ in self.config.disks()], ["scsi0", "scsi1"])
        names = [volume.rpartition("/")[2] for volume in self.config.volumes()]
        self.assertEqual(names, ["vm-301-disk-0.raw", "vm-301-disk-1.raw", "vm-301-disk-2.raw", "vm-301-state-monday.raw"])
        self.assertEqual(self.config.size_of("scsi0"), 3 << 30)

    def test_its_snapshots_as_a_tree(self):
        lines = qm_snapshots.listing(self.config)
        self.assertRegex(lines[0], r"^`-> monday {22}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {5}two lines$")
        self.assertEqual(lines[1], " `-> current" + " " * 44 + "You are here!")

    def test_storages(self):
        text = "dir: fast\n\tpath /srv/fast\n\tcontent images\n\nlvmthin: thin\n\tthinpool data\n\tvgname pve\n"
        self.assertEqual(storage.text_of(storage.parse(text)), text)


class CommandLines(unittest.TestCase):
    SCHEMA = {"storage": options.TEXT, "force": options.BOOL, "mode": ("stop", "go"), "limit": options.INT, "net*": options.TEXT, "delete": options.TEXT}

    def parse(self, *words):
        return options.parse(words, self.SCHEMA, "tool <vmid> [OPTIONS]")

    def test_every_way_to_write_them(self):
        words, found = self.parse("301", "--storage", "a", "-force", "--limit=7", "--net3", "x", "--delete", "a", "--delete", "b", "--", "-x")
        self.assertEqual(words, ["301", "-x"])
        self.assertEqual(found, {"storage": "a", "force": True, "limit": 7, "net3": "x", "delete": "a,b"})
        self.assertEqual(self.parse("--force", "0", "302")[1], {"force": False})

    def test_what_is_refused(self):
        for words, text in (
            (["--mode", "run"], "400 Parameter verification failed.\nmode: value 'run' does not have a value in the enumeration 'stop, go'\ntool <vmid> [OPTIONS]"),
            (["--limit", "x"], "400 Parameter verification failed.\nlimit: type check ('integer') failed - got 'x'\ntool <vmid> [OPTIONS]"),
            (["--nothing"], "Unknown option: nothing\n400 unable to parse option\ntool <vmid> [OPTIONS]"),
        ):
            with self.assertRaises(Fail) as caught:
                self.parse(*words)
            self.assertEqual(caught.exception.text, text)

    def test_names_of_snapshots(self):
        for name in ("9lives", "a", "with blank", "x" * 41, "current"):
            with self.assertRaises(Fail):
                qm_snapshots.check_name(name, "qm snapshot <vmid> <snapname> [OPTIONS]")
        qm_snapshots.check_name("comeback-1_a", "")

    def test_retention(self):
        self.assertEqual([retention.limit(rule) for rule in ({"keep-all": 1}, {}, {"keep-last": 2, "keep-daily": 3})], [None, None, 5])


class Answers(unittest.TestCase):
    def test_json(self):
        value = {"b": [1, None, True], "a": b"raw \"text\"\n\x01", "c": {}}
        self.assertEqual(jsonish.tight(value), '{"a":"raw \\"text\\"\\n\\u0001","b":[1,null,true],"c":{}}')
        self.assertEqual(jsonish.pretty({"pid": 12, "a": "x"}), '{\n   "a" : "x",\n   "pid" : 12\n}')

    def test_tables(self):
        drawn = table.lines([{"name": "shop", "vmid": 301}, {"name": "b"}], False, False)
        self.assertEqual(drawn, [
            "┌──────┬──────┐", "│ name │ vmid │", "╞══════╪══════╡", "│ shop │ 301  │", "├──────┼──────┤", "│ b    │      │", "└──────┴──────┘"])

    def test_no_module_is_long(self):
        folder = os.path.dirname(os.path.abspath(units.__file__))
        for name in os.listdir(folder):
            if name.endswith(".py"):
                with open(f"{folder}/{name}", encoding="utf-8") as file:
                    text = file.read()
                self.assertLess(text.count("\n"), 600, name)
                self.assertTrue(re.match(r'"""\S', text), f"{name} does not say what it is")


if __name__ == "__main__":
    unittest.main()
