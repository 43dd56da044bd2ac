"""google-adk: what `adk run --resume FILE --save_session` does, for many sessions in one process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.genai import types
from turns import main, read_file


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    os.environ["GOOGLE_GEMINI_BASE_URL"] = server
    kept = Session.model_validate_json(file.read_text(encoding="utf-8"))
    made = asyncio.run(_gone_on(kept, prompts))
    file.write_text(made.model_dump_json(indent=2, exclude_none=True, by_alias=True), encoding="utf-8")


async def _gone_on(kept: Session, prompts: Sequence[str]) -> Session:
    name = next((event.author for event in reversed(kept.events) if event.author != "user"), "clerk")
    service = InMemorySessionService()
    session = await service.create_session(app_name="interop", user_id="user", state=kept.state)
    for event in kept.events:
        await service.append_event(session, event)
    agent = LlmAgent(name=name, model="gemini-2.5-flash", instruction="You keep the notes.", tools=[read_file])
    runner = Runner(app_name="interop", agent=agent, session_service=service)
    for prompt in prompts:
        message = types.Content(role="user", parts=[types.Part(text=prompt)])
        async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message):
            if event.error_message:
                raise RuntimeError(event.error_message)
    made = await service.get_session(app_name="interop", user_id="user", session_id=session.id)
    assert made
    return made


if __name__ == "__main__":
    main(_turns)
