"""The rules of the scanner, a module a kind."""
