"""Log lines and partial output of a job. See docs/reference/worker-protocol.md#progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ._errors import well_formed
from ._proto import bus_pb2 as pb

LogLevel = Literal["debug", "info", "warn", "error"]

FLUSH_SEC = 0.05
MAX_LINES = 100
MAX_LINE_CHARS = 2_000
MAX_OUTPUT_CHARS = 16_384
#: A word is sent in one piece, so that the platform recognizes a secret in it, unless it is longer or incomplete for longer.
MAX_WORD_CHARS = 512
MAX_WORD_SEC = 0.5


@dataclass(frozen=True)
class OutputReport:
    logs: list[pb.JobLogLine]
    output: str
    #: Characters (UTF-16) of partial output before this part.
    output_offset: int


class JobOutput:
    """Collects what a job writes, and sends it every 50 ms. May be called from any thread."""

    def __init__(self, send: Callable[[OutputReport], object]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lines: list[pb.JobLogLine] = []
        self._text = ""
        self._sent_chars = 0
        self._word_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def log(self, message: str, level: LogLevel) -> None:
        text = well_formed(message[:MAX_LINE_CHARS])
        line = pb.JobLogLine(level=level, message=text, at_ms=time.time_ns() // 1_000_000)
        self._loop.call_soon_threadsafe(self._accept, line, "")

    def write(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._accept, None, well_formed(text))

    def finish(self) -> list[OutputReport]:
        """Ends the reports, because the result is next. Returns the last ones, which the caller sends."""
        self._is_over = True
        self._stop_timer()
        return self._take(len(self._text))

    def _accept(self, line: pb.JobLogLine | None, text: str) -> None:
        if self._is_over:
            return
        if line is not None:
            self._lines.append(line)
        if not self._text:
            self._word_since = time.monotonic()
        self._text += text
        if len(self._lines) >= MAX_LINES or len(self._text) >= MAX_OUTPUT_CHARS:
            self._flush_complete()
        elif self._timer is None:
            self._timer = self._loop.call_later(FLUSH_SEC, self._flush_complete)

    def _flush_complete(self) -> None:
        """Sends all but an incomplete last word."""
        self._stop_timer()
        word_at = len(self._text)
        while word_at > 0 and not self._text[word_at - 1].isspace():
            word_at -= 1
        is_overdue = time.monotonic() - self._word_since >= MAX_WORD_SEC
        is_long = len(self._text) - word_at > MAX_WORD_CHARS
        for report in self._take(len(self._text) if is_overdue or is_long else word_at):
            self._send(report)
        if self._text:
            self._timer = self._loop.call_later(FLUSH_SEC, self._flush_complete)

    def _take(self, end: int) -> list[OutputReport]:
        reports = []
        at = 0
        while at < end or self._lines:
            part = _first_part(self._text[at : min(end, at + MAX_OUTPUT_CHARS)])
            lines, self._lines = self._lines[:MAX_LINES], self._lines[MAX_LINES:]
            reports.append(OutputReport(lines, part, self._sent_chars))
            at += len(part)
            self._sent_chars += _utf16_chars(part)
        if at > 0:
            self._word_since = time.monotonic()
        self._text = self._text[at:]
        return reports

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _utf16_chars(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _first_part(text: str) -> str:
    """Within the limit also when every character counts twice."""
    return text if _utf16_chars(text) <= MAX_OUTPUT_CHARS else text[: MAX_OUTPUT_CHARS // 2]
