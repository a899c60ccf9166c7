-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-23 22:00:28.568+00")'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match) overriding system value select alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match from unnest(array[
'(1,1,1,open,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-23 22:00:29.765+00","2026-11-24 02:00:29.765+00",,,1,,,sanction,f)',
'(2,1,2,open,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-23 22:00:29.765+00","2026-11-24 02:00:29.765+00",,,1,,,sanction,f)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-23 22:00:29.765+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-23 22:00:29.765+00",1,{},critical,,,f)'
]::alert_event[]);
delete from canary_outcome;
insert into canary_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-23 22:00:29.465+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-23 22:00:29.499+00",,{})',
'(1,0,person,"Canary Listed",match,passed,,1,2,end,6,"2026-11-23 22:00:29.629+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-23 22:00:29.657+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-25 22:00:30.791+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-25 22:00:30.813+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,2,end,2,"2026-11-25 22:00:30.852+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-25 22:00:30.868+00",,{})'
]::canary_outcome[]);
delete from change_record;
insert into change_record (change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before, after, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before, after, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,1,4294967297,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)',
'(2,1,1,4294967297,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)'
]::change_record[]);
delete from customer;
insert into customer (customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since) overriding system value select customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since from unnest(array[
'(2,1,C-1,1,"\\xc3a82f664ed349f033407299d890eb67",1,,,,,,,c-1)',
'(3,1,C-2,1,"\\x5d5fa6dd98d9253b0342429cd1d603e5",1,,,,,,,c-2)',
'(4,1,C-3,1,"\\xda0cf03e7c92cafe53468d8ccef880ec",1,,,,,,,c-3)',
'(5,1,C-4,1,"\\x37c6f444daed48495c1aac3435fb4427",1,,,,,,,c-4)',
'(6,1,C-5,1,"\\x4bbb87210e7032564bc1db33b15f316f",1,,,,,,,c-5)',
'(7,1,C-6,1,"\\x0cffecd398f35b8d56d490c148b308e5",1,,,,,,,c-6)'
]::customer[]);
delete from customer_block;
insert into customer_block (is_only) overriding system value select is_only from unnest(array[
'(t)'
]::customer_block[]);
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,2,,open_alert,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(2,3,,open_alert,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(3,4,,clear,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(4,5,,clear,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(5,6,,clear,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(6,7,,clear,,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-23 22:00:29.955+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-25 22:00:30.747+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-25 22:00:30.747+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-25 22:00:30.747+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-23 22:00:29.56+00","2026-11-24 22:00:29.56+00","2026-11-25 01:00:29.56+00",1,"2026-11-25 22:00:30.747+00")'
]::customer_state_change[]);
delete from customer_version;
insert into customer_version (customer_id, version, import_id, risk_tier, record, changed_fields) overriding system value select customer_id, version, import_id, risk_tier, record, changed_fields from unnest(array[
'(2,1,1,,"{""parties"": [{""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Wilhelmina Achterberg"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(3,1,1,,"{""parties"": [{""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Oktavian Prunescu"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(4,1,1,,"{""parties"": [{""name"": ""Tamsin Oyelaran"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Tamsin Oyelaran"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(5,1,1,,"{""parties"": [{""name"": ""Bertil Kvarnström"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Bertil Kvarnström"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(6,1,1,,"{""parties"": [{""name"": ""Aroha Ngata"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Aroha Ngata"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(7,1,1,,"{""parties"": [{""name"": ""Ciro Malvestuto"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Ciro Malvestuto"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)'
]::customer_version[]);
delete from detail_lookup;
insert into detail_lookup (run_id, kind, record_id, asked_at, status, reason, detail_id, received_digest, service_request_id) overriding system value select run_id, kind, record_id, asked_at, status, reason, detail_id, received_digest, service_request_id from unnest(array[
'(1,activity,amla_one,"2026-11-23 22:00:29.687+00",200,,1,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a",req_77994a86-49b5-4d43-9464-109cfc8099b4)',
'(1,activity,amla_two,"2026-11-23 22:00:29.688+00",200,,2,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149",req_14f6a016-b5b3-4aa7-93a2-8b909d667b61)'
]::detail_lookup[]);
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-15188,"2026-11-25 22:00:30.564+00","2026-11-25 22:00:30.564+00","2026-11-25 22:00:30.564+00")'
]::lease[]);
delete from match;
insert into match (response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries) overriding system value select response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries from unnest(array[
'(1,1,amla_c,"Canary Listed",Person,t,1,{sanction},{1960-01-01},{fr})',
'(4,1,amla_two,"Oktavian Prunescu",Person,t,1,{sanction},{1960-01-01},{fr})',
'(8,1,amla_one,"Wilhelmina Achterberg",Person,t,1,{sanction},{1960-01-01},{fr})'
]::match[]);
delete from match_detail;
insert into match_detail (detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at) overriding system value select detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at from unnest(array[
'(1,1,activity,amla_one,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-23 22:00:29.687+00")',
'(2,1,activity,amla_two,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-23 22:00:29.688+00")'
]::match_detail[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by) overriding system value select organisation_id, name, digest_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by from unnest(array[
'(1,default,"\\x9fa709f53d1dfbb36abf41f95ba0d5e44f42130e275b88129ad060de8a4e3d84","2026-11-23 22:00:28.398+00",,,,,)'
]::organisation[]);
delete from party;
insert into party (party_id, customer_id, ordinal, request_id, is_current) overriding system value select party_id, customer_id, ordinal, request_id, is_current from unnest(array[
'(1,2,0,1099511627777,t)',
'(2,3,0,1099511627778,t)',
'(3,4,0,1099511627779,t)',
'(4,5,0,1099511627780,t)',
'(5,6,0,1099511627781,t)',
'(6,7,0,1099511627782,t)'
]::party[]);
delete from party_state;
insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id, former_run_id, former_screened_at, former_answer) overriding system value select account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id, former_run_id, former_screened_at, former_answer from unnest(array[
'(1,3,1,1099511627779,5,1,settings-of-the-test,"2026-11-23 22:00:29.56+00",clear,,,,,,)',
'(1,4,1,1099511627780,6,1,settings-of-the-test,"2026-11-23 22:00:29.56+00",clear,,,,,,)',
'(1,5,1,1099511627781,3,1,settings-of-the-test,"2026-11-23 22:00:29.56+00",clear,,,,,,)',
'(1,6,1,1099511627782,7,1,settings-of-the-test,"2026-11-23 22:00:29.56+00",clear,,,,,,)',
'(1,1,2,1099511627777,8,1,settings-of-the-test,"2026-11-25 22:00:30.831+00",open_alert,,,,1,"2026-11-23 22:00:29.56+00",)',
'(1,2,2,1099511627778,4,1,settings-of-the-test,"2026-11-25 22:00:30.831+00",open_alert,,,,1,"2026-11-23 22:00:29.56+00",)'
]::party_state[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id from unnest(array[
'(1,1,{},{},"2026-11-23 22:00:30.023+00",6f79b3054e90d101dc4704e05139d660d966df67d289172b21e4adc96af0ac11,,)',
'(2,1,{},{},"2026-11-25 22:00:30.942+00",1a91371194ace05f92139ceb8e58e5e96463fc7fa89f65d40bf753b73d502b53,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id from unnest(array[
'(1,1,"\\x61acad72c183e324a68596bb5920c47a561277e8ff248bc06e0d0920611f8ec3","{""query"":""Canary Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Canary Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-23 22:00:29.465+00",1,1,amla_c)',
'(2,1,"\\xf82b79ef191c201691be7d845674ffd8566740896c214df9232140e904212215","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-23 22:00:29.499+00",0,0,)',
'(3,1,"\\x5ef581f540a1516a83c496742bdc407aed7428e506cf3c6f550760293936c5c3","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-23 22:00:29.56+00",0,0,)',
'(4,1,"\\x84a97b1e863cd2bb6805749d0c57bb8781f9ea0fca8c3cb38b8a2966c546c186","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-23 22:00:29.56+00",1,1,amla_two)',
'(5,1,"\\xd5a79a82166a28357cabb7f60451d46acdf15ddab70b0536bbf776d2df8a444e","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-23 22:00:29.56+00",0,0,)',
'(6,1,"\\xdcb3ee1bfc8744de69515b706b8dbb7af4846583666afa9b1fa6334381fc5481","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-23 22:00:29.56+00",0,0,)',
'(7,1,"\\xdf68384932c3dc8153570d6c971fc866dc0385fecd5e7d751af7679a6262d735","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-23 22:00:29.56+00",0,0,)',
'(8,1,"\\xffc87552dafc117d99d7b8d8947b6bd0a63c7b281b293852442aba1f73a9c56d","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-23 22:00:29.56+00",1,1,amla_one)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, exported_at, exported_by, run_id, shown_ids, waiting) overriding system value select sheet_id, exported_at, exported_by, run_id, shown_ids, waiting from unnest(array[
'(1,"2026-11-23 22:00:29.765+00",report,1,"{1,2}",2)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at, coverage) overriding system value select roster_id, organisation_id, name, created_at, coverage from unnest(array[
'(1,1,people,"2026-11-23 22:00:28.408+00","{""at"": ""2026-11-23T22:00:29.955+00:00"", ""cap"": null, ""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""runId"": 1, ""entries"": [[""high"", ""open_alert"", null, null, 2, 1795471229560.000000], [""high"", ""clear"", null, null, 4, 1795471229560.000000]], ""seconds"": 1, ""accountId"": 1, ""lastChange"": 6}")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-23 22:00:28.703+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-25 22:00:30.597+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],)'
]::roster_import[]);
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-15188,0,settings-of-the-test,0.0.0-test,,"2026-11-23 22:00:28.585+00","2026-11-23 22:00:29.93+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,4294967297,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-23T22:00:29.765+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 43.5, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{4164be5304b0},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-15188,0,settings-of-the-test,0.0.0-test,1,"2026-11-25 22:00:30.581+00","2026-11-25 22:00:30.915+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,4294967297,,,"{""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-23T22:00:29.765+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 67.6, ""limitPerSecond"": 400}",,,{4164be5304b0},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,)'
]::run[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-15188,"2026-11-23 22:00:28.585+00",{},10)',
'(2,1,2,test-15188,"2026-11-25 22:00:30.581+00",{},6)'
]::run_worker[]);
delete from screening;
insert into screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order) overriding system value select run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order from unnest(array[
'(1,1,1099511627777,8,4294967297,1,new,screened,,-32768)',
'(1,2,1099511627778,4,4294967297,1,new,screened,,-32768)',
'(1,3,1099511627779,5,4294967297,1,new,screened,,-32768)',
'(1,4,1099511627780,6,4294967297,1,new,screened,,-32768)',
'(1,5,1099511627781,3,4294967297,1,new,screened,,-32768)',
'(1,6,1099511627782,7,4294967297,1,new,screened,,-32768)',
'(2,3,1099511627779,,,1,overdue,remaining,,-20635)',
'(2,4,1099511627780,,,1,overdue,remaining,,-20635)',
'(2,5,1099511627781,,,1,overdue,remaining,,-20635)',
'(2,6,1099511627782,,,1,overdue,remaining,,-20635)',
'(2,1,1099511627777,8,4294967297,1,overdue,screened,,-20635)',
'(2,2,1099511627778,4,4294967297,1,overdue,screened,,-20635)'
]::screening[]);
delete from screening_request;
insert into screening_request (request_id, organisation_id, type, name) overriding system value select request_id, organisation_id, type, name from unnest(array[
'(1099511627781,1,person,"Aroha Ngata")',
'(1099511627780,1,person,"Bertil Kvarnström")',
'(1099511627782,1,person,"Ciro Malvestuto")',
'(1099511627778,1,person,"Oktavian Prunescu")',
'(1099511627779,1,person,"Tamsin Oyelaran")',
'(1099511627777,1,person,"Wilhelmina Achterberg")',
'(1,1,person,"Canary Listed")',
'(2,1,person,"Zzyzx Qwfpg")'
]::screening_request[]);
delete from search_batch;
insert into search_batch (run_id, batch_id, committed_at, request_base, requests, wide_requests, call_base, calls, service_prefix, service_ids, service_texts) overriding system value select run_id, batch_id, committed_at, request_base, requests, wide_requests, call_base, calls, service_prefix, service_ids, service_texts from unnest(array[
'(1,4294967297,"2026-11-23 22:00:29.56+00",1099511627777,"{0,1,2,3,4,5}",,,,,,)',
'(2,4294967297,"2026-11-25 22:00:30.831+00",1099511627777,"{0,1}",,3,"{100663300,281475077373957}",req_,"{28e39cff-9f5a-48af-a3b6-a7ccec720a5c,4b3890aa-0fcb-4f92-9082-629dea0589a1}",)'
]::search_batch[]);
delete from search_call;
insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id) overriding system value select run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from unnest(array[
'(1,4294967297,1,"2026-11-25 22:00:29.441+00","2026-11-25 22:00:29.451+00",201,ok,req_2a01f7c1-6d5e-4e39-bdc2-0e7119d06476)',
'(1,4294967298,2,"2026-11-25 22:00:29.488+00","2026-11-25 22:00:29.496+00",201,ok,req_06f785ec-8997-4f20-852d-2bb87aaa1fe9)',
'(1,4294967299,1099511627777,"2026-11-25 22:00:29.533+00","2026-11-25 22:00:29.545+00",201,ok,req_1f77d37a-1258-47b9-922e-d4dda8d92c4e)',
'(1,4294967300,1099511627778,"2026-11-25 22:00:29.533+00","2026-11-25 22:00:29.546+00",201,ok,req_83035544-a58e-436b-bd05-15b65208fe3f)',
'(1,4294967301,1099511627779,"2026-11-25 22:00:29.533+00","2026-11-25 22:00:29.546+00",201,ok,req_0faf2989-f3b6-4c89-8617-450daa8dad4d)',
'(1,4294967302,1099511627780,"2026-11-25 22:00:29.533+00","2026-11-25 22:00:29.554+00",201,ok,req_64d7e3d1-b488-4ed2-8acb-6748df285095)',
'(1,4294967303,1099511627781,"2026-11-25 22:00:29.534+00","2026-11-25 22:00:29.556+00",201,ok,req_5af74c91-15f2-4048-902d-b1da70e27105)',
'(1,4294967304,1099511627782,"2026-11-25 22:00:29.534+00","2026-11-25 22:00:29.558+00",201,ok,req_cbefa048-db7b-4a41-88f3-2097a0e06611)',
'(1,4294967305,1,"2026-11-25 22:00:29.618+00","2026-11-25 22:00:29.622+00",201,ok,req_e966b585-48ce-412c-8486-e30c83e634cc)',
'(1,4294967306,2,"2026-11-25 22:00:29.648+00","2026-11-25 22:00:29.651+00",201,ok,req_6303c558-6864-4929-9e4c-9def0a1f279c)',
'(2,4294967297,1,"2026-11-25 22:00:30.784+00","2026-11-25 22:00:30.787+00",201,ok,req_cae57727-cfd3-4ade-ab3b-0e93c28bc405)',
'(2,4294967298,2,"2026-11-25 22:00:30.798+00","2026-11-25 22:00:30.809+00",201,ok,req_6d7605fb-f3bd-48f5-8510-0bfefca4d5e4)',
'(2,4294967301,1,"2026-11-25 22:00:30.844+00","2026-11-25 22:00:30.848+00",201,ok,req_ed5ee56f-1223-4b93-9ef1-acc14b6e7aeb)',
'(2,4294967302,2,"2026-11-25 22:00:30.858+00","2026-11-25 22:00:30.86+00",201,ok,req_19157dee-ff7e-40e1-8a01-3a1e9a3f3b3f)'
]::search_call[]);
delete from settings_record;
insert into settings_record (settings_record_id, organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by) overriding system value select settings_record_id, organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by from unnest(array[
'(1,1,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}}",d8b0498b9494a900cb45a34471fc9c89234d2f63ada90a3555d7970c61d8850d,{},"first settings",t,"recorded by the first run","2026-11-23 22:00:28.428+00",)'
]::settings_record[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, facts, revision, owner) overriding system value select shown_id, alert_id, facts, revision, owner from unnest(array[
'(1,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T02:00:29.765+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-23T22:00:29.765+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)',
'(2,2,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T02:00:29.765+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-23T22:00:29.765+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)'
]::shown_alert[]);
select setval('account_account_id_seq', 2);
select setval('alert_alert_id_seq', 2);
select setval('alert_event_event_id_seq', 2);
select setval('change_record_change_id_seq', 2);
select setval('customer_customer_id_seq', 28);
select setval('customer_state_change_change_id_seq', 10);
select setval('match_detail_detail_id_seq', 2);
select setval('organisation_organisation_id_seq', 1);
select setval('party_party_id_seq', 100);
select setval('response_response_id_seq', 8);
select setval('review_sheet_sheet_id_seq', 1);
select setval('roster_import_import_id_seq', 2);
select setval('roster_roster_id_seq', 2);
select setval('run_run_id_seq', 2);
select setval('screening_request_block', 1099511627803);
select setval('screening_request_request_id_seq', 8);
select setval('settings_record_settings_record_id_seq', 1);
select setval('shown_alert_shown_id_seq', 2);
reset session_replication_role;
