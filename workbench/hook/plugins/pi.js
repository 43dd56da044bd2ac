// Extension of pi. Written by `cwb hook install pi`; `cwb hook uninstall pi` removes it.
import { execFile } from "node:child_process";

const COMMAND = [];

// Text to add after an event, "" on any failure.
function answer(event) {
  return new Promise((resolve) => {
    const done = (error, stdout) => {
      try {
        resolve(error ? "" : JSON.parse(stdout).hookSpecificOutput.additionalContext);
      } catch {
        resolve("");
      }
    };
    try {
      const child = execFile(COMMAND[0], COMMAND.slice(1), { timeout: 30000 }, done);
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(event));
    } catch {
      resolve("");
    }
  });
}

export default function (pi) {
  for (const name of ["session_before_compact", "session_compact"]) {
    pi.on(name, async (_event, ctx) => {
      const session = ctx.sessionManager;
      const content = await answer({
        hook_event_name: name,
        session_id: session.getSessionId(),
        transcript_path: session.getSessionFile(),
      });
      if (content) pi.sendMessage({ customType: "cwb-hook", content, display: true });
    });
  }
}
