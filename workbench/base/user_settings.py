"""`config.toml`, what a person set, as the tables that stand in it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.files import reason
from workbench.base.reading import read_text


def read_toml(path: Path) -> dict[str, Any]:
    """Nothing where there is no such file. Raises BadInput with the file and what is wrong."""
    try:
        return tomllib.loads(read_text(path, "utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; make it a readable file.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML ({error}); correct that place.") from None


def read_spend_limit(path: Path) -> float | None:
    """`max_cost`: what one command, or one run on the screen, may cost; None where nothing is said. Raises BadInput."""
    most = read_toml(path).get("max_cost")
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most < float("inf"):
        raise BadInput(f"{path}: max_cost = {most!r} is not an amount in dollars; write a number such as 0.50.")
    return float(most)
