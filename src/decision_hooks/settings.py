"""Every environment variable that the programs read: name, default, meaning, parser.

One table; the README's table is tested against it. Empty is unset. A value that cannot be used raises
``SettingError`` naming the variable and the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from decision_hooks.errors import SettingError

GUARDS = ("CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP")
CAPTURE, NORMALIZE = "capture", "normalize"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_MAX_SECONDS = 24 * 3600.0


def _text(value: str) -> str:
    if len(value) > 4096 or any(ord(c) < 32 for c in value):
        raise ValueError
    return value


def _boolean(value: str) -> bool:
    word = value.strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError
    return word in _TRUE


def _whole(least: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        number = int(value.strip()) if value.strip().isascii() else least - 1
        if not least <= number <= 1_000_000:
            raise ValueError
        return number

    return parse


def _number(least: float, most: float) -> Callable[[str], float]:
    def parse(value: str) -> float:
        number = float(value.strip())
        if not least <= number <= most:  # NaN fails too
            raise ValueError
        return number

    return parse


def _folder(value: str) -> str:
    parts = [part for part in _text(value).replace("\\", "/").split("/") if part not in ("", ".")]
    if value.startswith(("/", "~")) or not parts or ".." in parts or parts[0] in (".git", ".claude"):
        raise ValueError
    return "/".join(parts)


class Variable(NamedTuple):
    """One variable; ``default`` is a text as a user would set it, "" where unset has a meaning of its own."""

    name: str
    default: str
    meaning: str
    parse: Callable[[str], object]
    programs: tuple[str, ...]


_BOTH, _CAPTURE, _NORMALIZE = (CAPTURE, NORMALIZE), (CAPTURE,), (NORMALIZE,)

VARIABLES: tuple[Variable, ...] = (
    Variable(
        "CAPTURE_DECISIONS_BACKEND",
        "pi",
        "Who drafts: `pi`, `claude`, `cursor-agent`, `auto`, or `choices` (no model).",
        _text,
        _CAPTURE,
    ),
    Variable(
        "CAPTURE_DECISIONS_PI_MODEL", "", "Model for `pi`; unset: `N_LOCAL_MIN_MODEL`.", _text, _CAPTURE
    ),
    Variable(
        "CAPTURE_DECISIONS_CLAUDE_MODEL", "sonnet", "Model for `claude` when capturing.", _text, _CAPTURE
    ),
    Variable(
        "CAPTURE_DECISIONS_CURSOR_MODEL",
        "claude-4.6-sonnet-medium",
        "Model for `cursor-agent` when capturing.",
        _text,
        _CAPTURE,
    ),
    Variable(
        "CAPTURE_DECISIONS_TIMEOUT",
        "150",
        "Seconds for one capture call.",
        _number(1, _MAX_SECONDS),
        _CAPTURE,
    ),
    Variable(
        "CAPTURE_DECISIONS_INCREMENTAL",
        "1",
        "`0`: the digest is the whole session each time, not only what is new.",
        _boolean,
        _CAPTURE,
    ),
    Variable(
        "ADR_CAPTURE_SKIP_CROSS_PROJECT",
        "1",
        "`0`: capture also when every edited file lies outside the project.",
        _boolean,
        _CAPTURE,
    ),
    Variable(
        "ADR_NORMALIZE_SKIP_TOOLING_ONLY",
        "1",
        "`0`: keep sessions and drafts that touched only tooling files (shared by both programs).",
        _boolean,
        _BOTH,
    ),
    Variable(
        "ADR_NORMALIZE_THRESHOLD",
        "30",
        "Drafts that must wait before the hook normalises.",
        _whole(0),
        _NORMALIZE,
    ),
    Variable("ADR_NORMALIZE_BATCH", "10", "Most drafts in one call.", _whole(1), _NORMALIZE),
    Variable(
        "ADR_NORMALIZE_MIN_INTERVAL_HOURS",
        "6",
        "Least hours between two attempts; may be decimal.",
        _number(0, 24 * 366),
        _NORMALIZE,
    ),
    Variable("ADR_NORMALIZE_DRY", "0", "`1`: only log the planned operations.", _boolean, _NORMALIZE),
    Variable(
        "ADR_NORMALIZE_BACKEND",
        "",
        "`local`, `pi`, `claude`, `cursor` or `rules` (no model); unset: `local` if `N_LOCAL_MIN_MODEL` is set, "
        "else the first of `pi`, `claude`, `cursor-agent` that is there.",
        _text,
        _NORMALIZE,
    ),
    Variable("ADR_NORMALIZE_MODEL", "sonnet", "Model for `claude` when normalising.", _text, _NORMALIZE),
    Variable(
        "ADR_NORMALIZE_CURSOR_MODEL",
        "claude-4.6-sonnet-medium",
        "Model for `cursor-agent` when normalising.",
        _text,
        _NORMALIZE,
    ),
    Variable(
        "ADR_NORMALIZE_PI_MODEL",
        "",
        "Model for `pi` when normalising; unset: `N_CLOUD_AVG_MODEL`, else `openai-codex/gpt-5.5`.",
        _text,
        _NORMALIZE,
    ),
    Variable(
        "ADR_NORMALIZE_LOCAL_CMD",
        "",
        "Command of the `local` backend; unset: the pipeline of this package.",
        _text,
        _NORMALIZE,
    ),
    Variable("ADR_NORMALIZE_LOCAL_JOBS", "2", "Parallel calls of the local pipeline.", _whole(1), _NORMALIZE),
    Variable(
        "ADR_NORMALIZE_TIMEOUT",
        "540",
        "Seconds for one normalisation call.",
        _number(1, _MAX_SECONDS),
        _NORMALIZE,
    ),
    Variable(
        "N_LOCAL_MIN_MODEL", "", "Small local model: for capture with `pi`, and for `local`.", _text, _BOTH
    ),
    Variable("N_CLOUD_AVG_MODEL", "", "Default of `ADR_NORMALIZE_PI_MODEL`.", _text, _NORMALIZE),
    Variable(
        "ADR_LANGUAGE",
        "uk",
        "Language of drafts and records: `uk`, `en`, or the name of another.",
        _text,  # ``languages.table.language`` judges it
        _BOTH,
    ),
    Variable(
        "ADR_DIR", "docs/adr", "Folder of drafts and records, relative to the project's root.", _folder, _BOTH
    ),
    Variable("ADR_DAILY_CALLS", "200", "Most calls of a model a day in one project.", _whole(0), _BOTH),
)

_BY_NAME = {variable.name: variable for variable in VARIABLES}


class CaptureSettings(NamedTuple):
    """What a capture run goes by."""

    backend: str
    pi_model: str  # "" = none
    claude_model: str
    cursor_model: str
    timeout: float  # seconds
    incremental: bool
    skip_cross_project: bool
    skip_tooling_only: bool
    language: str
    adr_dir: str  # relative, with "/"
    daily_calls: int


class NormalizeSettings(NamedTuple):
    """What a normalisation run goes by."""

    threshold: int
    batch: int
    min_interval: float  # seconds
    dry: bool
    backend: str  # "" = chosen by availability
    claude_model: str
    cursor_model: str
    pi_model: str
    local_cmd: str  # "" = our own pipeline
    local_jobs: int
    local_model: str  # "" = none
    timeout: float  # seconds
    skip_tooling_only: bool
    language: str
    adr_dir: str
    daily_calls: int


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def value(self, name: str) -> object:
        variable = _BY_NAME[name]
        given = self._environ.get(name, "")
        if not given.strip():
            return variable.parse(variable.default) if variable.default else ""
        try:
            return variable.parse(given)
        except (ValueError, OverflowError):
            raise SettingError(f"bad value of {name}: {given[:80]!r}; nothing was done") from None

    def text(self, name: str) -> str:
        return str(self.value(name)).strip()

    def flag(self, name: str) -> bool:
        return bool(self.value(name))

    def whole(self, name: str) -> int:
        return int(str(self.value(name)))

    def number(self, name: str) -> float:
        return float(str(self.value(name)))


def capture_settings(environ: Mapping[str, str]) -> CaptureSettings:
    """The settings of a capture; raises ``SettingError`` on the first value that cannot be used."""
    read = _Reader(environ)
    return CaptureSettings(
        backend=read.text("CAPTURE_DECISIONS_BACKEND"),
        pi_model=read.text("CAPTURE_DECISIONS_PI_MODEL") or read.text("N_LOCAL_MIN_MODEL"),
        claude_model=read.text("CAPTURE_DECISIONS_CLAUDE_MODEL"),
        cursor_model=read.text("CAPTURE_DECISIONS_CURSOR_MODEL"),
        timeout=read.number("CAPTURE_DECISIONS_TIMEOUT"),
        incremental=read.flag("CAPTURE_DECISIONS_INCREMENTAL"),
        skip_cross_project=read.flag("ADR_CAPTURE_SKIP_CROSS_PROJECT"),
        skip_tooling_only=read.flag("ADR_NORMALIZE_SKIP_TOOLING_ONLY"),
        language=read.text("ADR_LANGUAGE"),
        adr_dir=read.text("ADR_DIR"),
        daily_calls=read.whole("ADR_DAILY_CALLS"),
    )


def normalize_settings(environ: Mapping[str, str]) -> NormalizeSettings:
    """The settings of a normalisation; raises ``SettingError`` on the first value that cannot be used."""
    read = _Reader(environ)
    pi_model = read.text("ADR_NORMALIZE_PI_MODEL") or read.text("N_CLOUD_AVG_MODEL") or "openai-codex/gpt-5.5"
    return NormalizeSettings(
        threshold=read.whole("ADR_NORMALIZE_THRESHOLD"),
        batch=read.whole("ADR_NORMALIZE_BATCH"),
        min_interval=read.number("ADR_NORMALIZE_MIN_INTERVAL_HOURS") * 3600,
        dry=read.flag("ADR_NORMALIZE_DRY"),
        backend=read.text("ADR_NORMALIZE_BACKEND"),
        claude_model=read.text("ADR_NORMALIZE_MODEL"),
        cursor_model=read.text("ADR_NORMALIZE_CURSOR_MODEL"),
        pi_model=pi_model,
        local_cmd=read.text("ADR_NORMALIZE_LOCAL_CMD"),
        local_jobs=read.whole("ADR_NORMALIZE_LOCAL_JOBS"),
        local_model=read.text("N_LOCAL_MIN_MODEL"),
        timeout=read.number("ADR_NORMALIZE_TIMEOUT"),
        skip_tooling_only=read.flag("ADR_NORMALIZE_SKIP_TOOLING_ONLY"),
        language=read.text("ADR_LANGUAGE"),
        adr_dir=read.text("ADR_DIR"),
        daily_calls=read.whole("ADR_DAILY_CALLS"),
    )
