"""``demo``: the whole product in a temporary folder, offline."""
