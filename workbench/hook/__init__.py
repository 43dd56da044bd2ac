"""Hooks inside agents: after an agent's own compaction, give back what it lost and what is still in force.

An agent calls `cwb hook AGENT` with an event as JSON on stdin (`run`). Before a compaction the event stores what is in
force (`snapshot`, `store`); afterwards it is compared with what the agent goes on with (`lost`), and what is missing
there is quoted (`injection`). `agents` lists the agents and their events, `install` changes their settings. An agent
waits for these modules, so they load no screen, no token counts and no policies.
"""
