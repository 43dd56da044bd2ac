"""How fast the workbench is on a session of 100 MB, each figure beside a baseline of the same run."""
