"""JSON keys by type: each an attribute's name, or `key=attribute`.

The types are named, not imported, because most commands need few of them. A key carries its unit: `_tokens`, `_usd`,
`_share` (0 to 1), `_seconds`. `cost` and keys that end in `_cost` are in the `cost_unit` of the same object. `message`
is a message's id. `number` counts from 1: messages of the context, or rounds or generations in objects about these.
"""

KEYS = {
    "analysis.usage_check.CheckedCall":
        "call epoch message billed_tokens=billed expected_tokens=expected difference_tokens=difference",
    "analysis.usage_check.Gap": "call last_call=last epoch message difference_tokens=tokens position=where",
    "analysis.broken_rules.BrokenRule": "text file=path message breaks",
    "analysis.broken_rules.RuleBreak": "message epoch number command lost_at_epoch=lost_in",
    "analysis.compaction_cost.CacheLoss": "tokens_before=before tokens_after=after unchanged_tokens=first_changed "
        "rebilled_tokens=rebilled",
    "analysis.continuity.ContinuityFinding": "kind=name text message",
    "analysis.session_cost.SessionCost": "calls calls_without_usage=silent forked_calls=replayed recorded_usd=recorded "
        "prompts_usd=prompts answers_usd=answers cache_misses_usd=missed price_source=by",
    "analysis.failures.SessionFailure": "cause text remedy count consecutive=in_a_row is_open message time line images",
    "analysis.failures.SessionFailures": "headline failures loop",
    "analysis.generations.Generation": "number status tokens_before=before tokens_after=after summary_tokens=summary "
        "new_messages=grown session_ended=replayed watched",
    "analysis.generations.Generations": "kept_share_by_kind=survival kept_share=overall correct_share=right "
        "weighted_share=weighted summary_tokens generations=steps",
    "analysis.grounding.Grounding": "claims_by_kind=checked unsupported",
    "analysis.model_judge.JudgeResult": "facts kept_share=present correct_share=right labelled_pairs=pairs "
        "kept_agreement_share=agreed_present correct_agreement_share=agreed_right",
    "analysis.failures.Loop": "compactions since_call=since without_effect=empty smallest_tokens=smallest "
        "trigger_tokens=trigger",
    "analysis.recorded_compactions.RecordedCompaction": "epoch call kind=way manual tokens_before=tokens",
    "analysis.recorded_claims.RecordedClaims": "epoch message claims not_in_context=not_found unsupported",
    "analysis.replay.ReplayedCompaction": "call message round triggers status reason tokens_before=before "
        "tokens_after=after messages_before messages_after requests request_tokens summary_tokens cache "
        "summary_cost cache_cost paid_back_after_calls=pays_off_after paid_back_at_call=pays_off_at calls_after",
    "analysis.replay.MissedCompaction": "call message reason tokens_before=before",
    "analysis.retention.Retention": "head_messages=head all_facts=whole all_facts_by_kind=whole_kinds "
        "head_facts=overall head_facts_by_kind=kinds tail_facts=in_tail facts",
    "analysis.retention.FactCounts": "facts kept_fully=full kept_partly=part lost unknown wrong stale used "
        "kept_share=share correct_share=right weighted_share=weighted",
    "analysis.rework.items.ReworkItem": "kind subject=what message_before=before message_after=after tokens",
    "analysis.rework.items.NextStep": "calls tokens message",
    "analysis.session_cost.Rewrites": "calls written_tokens=written rewritten_tokens=tokens by_cause rewrites=again",
    "analysis.run_reports.SpendingTotal": "name runs calls input_tokens=input output_tokens=output usd=dollars "
        "runs_without_price=unknown file",
    "analysis.compaction_cost.SummaryUsage": "calls input_tokens=read cached_tokens=cached output_tokens=written",
    "analysis.sweep.plan.Axis": "setting=field values",
    "analysis.sweep.cells.SweepCell": "file values=setting calls compactions tokens_after=after peak_tokens=peak "
        "last_tokens=last calls_over_window=over sent_tokens=sent rebilled_tokens=rebilled summaries "
        "cost_million_input_tokens=units usd=dollars kept_share=retention watched error",
    "analysis.sweep.rows.RuleCount": "kept=keeping sessions=of",
    "analysis.sweep.rows.SweepRow": "values=setting sessions=files failed compactions tokens_after=after "
        "peak_tokens=peak calls_over_window=over sent_tokens=sent rebilled_tokens=rebilled cost kept_share=retention "
        "watched=rule_counts",
    "analysis.rule_file_states.FileRule": "text state message lost_at_epoch=gone_since",
    "analysis.watched_rules.StateChange": "at state_before=before state_after=after",
    "analysis.watched_rules.RuleTrail": "sentence states=passed last_state=last lost_at=lost unreadable_at=unread",
    "analysis.why.overflow.Delay": "limit_tokens=limit crossing_before=before crossing_after=after last_round "
        "last_tokens_before=last last_tokens_after=last_after rounds calls",
    "analysis.why.breakdown.Large": "message number role description=what tokens",
    "analysis.why.breakdown.RoundShare": "number message tokens total_tokens=upto",
    "analysis.why.overflow.OverflowLimit": "tokens context_tokens=context source=by description=why",
    "analysis.why.overflow.RejectedRequest": "text message time",
    "analysis.why.waste.Waste": "rereads unused base64 logs truncated=cut",
    "bench.state.RuleState": "sentence state_before=now state_after=after",
    "cli.compare_many.ComparedSession": "file epoch tokens_before=before variants",
    "cli.compare_many.OfflineFigures": "preset fit tokens_after=after saved_share kept_share correct_share "
        "summary_usd=dollars",
    "cli.compare_many.VariantMean": "preset sessions fitting_sessions=fits saved_share kept_share "
        "correct_share summary_usd=dollars",
    "cli.repair.RepairDocument": "file format fixes remaining=left branches messages output_file=out "
        "resume_steps=steps",
    "compaction.checks.Check": "name required=hard passed detail messages",
    "compaction.layers.Layer": "name tokens basis",
    "compaction.outcome.Rung": "name tokens_before=before tokens_after=after note",
    "compaction.strategy.Trigger": "name value limit unit fires note distance timed",
    "finding.glances.Unreadable": "file=path error=reason",
    "formats.diagnosis.ExportChange": "format=target title unchanged_records=unchanged changed_records=changed "
        "added_records=added removed_records=left_out changed_keys=keys bytes notes faults=problems",
    "formats.diagnosis.ContextFinding": "level topic=what text",
    "bench.fixes.RuleFix": "option description=words tokens",
    "play.frames.Frame": "title sentences=says lanes seconds transition=fall",
    "play.frames.Lane": "name call parts peaks=trail compactions trigger_tokens=fires rule price=cost",
    "play.frames.Fall": "done_share=share parts_after=after",
    "play.frames.Rule": "text state pinned stated",
    "play.frames.Story": "note calls scale_tokens=scale window_tokens=window frames",
    "session.message.Usage": "input_tokens=input output_tokens=output cache_read_tokens=cache_read "
        "cache_write_tokens=cache_write",
    "session.session.LoadWarning": "line text",
    "session.session.Compaction": "trigger kind=way tokens_before tokens_after time",
    "summarizers.run_history.RunRow": "id began seconds end strategy preset summarizer model session_digest=session "
        "file status calls input_tokens=input output_tokens=output usd=dollars",
    "tokens.cost.Cost": "model usd=dollars note",
    "tokens.sizes.Size": "messages chars tokens",
}  # fmt: skip
