"""Questions to git run nothing that a repository names, and tell what is the user's from what it brought."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.support.sandbox import Sandbox

from decision_hooks.system import git

# Every key of git's configuration that names a program, or a folder of programs. "{mark}" leaves a mark.
KEYS = (
    "core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand "
    "core.fsmonitorHookVersion diff.external diff.evil.textconv diff.evil.command filter.evil.clean "
    "filter.evil.smudge filter.evil.process merge.evil.driver credential.helper sequence.editor gpg.program "
    "gpg.ssh.program gpg.ssh.defaultKeyCommand pager.ls-files pager.cat-file pager.check-ignore pager.config "
    "interactive.diffFilter uploadpack.packObjectsHook remote.origin.uploadpack remote.origin.receivepack "
    "alias.ls-files alias.cat-file alias.ls-tree alias.check-ignore trace2.normalTarget "
    "difftool.evil.cmd mergetool.evil.cmd sendemail.sendmailCmd web.browser browser.evil.cmd man.evil.cmd"
).split()


def set_key(sandbox: Sandbox, key: str, value: str) -> None:
    config = sandbox.root / ".git" / "config"
    section, _, name = key.rpartition(".")
    head, _, sub = section.partition(".")
    with config.open("a", encoding="utf-8") as stream:
        stream.write(f'[{head} "{sub}"]\n' if sub else f"[{head}]\n")
        stream.write(f'\t{name} = "{value}"\n')


def marking(path: Path, mark: Path) -> Path:
    """A program that leaves a mark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n: > '{mark}'\ncat\n")
    path.chmod(0o755)
    return path


def edited(sandbox: Sandbox) -> Path:
    """A package.json of which the version was changed, with drivers for it."""
    path = sandbox.root / "package.json"
    path.write_text('{\n  "version": "1.0.0"\n}\n')
    (sandbox.root / ".gitattributes").write_text("*.json filter=evil diff=evil merge=evil\n")
    sandbox.commit_all("base")
    path.write_text('{\n  "version": "1.0.1"\n}\n')
    return path


def all_answers(sandbox: Sandbox) -> tuple[object, ...]:
    root, environ = str(sandbox.root), sandbox.environment()
    return (
        git.before_and_now(root, str(sandbox.root / "package.json"), environ),
        git.tracked_files(root, environ),
        git.tracked(root, ["package.json", "new.txt"], environ),
        git.ignored(root, ["a.log", "package.json"], environ),
        git.is_users(root, str(sandbox.root / "package.json"), environ),
    )


