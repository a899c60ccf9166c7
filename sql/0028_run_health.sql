-- What a report tells of how a run went and of what is settled, fixed when the run closes.

alter table run
  -- How its calls went: rate, repeats, breaks, cost.
  add column health jsonb,
  -- Items that nobody has to decide about any more, and what the run did with them.
  add column settled_items jsonb;

create index review_event_of_decided on review_event (run_id) where kind in ('reopened', 'gone');
