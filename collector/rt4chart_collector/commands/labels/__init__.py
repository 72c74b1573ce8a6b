"""The commands on trusted labels."""
