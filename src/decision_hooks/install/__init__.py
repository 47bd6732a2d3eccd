"""Writing hook entries into the settings files of hosts, and taking them back."""
