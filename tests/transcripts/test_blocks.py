"""Lines of a transcript by their offsets, whatever the block size; the search of a large one misses none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.transcripts import blocks, find

LINES = st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=12)


@contextmanager
def blocks_of(size: int, longest: int = 1 << 20) -> Iterator[None]:
    """Reading in blocks so small that lines span them."""
    patch = pytest.MonkeyPatch()
    patch.setattr(blocks, "_BLOCK", size)
    patch.setattr(blocks, "_LONGEST", longest)
    try:
        yield
    finally:
        patch.undo()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that the examples fill anew."""
    return tmp_path_factory.mktemp("transcript") / "x.jsonl"


@given(LINES, st.booleans(), st.integers(1, 40))
def test_lines_and_their_offsets_are_those_of_the_file(
    path: Path, written: list[bytes], newline: bool, block: int
) -> None:
    data = b"\n".join(written) + (b"\n" if newline and written else b"")
    path.write_bytes(data)
    with blocks_of(block):
        found = list(blocks.lines(str(path), 0, len(data)))
    begin = 0
    for end, line in found:
        assert data[begin:end].rstrip(b"\n") == line.rstrip(b"\n")
        begin = end
    assert begin == len(data)


@given(LINES, st.integers(1, 40), st.data())
def test_a_part_begins_at_any_line(path: Path, written: list[bytes], block: int, data: st.DataObject) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in written))
    number = data.draw(st.integers(0, len(written)))
    begin = sum(len(line) + 1 for line in written[:number])
    with blocks_of(block):
        found = [line for _, line in blocks.lines(str(path), begin, path.stat().st_size)]
    assert found == written[number:]


@given(LINES, st.integers(1, 20), st.integers(0, 400))
def test_the_start_of_a_line_is_found_from_any_offset(
    path: Path, written: list[bytes], block: int, at: int
) -> None:
    data = b"".join(line + b"\n" for line in written)
    path.write_bytes(data)
    starts = [0, *(n + 1 for n, byte in enumerate(data) if byte == 10)]
    offset = min(at, len(data))
    with blocks_of(block):
        found = blocks.line_start(str(path), offset, len(data))
    assert found == min(start for start in [*starts, len(data)] if start >= offset)


@given(LINES, st.integers(5, 60))
def test_the_search_by_blocks_finds_every_line_with_a_needle(
    path: Path, written: list[bytes], block: int
) -> None:
    written = [line.replace(b"a", b"needle") for line in written]
    path.write_bytes(b"".join(line + b"\n" for line in written))
    with blocks_of(block):
        found = blocks.candidates(str(path), 0, path.stat().st_size, (b"needle", b"b"), lambda line: True)
        assert [line for line, _ in found] == [line for line in written if b"needle" in line or b"b" in line]


def test_the_search_gives_what_follows_a_line(path: Path) -> None:
    path.write_bytes(b"x\nneedle 1\nafter 1\nneedle 2\nafter 2\n")
    with blocks_of(8):
        found = list(blocks.candidates(str(path), 0, path.stat().st_size, (b"needle",), lambda line: True, 8))
    assert found == [(b"needle 1", b"after 1\n"), (b"needle 2", b"after 2\n")]


