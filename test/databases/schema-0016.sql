-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-24 00:47:31.202+00")'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-24 00:47:35.2+00","2026-11-24 04:47:35.2+00",,,1,,,sanction,f,)',
'(2,1,2,open,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-24 00:47:35.2+00","2026-11-24 04:47:35.2+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-24 00:47:35.2+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-24 00:47:35.2+00",1,{},critical,,,f)'
]::alert_event[]);
delete from change_record;
insert into change_record (change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before, after, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before, after, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,1,4294967297,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)',
'(2,1,1,4294967297,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)'
]::change_record[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-24 00:47:34.086+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-24 00:47:34.206+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-24 00:47:34.766+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-24 00:47:34.886+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-26 00:47:38.723+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 00:47:38.828+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-26 00:47:38.972+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-26 00:47:38.998+00",,{})'
]::control_outcome[]);
delete from customer;
insert into customer (customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since) overriding system value select customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since from unnest(array[
'(2,1,C-1,1,"\\xc3a82f664ed349f033407299d890eb67",1,,,,,,,c-1)',
'(3,1,C-2,1,"\\x5d5fa6dd98d9253b0342429cd1d603e5",1,,,,,,,c-2)',
'(4,1,C-3,1,"\\xda0cf03e7c92cafe53468d8ccef880ec",1,,,,,,,c-3)',
'(5,1,C-4,1,"\\x37c6f444daed48495c1aac3435fb4427",1,,,,,,,c-4)',
'(6,1,C-5,1,"\\x4bbb87210e7032564bc1db33b15f316f",1,,,,,,,c-5)',
'(7,1,C-6,1,"\\x0cffecd398f35b8d56d490c148b308e5",1,,,,,,,c-6)'
]::customer[]);
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,2,,open_alert,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(2,3,,open_alert,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(3,4,,clear,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(4,5,,clear,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(5,6,,clear,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(6,7,,clear,,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-24 00:47:35.957+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-26 00:47:38.551+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-26 00:47:38.551+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-26 00:47:38.551+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-24 00:47:34.471+00","2026-11-25 00:47:34.471+00","2026-11-25 03:47:34.471+00",1,"2026-11-26 00:47:38.551+00")'
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
'(1,activity,amla_one,"2026-11-24 00:47:35.003+00",200,,1,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a",req_70d60bb6-1cbf-460d-b7e7-4403dd6048bc)',
'(1,activity,amla_two,"2026-11-24 00:47:35.004+00",200,,2,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149",req_1671798f-399c-4f77-9845-5cd0348acb6a)'
]::detail_lookup[]);
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-27582,"2026-11-26 00:47:37.642+00","2026-11-26 00:47:38.691+00","2026-11-26 00:47:37.642+00")'
]::lease[]);
delete from match;
insert into match (response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries) overriding system value select response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries from unnest(array[
'(1,1,amla_c,"Control Listed",Person,t,1,{sanction},{1960-01-01},{fr})',
'(4,1,amla_one,"Wilhelmina Achterberg",Person,t,1,{sanction},{1960-01-01},{fr})',
'(6,1,amla_two,"Oktavian Prunescu",Person,t,1,{sanction},{1960-01-01},{fr})'
]::match[]);
delete from match_detail;
insert into match_detail (detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at) overriding system value select detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at from unnest(array[
'(1,1,activity,amla_one,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-24 00:47:35.003+00")',
'(2,1,activity,amla_two,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-24 00:47:35.004+00")'
]::match_detail[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by from unnest(array[
'(1,default,"\\x73c77c3e5ce1b205fb770ec33fcd8b50c2647a3f52a62d26bbc8f63bfe4639bc","\\x32b05f58f3dd456196fdce2f5c6041a1cae9abfc3b454ed78de462d7473426c3","2026-11-24 00:47:30.983+00",,,,,)'
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
'(1,3,1,1099511627779,3,1,settings-of-the-test,"2026-11-24 00:47:34.471+00",clear,,,,,,)',
'(1,4,1,1099511627780,5,1,settings-of-the-test,"2026-11-24 00:47:34.471+00",clear,,,,,,)',
'(1,5,1,1099511627781,7,1,settings-of-the-test,"2026-11-24 00:47:34.471+00",clear,,,,,,)',
'(1,6,1,1099511627782,8,1,settings-of-the-test,"2026-11-24 00:47:34.471+00",clear,,,,,,)',
'(1,1,2,1099511627777,4,1,settings-of-the-test,"2026-11-26 00:47:38.911+00",open_alert,,,,1,"2026-11-24 00:47:34.471+00",)',
'(1,2,2,1099511627778,6,1,settings-of-the-test,"2026-11-26 00:47:38.911+00",open_alert,,,,1,"2026-11-24 00:47:34.471+00",)'
]::party_state[]);
delete from planned_screening;
insert into planned_screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order) overriding system value select run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order from unnest(array[
'(2,3,1099511627779,,,1,overdue,remaining,,-20635)',
'(2,4,1099511627780,,,1,overdue,remaining,,-20635)',
'(2,5,1099511627781,,,1,overdue,remaining,,-20635)',
'(2,6,1099511627782,,,1,overdue,remaining,,-20635)',
'(2,1,1099511627777,4,4294967297,1,overdue,screened,,-20635)',
'(2,2,1099511627778,6,4294967297,1,overdue,screened,,-20635)'
]::planned_screening[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id from unnest(array[
'(1,1,{},{},"2026-11-24 00:47:36.099+00",6222e08cba6e74e8b91928d9c99b679f116d17729604a54ebd519febeaa8172f,,)',
'(2,1,{},{},"2026-11-26 00:47:39.201+00",e14b36fd6d021b5ec4e4dbda73d174fb04b6e4b8f5556d65ff1e3c50c6e0181c,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id from unnest(array[
'(1,1,"\\xe5b4eaf9f006f34892b9f4cdb4e71a4034c10375f31348705dac9c5c1ba72cc2","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:47:34.086+00",1,1,amla_c)',
'(2,1,"\\x35a0a17e9930ec0d29b264ead76d4d0b811fa761818f8950216ec32b3b609605","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:47:34.206+00",0,0,)',
'(3,1,"\\x190a5c27703d62452b7530f96d3cfd59a0ecd60c70ef9adbde456ee7bc564a6c","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:47:34.471+00",0,0,)',
'(4,1,"\\x1a883b572d96cafd4ef87d0fcb4177e1fb0742af788864e2172868cf9e88eeb4","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:47:34.471+00",1,1,amla_one)',
'(5,1,"\\x38f67e359a8a07fb766bcee5ffdfdfc6c3bac3e19f6f9d28e58657c7d491ecfe","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:47:34.471+00",0,0,)',
'(6,1,"\\x9d9133b2487679eaed861f40658fdf237c7656b05725d04f90e242b3bc8cba66","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:47:34.471+00",1,1,amla_two)',
'(7,1,"\\xed18f13e8180c45abe263a2f24803a272eedbc4ae954bc66e022b0a4fff3cac2","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:47:34.471+00",0,0,)',
'(8,1,"\\xf34166782cb3d1040489bf7d6b6e74b21150b49e11e402f7e1876b19479a7f2e","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:47:34.471+00",0,0,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, exported_at, exported_by, run_id, shown_ids, waiting) overriding system value select sheet_id, exported_at, exported_by, run_id, shown_ids, waiting from unnest(array[
'(1,"2026-11-24 00:47:35.2+00",report,1,"{1,2}",2)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at, coverage) overriding system value select roster_id, organisation_id, name, created_at, coverage from unnest(array[
'(1,1,people,"2026-11-24 00:47:31.007+00","{""at"": ""2026-11-24T00:47:35.957+00:00"", ""cap"": null, ""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""runId"": 1, ""entries"": [[""high"", ""clear"", null, null, 4, 1795481254471.000000], [""high"", ""open_alert"", null, null, 2, 1795481254471.000000]], ""seconds"": 1, ""accountId"": 1, ""lastChange"": 6, ""lastDisposition"": 0}")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-24 00:47:31.571+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 00:47:37.75+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],)'
]::roster_import[]);
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-27582,0,settings-of-the-test,0.0.0-test,,"2026-11-24 00:47:31.243+00","2026-11-24 00:47:35.843+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,4294967297,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-24T00:47:35.2+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 10.9, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{cf170b6510e9},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-27582,0,settings-of-the-test,0.0.0-test,1,"2026-11-26 00:47:37.697+00","2026-11-26 00:47:39.156+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,4294967297,,,"{""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-24T00:47:35.2+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 17, ""limitPerSecond"": 400}",,,{cf170b6510e9},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,)'
]::run[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-27582,"2026-11-24 00:47:31.243+00",{},10)',
'(2,1,2,test-27582,"2026-11-26 00:47:37.697+00",{},6)'
]::run_worker[]);
delete from screening_block;
insert into screening_block (run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions) overriding system value select run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions from unnest(array[
'(1,0,1,new,screened,1099511627777,3,4294967297,1,"{,,,,,}","{0,1,2,3,4,5}","{1,3,0,2,4,5}","{0,0,0,0,0,0}",)'
]::screening_block[]);
delete from screening_request;
insert into screening_request (request_id, organisation_id, type, name) overriding system value select request_id, organisation_id, type, name from unnest(array[
'(1099511627781,1,person,"Aroha Ngata")',
'(1099511627780,1,person,"Bertil Kvarnström")',
'(1099511627782,1,person,"Ciro Malvestuto")',
'(1099511627778,1,person,"Oktavian Prunescu")',
'(1099511627779,1,person,"Tamsin Oyelaran")',
'(1099511627777,1,person,"Wilhelmina Achterberg")',
'(1,1,person,"Control Listed")',
'(2,1,person,"Zzyzx Qwfpg")'
]::screening_request[]);
delete from search_batch;
insert into search_batch (run_id, batch_id, committed_at, request_base, requests, wide_requests, call_base, calls, service_prefix, service_ids, service_texts) overriding system value select run_id, batch_id, committed_at, request_base, requests, wide_requests, call_base, calls, service_prefix, service_ids, service_texts from unnest(array[
'(1,4294967297,"2026-11-24 00:47:34.471+00",1099511627777,"{0,1,2,3,4,5}",,,,,,)',
'(2,4294967297,"2026-11-26 00:47:38.911+00",1099511627777,"{0,1}",,3,"{486539285,281475463249948}",req_,"{e4375d39-b5ad-451e-80c8-2123c4c2e800,40d2e590-7844-4428-8732-ff01e09e5861}",)'
]::search_batch[]);
delete from search_call;
insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id) overriding system value select run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from unnest(array[
'(1,4294967297,1,"2026-11-26 00:47:34.013+00","2026-11-26 00:47:34.054+00",201,ok,req_893d227e-e96f-4700-86b2-12514f661f8f)',
'(1,4294967298,2,"2026-11-26 00:47:34.158+00","2026-11-26 00:47:34.183+00",201,ok,req_4d644508-aa32-45a3-b86d-2939d34a05ae)',
'(1,4294967299,1099511627777,"2026-11-26 00:47:34.323+00","2026-11-26 00:47:34.402+00",201,ok,req_da255b3f-dbfa-4bf9-833f-a6c7c44b06c0)',
'(1,4294967300,1099511627778,"2026-11-26 00:47:34.324+00","2026-11-26 00:47:34.408+00",201,ok,req_d56ef788-0217-448a-851c-ddea5cd4f8d4)',
'(1,4294967301,1099511627779,"2026-11-26 00:47:34.324+00","2026-11-26 00:47:34.409+00",201,ok,req_cdb20789-025b-4f76-8cfd-30d511b8737c)',
'(1,4294967302,1099511627780,"2026-11-26 00:47:34.324+00","2026-11-26 00:47:34.438+00",201,ok,req_ef143324-a0b0-43f1-8521-69730d823de7)',
'(1,4294967303,1099511627781,"2026-11-26 00:47:34.325+00","2026-11-26 00:47:34.441+00",201,ok,req_794a3759-315a-4b73-b66e-33c5e83b22b7)',
'(1,4294967304,1099511627782,"2026-11-26 00:47:34.333+00","2026-11-26 00:47:34.456+00",201,ok,req_a26990b0-0af6-43ad-aa97-2ef1caa892ac)',
'(1,4294967305,1,"2026-11-26 00:47:34.727+00","2026-11-26 00:47:34.74+00",201,ok,req_c3b528c0-f4cb-431e-81cd-1eff6ee00765)',
'(1,4294967306,2,"2026-11-26 00:47:34.838+00","2026-11-26 00:47:34.859+00",201,ok,req_add5ed39-1e48-45ba-ac28-73ef69aac8e9)',
'(2,4294967297,1,"2026-11-26 00:47:38.69+00","2026-11-26 00:47:38.699+00",201,ok,req_25a0da4b-b9c0-45cd-8ab8-11b4cd32225b)',
'(2,4294967298,2,"2026-11-26 00:47:38.759+00","2026-11-26 00:47:38.812+00",201,ok,req_1c52f3b1-aa58-4df4-8cce-256b87178b68)',
'(2,4294967301,1,"2026-11-26 00:47:38.963+00","2026-11-26 00:47:38.967+00",201,ok,req_3414c8c3-78fa-429b-8675-00e0e4c92912)',
'(2,4294967302,2,"2026-11-26 00:47:38.984+00","2026-11-26 00:47:38.987+00",201,ok,req_5115d93c-2032-468f-8de2-85b66bcf3e87)'
]::search_call[]);
delete from settings_record;
insert into settings_record (settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by) overriding system value select settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by from unnest(array[
'(1,1,f,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",2edd3ea673d0d7966dfb0edf67f4be3c9392da5b8386e8ca4aedb70d255bdd8b,{},"first settings",t,"recorded by the first run","2026-11-24 00:47:31.052+00",)'
]::settings_record[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, facts, revision, owner) overriding system value select shown_id, alert_id, facts, revision, owner from unnest(array[
'(1,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T04:47:35.2+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-24T00:47:35.2+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)',
'(2,2,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T04:47:35.2+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-24T00:47:35.2+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)'
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
