"""Names of files: safe, short, sorted by their time."""

from __future__ import annotations

import unicodedata
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision_hooks.records import naming


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Use SQLite for the cache", "use-sqlite-for-the-cache"),
        ("Ланцюжок запуску `abie`", "ланцюжок-запуску-abie"),
        ("П'ять об’єктів мʼята", "пять-обєктів-мята"),
        ("'quoted' ʼword", "quoted-word"),
        ("Й composed, И\u0306 not", "й-composed-й-not"),
        ("हिन्दी में निर्णय", "हिन्दी-में-निर्णय"),
        ("e\u0301te\u0301 q\u0307", "été-q̇"),
        ("❤\ufe0f cache \u0301", "cache"),
        ("Don't repeat `it`!", "dont-repeat-it"),
        ("日本語のタイトル", "日本語のタイトル"),
        ("Cafe\u0301 ÉCOLE", "café-école"),
        ("a_b\tc — d…", "a-b-c-d"),
        ("v1.2.3 → v2", "v1-2-3-v2"),
        ("П’ять об'єктів і зв\u02bcязків", "пять-обєктів-і-звязків"),
        ("snake_case/and.dots", "snake-case-and-dots"),
        ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("a -- b", "a-b"),
        ("nul \x00 byte\nline", "nul-byte-line"),
        ("\ud800", ""),
        ("😀 !!!", ""),
        ("", ""),
    ],
)
def test_a_title_becomes_a_slug(title: str, slug: str) -> None:
    assert naming.slug(title) == slug


def test_a_long_title_is_cut_at_a_word() -> None:
    assert naming.slug("слово " * 20) == "-".join(["слово"] * 10)
    assert naming.slug("a" * 58 + " bc") == "a" * 58
    assert naming.slug("a" * 57 + " bc d") == "a" * 57 + "-bc"


def test_one_long_word_is_cut_between_letters() -> None:
    assert naming.slug("a" * 100) == "a" * 60
    assert naming.slug("a" * 59 + "b\u0307\u0323" * 3) == "a" * 59


def test_a_limit_can_be_given() -> None:
    assert naming.slug("one two three", 8) == "one-two"


@given(st.text(max_size=200))
def test_a_slug_is_safe_and_short(title: str) -> None:
    slug = naming.slug(title)
    assert len(slug) <= 60
    assert len(f"20260102-030405-{slug}-999.md".encode()) <= 255
    assert slug == unicodedata.normalize("NFC", slug)
    assert slug == slug.strip("-")
    assert "--" not in slug
    assert all(char == "-" or char.isalnum() or unicodedata.category(char)[0] == "M" for char in slug)


@given(st.text(max_size=100))
def test_the_slug_of_a_slug_is_itself(title: str) -> None:
    slug = naming.slug(title)
    assert naming.slug(slug) == slug


WHEN = datetime(2026, 5, 18, 9, 28, 59)


@pytest.mark.parametrize(
    ("title", "session", "stem"),
    [
        ("Ланцюжок", "x", "260518-0928-ланцюжок"),
        ("", "5e551011-0000-4000", "260518-0928-5e551011"),
        ("!", "A_b/c.d-e", "260518-0928-a-b-c-d"),
        ("", "////////x", "260518-0928-session"),
        ("", "", "260518-0928-session"),
    ],
)
def test_a_draft_is_named_by_time_and_title_or_session(title: str, session: str, stem: str) -> None:
    assert naming.draft_stem(WHEN, title, session) == stem


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert [naming.numbered("a-b", number) for number in (1, 2, 3)] == ["a-b", "a-b-2", "a-b-3"]
    assert len(naming.numbered("ж" * 200, 12).encode() + b".md") <= 255


@pytest.mark.parametrize(
    ("name", "prefix", "day"),
    [
        ("260518-0928-x.md", "260518-0928-", "2026-05-18"),
        ("20260518-092801-x.md", "20260518-092801-", "2026-05-18"),
        ("240229-2359-x.md", "240229-2359-", "2024-02-29"),
        ("230229-0000-x.md", "", None),
        ("261318-0928-x.md", "", None),
        ("260518-2428-x.md", "", None),
        ("260518-0960-x.md", "", None),
        ("20260518-092860-x.md", "", None),
        ("00000101-000000-x.md", "", None),
        ("260518-0928.md", "", None),
        ("2605180928-x.md", "", None),
        ("٢٦٠٥١٨-٠٩٢٨-x.md", "", None),
        ("x-260518-0928-x.md", "", None),
    ],
)
def test_the_time_of_a_name_is_read_when_it_is_real(name: str, prefix: str, day: str | None) -> None:
    assert naming.time_prefix(name) == prefix
    assert naming.day_of(name) == day


def test_both_forms_of_time_sort_together_and_names_without_come_last() -> None:
    ordered = [
        "20260501-235959-b.md",
        "260502-0000-a.md",
        "20260502-000001-c.md",
        "260502-0001-b.md",
        "a.md",
        "b.md",
    ]
    shuffled = ordered[3:] + ordered[:3]
    assert sorted(shuffled, key=naming.order_key) == ordered


@pytest.mark.parametrize(
    "name", ["a.md", "260518-0928-x.md", "рішення.md", "a b.md", "a..md", "indexes.md", "read.me.md"]
)
def test_names_of_records(name: str) -> None:
    assert naming.is_record_name(name)
    assert naming.is_target_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "", ".md", "a.txt", "a", "a.MD", "README.md", "readme.md", "Readme.uk.md", "index.md", "INDEX.md",
        "adr-template.md", "template.md", "Templates.md", "_a.md", ".a.md", "a/b.md", "../a.md", "/a.md", "a\\b.md",
        "a\x00.md", "a\n.md", "a\x7f.md", "ж" * 130 + ".md",
    ],
)  # fmt: skip
def test_names_of_no_record(name: str) -> None:
    assert not naming.is_record_name(name)
    assert not naming.is_target_name(name)


def test_a_record_may_speak_of_templates() -> None:
    assert naming.is_record_name("260518-0928-move-template-files.md")
    assert not naming.is_record_name("inline-template-links.md")
    assert naming.is_target_name("inline-template-links.md")
