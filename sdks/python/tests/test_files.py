from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from torpor import InvalidTextError, NotFoundError, Sandbox, TorporError
from torpor._archive import unpack
from torpor.errors import InvalidArchiveError

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000200015c0f0d0a0000000049454e44ae426082"
)


@pytest.mark.parametrize("content", [PNG, bytes(range(256)), bytes(reversed(range(256))) * 5000], ids=["png", "table", "large"])
def test_L04_bytes_come_back_as_they_went(sandbox: Sandbox, content: bytes, tmp_path: Path) -> None:
    digest = hashlib.sha256(content).hexdigest()
    sandbox.files.write("bytes", content)
    assert hashlib.sha256(sandbox.files.read_bytes("bytes")).hexdigest() == digest
    # In pieces, both ways.
    sandbox.files.write("pieces", (content[at : at + 1000] for at in range(0, len(content), 1000)))
    with sandbox.files.stream("pieces") as pieces:
        assert hashlib.sha256(b"".join(pieces)).hexdigest() == digest
    (tmp_path / "local").write_bytes(content)
    sandbox.files.upload(tmp_path / "local", "uploaded")
    sandbox.files.download("uploaded", tmp_path / "back")
    assert hashlib.sha256((tmp_path / "back").read_bytes()).hexdigest() == digest
    assert (
        hashlib.sha256(sandbox.exec(["cat", "bytes"]).stdout_bytes).hexdigest() == hashlib.sha256(content[-8 * 1024 * 1024 :]).hexdigest()
    )


def test_L04_what_is_no_text_is_an_error_or_is_replaced_by_request(sandbox: Sandbox) -> None:
    sandbox.files.write("table", bytes(range(256)))
    with pytest.raises(InvalidTextError, match="byte 128 is 0x80") as caught:
        sandbox.files.read("table")
    assert isinstance(caught.value, (TorporError, ValueError))
    assert caught.value.code == "invalid_request"
    assert sandbox.files.read("table", errors="replace").count("\ufffd") == 128
    assert sandbox.files.read("table", encoding="latin-1").encode("latin-1") == bytes(range(256))


def test_files_are_written_looked_at_moved_and_removed(sandbox: Sandbox) -> None:
    files = sandbox.files
    entry = files.write("a/b", "grüße", parents=True, mode=0o600)
    assert (entry.name, entry.size, entry.mode) == ("b", 7, 0o600)
    assert files.read("a/b") == "grüße"
    assert files.write("a/open", io.BytesIO(b"open file")).size == 9
    assert files.mkdir("a/c").type == "directory"
    files.move("a/b", "a/c/d")
    assert [each.name for each in files.list("a")] == ["c", "open"]
    assert (files.exists("a/b"), files.exists("a/c/d")) == (False, True)
    with pytest.raises(TorporError) as caught:
        files.remove("a")
    assert caught.value.code == "directory_not_empty"
    files.remove("a", recursive=True)
    with pytest.raises(NotFoundError, match="a/c/d"):
        files.stat("a/c/d")


@pytest.mark.parametrize("name", ["a b", "a%20b", "a+b", "x#y?z", "%2e%2e", "ü", "a&b=c"])
def test_names_are_encoded_once(sandbox: Sandbox, name: str) -> None:
    sandbox.files.write(f"names/{name}", name, parents=True)
    assert sandbox.files.read(f"names/{name}") == name
    assert [each.name for each in sandbox.files.list("names")] == [name]


def test_directories_go_in_and_come_out_as_cp_does_it(sandbox: Sandbox, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "f").write_text("content")
    (tree / "run").write_text("#!/bin/sh\n")
    (tree / "run").chmod(0o755)
    os.symlink("sub/f", tree / "link")
    sandbox.files.upload(tree, "new")
    assert sandbox.files.read("new/sub/f") == "content"
    assert sandbox.files.stat("new/run").mode == 0o755
    sandbox.files.upload(tree, "new")
    assert sandbox.files.exists("new/tree/run")
    sandbox.files.upload(f"{tree}/.", "new/sub")
    assert sandbox.files.exists("new/sub/run")
    sandbox.files.download("new/tree", tmp_path / "back")
    assert (tmp_path / "back" / "link").read_text() == "content"
    assert os.readlink(tmp_path / "back" / "link") == "sub/f"
    assert (tmp_path / "back" / "run").stat().st_mode & 0o777 == 0o755
    sandbox.files.download("new/run", tmp_path)
    assert (tmp_path / "run").read_text() == "#!/bin/sh\n"
    sandbox.files.download("new", tmp_path / "back")
    assert (tmp_path / "back" / "new" / "sub" / "f").exists()


def test_a_download_that_fails_leaves_what_was_there(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    with pytest.raises(NotFoundError):
        sandbox.files.download("nope", tmp_path / "f")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "old"


def archive_of(*members: tarfile.TarInfo) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    file.seek(0)
    return file


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = 1 if kind == tarfile.REGTYPE else 0
    return info


@pytest.mark.parametrize(
    "members",
    [
        [member("d/../../out")],
        [member("d/link", tarfile.SYMTYPE, "../.."), member("d/link/out")],
        [member("d/link", tarfile.SYMTYPE, "/etc")],
        [member("d/hard", tarfile.LNKTYPE, "d/../../secret")],
        [member("d/device", tarfile.CHRTYPE)],
        [member("/out")],
    ],
    ids=["dots", "through a link", "absolute link", "hard link", "device", "absolute"],
)
def test_an_archive_writes_nothing_outside(tmp_path: Path, members: list[tarfile.TarInfo]) -> None:
    (tmp_path / "secret").write_text("secret")
    outside = Path("/out")
    with contextlib.suppress(InvalidArchiveError):
        unpack(archive_of(*members), tmp_path / "target" / "deep")
    assert not outside.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "target"]
    assert (tmp_path / "secret").read_text() == "secret"
    assert [path.name for path in (tmp_path / "target").iterdir()] == ["deep"]
    for path in (tmp_path / "target" / "deep").rglob("*"):
        assert not path.is_symlink()
        assert path.is_file()
        assert path.stat().st_nlink == 1
