"""The coding agents that call us: a card a host, its payloads, transcripts and hook entries; pure."""
