-- Alerts, dispositions and their history.

-- Exported working lists, and rows of them that confirm many absent alerts of one listed party at once.
create table review_sheet (
  sheet_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  exported_at timestamptz not null check (exported_at >= '2000-01-01'),
  exported_by person_name not null,
  -- For the workbook of a report: its run, the shown alerts, most urgent first, and the number that waited.
  run_id bigint references run,
  shown_ids bigint[],
  waiting integer,
  -- For a row of many alerts: these alerts.
  alert_ids bigint[] check ((cardinality(alert_ids) >= 2) and (cardinality(alert_ids) <= 500)),
  check (((run_id is null) = (shown_ids is null)) and ((run_id is null) = (waiting is null)))
);

create index review_sheet_by_run on review_sheet (run_id) where (run_id is not null);

create table alert (
  alert_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  party_id bigint not null references party,
  state alert_state not null,
  -- The match as last seen, and the customer's record at that time.
  listed_id bigint not null,
  rank integer not null,
  is_hit boolean not null,
  score double precision not null,
  customer_version integer not null,
  severity severity not null,
  rule text not null,
  priority smallint not null check ((priority >= 0) and (priority <= 999)),
  is_baseline boolean not null,
  -- When it was opened or last re-opened.
  opened_at timestamptz not null,
  due_at timestamptz,
  -- The disposition in force, or the proposal that waits for a second person.
  disposition_id bigint,
  assigned_to person_name,
  -- Counts the changes of the row.
  revision bigint default 1 not null,
  -- Why the match of an alert is absent, and since when; null while it is listed as a hit.
  absence text check (absence in ('not_returned', 'below_threshold', 'customer_changed', 'settings_changed')),
  absent_since timestamptz,
  -- The most serious topic family. A true match ends only by a later `false_positive` or `no_longer_matched`.
  topic text not null check (topic in ('sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none')),
  is_true_match boolean default false not null,
  -- The decision of an older system: {"verdict", "reason", "comment", "decidedBy", "decidedAt" (in its words), "isSample" (it does not count: a spot
  -- check is decided here), "reviewer" (who imported it), "isAttested", "importedAt"}. Reason and comment are erased with the customer.
  legacy jsonb,
  constraint legacy_has_its_form check (legacy is null or coalesce(jsonb_path_match(legacy, 'strict
    ($.verdict == "true_match" || $.verdict == "false_positive" || $.verdict == "inconclusive")
    && $.reason.type() == "string" && $.decidedBy.type() == "string" && $.decidedAt.type() == "string" && $.reviewer.type() == "string"
    && $.importedAt.type() == "string" && $.isAttested.type() == "boolean" && ($.comment.type() == "string" || $.comment.type() == "null")
    && ($.isSample == false || $.isSample == true && $.verdict == "false_positive")
  ', silent => true), false)
    and legacy - array['verdict', 'reason', 'comment', 'decidedBy', 'decidedAt', 'reviewer', 'importedAt', 'isAttested', 'isSample'] = '{}'
    and num_nulls(
      (legacy ->> 'reason')::written_text, (legacy ->> 'decidedBy')::person_name, (legacy ->> 'decidedAt')::person_name,
      (legacy ->> 'reviewer')::person_name
    ) = 0
    and (legacy ->> 'comment')::written_text is distinct from ''
    and length(legacy ->> 'importedAt') <= 40 and (legacy ->> 'importedAt')::timestamptz >= '2000-01-01'
  ),
  constraint alert_decided check ((disposition_id is not null) or (state in ('open', 'no_longer_matched'))),
  check ((absence is null) = (absent_since is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index alert_by_party on alert (party_id, account_id);
create index alert_waiting on alert (account_id) where (state in ('open', 'pending_approval'));
create index alert_in_force on alert (party_id) where ((state <> 'no_longer_matched') and ((state in ('open', 'pending_approval')) or is_true_match));

create view alert_with_match as
select alert.*, listed.match_id, show_match(listed, alert.rank, alert.is_hit, alert.score) as listed
from alert left join listed_party listed on listed.listed_id = alert.listed_id;

create table disposition (
  disposition_id bigint generated always as identity primary key,
  alert_id bigint not null references alert,
  kind text not null check (kind in ('decided', 'proposed', 'approved', 'undone')),
  -- Null for a decision that is undone.
  verdict text check (verdict in ('true_match', 'false_positive', 'inconclusive', 'no_longer_matched')),
  reviewer person_name not null,
  -- True where the reviewer is not authenticated.
  is_attested boolean not null,
  decided_at timestamptz not null check (decided_at >= '2000-01-01'),
  origin text not null,
  -- The digest of the row in `disposition_text` with its salt.
  text_digest bytea not null,
  expires_at timestamptz check (expires_at >= '2000-01-01' and expires_at < '10000-01-01'),
  -- The working list that it came from.
  sheet_id bigint references review_sheet,
  -- The proposal that is confirmed, or the decision that is undone.
  refers_to bigint references disposition,
  -- When an alert is due whose decision is undone.
  due_at timestamptz,
  check ((kind = 'undone') = (verdict is null)),
  check ((kind in ('approved', 'undone')) = (refers_to is not null)),
  check (due_at is null or kind = 'undone' and due_at >= '2000-01-01' and due_at <= decided_at + interval '1 year'),
  check (
    origin in ('review', 'legacy')
    or (origin = 'policy' and reviewer = 'review.autoClose' and kind = 'decided' and verdict = 'no_longer_matched' and not is_attested)
  )
);

create index disposition_by_sheet on disposition (sheet_id) where (sheet_id is not null);
create index disposition_by_alert on disposition (alert_id);

-- A night may close many alerts by policy: this finds the decisions of people.
create index disposition_of_people on disposition (disposition_id) where (origin <> 'policy');

-- The words of a disposition, and the facts that its reviewer saw; it holds while these stay the same. This is personal data: it is never
-- changed, and deleted when the customer is erased. The salt goes with it, so that the digest that remains reveals nothing.
create table disposition_text (
  disposition_id bigint primary key references disposition,
  salt uuid not null,
  reason written_text not null,
  comment written_text,
  seen jsonb not null,
  -- As `toSeenFacts` writes it.
  constraint seen_has_its_form check (coalesce(jsonb_path_match(seen, 'strict
    $.listed.schema.type() == "string" && $.listed.name.type() == "string"
    && $.listed.topics.type() == "array" && !exists($.listed.topics[*] ? (@.type() != "string"))
    && $.listed.birthDates.type() == "array" && !exists($.listed.birthDates[*] ? (@.type() != "string"))
    && $.listed.countries.type() == "array" && !exists($.listed.countries[*] ? (@.type() != "string"))
    && $.customer.role.type() == "string" && $.customer.type.type() == "string" && $.customer.name.type() == "string"
    && ($.customer.birthDate.type() == "string" || $.customer.birthDate.type() == "null")
    && $.customer.countries.type() == "array" && !exists($.customer.countries[*] ? (@.type() != "string"))
  ', silent => true), false)
    and seen - array['listed', 'customer'] = '{}'
    and (seen -> 'listed') - array['schema', 'name', 'topics', 'birthDates', 'countries'] = '{}'
    and (seen -> 'customer') - array['role', 'type', 'name', 'birthDate', 'countries'] = '{}'
    and length(seen::text) <= 100000
  )
);

create view disposition_with_text as
  select disposition.*, coalesce(words.reason, 'erased') as reason, words.comment, words.seen
  from disposition left join disposition_text words using (disposition_id);

create function digest_disposition_text(salt uuid, reason text, comment text, seen jsonb) returns bytea immutable language sql as $$
  select sha256(convert_to(jsonb_build_array(salt, reason, comment, seen)::text, 'UTF8'))
$$;

-- The history of alerts without their dispositions: what runs did, and assignments.
create table alert_event (
  event_id bigint generated always as identity primary key,
  alert_id bigint not null references alert,
  kind text not null check (kind in ('opened', 'reopened', 'escalated', 'rekeyed', 'absent', 'auto_closed', 'returned', 'assigned')),
  happened_at timestamptz not null,
  run_id bigint references run,
  -- The facts that had changed since the decision; `expired`, `returned`.
  reasons text[] default '{}' not null,
  severity severity not null,
  actor person_name,
  assigned_to person_name,
  -- True where the actor is not authenticated.
  is_attested boolean default false not null,
  check ((kind = 'assigned') = (run_id is null)),
  check (kind <> 'assigned' or reasons = '{}' and happened_at >= '2000-01-01')
);

create index alert_event_by_run on alert_event (run_id) where (run_id is not null);
create index alert_event_by_alert on alert_event (alert_id);
create index alert_event_of_decided on alert_event (run_id) where (kind in ('reopened', 'auto_closed', 'absent'));

-- Alerts as the workbooks of reports show them; unchanged ones are stored once.
create table shown_alert (
  shown_id bigint generated always as identity primary key,
  alert_id bigint not null references alert,
  -- The match; everything else is in `facts`, without the words of an older system, which stay with the alert.
  listed_id bigint not null,
  rank integer not null,
  is_hit boolean not null,
  score double precision not null,
  facts jsonb not null,
  -- The revision of the alert.
  revision bigint not null
);

create index shown_alert_by_alert on shown_alert (alert_id, shown_id);

alter table alert add constraint alert_disposition_fkey foreign key (disposition_id) references disposition(disposition_id);

create function counts_as_true_match(asked_id bigint) returns boolean stable language sql as $$
  select coalesce((
    select max(said.disposition_id) filter (where said.verdict = 'true_match')
      > coalesce(max(said.disposition_id) filter (
          where said.verdict in ('false_positive', 'no_longer_matched') and undo.disposition_id is null
        ), 0)
    from disposition said
    left join disposition undo on undo.alert_id = asked_id and undo.kind = 'undone' and undo.refers_to = said.disposition_id
    where said.alert_id = asked_id and said.kind in ('decided', 'approved')
  ), false)
$$;

-- Locks the states of the parties of these alerts in the common order, for reviewers, who may not update them.
create function hold_party_states(alerts bigint[]) returns void language plpgsql security definer as $$
begin
  perform from party_state
  where (account_id, party_id) in (select account_id, party_id from alert where alert_id = any (alerts))
  order by party_id, account_id for no key update;
end
$$;

-- One person restricts at once. A release (`false_positive`, `no_longer_matched`) takes two people at the severities with four eyes; where any
-- severity has four eyes, so does the release of a sanctions alert or a true match. Another person confirms a proposal, having seen the same
-- facts. Only the disposition in force can be confirmed or undone. `no_longer_matched` needs an absent match.
create function check_disposition(said disposition) returns void language plpgsql as $$
declare
  subject alert;
  referred disposition;
  four_eyes text[];
begin
  if said.origin = 'policy' then
    perform require_owner(format('an alert is %s', said.kind));
  else
    perform require_author(said.reviewer, said.is_attested, 'decide', said.decided_at);
  end if;
  -- Other reviewers wait here. Each of them holds a key share lock of the alert, for which a stronger lock would wait.
  select * into subject from alert where alert_id = said.alert_id for no key update;
  if said.origin <> 'policy' and said.decided_at + interval '1 day' < (
    select min(event.happened_at) from alert_event event where event.alert_id = said.alert_id and event.kind = 'opened'
  ) then
    raise exception 'the time of the disposition is before alert % was opened', said.alert_id using errcode = 'check_violation';
  end if;
  if said.sheet_id is not null and not exists (
    select from review_sheet join account using (organisation_id)
    where review_sheet.sheet_id = said.sheet_id and account.account_id = subject.account_id
  ) then
    raise exception 'sheet % is of another organisation than alert %', said.sheet_id, said.alert_id using errcode = 'integrity_constraint_violation';
  end if;
  if said.verdict = 'no_longer_matched' and subject.absence is null then
    raise exception 'the match of alert % is listed', said.alert_id using errcode = 'integrity_constraint_violation';
  end if;
  if said.origin = 'policy' then
    return;
  end if;
  if said.kind in ('proposed', 'approved') and version() ~ 'emscripten' then
    raise exception 'on the embedded database no second person can be told from the first' using errcode = 'insufficient_privilege';
  end if;
  if said.kind in ('approved', 'undone') then
    select * into referred from disposition where disposition_id = said.refers_to;
    if referred.alert_id is distinct from said.alert_id or subject.disposition_id is distinct from said.refers_to then
      raise exception 'decision % does not stand about alert %', said.refers_to, said.alert_id using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if said.kind = 'approved' then
    if referred.kind <> 'proposed' or referred.verdict <> said.verdict then
      raise exception 'decision % proposes something else', said.refers_to using errcode = 'integrity_constraint_violation';
    end if;
    if referred.reviewer = said.reviewer then
      raise exception 'what % has proposed is confirmed by another person', said.reviewer using errcode = 'insufficient_privilege';
    end if;
  elsif said.kind = 'decided' and said.verdict in ('false_positive', 'no_longer_matched') then
    four_eyes := find_four_eyes((select organisation_id from account where account_id = subject.account_id));
    if four_eyes <> '{}' and (subject.severity = any (four_eyes) or subject.topic = 'sanction' or subject.is_true_match) then
      raise exception 'the release of alert % is decided by two people', said.alert_id using errcode = 'insufficient_privilege';
    end if;
  end if;
end
$$;

-- A permitted disposition sets the state of its alert: reviewers may not. Later changes of the score are measured from the one that they saw.
create function apply_disposition() returns trigger language plpgsql security definer as $$
declare
  words disposition_text;
begin
  perform check_disposition(new);
  -- One statement writes both, and this is checked at its end.
  select * into words from disposition_text where disposition_id = new.disposition_id;
  if not found then
    raise exception 'a disposition is written together with its text' using errcode = 'integrity_constraint_violation';
  end if;
  if new.kind = 'approved' and not exists (
    select from disposition_text proposed where proposed.disposition_id = new.refers_to and proposed.seen = words.seen
  ) then
    raise exception 'decision % proposes something else', new.refers_to using errcode = 'integrity_constraint_violation';
  end if;
  update alert set
    disposition_id = case when new.kind <> 'undone' then new.disposition_id end,
    is_true_match = counts_as_true_match(new.alert_id),
    state = case
      when new.kind = 'proposed' then 'pending_approval'
      when new.verdict = 'no_longer_matched' then 'no_longer_matched'
      when new.verdict = 'false_positive' then case when alert.absence is null then 'false_positive' else 'no_longer_matched' end
      -- A true match whose match is absent waits for `no_longer_matched`.
      when new.verdict = 'true_match' and alert.absence is null then 'true_match'
      else 'open'
    end,
    -- A proposal and `inconclusive` keep the age of the alert.
    opened_at = case when new.kind = 'undone' and alert.state not in ('open', 'pending_approval') then new.decided_at else alert.opened_at end,
    due_at = case when new.kind = 'undone' and alert.state not in ('open', 'pending_approval') then new.due_at else alert.due_at end
  where alert.alert_id = new.alert_id;
  if new.kind <> 'undone' and new.origin <> 'policy' then
    update party_state state
    set reported_scores = coalesce(state.reported_scores, '{}') || jsonb_build_object(alert.match_id, alert.score)
    from alert_with_match alert
    where alert.alert_id = new.alert_id and state.account_id = alert.account_id and state.party_id = alert.party_id;
  end if;
  return null;
end
$$;

-- The decision of an older system is imported once; its words are deleted when the customer is erased.
create function check_alert() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  if new.legacy is distinct from old.legacy then
    if old.legacy is null then
      perform require_author(
        new.legacy ->> 'reviewer', (new.legacy ->> 'isAttested')::boolean, 'decide', (new.legacy ->> 'importedAt')::timestamptz
      );
    elsif new.legacy is distinct from old.legacy || '{"reason": "erased", "comment": null}' then
      raise exception 'what an older system says of alert % is never changed or removed', old.alert_id using errcode = 'restrict_violation';
    else
      perform require_owner('the words of an older system are erased');
    end if;
  end if;
  return new;
end
$$;

-- A text always has the digest of its disposition.
create function check_disposition_text() returns trigger language plpgsql security definer as $$
begin
  if not exists (
    select from disposition
    where disposition.disposition_id = new.disposition_id
      and disposition.text_digest = digest_disposition_text(new.salt, new.reason, new.comment, new.seen)
  ) then
    raise exception 'the text of disposition % is never changed', new.disposition_id using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;

create function check_alert_event() returns trigger language plpgsql as $$
begin
  if new.kind = 'assigned' then
    perform require_author(new.actor, new.is_attested, 'assign', new.happened_at);
  else
    perform require_owner(format('an alert is %s', new.kind));
  end if;
  return new;
end
$$;

-- A working list names the login that exported it; the owner writes the lists of reports.
create function check_review_sheet() returns trigger language plpgsql as $$
begin
  if new.run_id is not null then
    perform require_owner('a list is of a report');
    return new;
  end if;
  if not version() ~ 'emscripten' then
    new.exported_by := session_user;
  end if;
  perform require_author(new.exported_by, version() ~ 'emscripten', 'write a list', new.exported_at);
  if exists (
    select from unnest(new.alert_ids) named (id)
    where not exists (
      select from alert join account using (account_id) where alert.alert_id = named.id and account.organisation_id = new.organisation_id
    )
  ) then
    raise exception 'the list names alerts of another organisation, or none' using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$$;

create trigger check_alert before update on alert for each row execute function check_alert();
create trigger apply_disposition after insert on disposition for each row execute function apply_disposition();
create trigger check_disposition_text after insert or update on disposition_text for each row execute function check_disposition_text();
create trigger check_alert_event before insert on alert_event for each row execute function check_alert_event();
create trigger check_review_sheet before insert on review_sheet for each row execute function check_review_sheet();
