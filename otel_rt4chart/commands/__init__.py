"""The subcommands that only need the verification core."""