def test_no_key_of_the_repositorys_configuration_is_run(sandbox: Sandbox, tmp_path: Path) -> None:
    edited(sandbox)
    (sandbox.root / ".gitignore").write_text("*.log\n")
    expected = all_answers(sandbox)
    assert expected[0] == ('{\n  "version": "1.0.0"\n}\n', '{\n  "version": "1.0.1"\n}\n')
    assert expected[2:] == ({"package.json"}, {"a.log"}, False)
    for key in KEYS:
        bang = "!" if key.startswith("alias.") else ""
        set_key(sandbox, key, bang + str(marking(tmp_path / "evil" / key, tmp_path / f"owned.{key}")))
    hooks = tmp_path / "hooks"
    for name in (
        "post-index-change",
        "pre-auto-gc",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        marking(hooks / name, tmp_path / f"owned.{name}")
        marking(sandbox.root / ".git" / "hooks" / name, tmp_path / f"owned.{name}")
    set_key(sandbox, "core.hooksPath", str(hooks))
    assert all_answers(sandbox) == expected
    assert list(tmp_path.glob("owned.*")) == []


def test_keys_of_an_included_file_and_another_work_tree_change_no_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    edited(sandbox)
    expected = all_answers(sandbox)
    evil = marking(tmp_path / "evil", tmp_path / "owned")
    (sandbox.root / "more").write_text(f"[core]\n\tfsmonitor = {evil}\n\tworktree = {tmp_path}\n")
    set_key(sandbox, "include.path", "../more")
    assert all_answers(sandbox) == expected
    assert not (tmp_path / "owned").exists()


def test_what_a_partial_clone_lacks_is_not_fetched(sandbox: Sandbox, tmp_path: Path) -> None:
    path = edited(sandbox)
    blob = sandbox.git("rev-parse", "HEAD:package.json").strip()
    (sandbox.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    evil = marking(tmp_path / "evil", tmp_path / "owned")
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{evil}"),
    ):
        set_key(sandbox, key, value)
    assert git.before_and_now(str(sandbox.root), str(path), sandbox.environment()) is None
    assert not (tmp_path / "owned").exists()


def test_a_committed_bare_repository_is_never_read(sandbox: Sandbox, tmp_path: Path) -> None:
    evil = marking(tmp_path / "evil", tmp_path / "owned")
    sub = sandbox.root / "sub"
    for folder in ("objects", "refs", "tools"):
        (sub / folder).mkdir(parents=True)
    (sub / "HEAD").write_text("ref: refs/heads/main\n")
    (sub / "config").write_text(f'[core]\n\tbare = false\n\tworktree = ".."\n\tfsmonitor = "{evil}"\n')
    program = marking(sub / "tools" / "pi", tmp_path / "owned")
    sandbox.commit_all("bare")
    environ = sandbox.environment()
    assert "tools/pi" in git.tracked_files(str(sub), environ)
    assert not git.is_users(str(sub), str(program), environ)
    assert not (tmp_path / "owned").exists()


# -- where git is found


@pytest.mark.parametrize("first", [".", "", "bin", "node_modules/.bin", "{root}/node_modules/.bin", "{link}"])
def test_git_is_never_taken_from_the_project(sandbox: Sandbox, tmp_path: Path, first: str) -> None:
    for place in ("", "bin", "node_modules/.bin"):
        marking(sandbox.root / place / "git", tmp_path / "owned")
    (tmp_path / "link").symlink_to(sandbox.root / "bin")
    first = first.format(root=sandbox.root, link=tmp_path / "link")
    environ = sandbox.environment({"PATH": f"{first}:{sandbox.environ['PATH']}"})
    here = os.getcwd()
    os.chdir(sandbox.root)
    try:
        found = git.program(str(sandbox.root), environ)
        assert git.tracked_files(str(sandbox.root), environ)
    finally:
        os.chdir(here)
    assert found
    assert not found.startswith(str(sandbox.root))
    assert not (tmp_path / "owned").exists()


# -- what is the user's


def program_in(sandbox: Sandbox, name: str) -> Path:
    path = sandbox.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def file_tracked(sandbox: Sandbox) -> str:
    program_in(sandbox, "node_modules/.bin/pi")
    sandbox.git("add", "-f", ".")
    return "node_modules/.bin/pi"


def file_own(sandbox: Sandbox) -> str:
    program_in(sandbox, "node_modules/.bin/pi")
    return "node_modules/.bin/pi"


def link_tracked_target(sandbox: Sandbox) -> str:
    program_in(sandbox, "tools/pi")
    sandbox.git("add", "-f", ".")
    (sandbox.root / "bin").mkdir()
    (sandbox.root / "bin" / "pi").symlink_to("../tools/pi")
    return "bin/pi"


def link_tracked_itself(sandbox: Sandbox) -> str:
    program_in(sandbox, "bin/real")
    (sandbox.root / "bin" / "pi").symlink_to("real")
    sandbox.git("add", "-f", "bin/pi")
    return "bin/pi"


def link_own_chain(sandbox: Sandbox) -> str:
    program_in(sandbox, "bin/real")
    (sandbox.root / "bin" / "pi").symlink_to("real")
    return "bin/pi"


def folder_link_tracked(sandbox: Sandbox) -> str:
    program_in(sandbox, "own/.bin/pi")
    (sandbox.root / "node_modules").symlink_to("own")
    sandbox.git("add", "-f", "node_modules")
    return "node_modules/.bin/pi"


def folder_link_to_tracked(sandbox: Sandbox) -> str:
    program_in(sandbox, "vendored/.bin/pi")
    sandbox.git("add", "-f", ".")
    (sandbox.root / "node_modules").symlink_to("vendored")
    return "node_modules/.bin/pi"


def folder_link_out(sandbox: Sandbox) -> str:
    program_in(sandbox, "../elsewhere/.bin/pi")
    (sandbox.root / "node_modules").symlink_to("../elsewhere")
    return "node_modules/.bin/pi"


def other_letter_case(sandbox: Sandbox) -> str:
    program_in(sandbox, "Node_Modules/.bin/pi")
    sandbox.git("add", "-f", ".")
    program_in(sandbox, "node_modules/.bin/pi")
    return "node_modules/.bin/pi"


def odd_name(sandbox: Sandbox) -> str:
    program_in(sandbox, "a*[b]/p?i")
    sandbox.git("add", "-f", ".")
    return "a*[b]/p?i"


def nothing_known_yet(sandbox: Sandbox) -> str:
    (sandbox.root / ".git" / "index").unlink()
    return file_own(sandbox)


def no_git(sandbox: Sandbox) -> str:
    subprocess.run(["rm", "-rf", str(sandbox.root / ".git")], check=True)
    return file_own(sandbox)


def damaged_git(sandbox: Sandbox) -> str:
    (sandbox.root / ".git" / "index").write_text("no index")
    return file_own(sandbox)


def nested_clone(sandbox: Sandbox) -> str:
    name = "vendor/bin/pi"
    program_in(sandbox, name)
    sandbox.git("init", "-q", ".", cwd=sandbox.root / "vendor")
    sandbox.git("add", "-f", ".", cwd=sandbox.root / "vendor")
    return name


@pytest.mark.parametrize(
    ("make", "own"),
    [
        (file_own, True),
        (link_own_chain, True),
        (folder_link_out, True),
        (file_tracked, False),
        (link_tracked_target, False),
        (link_tracked_itself, False),
        (folder_link_tracked, False),
        (folder_link_to_tracked, False),
        (other_letter_case, False),
        (odd_name, False),
        (nothing_known_yet, False),
        (no_git, False),
        (damaged_git, False),
        (nested_clone, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_git_does_not_track_is_the_users(
    sandbox: Sandbox, make: Callable[[Sandbox], str], own: bool
) -> None:
    path = sandbox.root / make(sandbox)
    environ: Mapping[str, str] = sandbox.environment()
    assert git.is_users(str(sandbox.root), str(path), environ) is own
    found = git.find(path.name, [str(path.parent)], str(sandbox.root), environ)
    assert found == (str(path) if own else "")


def test_programs_outside_of_the_project_need_no_git(sandbox: Sandbox, tmp_path: Path) -> None:
    program = marking(tmp_path / "else where:x" / "pi", tmp_path / "mark")
    assert git.is_users(str(sandbox.root), str(program), {"PATH": ""})
    assert git.find("pi", ["", ".", "bin", str(program.parent)], str(sandbox.root), {"PATH": ""}) == str(
        program
    )
