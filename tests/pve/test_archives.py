"""Archives and stores give back what went into them, and say what is wrong with them."""

import hashlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "share"))

import blocks  # noqa: E402
import pbs_store  # noqa: E402
import vma  # noqa: E402
from failure import Fail  # noqa: E402


def disk(test, size, parts):
    """A file with holes: offset and bytes of what is there."""
    file = tempfile.TemporaryFile()
    test.addCleanup(file.close)
    file.truncate(size)
    for at, data in parts:
        os.pwrite(file.fileno(), data, at)
    return file


class Blocks(unittest.TestCase):
    def test_only_what_is_not_zero(self):
        size = (5 << 20) + 4096
        file = disk(self, size, [(70000, b"a"), (1 << 20, bytes(1 << 20)), ((3 << 20) + 5, b"bb"), (size - 1, b"c")])
        found = dict(blocks.clusters(file.fileno(), size))
        self.assertEqual(sorted(found), [65536, 3 << 20, 5 << 20])
        self.assertEqual(len(found[5 << 20]), 4096)

    def test_a_copy_is_the_same_and_keeps_holes(self):
        size = 8 << 20
        file, other = disk(self, size, [(4 << 20, os.urandom(100000))]), disk(self, size, [])
        done = []
        blocks.copy(file.fileno(), other.fileno(), size, done.append)
        self.assertEqual(os.pread(file.fileno(), size, 0), os.pread(other.fileno(), size, 0))
        self.assertLess(os.fstat(other.fileno()).st_blocks * 512, 1 << 20)
        self.assertEqual(done[-1], size)


class Archives(unittest.TestCase):
    SIZES = [("drive-efidisk0", 540672), ("drive-scsi0", 4 << 20)]

    def pack(self, clusters):
        out = io.BytesIO()
        writer = vma.Writer(out, [("qemu-server.conf", b"memory: 128\n")], self.SIZES)
        for device, number, data in clusters:
            writer.cluster(device, number, data)
        writer.flush()
        return out.getvalue()

    def all(self):
        first = [(1, at, b"x" if at == 0 else b"") for at in range(9)]
        second = [(2, at, os.urandom(65536) if at == 40 else b"") for at in range(64)]
        return first + second

    def test_what_goes_in_comes_out(self):
        clusters = self.all()
        reader = vma.Reader(io.BytesIO(self.pack(clusters)))
        self.assertEqual(reader.configs, [("qemu-server.conf", b"memory: 128\n")])
        self.assertEqual(reader.disks, {1: self.SIZES[0], 2: self.SIZES[1]})
        found = {(device, number): vma.unpack(mask, data, 65536) for device, number, mask, data in reader.clusters()}
        self.assertEqual(len(found), 73)
        for device, number, data in clusters:
            self.assertEqual(found[device, number], data + bytes(65536 - len(data)))

    def test_percents_count_clusters(self):
        counts = vma.Counts([540672, 4 << 20])
        self.assertEqual(counts.total, 589824 + (4 << 20))
        lines = []
        for at in range(73):
            counts.add(0 if at else 1)
            lines += counts.lines(0)
        self.assertEqual(len(lines), 100)
        # The last percent comes a cluster before the end.
        self.assertIn(f"progress 100% (read {72 * 65536} bytes", lines[-1])
        self.assertEqual(list(counts.end())[0], f"total bytes read {counts.total}, sparse bytes {72 * 65536} (98.6%)")

    def test_what_is_broken_is_named(self):
        whole = self.pack(self.all())
        for data, text in (
            (b"no archive" * 2000, "not a vma file - wrong magic number"),
            (whole[:200] + b"?" + whole[201:], "wrong vma header checksum"),
            (whole[:-4096], "short vma extent"),
        ):
            with self.assertRaises(vma.Broken) as caught:
                list(vma.Reader(io.BytesIO(data)).clusters())
            self.assertIn(text, str(caught.exception))


class Stores(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = pbs_store.Datastore("one", f"{self.folder.name}/one")
        self.percents = []
        self.store.create(16, self.percents.append)

    def put(self, data):
        digest = hashlib.sha256(data).digest()
        return digest, self.store.insert(data, digest)

    def chunk_path(self, digest):
        return self.store.chunk_path(digest)

    def test_each_chunk_is_there_once(self):
        os.makedirs(f"{self.store.path}/.chunks/ffff", exist_ok=True)
        for prefix in {hashlib.sha256(data).hexdigest()[:3] for data in (b"a" * 9000, b"b")}:
            os.makedirs(f"{self.store.path}/.chunks/{prefix}0", exist_ok=True)
        digest, new = self.put(b"a" * 9000)
        self.assertTrue(new)
        self.assertFalse(self.put(b"a" * 9000)[1])
        self.assertEqual(self.store.chunk(digest), b"a" * 9000)
        self.assertLess(os.path.getsize(self.chunk_path(digest)), 200)
        with open(self.chunk_path(digest), "r+b") as file:
            file.seek(20)
            file.write(b"??")
        with self.assertRaises(Fail):
            self.store.chunk(digest)

    def test_snapshots(self):
        name = "vm/301/2026-05-04T03:02:01Z"
        self.store.begin(name, "node@pbs")
        self.assertNotIn("size", self.store.entry(name))
        self.store.write_blob(name, "qemu-server.conf.blob", b"memory: 128\n")
        digests = [bytes([at]) * 32 for at in range(3)]
        self.store.write_index(name, "drive-scsi0.img.fidx", 9 << 20, digests)
        files = [{"filename": "drive-scsi0.img.fidx", "size": 9 << 20, "crypt-mode": "none"}]
        self.store.write_manifest(name, {"files": files, "unprotected": {"notes": "a \"b\""}})
        self.assertEqual(self.store.read_index(name, "drive-scsi0.img.fidx"), (9 << 20, digests))
        entry = self.store.entry(name)
        self.assertEqual((entry["backup-time"], entry["owner"], entry["comment"]), (1777863721, "node@pbs", "a \"b\""))
        self.assertEqual(self.store.snapshots(), [name])
        self.store.forget(name)
        self.assertEqual(self.store.groups(), [])

    def test_chunks_of_a_disk(self):
        size = (9 << 20) + 512
        file = disk(self, size, [(5 << 20, b"x")])
        found = list(pbs_store.split_disk(file.fileno(), size))
        self.assertEqual([bool(data) for _, data in found], [False, True, False])
        self.assertEqual(found[0][0], pbs_store.ZERO)
        self.assertEqual(found[2][0], hashlib.sha256(bytes(size - (8 << 20))).digest())


if __name__ == "__main__":
    unittest.main()
