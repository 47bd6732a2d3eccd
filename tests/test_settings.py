"""Every variable is read by one rule: empty is unset, a bad value names itself, defaults are the documented ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks import cli, settings
from decision_hooks.errors import SettingError
from decision_hooks.settings import VARIABLES, CaptureSettings, NormalizeSettings, Variable

READ: dict[Callable[[Mapping[str, str]], NamedTuple], tuple[Variable, ...]] = {
    settings.capture_settings: settings.FOR_CAPTURE + settings.FOR_BOTH,
    settings.normalize_settings: settings.FOR_NORMALIZE + settings.FOR_BOTH,
}
BOOLEANS = (
    "CAPTURE_DECISIONS_INCREMENTAL", "ADR_CAPTURE_SKIP_CROSS_PROJECT", "ADR_NORMALIZE_SKIP_TOOLING_ONLY",
)  # fmt: skip
NUMBERS = ("CAPTURE_DECISIONS_TIMEOUT", "ADR_DAILY_CALLS")


def test_the_defaults_of_a_capture() -> None:
    assert settings.capture_settings({}) == CaptureSettings(
        backend="pi",
        pi_model="",
        claude_model="sonnet",
        cursor_model="claude-4.6-sonnet-medium",
        timeout=150.0,
        incremental=True,
        skip_cross_project=True,
        skip_tooling_only=True,
        language="uk",
        adr_dir="docs/adr",
        daily_calls=200,
    )


def test_the_defaults_of_a_normalisation() -> None:
    assert settings.normalize_settings({}) == NormalizeSettings(
        threshold=30,
        batch=10,
        min_interval=6 * 3600.0,
        dry=False,
        backend="",
        claude_model="sonnet",
        cursor_model="claude-4.6-sonnet-medium",
        pi_model="openai-codex/gpt-5.5",
        local_cmd="",
        local_jobs=2,
        local_model="",
        timeout=540.0,
        skip_tooling_only=True,
        language="uk",
        adr_dir="docs/adr",
        daily_calls=200,
    )


@pytest.mark.parametrize("empty", ["", " ", "\t\n"])
def test_an_empty_value_is_unset(empty: str) -> None:
    environ = {variable.name: empty for variable in VARIABLES}
    for read in READ:
        assert read(environ) == read({})


@pytest.mark.parametrize("name", BOOLEANS)
@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("0", False), ("false", False), ("No", False), (" OFF ", False),
        ("1", True), ("True", True), ("yes", True), ("on\n", True),
    ],
)  # fmt: skip
def test_a_boolean_has_eight_words(name: str, value: str, meant: bool) -> None:
    found = settings.capture_settings({name: value})
    by_name = {
        "CAPTURE_DECISIONS_INCREMENTAL": found.incremental,
        "ADR_CAPTURE_SKIP_CROSS_PROJECT": found.skip_cross_project,
        "ADR_NORMALIZE_SKIP_TOOLING_ONLY": found.skip_tooling_only,
    }
    assert by_name[name] is meant


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in BOOLEANS for value in ("2", "ja", "truefalse", "-1")),
        *((name, value) for name in NUMBERS for value in ("ten", "-1", "nan", "inf", "1e999", "0x10", "1,5")),
        ("CAPTURE_DECISIONS_TIMEOUT", "0"),
        ("ADR_DAILY_CALLS", "1.5"),
        ("ADR_DAILY_CALLS", "٣"),
        ("ADR_DIR", ".."),
        ("CAPTURE_DECISIONS_BACKEND", "a\nb"),
        ("CAPTURE_DECISIONS_CLAUDE_MODEL", "a\x1bb"),
    ],
)
def test_a_bad_value_names_the_variable_and_itself(name: str, value: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings.capture_settings({name: value})
    assert name in str(caught.value)
    assert repr(value)[1:-1] in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ADR_NORMALIZE_BATCH", "ten"),
        ("ADR_NORMALIZE_BATCH", "0"),
        ("ADR_NORMALIZE_THRESHOLD", "-1"),
        ("ADR_NORMALIZE_MIN_INTERVAL_HOURS", "6h"),
        ("ADR_NORMALIZE_DRY", "maybe"),
        ("ADR_NORMALIZE_TIMEOUT", ""),
        ("ADR_NORMALIZE_LOCAL_JOBS", "0"),
    ],
)
def test_a_bad_value_troubles_only_the_program_that_reads_it(name: str, value: str) -> None:
    settings.capture_settings({name: value})
    if value:
        with pytest.raises(SettingError, match=name):
            settings.normalize_settings({name: value})


@pytest.mark.parametrize(
    ("value", "seconds"), [("0", 0.0), ("0.5", 1800.0), ("6", 21600.0), (" 1e1 ", 36000.0)]
)
def test_hours_may_be_decimal(value: str, seconds: float) -> None:
    assert settings.normalize_settings({"ADR_NORMALIZE_MIN_INTERVAL_HOURS": value}).min_interval == seconds


@pytest.mark.parametrize(
    ("value", "folder"),
    [("docs/adr", "docs/adr"), ("./a//b/", "a/b"), ("a\\b", "a/b"), ("рішення", "рішення"), (".adr", ".adr")],
)
def test_the_folder_of_records_is_relative_with_slashes(value: str, folder: str) -> None:
    assert settings.capture_settings({"ADR_DIR": value}).adr_dir == folder


@pytest.mark.parametrize(
    "value",
    ["/a", "~/a", "../a", "a/../b", ".", "./", ".git/x", ".claude/x", "a\0b", "/", " /a", " ..", "a/.. /"],
)
def test_a_folder_that_is_not_inside_of_the_root_is_refused(value: str) -> None:
    with pytest.raises(SettingError, match="ADR_DIR"):
        settings.capture_settings({"ADR_DIR": value})


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({"N_CLOUD_AVG_MODEL": "cloud"}, "cloud"),
        ({"N_CLOUD_AVG_MODEL": "cloud", "ADR_NORMALIZE_PI_MODEL": "own"}, "own"),
        ({"N_LOCAL_MIN_MODEL": "local"}, "openai-codex/gpt-5.5"),
    ],
)
def test_the_model_of_pi_for_normalising(environ: dict[str, str], model: str) -> None:
    assert settings.normalize_settings(environ).pi_model == model


@pytest.mark.parametrize("read", READ)
def test_a_program_reads_the_variables_of_its_rows_and_no_others(
    read: Callable[[Mapping[str, str]], NamedTuple],
) -> None:
    asked: list[str] = []

    class Environ(dict[str, str]):
        def get(self, name: str, default: object = None) -> str:  # type: ignore[override]
            asked.append(name)
            return ""

    read(Environ())
    # A replacement is read only where it is needed; nothing is set here, so all of them are.
    rows = READ[read]
    assert set(asked) == {row.name for row in rows} | {row.replacement for row in rows if row.replacement}


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        (settings.FOR_CAPTURE + settings.FOR_BOTH, CaptureSettings._fields),
        (settings.FOR_NORMALIZE + settings.FOR_BOTH, NormalizeSettings._fields),
    ],
)
def test_each_field_has_one_row(rows: tuple[Variable, ...], fields: tuple[str, ...]) -> None:
    assert sorted(row.field for row in rows if row.field) == sorted(fields)


def test_the_first_bad_value_in_the_order_of_the_rows_is_named() -> None:
    with pytest.raises(SettingError, match="N_LOCAL_MIN_MODEL"):
        settings.capture_settings({"CAPTURE_DECISIONS_TIMEOUT": "x", "N_LOCAL_MIN_MODEL": "a\nb"})
    with pytest.raises(SettingError, match="N_CLOUD_AVG_MODEL"):
        settings.normalize_settings({"ADR_NORMALIZE_BATCH": "x", "N_CLOUD_AVG_MODEL": "a\nb"})
    with pytest.raises(SettingError, match="ADR_NORMALIZE_BATCH"):
        settings.normalize_settings({"ADR_DIR": "..", "ADR_NORMALIZE_BATCH": "x"})


def test_a_replacement_that_is_not_needed_is_not_read() -> None:
    environ = {"CAPTURE_DECISIONS_PI_MODEL": "own", "N_LOCAL_MIN_MODEL": "a\nb"}
    assert settings.capture_settings(environ).pi_model == "own"


def test_each_variable_has_one_row_with_a_meaning() -> None:
    names = [variable.name for variable in VARIABLES]
    assert len(names) == len(set(names))
    for variable in VARIABLES:
        assert re.fullmatch(r"[A-Z][A-Z_]+", variable.name)
        assert variable.meaning.endswith(".")


def test_the_entry_points_know_the_same_guards() -> None:
    assert cli._GUARDS == settings.GUARDS


@given(st.sampled_from([variable.name for variable in VARIABLES]), st.text(max_size=60))
def test_any_value_is_read_or_refused(name: str, value: str) -> None:
    for read in READ:
        told = ""
        try:
            read({name: value})
        except SettingError as error:
            told = str(error)
        assert not told or (name in told and "\n" not in told)
