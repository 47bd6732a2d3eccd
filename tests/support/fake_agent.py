"""The program behind a fake agent: ``fake_agent.py STATE_FOLDER ARGUMENT...``.

It writes every call down, answers with the first reply of the queue that fits, and behaves as the reply says.
Only ``support.agents`` starts it, through a wrapper that carries the agent's name.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import signal
import sys
import time

FOREVER = 600.0


def main() -> int:
    state, argv = sys.argv[1], sys.argv[2:]
    unknown = [word for word in load(state, "unknown.json", []) if word in argv]
    text = None if not unknown and peek(state) else sys.stdin.buffer.read()
    call = describe(argv, text)
    write_down(state, {"event": "call", **call})
    if unknown:
        reply = {"exit": 1, "stderr": f"error: unknown option '{unknown[0]}'\n"}
    else:
        reply = choose(state, argv, text or b"")
    if reply is None:
        sys.stderr.write("fake agent: no reply is left in the queue\n")
        write_down(state, {"event": "unexpected", "pid": os.getpid()})
        return 97
    return behave(state, call, reply)


def load(state, name, default):
    try:
        with open(os.path.join(state, name), encoding="utf-8") as stream:
            return json.load(stream)
    except FileNotFoundError:
        return default


def peek(state):
    """Whether the next reply wants stdin unread."""
    queue = load(state, "queue.json", [])
    return bool(queue) and not queue[0].get("read_stdin", True)


def choose(state, argv, text):
    """Take the first reply that fits off the queue; many fakes may ask at once."""
    subject = "\0".join(argv) + "\0" + text.decode("utf-8", "replace")
    with open(os.path.join(state, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        queue = load(state, "queue.json", [])
        for at, reply in enumerate(queue):
            if reply.get("match") and not re.search(reply["match"], subject, re.S):
                continue
            if reply.get("times", 1) is not None:
                reply["times"] = reply.get("times", 1) - 1
                if reply["times"] <= 0:
                    del queue[at]
            beside = os.path.join(state, "queue.tmp")
            with open(beside, "w", encoding="utf-8") as stream:
                json.dump(queue, stream)
            os.replace(beside, os.path.join(state, "queue.json"))
            return reply
    return None


def describe(argv, text):
    listing = []
    for folder, folders, files in os.walk("."):
        listing += [os.path.relpath(os.path.join(folder, name), ".") for name in files]
        listing += [os.path.relpath(os.path.join(folder, name), ".") + "/" for name in folders]
        if len(listing) > 500:
            break
    return {
        "argv": argv,
        "stdin": base64.b64encode(text).decode() if text is not None else None,
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "listing": sorted(listing),
        "pid": os.getpid(),
        "group": os.getpgrp(),
        "session": os.getsid(0),
        "files": open_files(),
        "time": time.time(),
    }


def open_files():
    """What the open file descriptors beyond stdio point at: a lock that leaks into an agent shows here."""
    found = []
    for number in os.listdir("/dev/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}") if int(number) > 2 else "")
        except OSError:
            continue
    return sorted(path for path in found if path.startswith("/") and not path.startswith(("/proc/", "/dev/")))


def write_down(state, event):
    line = (json.dumps(event) + "\n").encode("ascii")
    fd = os.open(os.path.join(state, "events.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, line)
    os.close(fd)


def behave(state, call, reply):
    if reply.get("ignore_term"):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if reply.get("grandchild"):
        write_down(state, {"event": "grandchild", "pid": grandchild(reply["grandchild"])})
    if reply.get("python"):
        exec(reply["python"], {"call": call, "reply": reply})
    time.sleep(reply.get("delay", 0))
    for number, name in ((1, "stdout"), (2, "stderr")):
        write_all(number, reply.get(name, ""))
    if reply.get("hang"):
        time.sleep(FOREVER)
    write_down(state, {"event": "end", "pid": call["pid"], "exit": reply.get("exit", 0)})
    if reply.get("signal"):
        signal.signal(reply["signal"], signal.SIG_DFL) if reply["signal"] != signal.SIGKILL else None
        os.kill(os.getpid(), reply["signal"])
    return int(reply.get("exit", 0))


def grandchild(kind):
    """A sleeping child that holds our stdout: in our process group, or in a session of its own."""
    pid = os.fork()
    if pid == 0:
        if kind == "session":
            os.setsid()
        time.sleep(FOREVER)
        os._exit(0)
    return pid


def write_all(number, text):
    data = (
        base64.b64decode(text["base64"]) if isinstance(text, dict) else text.encode("utf-8", "surrogatepass")
    )
    while data:
        try:
            data = data[os.write(number, data) :]
        except BrokenPipeError:
            return


if __name__ == "__main__":
    sys.exit(main())
