"""The payload on stdin, with a clock of the test: nothing is waited for longer than it may be."""

from __future__ import annotations

import pytest

from decision_hooks.edge.stdin import read_pipe


class Pipe:
    """A pipe that gives each block at its second and ends at ``ends``; its time goes on only while it is waited for."""

    def __init__(self, *blocks: tuple[float, bytes], ends: float = float("inf")) -> None:
        self.blocks = [*blocks, (ends, b"")]
        self.time = 0.0

    def wait(self, seconds: float) -> bool:
        """Wait for the next block."""
        come = self.blocks[0][0]
        ready = come <= self.time + seconds
        self.time = max(self.time, come) if ready else self.time + seconds
        return ready

    def take(self) -> bytes:
        """The block that has come."""
        return self.blocks.pop(0)[1]

    def read(self) -> bytes:
        """What is read of it."""
        return read_pipe(self.wait, self.take, lambda: self.time)


def test_a_pipe_that_gives_no_byte_within_5_seconds_is_empty() -> None:
    pipe = Pipe((5.1, b"{}"))
    assert (pipe.read(), pipe.time) == (b"", 5.0)


def test_a_byte_in_the_fifth_second_begins_the_wait_anew() -> None:
    pipe = Pipe((4.9, b"{"), (9.5, b'"a": 1}'), ends=9.6)
    assert (pipe.read(), pipe.time) == (b'{"a": 1}', 9.6)


def test_a_pipe_that_was_closed_is_not_waited_for() -> None:
    pipe = Pipe((0.0, b"{not json"), ends=0.0)
    assert (pipe.read(), pipe.time) == (b"{not json", 0.0)


@pytest.mark.parametrize("data", [b'{"a": 1}', b'{"a": {"b": 2}}\n '])
def test_a_whole_object_is_not_waited_for_although_the_pipe_stays_open(data: bytes) -> None:
    pipe = Pipe((0.0, data))
    assert (pipe.read(), pipe.time) == (data, 0.5)


def test_an_object_that_is_not_whole_is_waited_for() -> None:
    pipe = Pipe((0.0, b'{"a": {"b": 2}'), (2.0, b', "c": 3}'), ends=60)
    assert (pipe.read(), pipe.time) == (b'{"a": {"b": 2}, "c": 3}', 2.5)


def test_a_host_that_never_stops_writing_is_left_after_30_seconds() -> None:
    pipe = Pipe(*[(float(second), b"x") for second in range(100)])
    assert len(pipe.read()) <= 31
    assert pipe.time == 30.0


def test_at_most_16_mib_are_read() -> None:
    block = b"x" * (1 << 20)
    pipe = Pipe(*[(0.0, block)] * 20)
    assert len(pipe.read()) == 16 << 20
