"""``normalize-decisions local-pipeline``: operations for a batch, by narrow questions to a small local model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from decision_hooks.backends import call
from decision_hooks.commands.local_pipeline.asking import Asking
from decision_hooks.commands.options import parser, root_of
from decision_hooks.errors import FolderError
from decision_hooks.languages import table
from decision_hooks.pipeline.operations import as_json
from decision_hooks.pipeline.run import Proposal, by_model
from decision_hooks.pipeline.stages import Records
from decision_hooks.privacy import mask
from decision_hooks.records import naming, search
from decision_hooks.records.front_matter import DraftFile
from decision_hooks.settings import NormalizeSettings, normalize_settings
from decision_hooks.state import record_index
from decision_hooks.system import adr_folder, files
from decision_hooks.system.parallel import Countdown
from decision_hooks.system.project import project_at
from decision_hooks.system.state_folder import usable
from decision_hooks.system.world import World

_KEPT_BACK = 20.0  # seconds of the run's time for ending a last call and printing; a fifth of a short time
_MOST_NAMES = 16 * 1024 * 1024  # bytes of a list of names


def run(argv: Sequence[str], world: World) -> int:
    """Print operations for the drafts of ``--batch``: 0, or 1 with the reason when no answer could be used."""
    parse = parser(world, argv, "Operations for a batch of drafts, with a small local model through pi.")
    parse.add_argument("--batch", required=True, metavar="FILE", help="names or paths of drafts, one a line")
    parse.add_argument("--clean", required=True, metavar="FILE", help="names or paths of records, one a line")
    parse.add_argument("--adr-dir", required=True, metavar="DIR", help="the folder of both")
    options = parse.parse_args(list(argv[1:]))
    settings = normalize_settings(world.environ)
    clock = Countdown(settings.timeout - min(_KEPT_BACK, 0.2 * settings.timeout))
    folder = os.path.join(world.cwd, options.adr_dir)
    batch, clean = _names(world, options.batch), _names(world, options.clean)
    root = root_of(world, options.project_root)
    backend = call.local_backend(settings.local_model, root, world.environ)
    asking = Asking(backend, world, root, settings, clock)
    drafts = _drafts(world, folder, batch)
    records = _records(world, settings, root, folder, [name for name in clean if name not in batch])
    language = table.language(settings.language)
    proposal = by_model(drafts, records, asking.ask, language, lambda text: mask.outgoing(text, world.home))
    return _print(world, asking, clock, proposal)


def _print(world: World, asking: Asking, clock: Countdown, proposal: Proposal) -> int:
    failure = asking.failure(operations=len(proposal.operations))
    if failure:
        world.err(mask.mask(failure).text)
    else:
        for name, why in proposal.left.items():
            world.err(f"left: {name}: {why}")
        world.out(as_json(proposal.operations))
    count = 0 if failure else len(proposal.operations)
    world.err(
        f"local: {asking.questions} questions, {asking.retries} retries, {clock.spent():.0f} s, {count} operations"
    )
    return int(bool(failure))


# -- the files


def _names(world: World, path: str) -> list[str]:
    """The names in a file of names or paths, each once; raises ``FolderError`` when it cannot be read."""
    data = files.read_bytes(os.path.join(world.cwd, path), follow=True)
    if data is None or len(data) > _MOST_NAMES:
        raise FolderError(f"{path}: cannot be read")
    lines = os.fsdecode(data).replace("\r\n", "\n").split("\n")
    return list(dict.fromkeys(os.path.basename(line) for line in lines if line.strip()))


def _drafts(world: World, folder: str, names: Sequence[str]) -> list[DraftFile]:
    found = []
    for name in names:
        stored = adr_folder.read(folder, name) if naming.is_plain_name(name) else None
        if stored is None:
            world.err(f"no draft {name!r} in the folder: passed over")
            continue
        found.append(DraftFile(name, stored.text))
    return found


def _records(
    world: World, settings: NormalizeSettings, root: str, folder: str, names: Sequence[str]
) -> Records:
    listed = adr_folder.Snapshot(folder)
    wanted = [name for name in names if naming.is_target_name(name) and name not in listed.drafts]
    project, _ = usable(project_at(root, settings.adr_dir), world.environ)
    if os.path.isdir(project.state) and os.path.realpath(project.adr) == os.path.realpath(folder):
        index = record_index.record_index(project, wanted)
    else:
        texts = [(name, stored.text) for name in wanted if (stored := adr_folder.read(folder, name))]
        index = search.build_index(search.index_record(name, text) for name, text in texts)
    return Records(index, _reader(folder, world.home), listed.names)


def _reader(folder: str, home: str) -> Callable[[str], str]:
    @lru_cache(maxsize=256)
    def read(name: str) -> str:
        stored = adr_folder.read(folder, name)
        return mask.outgoing(stored.text, home) if stored else ""

    return read
