"""The coding agents that call us: their payloads, transcripts and hook entries."""
