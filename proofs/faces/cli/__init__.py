"""The commands of `blockpool`, one a file. Heavy tools are imported where they are used: `--help` must be quick."""
