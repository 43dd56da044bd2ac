"""Settings of a policy from environment variables `CWB_<STRATEGY>_<SETTING>`, in capitals, `_` for `-` and `.`."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from workbench.base.environment import PREFIX, variables
from workbench.base.errors import BadInput
from workbench.compaction.policy import Policy
from workbench.compaction.settings import setting_named, settings_of, suggestion
from workbench.compaction.strategies import strategy_ids


class Variable(Struct, frozen=True):
    """A set variable with its value for a setting."""

    name: str
    value: Any


def variable_of(strategy_id: str, setting: str = "") -> str:
    """Variable that sets a setting, by its key or an old name; without a setting, the prefix of the strategy's
    variables."""
    return f"{PREFIX}{strategy_id}_{setting}".upper().replace("-", "_").replace(".", "_")


def strategies_with_variables() -> tuple[str, ...]:
    """Ids of the strategies for which a variable is set."""
    return tuple(id for id in strategy_ids() if any(name.startswith(variable_of(id)) for name in variables()))


def variables_of(strategy_id: str, policy: type[Policy]) -> dict[str, Variable]:
    """Set variables of a strategy, by keys of the settings.

    Raises BadInput for a variable that matches no setting.
    """
    start = variable_of(strategy_id)
    longer = tuple(other for id in strategy_ids() if (other := variable_of(id)).startswith(start) and other != start)
    own = {name: text for name, text in variables().items() if name.startswith(start) and not name.startswith(longer)}
    if not own:
        return {}
    known = {variable_of(strategy_id, name): name for one in settings_of(policy) for name in (*one.old, one.key)}
    found: dict[str, Variable] = {}
    for name, text in own.items():
        if name not in known:
            raise BadInput(f"The variable {name} matches no setting; {suggestion(name, known)}")
        today = policy.today(known[name])
        setting = setting_named(policy, today.name)
        if setting.key in found:
            raise BadInput(
                f"The variables {found[setting.key].name} and {name} set the same setting; unset one of them."
            )
        found[setting.key] = Variable(name, today.value(setting.read(text)))
    return found
