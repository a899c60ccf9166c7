-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-24 13:27:26.335+00",[],)'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,2,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-24 13:27:27.688+00","2026-11-24 17:27:27.688+00",,,1,,,sanction,f,)',
'(2,1,2,open,3,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-24 13:27:27.688+00","2026-11-24 17:27:27.688+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-24 13:27:27.688+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-24 13:27:27.688+00",1,{},critical,,,f)'
]::alert_event[]);
delete from change_record;
insert into change_record (change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, revision, run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,1,4294967297,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,,,,2,1,t,1,{},unknown,unknown,t,)',
'(2,1,1,4294967297,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,,,,3,1,t,1,{},unknown,unknown,t,)'
]::change_record[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-24 13:27:27.338+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-24 13:27:27.371+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-24 13:27:27.562+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-24 13:27:27.582+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-26 13:27:28.79+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 13:27:28.812+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-26 13:27:28.886+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-26 13:27:28.909+00",,{})'
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
'(1,2,,open_alert,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(2,3,,open_alert,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(3,4,,clear,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(4,5,,clear,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(5,6,,clear,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(6,7,,clear,,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-24 13:27:27.934+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-26 13:27:28.72+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-26 13:27:28.72+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-26 13:27:28.72+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-24 13:27:27.453+00","2026-11-25 13:27:27.453+00","2026-11-25 16:27:27.453+00",1,"2026-11-26 13:27:28.72+00")'
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
'(screening/default/people,2,test-17112,"2026-11-26 13:27:28.423+00","2026-11-26 13:27:28.423+00","2026-11-26 13:27:28.423+00")'
]::lease[]);
delete from listed_party;
insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries) overriding system value select listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries from unnest(array[
'(1,1,"\\x26b1b15a5546de35d6ff75085d037793174b653a365e666b21ca502629d4d2cb",amla_c,"Control Listed",Person,{sanction},{1960-01-01},{fr})',
'(2,1,"\\x1bcf441644d0019a56ffa7bb6e1becc4e402432435bf18dd8fceb66db74ecd47",amla_one,"Wilhelmina Achterberg",Person,{sanction},{1960-01-01},{fr})',
'(3,1,"\\xb49a036225e9020f97fd1cd6fcfc1f73ec69f0d661f97e3cff05534b0a445155",amla_two,"Oktavian Prunescu",Person,{sanction},{1960-01-01},{fr})'
]::listed_party[]);
delete from match_detail;
insert into match_detail (run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids) overriding system value select run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids from unnest(array[
'(1,amla_one,1,activity,"2026-11-24 13:27:27.612+00",200,,req_8750cf98-4742-488a-a1e0-2d5bdd624923,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})',
'(1,amla_two,1,activity,"2026-11-24 13:27:27.613+00",200,,req_355e757d-b571-4473-83b6-9c7c33164208,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})'
]::match_detail[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks from unnest(array[
'(1,default,"\\xefb17d46ee71e44eb248ed96ee52df89e959b0a85ef00c82a92c026c3f6d9698","\\x8f23f3014f3d488793c3bc8b666e2b7cf79159681aad458e834d9b4c50a5d377","2026-11-24 13:27:26.238+00",,,,,,[])'
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
'(1,3,1,4294967297,1099511627779,8,1,settings-of-the-test,"2026-11-24 13:27:27.453+00",clear,,,,,,)',
'(1,4,1,4294967297,1099511627780,7,1,settings-of-the-test,"2026-11-24 13:27:27.453+00",clear,,,,,,)',
'(1,5,1,4294967297,1099511627781,3,1,settings-of-the-test,"2026-11-24 13:27:27.453+00",clear,,,,,,)',
'(1,6,1,4294967297,1099511627782,5,1,settings-of-the-test,"2026-11-24 13:27:27.453+00",clear,,,,,,)',
'(1,1,2,4294967297,1099511627777,4,1,settings-of-the-test,"2026-11-26 13:27:28.846+00",open_alert,,,,1,"2026-11-24 13:27:27.453+00",)',
'(1,2,2,4294967297,1099511627778,6,1,settings-of-the-test,"2026-11-26 13:27:28.846+00",open_alert,,,,1,"2026-11-24 13:27:27.453+00",)'
]::party_state[]);
delete from plan_block;
insert into plan_block (run_id, party_range, part, plan_reason, outcome, outcome_reason, request_base, customer_version, places, requests, customer_versions, search_orders) overriding system value select run_id, party_range, part, plan_reason, outcome, outcome_reason, request_base, customer_version, places, requests, customer_versions, search_orders from unnest(array[
'(2,0,1,overdue,remaining,,1099511627777,1,"{,,,,,}","{0,1,2,3,4,5}",,"{-20635,-20635,-20635,-20635,-20635,-20635}")'
]::plan_block[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_record_id from unnest(array[
'(1,1,{},{},"2026-11-24 13:27:28.031+00",6fd1a289e749c80138b741dd5b5706ea087f2de6840cddccea2faf7e5e852063,,)',
'(2,1,{},{},"2026-11-26 13:27:29.046+00",4c1d1c0a1a842e1bd809745c30d06ff819b60def9c8c8c9b8e859a969eb2be34,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores from unnest(array[
'(1,1,"\\x72e839878352a255ae9bf7ae555b1b05eebf5d8df1d8d083d6d926292ec4c97f","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 13:27:27.338+00",1,1,amla_c,{1},{t},{1})',
'(2,1,"\\x73bb7e0f91d4013ae2c5faef1b2d29115110a882d3ebd26ddd8491c5327d4112","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 13:27:27.371+00",0,0,,,,)',
'(3,1,"\\x36cf446b2b64da4fbad806ceb01bb0966d1ad24d782d9b2f6f8a99ab31edb4bd","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 13:27:27.453+00",0,0,,,,)',
'(4,1,"\\x441e69a312029bbf4639c644794768bf13418ae44a6bfdbcea4231a4f58e61b9","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 13:27:27.453+00",1,1,amla_one,{2},{t},{1})',
'(5,1,"\\x4b81e50d7b82a58e2c7a220c89f3f14dd9a58572a57af5b949b1825ec2aa6892","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 13:27:27.453+00",0,0,,,,)',
'(6,1,"\\x74c4c90baa9ef7cf239ac355f87be48d790faf9af300f21adde824c2787a86a4","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-24 13:27:27.453+00",1,1,amla_two,{3},{t},{1})',
'(7,1,"\\xa34f5e21f852b2b41a8d31b427d39e96b07e870a0962a282b5c815d907fecc0a","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 13:27:27.453+00",0,0,,,,)',
'(8,1,"\\xb04cf25c98bc4d0fbf7c78dd0da804fd30aef5b09eabcd58820c97ebc9e38245","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-24 13:27:27.453+00",0,0,,,,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids) overriding system value select sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids from unnest(array[
'(1,1,"2026-11-24 13:27:27.688+00",report,1,"{1,2}",2,)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at, coverage) overriding system value select roster_id, organisation_id, name, created_at, coverage from unnest(array[
'(1,1,people,"2026-11-24 13:27:26.248+00","{""at"": ""2026-11-24T13:27:27.934+00:00"", ""cap"": null, ""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""runId"": 1, ""entries"": [[""high"", ""clear"", null, null, 4, 1795526847453.000000], [""high"", ""open_alert"", null, null, 2, 1795526847453.000000]], ""seconds"": 1, ""accountId"": 1, ""lastChange"": 6, ""lastDisposition"": 0}")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, control_total from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-24 13:27:26.406+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 13:27:28.463+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],)'
]::roster_import[]);
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, sweep, published_list, vanishing, dropped_at, dropped_by, dropped_because) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, confirmed_batch_id, roster_file, projected_change_id, open_alerts, details, settings_record_id, health, settled_alerts, unaccepted, keys, watch, second_search, sweep, published_list, vanishing, dropped_at, dropped_by, dropped_because from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-17112,0,settings-of-the-test,0.0.0-test,,"2026-11-24 13:27:26.345+00","2026-11-24 13:27:27.888+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,4294967297,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-24T13:27:27.688+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 35, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{4c5673ab3112},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,,,[],,,)',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-17112,0,settings-of-the-test,0.0.0-test,1,"2026-11-26 13:27:28.439+00","2026-11-26 13:27:29.018+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,4294967297,,,"{""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""byOwner"": [], ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-24T13:27:27.688+00:00"", ""proposed"": 0, ""customers"": 2, ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 42, ""limitPerSecond"": 400}",,,{4c5673ab3112},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,,,,,,)'
]::run[]);
select open_run_range(run_id) from run;
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-17112,"2026-11-24 13:27:26.345+00",{},10)',
'(2,1,2,test-17112,"2026-11-26 13:27:28.439+00",{},6)'
]::run_worker[]);
delete from screening_block;
insert into screening_block (run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions) overriding system value select run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches, customer_versions from unnest(array[
'(1,0,1,new,screened,1099511627777,3,4294967297,1,"{,,,,,}","{0,1,2,3,4,5}","{1,3,5,4,0,2}","{0,0,0,0,0,0}",)'
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
'(1,4294967297,"2026-11-24 13:27:27.453+00",1099511627777,"{0,1,2,3,4,5}",,,,,,)',
'(2,4294967297,"2026-11-26 13:27:28.846+00",1099511627777,"{0,1}",,3,"{184549385,281475144482825}",req_,"{95bbf331-aad6-42be-940f-45da9499b8da,70a33d63-671a-49fa-9dbe-900dc36400f0}",)'
]::search_batch[]);
delete from search_call;
insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id) overriding system value select run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from unnest(array[
'(1,4294967297,1,"2026-11-26 13:27:27.315+00","2026-11-26 13:27:27.328+00",201,ok,req_5b3bba1a-13cb-4af0-bdad-e92456ba109d)',
'(1,4294967298,2,"2026-11-26 13:27:27.359+00","2026-11-26 13:27:27.365+00",201,ok,req_63f3abcc-ff14-4d8d-973e-0f2433ebe321)',
'(1,4294967299,1099511627777,"2026-11-26 13:27:27.415+00","2026-11-26 13:27:27.434+00",201,ok,req_1ca0ab93-83f7-4dd6-9e08-4349e60972f8)',
'(1,4294967300,1099511627778,"2026-11-26 13:27:27.416+00","2026-11-26 13:27:27.435+00",201,ok,req_ce6dfdae-df7f-4b52-b9a7-5aed54843f0b)',
'(1,4294967301,1099511627779,"2026-11-26 13:27:27.416+00","2026-11-26 13:27:27.436+00",201,ok,req_bd57a330-21b4-4079-a90e-5b7adc0c1512)',
'(1,4294967302,1099511627780,"2026-11-26 13:27:27.416+00","2026-11-26 13:27:27.444+00",201,ok,req_9c91774e-7d16-444e-822a-f3ae3b421e9a)',
'(1,4294967303,1099511627781,"2026-11-26 13:27:27.417+00","2026-11-26 13:27:27.447+00",201,ok,req_8a79a11c-1eeb-442e-a2e0-0c7ebf38d3fb)',
'(1,4294967304,1099511627782,"2026-11-26 13:27:27.417+00","2026-11-26 13:27:27.452+00",201,ok,req_39ba8764-b2b0-4cbf-a577-1290b6c77193)',
'(1,4294967305,1,"2026-11-26 13:27:27.55+00","2026-11-26 13:27:27.556+00",201,ok,req_75fddc98-bfd7-4039-afd3-8ba2beb52994)',
'(1,4294967306,2,"2026-11-26 13:27:27.572+00","2026-11-26 13:27:27.577+00",201,ok,req_e0a10157-9a32-4ca8-8860-c89073329572)',
'(2,4294967297,1,"2026-11-26 13:27:28.779+00","2026-11-26 13:27:28.784+00",201,ok,req_0abc688e-7993-4803-a712-0e772e47bdda)',
'(2,4294967298,2,"2026-11-26 13:27:28.801+00","2026-11-26 13:27:28.807+00",201,ok,req_b8eb264a-b596-4425-a95c-ac417c8ed9e3)',
'(2,4294967301,1,"2026-11-26 13:27:28.872+00","2026-11-26 13:27:28.879+00",201,ok,req_b04bc9b3-a63e-44b9-a7c7-2e39b35b096b)',
'(2,4294967302,2,"2026-11-26 13:27:28.898+00","2026-11-26 13:27:28.902+00",201,ok,req_977485ba-132d-42cd-a165-28969e1d24e0)'
]::search_call[]);
delete from settings_record;
insert into settings_record (settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by) overriding system value select settings_record_id, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by from unnest(array[
'(1,1,f,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",2edd3ea673d0d7966dfb0edf67f4be3c9392da5b8386e8ca4aedb70d255bdd8b,{},"first settings",t,"recorded by the first run","2026-11-24 13:27:26.272+00",)'
]::settings_record[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision, owner) overriding system value select shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision, owner from unnest(array[
'(1,1,2,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T17:27:27.688+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-24T13:27:27.688+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)',
'(2,2,3,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-24T17:27:27.688+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-24T13:27:27.688+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1,)'
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
