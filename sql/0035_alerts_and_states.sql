-- One definition of a customer's state, alerts that absence does not close, and customers whom the roster names without a readable record.

-- Ids that the newest file of a roster names without an acceptable record, and that have no accepted record either: customers who cannot be
-- screened yet. A row leaves when a record is accepted, or when a later accepted file no longer names the id.
create table unaccepted_customer (
  roster_id bigint not null references roster,
  reference text not null,
  reason text not null check (reason in ('row_rejected', 'conflicting_duplicate', 'roster_held')),
  since timestamptz not null,
  run_id bigint not null references run,
  primary key (roster_id, reference)
);

-- Since when the roster names a related party of the customer that cannot be read and was never known; null while there is none.
alter table customer add column unreadable_party_since timestamptz;

-- Why the match of an alert is absent, and since when; null while it is listed as a hit.
alter table review_item
  add column absence text check (absence in ('not_returned', 'below_threshold', 'customer_changed', 'settings_changed')),
  add column absent_since timestamptz,
  add check ((absence is null) = (absent_since is null));

alter table disposition drop constraint disposition_verdict_check;
alter table disposition add constraint disposition_verdict_check
  check (verdict in ('true_match', 'false_positive', 'inconclusive', 'no_longer_matched'));
