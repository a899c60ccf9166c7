-- What stopped a run early; its words stand in state_reasons.

alter table run add column halted_by text check (halted_by in ('account', 'address', 'outage', 'budget', 'max_searches', 'signal'));
