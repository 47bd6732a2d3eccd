"""The card of each host is whole, and its facts agree with each other."""

from __future__ import annotations

import pytest

from decision_hooks.hosts.entry_line import ENTRIES, ID_OF_PROGRAM, PROGRAMS, Target
from decision_hooks.hosts.table import targets

CARDS = list(targets().values())


@pytest.mark.parametrize("host", CARDS, ids=lambda host: host.name)
def test_a_host_has_a_place_for_the_entries_and_signs_by_which_it_is_recognised(host: Target) -> None:
    assert host.hooks or host.files
    assert host.title
    assert host.programs
    names = [own.name for own in host.files] + ([host.hooks.name] if host.hooks else [])
    assert all(name.startswith(f"{host.folder}/") for name in names)


@pytest.mark.parametrize("host", [host for host in CARDS if host.hooks], ids=lambda host: host.name)
def test_the_file_that_install_writes_is_one_of_those_that_may_have_entries(host: Target) -> None:
    assert host.hooks
    paths = host.entry_files("/project", {"HOME": "/home/me"})
    assert f"/project/{host.hooks.name}" in paths
    assert f"/home/me/{host.hooks.name}" in paths
    assert [entry._replace(command="") for entry in host.hooks.entries] == list(ENTRIES)


def test_a_host_that_runs_the_entries_of_another_names_one_that_exists() -> None:
    assert {host.runs_too for host in CARDS} <= {"", *targets()}


def test_ids_are_unique_and_every_program_has_one_for_its_older_entries() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert set(ID_OF_PROGRAM) == set(PROGRAMS)
