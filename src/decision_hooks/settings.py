"""Every environment variable that the programs read: name, field, default, parser, meaning.

One table, against which the README's table is tested. Empty is unset. A value that cannot be used raises
``SettingError``, which names the variable and the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from decision_hooks.errors import SettingError

GUARDS = ("CAPTURE_DECISIONS_RUNNING", "ADR_NORMALIZE_RUNNING", "ADR_HOOKS_SKIP")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_MAX_SECONDS = 24 * 3600.0
_MAX_HOURS = 24 * 366.0


def _text(value: str) -> str:
    if len(value) > 4096 or any(ord(c) < 32 for c in value):
        raise ValueError
    return value.strip()


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


def _number(least: float, most: float, unit: float = 1) -> Callable[[str], float]:
    def parse(value: str) -> float:
        number = float(value.strip())
        if not least <= number <= most:  # NaN fails too
            raise ValueError
        return number * unit

    return parse


def _folder(value: str) -> str:
    path = _text(value).replace("\\", "/")
    parts = [part for part in path.rstrip("/ ").split("/") if part not in ("", ".")]
    if path.startswith(("/", "~")) or not parts or ".." in parts or parts[0] in (".git", ".claude"):
        raise ValueError
    return "/".join(parts)


class Variable(NamedTuple):
    """One variable; its value becomes ``field`` of the settings."""

    name: str
    field: str  # "" for a variable that only replaces another that is unset
    default: str  # as a user would write it
    parse: Callable[[str], object]
    meaning: str
    replacement: str = ""  # the variable that is read when this one is unset


FOR_CAPTURE: tuple[Variable, ...] = (
    Variable("CAPTURE_DECISIONS_BACKEND", "backend", "pi", _text,
             "Who drafts: `pi`, `claude`, `cursor-agent`, `auto`, or `choices` (no model)."),
    Variable("CAPTURE_DECISIONS_PI_MODEL", "pi_model", "", _text,
             "Model for `pi`; unset: `N_LOCAL_MIN_MODEL`.", "N_LOCAL_MIN_MODEL"),
    Variable("CAPTURE_DECISIONS_CLAUDE_MODEL", "claude_model", "sonnet", _text,
             "Model for `claude` when capturing."),
    Variable("CAPTURE_DECISIONS_CURSOR_MODEL", "cursor_model", "claude-4.6-sonnet-medium", _text,
             "Model for `cursor-agent` when capturing."),
    Variable("CAPTURE_DECISIONS_TIMEOUT", "timeout", "150", _number(1, _MAX_SECONDS),
             "Seconds for one capture call."),
    Variable("CAPTURE_DECISIONS_INCREMENTAL", "incremental", "1", _boolean,
             "`0`: the digest is the whole session each time, not only what is new."),
    Variable("ADR_CAPTURE_SKIP_CROSS_PROJECT", "skip_cross_project", "1", _boolean,
             "`0`: capture also when every edited file lies outside the project."),
)  # fmt: skip
FOR_NORMALIZE: tuple[Variable, ...] = (
    Variable("ADR_NORMALIZE_PI_MODEL", "pi_model", "", _text,
             "Model for `pi` when normalising; unset: `N_CLOUD_AVG_MODEL`.", "N_CLOUD_AVG_MODEL"),
    Variable("N_CLOUD_AVG_MODEL", "", "openai-codex/gpt-5.5", _text,
             "Model for `pi` when `ADR_NORMALIZE_PI_MODEL` is unset."),
    Variable("ADR_NORMALIZE_THRESHOLD", "threshold", "30", _whole(0),
             "Drafts that must wait before the hook normalises."),
    Variable("ADR_NORMALIZE_BATCH", "batch", "10", _whole(1),
             "Most drafts in one call."),
    Variable("ADR_NORMALIZE_MIN_INTERVAL_HOURS", "min_interval", "6", _number(0, _MAX_HOURS, 3600),
             "Least hours between two attempts; may be decimal."),
    Variable("ADR_NORMALIZE_DRY", "dry", "0", _boolean,
             "`1`: only log the planned operations."),
    Variable("ADR_NORMALIZE_BACKEND", "backend", "", _text,
             "`local`, `pi`, `claude`, `cursor` or `rules` (no model); unset: `local` if `N_LOCAL_MIN_MODEL` "
             "is set, else the first of `pi`, `claude`, `cursor-agent` that is there."),
    Variable("ADR_NORMALIZE_MODEL", "claude_model", "sonnet", _text,
             "Model for `claude` when normalising."),
    Variable("ADR_NORMALIZE_CURSOR_MODEL", "cursor_model", "claude-4.6-sonnet-medium", _text,
             "Model for `cursor-agent` when normalising."),
    Variable("ADR_NORMALIZE_LOCAL_CMD", "local_cmd", "", _text,
             "Command of the `local` backend; unset: the pipeline of this package."),
    Variable("ADR_NORMALIZE_LOCAL_JOBS", "local_jobs", "2", _whole(1),
             "Parallel calls of the local pipeline."),
    Variable("N_LOCAL_MIN_MODEL", "local_model", "", _text,
             "Small local model: for capture with `pi`, and for `local`."),
    Variable("ADR_NORMALIZE_TIMEOUT", "timeout", "540", _number(1, _MAX_SECONDS),
             "Seconds for one normalisation call."),
)  # fmt: skip
FOR_BOTH: tuple[Variable, ...] = (
    Variable("ADR_NORMALIZE_SKIP_TOOLING_ONLY", "skip_tooling_only", "1", _boolean,
             "`0`: keep sessions and drafts that touched only tooling files (shared by both programs)."),
    Variable("ADR_LANGUAGE", "language", "uk", _text,  # ``languages.table.language`` checks it
             "Language of drafts and records: `uk`, `en`, or the name of another."),
    Variable("ADR_DIR", "adr_dir", "docs/adr", _folder,
             "Folder of drafts and records, relative to the project's root."),
    Variable("ADR_DAILY_CALLS", "daily_calls", "200", _whole(0),
             "Most calls of a model a day in one project."),
)  # fmt: skip
VARIABLES = (*FOR_CAPTURE, *FOR_NORMALIZE, *FOR_BOTH)
_BY_NAME = {variable.name: variable for variable in VARIABLES}


class CaptureSettings(NamedTuple):
    """The settings of a capture."""

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
    """The settings of a normalisation."""

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


def capture_settings(environ: Mapping[str, str]) -> CaptureSettings:
    """The settings of a capture; raises ``SettingError`` on the first value that cannot be used."""
    return CaptureSettings(**_read(environ, FOR_CAPTURE + FOR_BOTH))


def normalize_settings(environ: Mapping[str, str]) -> NormalizeSettings:
    """The settings of a normalisation; raises ``SettingError`` on the first value that cannot be used."""
    return NormalizeSettings(**_read(environ, FOR_NORMALIZE + FOR_BOTH))


def model_variable(settings: CaptureSettings | NormalizeSettings, field: str) -> str:
    """The variable that names the model of a field of these settings."""
    variables = FOR_CAPTURE if isinstance(settings, CaptureSettings) else FOR_NORMALIZE
    return next(variable.name for variable in variables if variable.field == field)


def _read(environ: Mapping[str, str], variables: tuple[Variable, ...]) -> dict[str, Any]:
    return {variable.field: _value(environ, variable) for variable in variables if variable.field}


def _value(environ: Mapping[str, str], variable: Variable) -> object:
    given = environ.get(variable.name, "")
    if given.strip():
        try:
            return variable.parse(given)
        except (ValueError, OverflowError):
            raise SettingError(f"bad value of {variable.name}: {given[:80]!r}; nothing was done") from None
    if variable.replacement:
        return _value(environ, _BY_NAME[variable.replacement])
    return variable.parse(variable.default)
