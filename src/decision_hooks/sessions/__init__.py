"""What a host hands us: the payload of a Stop event and the transcript of its session. Pure, reads only."""
