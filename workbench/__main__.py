"""`python -m workbench` is `cwb`."""

from workbench.cli import main

if __name__ == "__main__":
    main()
