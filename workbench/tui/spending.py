"""What a run on a screen may cost: the limit of the settings, until a person says that this one may cost more."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.summarizers.purse import Purse, TooDear, usual_purse
from workbench.tokens.cost import added


class Allowance:
    """Asks once for each thing that could cost more than the limit; `said` tells which was asked for last."""

    def __init__(self) -> None:
        self.said: object = None

    def purse(self, what: object, most: Sequence[float | None], model: str) -> Purse:
        """For `what` (anything that tells one run from another), which can cost `most` dollars together. Raises TooDear
        the first time, with the question; whoever asks for the same again has answered it."""
        purse = usual_purse()
        try:
            purse.check(added(most), model)
        except TooDear as dear:
            if self.said != what:
                self.said = what
                raise TooDear(f"{dear} The same key once more sends it all the same.") from None
            purse = Purse()
        self.said = None
        return purse
