-- Rosters and dossiers are compared in the order of their keys. Bytes compare several times as fast as words of a language.

alter table customer alter column reference_key type text collate "C";
alter table dossier alter column reference_key type text collate "C";

-- The few answers that were cut: who was never searched is found in the primary key alone.
create index party_state_incomplete on party_state (account_id, party_id) where state = 'incompletely_seen';
