"""From the text of a reply to a judged plan; pure."""
