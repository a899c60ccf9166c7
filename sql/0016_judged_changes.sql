-- What was judged of a change beside its severity, and matches that come back.

alter table change_event
  drop constraint change_event_kind_check,
  add constraint change_event_kind_check check (
    kind in (
      'match_added', 'match_changed', 'match_removed', 'match_not_returned', 'match_rekeyed', 'match_returned', 'hit_gained', 'hit_lost'
    )
  ),
  -- What moved the severity away from its rule's.
  add column adjustments text[] not null default '{}'
    check (adjustments <@ array['birth_date_contradicts', 'risk_tier']),
  -- Whether the customer's facts bear the match out; null where nobody looked yet.
  add column birth_date_agreement text check (birth_date_agreement in ('agree', 'contradict', 'unknown')),
  add column country_agreement text check (country_agreement in ('agree', 'contradict', 'unknown')),
  -- A hit for a sanction always stands by itself in a report; so does every change from before anybody noted it.
  add column sanction_hit boolean not null default true;

alter table taken_back_change
  add column adjustments text[] not null default '{}',
  add column birth_date_agreement text,
  add column country_agreement text,
  add column sanction_hit boolean not null default true;
