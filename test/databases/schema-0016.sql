-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-24 16:00:18.041+00",[],)'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,2,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-24 16:00:18.669+00","2026-11-24 20:00:18.669+00",,,1,,,sanction,f,)',
'(2,1,2,open,3,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-24 16:00:18.669+00","2026-11-24 20:00:18.669+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-24 16:00:18.669+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-24 16:00:18.669+00",1,{},critical,,,f)'
]::alert_event[]);
delete from change_record;
insert into change_record (change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,1,4294967297,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,,,,2,1,t,1,{},unknown,unknown,t,)',
'(2,1,1,4294967297,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,,,,3,1,t,1,{},unknown,unknown,t,)'
]::change_record[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-24 16:00:18.45+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-24 16:00:18.476+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-24 16:00:18.588+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-24 16:00:18.602+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-26 16:00:19.396+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 16:00:19.409+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-26 16:00:19.458+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-26 16:00:19.47+00",,{})'
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
'(1,2,,open_alert,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(2,3,,open_alert,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(3,4,,clear,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(4,5,,clear,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(5,6,,clear,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(6,7,,clear,,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-24 16:00:18.821+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-26 16:00:19.355+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-26 16:00:19.355+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-26 16:00:19.355+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-24 16:00:18.531+00","2026-11-25 16:00:18.531+00","2026-11-25 19:00:18.531+00",1,"2026-11-26 16:00:19.355+00")'
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
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-10492,"2026-11-26 16:00:19.232+00","2026-11-26 16:00:19.232+00","2026-11-26 16:00:19.232+00")'
]::lease[]);
delete from listed_party;
insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries) overriding system value select listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries from unnest(array[
'(1,1,"\\x26b1b15a5546de35d6ff75085d037793174b653a365e666b21ca502629d4d2cb",amla_c,"Control Listed",Person,{sanction},{1960-01-01},{fr})',
'(2,1,"\\x1bcf441644d0019a56ffa7bb6e1becc4e402432435bf18dd8fceb66db74ecd47",amla_one,"Wilhelmina Achterberg",Person,{sanction},{1960-01-01},{fr})',
'(3,1,"\\xb49a036225e9020f97fd1cd6fcfc1f73ec69f0d661f97e3cff05534b0a445155",amla_two,"Oktavian Prunescu",Person,{sanction},{1960-01-01},{fr})'
]::listed_party[]);
delete from match_detail;
insert into match_detail (run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids) overriding system value select run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids from unnest(array[
'(1,amla_one,1,activity,"2026-11-24 16:00:18.621+00",200,,req_6503a4f5-0192-4c0f-bbef-4a90049a934b,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})',
'(1,amla_two,1,activity,"2026-11-24 16:00:18.622+00",200,,req_1a56fade-353e-45fe-aee5-5bb5d6f9a00d,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})'
]::match_detail[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks from unnest(array[
'(1,default,"\\xccd6ff2bed6e5e170462e9c6b856c2ee5ccff07218bc57e943a18659a70d5207","\\xa9e320eea6de4d3a89c001af5e1407ada1822660b62241a884a18d16b3ad9661","2026-11-24 16:00:17.974+00",,,,,,[])'
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
insert into party_state (account_id, party_id, run_id, batch_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id, former_run_id, former_screened_at, former_answer) overriding system value select account_id, party_id, run_id, batch_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id, former_run_id, former_screened_at, former_answer from unnest(array[
'(1,3,1,4294967297,1099511627779,8,1,settings-of-the-test,"2026-11-24 16:00:18.531+00",clear,,,,,,)',
'(1,4,1,4294967297,1099511627780,6,1,settings-of-the-test,"2026-11-24 16:00:18.531+00",clear,,,,,,)',
'(1,5,1,4294967297,1099511627781,3,1,settings-of-the-test,"2026-11-24 16:00:18.531+00",clear,,,,,,)',
'(1,6,1,4294967297,1099511627782,4,1,settings-of-the-test,"2026-11-24 16:00:18.531+00",clear,,,,,,)',
'(1,1,2,4294967297,1099511627777,7,1,settings-of-the-test,"2026-11-26 16:00:19.429+00",open_alert,,,,1,"2026-11-24 16:00:18.531+00",)',
'(1,2,2,4294967297,1099511627778,5,1,settings-of-the-test,"2026-11-26 16:00:19.429+00",open_alert,,,,1,"2026-11-24 16:00:18.531+00",)'
]::party_state[]);
delete from plan_block;
insert into plan_block (run_id, party_range, part, plan_reason, outcome, outcome_reason, request_base, customer_version, places, requests, customer_versions, search_orders) overriding system value select run_id, party_range, part, plan_reason, outcome, outcome_reason, request_base, customer_version, places, requests, customer_versions, search_orders from unnest(array[
'(2,0,1,overdue,remaining,,1099511627777,1,"{,,,,,}","{0,1,2,3,4,5}",,"{-20635,-20635,-20635,-20635,-20635,-20635}")'
]::plan_block[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id from unnest(array[
'(1,1,{},{},"2026-11-24 16:00:18.878+00",5685741d016a42b8b09367725b130d2367f747c51fb539a1ff182e214f2bf179,,)',
'(2,1,{},{},"2026-11-26 16:00:19.544+00",42d546d0fd15170a2e717e1384c472411a8c0371d2495ee881af5ddd256960f1,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores from unnest(array[
'(1,1,"\\x0c1305437b009b0acc16109e4d8ee8a19f4a2f41e9e3a1076aaf26ffd17fc3cc","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 16:00:18.45+00",1,1,amla_c,{1},{t},{1})',
'(2,1,"\\x43ad301946b4e7066007fba1005bd6c82cef2e7302f8eec719ab9283137f22ce","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 16:00:18.476+00",0,0,,,,)',
'(3,1,"\\x18f93447fe33074982992a0ca670c6970bbe4c62423f36037dc69ab4e4de205a","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 16:00:18.531+00",0,0,,,,)',
'(4,1,"\\x43762268f8d9800f27f3bb6a6f23ed7183df7b566bd1fc0e02ce6cdd7da6d2cf","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 16:00:18.531+00",0,0,,,,)',
'(5,1,"\\x50c06eddac24d5d8e3a9d2c9777b15b2862bf34e45a253903fe4941a7279eda8","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 16:00:18.531+00",1,1,amla_two,{3},{t},{1})',
'(6,1,"\\x804c320dbf1959fee1b82558d615fb280fad34a9e108eaca628be2e6d7987ca8","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 16:00:18.531+00",0,0,,,,)',
'(7,1,"\\x8e0da0178bac2787cdbc2b83f7472537f5d2842ba39eac1a5efd9cbabc25a1da","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 16:00:18.531+00",1,1,amla_one,{2},{t},{1})',
'(8,1,"\\x92c34dfdb5cb1ae5d4203f0169b109771c7bee234805b21edb2fe7d2aa42821e","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 16:00:18.531+00",0,0,,,,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids) overriding system value select sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids from unnest(array[
'(1,1,"2026-11-24 16:00:18.669+00",report,1,"{1,2}",2,)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at, coverage) overriding system value select roster_id, organisation_id, name, created_at, coverage from unnest(array[
'(1,1,people,"2026-11-24 16:00:17.98+00","{""at"": ""2026-11-24T16:00:18.821+00:00"", ""cap"": null, ""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""runId"": 1, ""entries"": [[""high"", ""clear"", null, null, 4, 1795536018531.000000], [""high"", ""open_alert"", null, null, 2, 1795536018531.000000]], ""seconds"": 1, ""accountId"": 1, ""lastChange"": 6, ""lastDisposition"": 0}")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-24 16:00:18.114+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 16:00:19.261+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],)'
]::roster_import[]);
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, sweep, published_list, vanishing, dropped_at, dropped_by, dropped_because) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, sweep, published_list, vanishing, dropped_at, dropped_by, dropped_because from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-10492,0,settings-of-the-test,0.0.0-test,,"2026-11-24 16:00:18.048+00","2026-11-24 16:00:18.795+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,4294967297,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-24T16:00:18.669+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 56.6, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{2659a5717aec},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,,,[],,,)',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-10492,0,settings-of-the-test,0.0.0-test,1,"2026-11-26 16:00:19.245+00","2026-11-26 16:00:19.528+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,4294967297,,,"{""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-24T16:00:18.669+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 66.7, ""limitPerSecond"": 400}",,,{2659a5717aec},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,,,,,,)'
]::run[]);
select open_run_range(run_id) from run;
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-10492,"2026-11-24 16:00:18.048+00",{},10)',
'(2,1,2,test-10492,"2026-11-26 16:00:19.245+00",{},6)'
]::run_worker[]);
delete from screening_block;
insert into screening_block (run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions) overriding system value select run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions from unnest(array[
'(1,0,1,new,screened,1099511627777,3,4294967297,1,"{,,,,,}","{0,1,2,3,4,5}","{4,2,5,3,0,1}","{0,0,0,0,0,0}",)'
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
'(1,4294967297,"2026-11-24 16:00:18.531+00",1099511627777,"{0,1,2,3,4,5}",,,,,,)',
'(2,4294967297,"2026-11-26 16:00:19.429+00",1099511627777,"{0,1}",,3,"{100663301,281475077373957}",req_,"{20933e43-0f69-4146-b446-57b291f5d359,064f9980-8d37-4705-8b04-fc27b7371535}",)'
]::search_batch[]);
delete from search_call;
insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id) overriding system value select run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from unnest(array[
'(1,4294967297,1,"2026-11-26 16:00:18.436+00","2026-11-26 16:00:18.444+00",201,ok,req_a0e53e75-c041-4cea-8e13-5c784cfdfa0c)',
'(1,4294967298,2,"2026-11-26 16:00:18.466+00","2026-11-26 16:00:18.471+00",201,ok,req_f7134a35-7a9b-47c3-9ec5-7b971ec3aa69)',
'(1,4294967299,1099511627777,"2026-11-26 16:00:18.506+00","2026-11-26 16:00:18.516+00",201,ok,req_4e3e0b88-dd06-4daa-a174-b3671e491e5e)',
'(1,4294967300,1099511627778,"2026-11-26 16:00:18.506+00","2026-11-26 16:00:18.517+00",201,ok,req_f0c9142a-b5e5-4017-a4c8-deccf6c100db)',
'(1,4294967301,1099511627779,"2026-11-26 16:00:18.506+00","2026-11-26 16:00:18.517+00",201,ok,req_2addffdc-822a-44f1-be2c-6b8a112c3835)',
'(1,4294967302,1099511627780,"2026-11-26 16:00:18.506+00","2026-11-26 16:00:18.525+00",201,ok,req_99a7297e-8c8b-463d-832d-e5d98c7c54be)',
'(1,4294967303,1099511627781,"2026-11-26 16:00:18.507+00","2026-11-26 16:00:18.527+00",201,ok,req_198303d7-eea0-4af6-932d-a1893ab92f20)',
'(1,4294967304,1099511627782,"2026-11-26 16:00:18.507+00","2026-11-26 16:00:18.53+00",201,ok,req_371644fd-5a78-434e-a5aa-be28a5302cb9)',
'(1,4294967305,1,"2026-11-26 16:00:18.581+00","2026-11-26 16:00:18.585+00",201,ok,req_48e5d217-2eea-4ccb-9377-f13b6c2cc973)',
'(1,4294967306,2,"2026-11-26 16:00:18.595+00","2026-11-26 16:00:18.598+00",201,ok,req_070fec08-4950-46c1-8bb3-c34d5b7e1939)',
'(2,4294967297,1,"2026-11-26 16:00:19.389+00","2026-11-26 16:00:19.392+00",201,ok,req_11ed9424-7893-42f8-8b1d-c019f0eb5a1f)',
'(2,4294967298,2,"2026-11-26 16:00:19.401+00","2026-11-26 16:00:19.405+00",201,ok,req_30ab825d-e2ca-4273-8536-1f8e9901b142)',
'(2,4294967301,1,"2026-11-26 16:00:19.445+00","2026-11-26 16:00:19.454+00",201,ok,req_ac08f8e6-6bc6-46e8-bd5f-30d9e937ad67)',
'(2,4294967302,2,"2026-11-26 16:00:19.464+00","2026-11-26 16:00:19.467+00",201,ok,req_4c6acaf5-c964-4a12-94b1-4397c3dcfb3e)'
]::search_call[]);
delete from settings_record;
insert into settings_record (settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by) overriding system value select settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by from unnest(array[
'(1,1,f,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",2edd3ea673d0d7966dfb0edf67f4be3c9392da5b8386e8ca4aedb70d255bdd8b,{},"first settings",t,"recorded by the first run","2026-11-24 16:00:17.991+00",)'
]::settings_record[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision, owner) overriding system value select shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision, owner from unnest(array[
'(1,1,2,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T20:00:18.669+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-24T16:00:18.669+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)',
'(2,2,3,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T20:00:18.669+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-24T16:00:18.669+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)'
]::shown_alert[]);
select setval('account_account_id_seq', 1);
select setval('alert_alert_id_seq', 2);
select setval('alert_event_event_id_seq', 2);
select setval('change_record_change_id_seq', 2);
select setval('customer_customer_id_seq', 28);
select setval('customer_state_change_change_id_seq', 10);
select setval('listed_party_listed_id_seq', 3);
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
