"""Synonyms by which the palette finds an action. They score more than words of its help: a word that several helps
contain is listed for the action that is usually meant."""

from __future__ import annotations

ALSO = {
    "pane.rounds": "list turns steps",
    "pane.message": "text words content raw body",
    "pane.request": "prompt sent input abridged history short transcript log",
    "pane.summary": "node made output memory memories",
    "pane.result": "compacted after preview outcome changes before diff delta",
    "pane.checks": "valid validate validation errors problems failed broken integrity reason explain steps trace debug",
    "pane.theirs": "theirs tool original actual agent",
    "find": "grep regex regular look search where ctrl f",
    "jump": "goto jump number line index navigate",
    "epoch.-1": "history before earlier compactions",
    "epoch.1": "later newer compactions",
    "filter": "hide only errors tool role show",
    "sort": "biggest largest order top size heaviest",
    "verbosity": "detail fold collapse expand compact",
    "widen": "zoom maximize fullscreen bigger full-screen",
    "copy-text": "yank clipboard",
    "open-text": "vim nano external",
    "write-text": "save dump",
    "follow": "watch live growing tail auto monitor stream",
    "pin": "rule keep protect important never always remember star hold lock preserve favorite favourite bookmark"
    " sticky forget",
    "keep-by-pin": "hold rule survive survives save protect mend fix",
    "keep-by-number": "hold number rule survive survives tune threshold mend fix",
    "rules": "watch suggested pins keep instructions suggestions important always never recommend guidelines rule"
    " survive instruction track observe remember guard follow sentence",
    "drop": "remove delete hide exclude skip discard clear",
    "shorten": "truncate smaller trim cut crop prune shrink reduce tool output make",
    "move_split.-1": "boundary tail head divide move less cut",
    "move_split.1": "boundary tail head divide move",
    "split_here": "boundary cut divide",
    "unsplit": "boundary default automatic own",
    "undo": "revert back mistake oops restore go cancel change",
    "redo": "again repeat forward",
    "pane.policy": "thresholds trigger limit budget tail policy numbers options config configuration parameters"
    " tune"
    " percent preferences values fields change adjust set knobs dials",
    "choose-preset": "method policy algorithm technique approach switch mode",
    "edit-text": "instruction wording template edit system prompts templates instructions library",
    "window": "context size limit tokens max maximum length",
    "reset-policy": "default defaults original preset",
    "paste-params": "import flags json parameters yaml",
    "save-preset": "keep store own name",
    "copy-toml": "share export config yaml",
    "copy-params": "share export flags json parameters",
    "run": "compact now try summarize summarise summarization compaction execute go apply start squeeze condense"
    " compress",
    "run-with": "model live draft llm gpt claude anthropic openai gemini ollama local api key provider stream write"
    " summarizer rehearse edit cloud ai assistant",
    "runs": "history journal past log earlier kept results cost costs spent spending",
    "exact": "tokens precise tokenizer calibrate accurate",
    "why": "full cause overflow overflowed biggest large tokens history growth usage reason diagnose expensive"
    " exceeded"
    " chart graph timeline statistics stats bloat bloated waste wasted heavy explain",
    "kept": "lost retention rework forgotten forget forgets missing rules survive loss lose loses facts gone"
    " remembers held generations twice again second dropped disappeared vanished",
    "questions": "probes quiz test recall remember remembers knowledge ask exam evaluate evaluation",
    "compare": "which best worst cheapest rank ranking versus benchmark table all strategies cost price money"
    " evaluate sparkline alternatives better ab prompts models experiment test two",
    "replay": "replay simulation if thresholds history cost price money sweep plot chart graph timeline when over time",
    "play": "demo tour tutorial intro learn begin show animation film cast svg presentation gif movie"
    " video record present room slideshow",
    "export": "save resume share out download output continue file send publish handoff",
    "rescue": "resume full stuck recover continue save",
    "repair": "fix damaged broken corrupt cut orphan invalid restore heal",
    "help": "menu commands shortcuts actions hotkeys keyboard bindings all how explain manual docs documentation"
    " about ?",
    "choose_file": "load open recent sample browse session file start folder directory files switch another audit"
    " machine statistics stats report everything all history projects batch usage total totals overview",
    "reread": "refresh reload update sync",
    "leave": "stop cancel abort escape",
    "quit": "exit close bye end leave",
}
