"""What the tests stand on: isolated worlds, fake agents, sessions of the four hosts, kills."""
