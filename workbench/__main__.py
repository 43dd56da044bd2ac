"""The command `cwb`, also as `python -m workbench`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. An event of an agent's hook is answered without importing it, because the agent waits."""
    if sys.argv[1:2] == ["hook"]:
        from workbench.hook.run import answer_arguments

        if answer_arguments(sys.argv[2:]):
            return
    from workbench.cli import main as run

    run()


if __name__ == "__main__":
    main()
