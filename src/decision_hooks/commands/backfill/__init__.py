"""``backfill``: capture sessions that never were captured."""
