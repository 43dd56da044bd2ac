"""`config.toml`, the user's settings, as TOML tables."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.files import reason
from workbench.base.reading import read_text


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; empty for a missing file. Raises BadInput for an invalid one."""
    try:
        return tomllib.loads(read_text(path, "utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; make it a readable file.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML ({error}); correct that place.") from None


def read_spend_limit(path: Path) -> float | None:
    """Return `max_cost`, the spend limit of a command, or of a run on the screen, in dollars; None if it is not set.
    Raises BadInput."""
    most = read_toml(path).get("max_cost")
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most < float("inf"):
        raise BadInput(f"{path}: max_cost = {most!r} is not an amount in dollars; write a number such as 0.50.")
    return float(most)
