"""``capture-decisions status``: drafts, runs, calls and costs on one screen."""

from __future__ import annotations

import os
from collections.abc import Sequence

from decision_hooks.commands.options import parser, project_of
from decision_hooks.commands.report import columns, counted, json_text, minute, shortened
from decision_hooks.commands.status.activity import Activity, Event
from decision_hooks.commands.status.figures import Spent, Status, WaitingDrafts, read_status
from decision_hooks.system.holder import Holder
from decision_hooks.system.runlog import iso_time
from decision_hooks.system.state_folder import usable
from decision_hooks.system.world import World


def run(argv: Sequence[str], world: World) -> int:
    """Show the state of the project: 0."""
    parse = parser(world, argv, "Drafts, runs, calls and costs on one screen.")
    parse.add_argument("--json", action="store_true", help="the same as JSON")
    options = parse.parse_args(list(argv[1:]))
    project, refused = usable(project_of(world, options.project_root), world.environ)
    status = read_status(project, world)
    if options.json:
        world.out(json_text({**as_json(status), "state_refused": str(refused) if refused else None}))
        return 0
    for line in screen(status, refused=str(refused or "")):
        world.out(line)
    return 0


def as_json(status: Status) -> dict[str, object]:
    """The status as plain values for JSON."""
    return {
        "project": status.project,
        "adr": status.adr,
        "drafts": {
            "count": status.drafts.number,
            "threshold": status.drafts.threshold,
            "oldest": status.drafts.oldest,
            "sessions": status.drafts.sessions,
        },
        "records": status.records,
        "capture": {**_activity_json(status.capture), "worker": _holder_json(status.capturing)},
        "normalize": {
            **_activity_json(status.normalize),
            "worker": _holder_json(status.normalizing),
            "run": status.newest_run._asdict() if status.newest_run else None,
            "last_attempt": status.last_attempt or None,
            "next_attempt": status.next_attempt or None,
        },
        "pending": [entry._asdict() for entry in status.pending],
        "waiting": status.waiting,
        "given_up": status.given_up,
        "breakers": [
            {"backend": breaker.name, "until": iso_time(breaker.until), "why": breaker.why}
            for breaker in status.breakers
        ],
        "calls": {
            "today": status.today._asdict(),
            "month": status.month._asdict(),
            "daily_cap": status.daily_cap,
        },
        "problems": list(status.problems),
    }


def _activity_json(activity: Activity) -> dict[str, object]:
    return {
        "last": activity.last._asdict() if activity.last else None,
        "drafts_written": activity.written,
        "skips": dict(activity.skips),
        "fault": activity.fault._asdict() if activity.fault else None,
        "since": activity.since or None,
    }


def _holder_json(holder: Holder | None) -> dict[str, object] | None:
    if holder is None:
        return None
    return {
        "pid": holder.pid or None,
        "since": holder.since or None,
        "hangs": holder.hangs,
        "fix": holder.fix or None,
    }


def screen(status: Status, *, refused: str = "") -> list[str]:
    """The status as aligned lines of text; ``refused`` says why the state folder is not used."""
    rows: list[tuple[str, str]] = [("project", status.project)]
    if refused:
        rows.append(("state", refused))
    rows.append(("drafts", _drafts_text(status.drafts)))
    rows.append(("records", f"{status.records:,} in {os.path.relpath(status.adr, status.project)}"))
    rows.append(("capture", _event_text(status.capture.last)))
    rows.append(("normalize", _event_text(status.normalize.last)))
    if status.newest_run:
        newest = status.newest_run
        rows.append(("", f"run {newest.run} ({newest.state}): {newest.what}"))
    if status.next_attempt:
        rows.append(("", f"not before {minute(status.next_attempt)}"))
    for name, activity in (("capture", status.capture), ("normalize", status.normalize)):
        if activity.skips:
            shown = ", ".join(f"{reason} {count}" for reason, count in activity.skips)
            rows.append((f"{name} skips", f"{shown} (since {minute(activity.since)})"))
        if activity.fault:
            rows.append((f"{name} fault", _event_text(activity.fault)))
    for name, holder in (("capture worker", status.capturing), ("normalize worker", status.normalizing)):
        if holder:
            rows.append((name, str(holder)))
    rows += _waiting_rows(status)
    rows += [
        ("breaker", f"{breaker.name} until {minute(iso_time(breaker.until))}: {breaker.why}")
        for breaker in status.breakers
    ]
    cap = "" if status.daily_cap is None else f" of {status.daily_cap} allowed"
    rows.append(("calls today", _spent_text(status.today, cap)))
    rows.append(("calls this month", _spent_text(status.month, "")))
    rows += [("setting", problem) for problem in status.problems]
    return columns(rows)


def _drafts_text(drafts: WaitingDrafts) -> str:
    if not drafts.number:
        return "none wait"
    of = "" if drafts.threshold is None else f" (normalised from {drafts.threshold})"
    sessions = counted(drafts.sessions, "session")
    return f"{counted(drafts.number, 'draft')} of {sessions}{of}, oldest {drafts.oldest}"


def _event_text(event: Event | None) -> str:
    return f"{minute(event.time)}  {shortened(event.text, 120)}" if event else "no run in the log"


def _waiting_rows(status: Status) -> list[tuple[str, str]]:
    rows = []
    if status.pending:
        oldest = status.pending[0]
        tries = sum(entry.tries for entry in status.pending)
        text = f"{counted(status.waiting, 'part')} of sessions, oldest since {minute(oldest.since)}"
        least = "" if status.waiting <= len(status.pending) else "at least "
        rows.append(("pending", f"{text}, {least}{counted(tries, 'try', 'tries')}"))
    if status.given_up:
        rows.append(("given up", f"{counted(status.given_up, 'part')} (backfill --retry takes them up)"))
    return rows


def _spent_text(total: Spent, cap: str) -> str:
    failed = f", {total.failed} failed" if total.failed else ""
    if not total.calls:
        return f"0{cap}"
    characters = f"{total.characters_in:,} characters in, {total.characters_out:,} out"
    unknown = total.cost_unknown
    cost = "cost unknown" if unknown == total.calls else f"${total.cost:.2f}"
    part = f" and {unknown} unknown" if 0 < unknown < total.calls else ""
    return f"{total.calls:,}{cap}{failed}, {characters}, {cost}{part}"