@pytest.mark.parametrize("size", [3_000_000, 9_000_000, 40_000_000])
def test_a_line_of_any_length_keeps_its_words_and_loses_its_blobs(path: Path, size: int) -> None:
    blob = b"QUJD" * (size // 4)
    line = b'{"text":"typed words","image":"' + blob + b'","more":"after it"}'
    path.write_bytes(b"first\n" + line + b"\nlast\n")
    end = path.stat().st_size
    kept = b'{"text":"typed words","image":"","more":"after it"}'
    (first, long, last) = blocks.lines(str(path), 0, end)
    assert (first, last) == ((6, b"first"), (end, b"last"))
    assert long[0] == end - 5
    assert blocks.shortened(long[1]) == kept
    found = blocks.candidates(str(path), 0, end, (b"typed",), lambda line: True)
    assert [blocks.shortened(one) for one, _ in found] == [kept]


def test_of_a_very_long_text_the_beginning_and_the_end_stay(path: Path) -> None:
    line = json.dumps({"text": "BEGIN " + "a word of a log, \u00e9 \n" * 700_000 + " END"}).encode()
    path.write_bytes(line + b"\nlast\n")
    (long, last) = blocks.lines(str(path), 0, path.stat().st_size)
    assert last[1] == b"last"
    assert len(long[1]) < 7_500_000
    text = json.loads(long[1])["text"]
    assert (text[:5], text[-3:]) == ("BEGIN", "END")


@given(st.binary(max_size=200), st.integers(1, 30), st.binary(min_size=1, max_size=6))
def test_blocks_that_overlap_cut_no_needle(path: Path, data: bytes, block: int, needle: bytes) -> None:
    path.write_bytes(data)
    with blocks_of(block):
        found = any(needle in one for one in blocks.blocks(str(path), 0, len(data), len(needle)))
    assert found == (needle in data)


@pytest.mark.parametrize(
    ("data", "kept", "end"),
    [
        (b"one\ntwo\n", (b"one", b"two"), 8),
        (b"one\n{}", (b"one", b"{}"), 6),
        (b"one\n{cut", (b"one",), 4),
        (b"{}", (b"{}",), 2),
        (b"{cut", (), 0),
        (b"", (), 0),
        (b"one\n\n", (b"one", b""), 5),
    ],
)
def test_a_last_line_without_newline_counts_when_it_is_a_record(
    path: Path, data: bytes, kept: tuple[bytes, ...], end: int
) -> None:
    path.write_bytes(data)
    where = blocks.extent(str(path))
    assert where is not None
    found = blocks.tail(where, 0, 1 << 20, lambda line: line == b"{}")
    assert (found.begin, found.end, found.lines) == (0, end, kept)


def test_only_the_last_bytes_of_a_large_part_are_read_whole(path: Path) -> None:
    path.write_bytes(b"".join(b"line %03d\n" % number for number in range(100)))
    where = blocks.extent(str(path))
    assert where is not None
    found = blocks.tail(where, 90, 25, lambda line: True)
    assert found.lines == (b"line 098", b"line 099")
    assert (found.begin, found.end) == (98 * 9, 900)


@pytest.mark.parametrize(("offset", "same"), [(0, True), (5000, True), (9000, False), (9999, False)])
def test_the_check_covers_the_4_kib_before_an_offset(path: Path, offset: int, same: bool) -> None:
    path.write_bytes(b"a" * 10_000)
    before = blocks.check_before(str(path), offset)
    path.write_bytes(b"a" * 8000 + b"b" + b"a" * 1999)
    assert (blocks.check_before(str(path), offset) == before) is same
    assert blocks.check_before(str(path), 10_001) == ""


def test_the_extent_is_that_of_the_real_regular_file(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    found = blocks.extent(str(tmp_path / "link"))
    assert found is not None
    assert (found.path, found.size) == (os.path.realpath(file), 3)
    for name in ("fifo", "loop", "gone", ""):
        assert blocks.extent(str(tmp_path / name)) is None


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("claude", ".claude/projects/-a-b/ID.jsonl"),
        ("cursor", ".cursor/projects/a-b/agent-transcripts/ID.jsonl"),
        ("cursor", ".cursor/projects/a-b/agent-transcripts/ID/ID.jsonl"),
        ("cursor", ".cursor/projects/a-b/agent-transcripts/ID.txt"),
        ("pi", ".pi/agent/sessions/--a-b--/2026-03-04T05-06-07-000Z_ID.jsonl"),
        ("codex", ".codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-ID.jsonl"),
    ],
)
def test_each_host_keeps_a_transcript_by_its_id(tmp_path: Path, host: str, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.touch()
    environ = {"HOME": str(tmp_path)}
    assert find.host_transcripts(host, "ID", environ) == [str(path)]
    assert find.host_transcripts(host, "OTHER", environ) == []
    assert find.host_transcripts("unknown", "ID", environ) == []
    assert find.host_transcripts(host, "ID", {}) == []


@pytest.mark.parametrize(
    ("host", "variable", "place"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "projects/p/ID.jsonl"),
        ("codex", "CODEX_HOME", "sessions/2026/03/04/rollout-x-ID.jsonl"),
        ("pi", "PI_CODING_AGENT_DIR", "sessions/p/x_ID.jsonl"),
    ],
)
def test_a_host_that_was_moved_is_found(tmp_path: Path, host: str, variable: str, place: str) -> None:
    path = tmp_path / "moved [1]" / place
    path.parent.mkdir(parents=True)
    path.touch()
    environ = {"HOME": str(tmp_path), variable: str(tmp_path / "moved [1]")}
    assert find.host_transcripts(host, "ID", environ) == [str(path)]
