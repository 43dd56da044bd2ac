"""mini-swe-agent trajectories: `{info, messages, trajectory_format}`, once a bare list (formats.md §2.11).

The agent keeps one linear list and sends all of it, so there is one epoch. In the text protocol what a command said is
a user's message: of kind meta from the first answer on, but for what a person typed in between. The message of role
`exit` that ends newer files is never sent.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.mini_swe_agent.read import ID, read, recognise, write
from workbench.formats.mini_swe_agent.rules import validate

FORMAT = Format(ID, "mini-swe-agent trajectory", recognise, read, write, validate)
