-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-24 00:41:54.151+00")'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-24 00:41:54.883+00","2026-11-24 04:41:54.883+00",,,1,,,sanction,f,)',
'(2,1,2,open,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-24 00:41:54.883+00","2026-11-24 04:41:54.883+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-24 00:41:54.883+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-24 00:41:54.883+00",1,{},critical,,,f)'
]::alert_event[]);
delete from canary_outcome;
insert into canary_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-24 00:41:54.673+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-24 00:41:54.702+00",,{})',
'(1,0,person,"Canary Listed",match,passed,,1,2,end,6,"2026-11-24 00:41:54.8+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-24 00:41:54.814+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-26 00:41:55.639+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 00:41:55.656+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,2,end,2,"2026-11-26 00:41:55.691+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-26 00:41:55.703+00",,{})'
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
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,2,,open_alert,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(2,3,,open_alert,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(3,4,,clear,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(4,5,,clear,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(5,6,,clear,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(6,7,,clear,,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-24 00:41:55.029+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-26 00:41:55.601+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-26 00:41:55.601+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-26 00:41:55.601+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-24 00:41:54.751+00","2026-11-25 00:41:54.751+00","2026-11-25 03:41:54.751+00",1,"2026-11-26 00:41:55.601+00")'
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
'(1,activity,amla_one,"2026-11-24 00:41:54.833+00",200,,1,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a",req_39c65259-a1c7-4767-8598-6e3298525e46)',
'(1,activity,amla_two,"2026-11-24 00:41:54.834+00",200,,2,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149",req_494883a9-d321-42ee-8513-502e329ba553)'
]::detail_lookup[]);
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-25776,"2026-11-26 00:41:55.456+00","2026-11-26 00:41:55.456+00","2026-11-26 00:41:55.456+00")'
]::lease[]);
delete from match;
insert into match (response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries) overriding system value select response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries from unnest(array[
'(1,1,amla_c,"Canary Listed",Person,t,1,{sanction},{1960-01-01},{fr})',
'(3,1,amla_two,"Oktavian Prunescu",Person,t,1,{sanction},{1960-01-01},{fr})',
'(4,1,amla_one,"Wilhelmina Achterberg",Person,t,1,{sanction},{1960-01-01},{fr})'
]::match[]);
delete from match_detail;
insert into match_detail (detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at) overriding system value select detail_id, account_id, kind, record_id, digest, body, withheld_links, entity_ids, first_run_id, first_fetched_at from unnest(array[
'(1,1,activity,amla_one,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-24 00:41:54.833+00")',
'(2,1,activity,amla_two,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-24 00:41:54.834+00")'
]::match_detail[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by from unnest(array[
'(1,default,"\\x90033c77b25bde034b7a9da0d9b1222a75b9f029e155190d184524793a5943c4","\\xedfc6a01a82f44fea75cd9ae6eb80a0f4f80af944a2f41b9afdb4271ea5a8cdd","2026-11-24 00:41:54.084+00",,,,,)'
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
'(1,3,1,1099511627779,7,1,settings-of-the-test,"2026-11-24 00:41:54.751+00",clear,,,,,,)',
'(1,4,1,1099511627780,5,1,settings-of-the-test,"2026-11-24 00:41:54.751+00",clear,,,,,,)',
'(1,5,1,1099511627781,8,1,settings-of-the-test,"2026-11-24 00:41:54.751+00",clear,,,,,,)',
'(1,6,1,1099511627782,6,1,settings-of-the-test,"2026-11-24 00:41:54.751+00",clear,,,,,,)',
'(1,1,2,1099511627777,4,1,settings-of-the-test,"2026-11-26 00:41:55.671+00",open_alert,,,,1,"2026-11-24 00:41:54.751+00",)',
'(1,2,2,1099511627778,3,1,settings-of-the-test,"2026-11-26 00:41:55.671+00",open_alert,,,,1,"2026-11-24 00:41:54.751+00",)'
]::party_state[]);
delete from planned_screening;
insert into planned_screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order) overriding system value select run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order from unnest(array[
'(2,3,1099511627779,,,1,overdue,remaining,,-20635)',
'(2,4,1099511627780,,,1,overdue,remaining,,-20635)',
'(2,5,1099511627781,,,1,overdue,remaining,,-20635)',
'(2,6,1099511627782,,,1,overdue,remaining,,-20635)',
'(2,1,1099511627777,4,4294967297,1,overdue,screened,,-20635)',
'(2,2,1099511627778,3,4294967297,1,overdue,screened,,-20635)'
]::planned_screening[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id from unnest(array[
'(1,1,{},{},"2026-11-24 00:41:55.076+00",616731abe14d15b710ca7cbaab0731d3bc48add61d4120e19238245d592184e7,,)',
'(2,1,{},{},"2026-11-26 00:41:55.772+00",2d04d40224e26a2427010b86f05e46375a8761af792d3f32dc12641342ef1969,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id from unnest(array[
'(1,1,"\\xc6bc2d0238673e668d1fe9601e51ebf3905f9ecec5abaaa329c18199d11a12ed","{""query"":""Canary Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Canary Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:41:54.673+00",1,1,amla_c)',
'(2,1,"\\x7c2501a6c0db7998ee4ca51f0f6a32664e68e8afe965821d7d528a805b25029d","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:41:54.702+00",0,0,)',
'(3,1,"\\x773ebb70eee90f609ec0c4fd01568ee8cea92e5bcbb7c0334d03ae0aac06ae56","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:41:54.751+00",1,1,amla_two)',
'(4,1,"\\xa9449a89fc69da833b896a13692ed9f2710e7fc50cfeaf62c2cfe8d0388c7a4b","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 00:41:54.751+00",1,1,amla_one)',
'(5,1,"\\xcb2c1feee522625cee87237f7d34e3e03a8705a47c033640d1e308d8d9cc823a","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:41:54.751+00",0,0,)',
'(6,1,"\\xce8442dc0de6c6fbc89bff1b88b92b13acb6a6d34355ac55b335860a6b4f8e1e","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:41:54.751+00",0,0,)',
'(7,1,"\\xd4debcca5e39723f7b23a314b756383e4ff56045b662fdc70bb3a8c1d9bcfe13","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:41:54.751+00",0,0,)',
'(8,1,"\\xe0ae8f3e0c5fa4853443a6d33a607c5ea6242c125920621de24a197e33fb7c18","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 00:41:54.751+00",0,0,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, exported_at, exported_by, run_id, shown_ids, waiting) overriding system value select sheet_id, exported_at, exported_by, run_id, shown_ids, waiting from unnest(array[
'(1,"2026-11-24 00:41:54.883+00",report,1,"{1,2}",2)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at, coverage) overriding system value select roster_id, organisation_id, name, created_at, coverage from unnest(array[
'(1,1,people,"2026-11-24 00:41:54.09+00","{""at"": ""2026-11-24T00:41:55.029+00:00"", ""cap"": null, ""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""runId"": 1, ""entries"": [[""high"", ""clear"", null, null, 4, 1795480914751.000000], [""high"", ""open_alert"", null, null, 2, 1795480914751.000000]], ""seconds"": 1, ""accountId"": 1, ""lastChange"": 6, ""lastDisposition"": 0}")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-24 00:41:54.21+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 00:41:55.483+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],)'
]::roster_import[]);
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, vanishing from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-25776,0,settings-of-the-test,0.0.0-test,,"2026-11-24 00:41:54.158+00","2026-11-24 00:41:55.003+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,4294967297,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-24T00:41:54.883+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 60.4, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{762bfbd1f7c3},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-25776,0,settings-of-the-test,0.0.0-test,1,"2026-11-26 00:41:55.471+00","2026-11-26 00:41:55.755+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,4294967297,,,"{""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-24T00:41:54.883+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 76.9, ""limitPerSecond"": 400}",,,{762bfbd1f7c3},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,)'
]::run[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-25776,"2026-11-24 00:41:54.158+00",{},10)',
'(2,1,2,test-25776,"2026-11-26 00:41:55.471+00",{},6)'
]::run_worker[]);
delete from screening_block;
insert into screening_block (run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions) overriding system value select run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions from unnest(array[
'(1,0,1,new,screened,1099511627777,3,4294967297,1,"{,,,,,}","{0,1,2,3,4,5}","{1,0,4,2,5,3}","{0,0,0,0,0,0}",)'
]::screening_block[]);
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
'(1,4294967297,"2026-11-24 00:41:54.751+00",1099511627777,"{0,1,2,3,4,5}",,,,,,)',
'(2,4294967297,"2026-11-26 00:41:55.671+00",1099511627777,"{0,1}",,3,"{100663301,281475077373957}",req_,"{0dccf438-ae04-4ab4-bab3-81f9ee122fe4,1b167b67-24d1-4ca0-babb-ae727012cb4c}",)'
]::search_batch[]);
delete from search_call;
insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id) overriding system value select run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from unnest(array[
'(1,4294967297,1,"2026-11-26 00:41:54.658+00","2026-11-26 00:41:54.666+00",201,ok,req_3f21d7c0-c4ba-40a3-9bc3-3ea0db676477)',
'(1,4294967298,2,"2026-11-26 00:41:54.693+00","2026-11-26 00:41:54.698+00",201,ok,req_91ad93bb-7cdd-456b-aadc-9422e29db575)',
'(1,4294967299,1099511627777,"2026-11-26 00:41:54.722+00","2026-11-26 00:41:54.734+00",201,ok,req_f4e95cb6-09a9-41fe-8ef9-8ae8440c8372)',
'(1,4294967300,1099511627778,"2026-11-26 00:41:54.723+00","2026-11-26 00:41:54.735+00",201,ok,req_c712e8ed-051b-43a8-bf15-e54029f61f17)',
'(1,4294967301,1099511627779,"2026-11-26 00:41:54.723+00","2026-11-26 00:41:54.736+00",201,ok,req_7ab6e887-a2b4-4863-93f9-92e4113a0be1)',
'(1,4294967302,1099511627780,"2026-11-26 00:41:54.723+00","2026-11-26 00:41:54.743+00",201,ok,req_8841838c-b41b-4263-b568-a0656ee7fdc3)',
'(1,4294967303,1099511627781,"2026-11-26 00:41:54.723+00","2026-11-26 00:41:54.746+00",201,ok,req_b9ed29be-027e-410a-a8c3-17d89261409b)',
'(1,4294967304,1099511627782,"2026-11-26 00:41:54.724+00","2026-11-26 00:41:54.749+00",201,ok,req_f7d03174-5fe9-4500-b3f3-7481093fb76f)',
'(1,4294967305,1,"2026-11-26 00:41:54.792+00","2026-11-26 00:41:54.796+00",201,ok,req_4fc22238-5083-4728-95f4-6aaaa4dac34e)',
'(1,4294967306,2,"2026-11-26 00:41:54.807+00","2026-11-26 00:41:54.811+00",201,ok,req_37db85fb-ae36-4d69-923f-e5e758fb1303)',
'(2,4294967297,1,"2026-11-26 00:41:55.632+00","2026-11-26 00:41:55.635+00",201,ok,req_bb05f178-cb21-4d19-be4e-a53de87f0f96)',
'(2,4294967298,2,"2026-11-26 00:41:55.645+00","2026-11-26 00:41:55.652+00",201,ok,req_04aba6bb-4ec5-4b6e-84d1-f49636a6bab0)',
'(2,4294967301,1,"2026-11-26 00:41:55.684+00","2026-11-26 00:41:55.688+00",201,ok,req_dc2c2e03-a430-44ad-9663-ed0e9a190334)',
'(2,4294967302,2,"2026-11-26 00:41:55.697+00","2026-11-26 00:41:55.699+00",201,ok,req_6a2f2123-381c-4ecc-87cd-62eac50952f3)'
]::search_call[]);
delete from settings_record;
insert into settings_record (settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by) overriding system value select settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by from unnest(array[
'(1,1,f,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}}",d8b0498b9494a900cb45a34471fc9c89234d2f63ada90a3555d7970c61d8850d,{},"first settings",t,"recorded by the first run","2026-11-24 00:41:54.1+00",)'
]::settings_record[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, facts, revision, owner) overriding system value select shown_id, alert_id, facts, revision, owner from unnest(array[
'(1,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T04:41:54.883+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-24T00:41:54.883+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)',
'(2,2,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T04:41:54.883+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""listed"": {""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-24T00:41:54.883+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)'
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
