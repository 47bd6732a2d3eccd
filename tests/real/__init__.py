"""Tests that drive the real agents against a server on loopback: no account, no network."""
