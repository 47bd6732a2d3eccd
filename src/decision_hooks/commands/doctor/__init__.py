"""``doctor``: check the set-up and say how to mend it."""
