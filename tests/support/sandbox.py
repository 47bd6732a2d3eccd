"""An isolated world for one test: home, project as a git repository, fakes, and runs in it."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

from decision_hooks.system.project import project_at
from decision_hooks.system.state_folder import open_state
from support import kills, processes, programs
from support.agents import FakeAgent
from support.guard import SAFE_PATH, kept, no_network
from support.programs import Finished, Payload

CAPTURE, NORMALIZE = "capture-decisions", "normalize-decisions"
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
}
_TEMPLATE: list[Path] = []  # the first project of the test run, which the others are copied from


class Sandbox:
    """One world; ``environ`` may be changed by the test, and each run takes more variables as ``env``."""

    def __init__(self, base: Path, *, project: str = "project") -> None:
        self.base = base.resolve()
        self.home = self.base / "home"
        self.bin = self.base / "bin"
        self.temporary = self.base / "tmp"
        self.state = self.base / "fakes"
        self.root = self.base / project
        self.mark = uuid.uuid4().hex
        for folder in (self.home, self.bin, self.temporary, self.state, self.root):
            folder.mkdir(parents=True)
        self.environ = {
            "PATH": f"{self.bin}:{SAFE_PATH}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TMPDIR": str(self.temporary),
            processes.MARK: self.mark,
            **no_network(),
            **kept(os.environ),
        }
        if _TEMPLATE:
            shutil.copytree(_TEMPLATE[0], self.root, symlinks=True, dirs_exist_ok=True)
        else:
            self._make_repository()
            _TEMPLATE.append(Path(tempfile.mkdtemp()) / "project")
            atexit.register(shutil.rmtree, _TEMPLATE[0].parent, ignore_errors=True)
            shutil.copytree(self.root, _TEMPLATE[0], symlinks=True)

    # -- the project

    @property
    def adr(self) -> Path:
        """The folder of records."""
        return self.root / "docs" / "adr"

    @property
    def hooks(self) -> Path:
        """The folder of the logs, the seed's state and lock."""
        return self.root / ".claude" / "hooks"

    @property
    def own_state(self) -> Path:
        """The folder of everything else that the programs keep."""
        return self.hooks / ".decision-hooks"

    def open_state(self) -> Path:
        """Make the folder of ``own_state`` as a first run does, so that a test may put files into it."""
        open_state(project_at(str(self.root), "docs/adr"), self.environment())
        return self.own_state

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file of the project (its folders too); the path comes back."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return path

    def read(self, name: str) -> str:
        """The text of a file of the project."""
        return (self.root / name).read_text(encoding="utf-8")

    def adr_names(self) -> list[str]:
        """Everything in the folder of records, hidden names too, sorted; [] without a folder."""
        return sorted(os.listdir(self.adr)) if self.adr.is_dir() else []

    def drafts(self) -> dict[str, str]:
        """Name and text of the drafts: Markdown whose front matter has ``session:``."""
        return {name: text for name, text in self._markdown().items() if _is_draft(text)}

    def records(self) -> dict[str, str]:
        """Name and text of the Markdown in the folder of records that is no draft."""
        return {name: text for name, text in self._markdown().items() if not _is_draft(text)}

    def snapshot(
        self, *, of: Path | None = None, without: tuple[str, ...] = (".git", ".claude")
    ) -> dict[str, bytes]:
        """Every file under the project (or ``of``) by its relative path; a link as its target's name."""
        top, found = of or self.root, {}
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name not in without]
            for name in names + [name for name in folders if Path(folder, name).is_symlink()]:
                path = Path(folder, name)
                content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
                found[str(path.relative_to(top))] = content
        return found

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git in the project with a fixed identity and no configuration of the person's; its stdout."""
        environ = {"PATH": SAFE_PATH, "HOME": str(self.home), "LANG": "C.UTF-8", **GIT}
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def commit_all(self, message: str = "change") -> None:
        """Commit whatever the project holds."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def worktree(self, name: str) -> Path:
        """Add a linked work tree beside the project, on a branch of its own."""
        path = self.base / name
        self.git("worktree", "add", "-q", "-b", name, str(path))
        return path

    # -- the agents

    def fake(self, name: str, *, path: Path | None = None) -> FakeAgent:
        """Install a fake agent on the search path, or at ``path`` (say, in ``node_modules/.bin``)."""
        return FakeAgent(name, self.bin, self.state, path=path)

    # -- runs

    def environment(self, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The environment of a run: that of the world and ``env`` over it; None takes a variable away."""
        merged: dict[str, str | None] = {**self.environ, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def capture(self, payload: Payload = None, *arguments: str, **options: object) -> Finished:
        """Run ``capture-decisions``; options as of ``run``."""
        return self.run(CAPTURE, payload, *arguments, **options)  # type: ignore[arg-type]

    def normalize(self, payload: Payload = None, *arguments: str, **options: object) -> Finished:
        """Run ``normalize-decisions``; options as of ``run``."""
        return self.run(NORMALIZE, payload, *arguments, **options)  # type: ignore[arg-type]

    def run(
        self,
        program: str,
        payload: Payload = None,
        *arguments: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        seconds: float = 60.0,
        wait: bool = True,
        kill_at: tuple[str, int] | None = None,
        follow: bool = False,
    ) -> Finished:
        """Run a console script in the project with ``payload`` on stdin until it and its workers have ended.

        ``wait=False`` comes back when the program itself has ended. ``kill_at`` names a system call of
        ``kills.CALLS`` and which one of them is answered with SIGKILL.
        """
        command = [programs.script(program), *arguments]
        if kill_at:
            command = kills.killed_at(*kill_at, command, follow=follow)
        before = self.log_bytes(program)
        process = programs.start(command, environ=self.environment(env), cwd=cwd or self.root)
        rc, out, err, took = programs.finish(process, payload, seconds)
        if wait:
            self.settle()
        return Finished(rc, out, err, self.log_since(program, before), took)

    def start(
        self,
        program: str,
        *arguments: str,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a console script and leave it running; ``programs.finish`` gives it its payload and waits."""
        command = [programs.script(program), *arguments]
        return programs.start(command, environ=self.environment(env), cwd=cwd or self.root)

    def on_terminal(
        self, program: str, *arguments: str, typed: str = "", env: Mapping[str, str | None] | None = None
    ) -> tuple[int, str, str]:
        """Run a console script by hand on a terminal: exit code, stdout, stderr."""
        command = [programs.script(program), *arguments]
        return programs.on_terminal(command, environ=self.environment(env), cwd=self.root, typed=typed)

    def settle(self, seconds: float = 60.0) -> None:
        """Wait until no process of this world is left: detached workers have done their work."""
        left = processes.wait_until_none(self.mark, seconds)
        if left:
            shown = processes.describe(left)
            raise AssertionError(
                f"still running after {seconds} s:\n{shown}\n{self.log(CAPTURE)}{self.log(NORMALIZE)}"
            )

    def processes(self) -> list[int]:
        """Ids of the living processes of this world."""
        return processes.marked(self.mark)

    def close(self) -> list[int]:
        """End whatever still runs; the ids that had to be killed."""
        return processes.end_all(self.mark)

    # -- logs

    def log(self, program: str) -> str:
        """The whole log of a program, "" when it has none."""
        return self.log_bytes(program).decode("utf-8", "replace")

    def log_bytes(self, program: str) -> bytes:
        """The bytes of a program's log."""
        path = self.hooks / f"{program}.log"
        return path.read_bytes() if path.exists() else b""

    def log_since(self, program: str, before: bytes) -> str:
        """What a program's log has grown by since ``before``; the whole log when it was cut meanwhile."""
        now = self.log_bytes(program)
        return now[len(before) if now.startswith(before) else 0 :].decode("utf-8", "replace")

    def _make_repository(self) -> None:
        self.git("init", "-q", "-b", "main", "--template=")
        self.write("README.md", "# Project\n")
        self.commit_all("first")

    def _markdown(self) -> dict[str, str]:
        names = [name for name in self.adr_names() if name.endswith(".md") and (self.adr / name).is_file()]
        return {name: (self.adr / name).read_text(encoding="utf-8") for name in names}


def _is_draft(text: str) -> bool:
    head = text.split("\n---", 1)[0]
    return text.startswith("---\n") and any(line.startswith("session:") for line in head.splitlines())
