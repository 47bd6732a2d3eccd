"""Decisions of coding sessions: from a Stop event to MADR records in ``docs/adr``.

The map of the package, and who may import whom (held by ``tests/test_architecture.py``)::

    cli -> edge                the two entry points and their guards; stdin, environ, clock, error boundary
     -> capture*, normalize*   the two stories: one Stop event, one normalisation run
     -> commands               one module a subcommand (install, doctor, status, undo ...)
         -> prompts            templates as files, filled by one function
         -> sessions           what a host hands us: payloads, transcripts, digests; pure
         -> records            what docs/adr holds: drafts, records, replies, plans; pure
         -> system             everything that touches the world; may import records
         -> settings           every environment variable
             -> errors

``sessions`` and ``records`` never meet: the stories hand a function of one to the other.
``subprocess``, ``fcntl``, ``os.replace`` and opening files: only in ``system``.
``sys.stdin``, ``os.environ``, the time and the exit: only in ``cli`` and ``edge``.
"""
