-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
update schema_migration set sha256 = 'ead67662ff7f5f17d7daabe5ac40ce34ef4b198e11bdf96fa69bb97d6835ba6f' where version = 1;
update schema_migration set sha256 = '9801774bf49c648b8e5114ae1a0e5d839327bc0ca1cbc12d10bc60676494932f' where version = 2;
update schema_migration set sha256 = 'fb6f0aaeacd557b87c548e2450295962545644ab3b924263a570f73e5b4f3c11' where version = 3;
update schema_migration set sha256 = 'ed145688420f55eb890733aa311a75944ef5164d0bc74cd6696103ff172ee9e4' where version = 4;
update schema_migration set sha256 = 'bd9ae4ea9e72d96d591965cb276f835ceba5154b864352e5347e7e4e1c7c630d' where version = 5;
update schema_migration set sha256 = 'a9417d99b8a731847c32b20f95ffaa0f751bf9e79796da73561ff0a329e7b4aa' where version = 6;
update schema_migration set sha256 = '7268f3cc1fcae1129c06f372a79a583ae9c5a1f5e41ec2709807afc2b54340fb' where version = 7;
update schema_migration set sha256 = '07ec42ee7e4e6312493bdac337e0b1332243bb8e0118cc0c8c202646be8d97e7' where version = 8;
update schema_migration set sha256 = 'e34a4b6777393a29eefb76c119596cc7eb81e1e432472f77252110833c1f66c6' where version = 9;
update schema_migration set sha256 = '670d5bdc5eda8e18048c89bd54b360f4193e25d44ad8f0e28d9a8d6755729b7a' where version = 10;
update schema_migration set sha256 = '3fc33d86dc1f08d30cbfb80337fe9ef0ecf941058814db88ee94c807cd0ae3c3' where version = 11;
update schema_migration set sha256 = '3a9f3e21d0c76e98d324a7b8a8e8c1e38850e9dd3ce5869d309eac87b2aae842' where version = 12;
update schema_migration set sha256 = '2cbde99fd99589949ca33c3705a5636124df032fd8fe211fe5d2d8f51b0a2c0a' where version = 13;
update schema_migration set sha256 = '7f5c56bb1c0dbf670241f5e00ecbd7517b6b1397f16896443d9860e19116bf29' where version = 14;
update schema_migration set sha256 = '471a47ccc7551cf73a5a234d492b17d876731cf280526c81daf3ea6d210b7d04' where version = 15;
update schema_migration set sha256 = '6f9eb22586a2791ff5faee89aa98af9da7968af239b415eb500dd5da92461cc2' where version = 16;
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, wave, proven_wave, applied_wave, unconfirmed_because, is_held, roster_file, open_alerts, details, settings_id, health, settled_alerts, unaccepted, keys, watch, sweep, published_list, vanishing) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, wave, proven_wave, applied_wave, unconfirmed_because, is_held, roster_file, open_alerts, details, settings_id, health, settled_alerts, unaccepted, keys, watch, sweep, published_list, vanishing from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-9692,0,settings-of-the-test,0.0.0-test,,"2026-11-26 06:04:37.349+00","2026-11-26 06:04:38.251+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,3,2,2,,f,,"{""news"": {""alerts"": 2, ""expired"": 0, ""sanctionHits"": 2}, ""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-26T06:04:38.079+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 54.9, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{265b140640c2},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-9692,0,settings-of-the-test,0.0.0-test,1,"2026-11-28 06:04:38.574+00","2026-11-28 06:04:39.317+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,3,2,2,,f,,"{""news"": {""alerts"": 0, ""expired"": 0, ""sanctionHits"": 0}, ""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-26T06:04:38.079+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 31.8, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{265b140640c2},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,,"[{""known"": 2, ""family"": ""any"", ""standing"": 2, ""vanished"": 0}, {""known"": 2, ""family"": ""sanction"", ""standing"": 2, ""vanished"": 0}]")'
]::run[]);
select open_run_range(run_id) from run;
delete from acceptance;
insert into acceptance (acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until) overriding system value select acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until from unnest(array[
'(1,settings,f,"first settings",t,"recorded by the first run","2026-11-26 06:04:37.282+00",1,,,"{""guards"": {""people"": {""columns"": true, ""maxGrowth"": 0.5, ""maxDoubtShare"": 0.2, ""maxRejectShare"": 0.005, ""maxShrinkNight"": 0.01, ""maxChangedShare"": 0.01, ""maxShrink30Days"": 0.03, ""maxDuplicateShare"": 0.05}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""rosters"": {""people"": {""csv"": {""skipRows"": []}, ""columns"": {""ignore"": [], ""realDates"": [], ""realNames"": []}, ""parties"": {""columns"": {""ignore"": []}}}}, ""service"": {""aml"": {""nameField"": ""name""}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",c30167830eab560908ffb1a891a759d0f205c74b3e7271c3103605ba6591ac55,{},,,,,,,)'
]::acceptance[]);
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-26 06:04:37.331+00",[],)'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,2,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-26 06:04:38.079+00","2026-11-26 10:04:38.079+00",,,1,,,sanction,f,)',
'(2,1,2,open,3,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-26 06:04:38.079+00","2026-11-26 10:04:38.079+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-26 06:04:38.079+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-26 06:04:38.079+00",1,{},critical,,,f)'
]::alert_event[]);
delete from batch;
insert into batch (run_id, worker, number, wave, committed_at) overriding system value select run_id, worker, number, wave, committed_at from unnest(array[
'(1,1,1,2,"2026-11-26 06:04:37.876+00")',
'(2,1,1,2,"2026-11-28 06:04:39.001+00")'
]::batch[]);
delete from call;
insert into call (run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id) overriding system value select run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id from unnest(array[
'(1,7,"2026-11-28 06:04:37.774+00","2026-11-28 06:04:37.78+00",,,1,1,201,ok,req_e57a3c22-3f44-49df-bfcd-9ff0cf4801a7)',
'(1,8,"2026-11-28 06:04:37.799+00","2026-11-28 06:04:37.803+00",,,2,1,201,ok,req_2aa57284-5e01-4be4-af6c-a72d19886e39)',
'(1,1,"2026-11-28 06:04:37.845+00","2026-11-28 06:04:37.86+00",5,1,3,1,201,ok,req_74333092-85c8-439a-b0f7-1b76bc6de9e1)',
'(1,2,"2026-11-28 06:04:37.845+00","2026-11-28 06:04:37.86+00",6,1,4,1,201,ok,req_80b271e3-309d-4134-96a6-eba4f85dbc3c)',
'(1,3,"2026-11-28 06:04:37.845+00","2026-11-28 06:04:37.861+00",3,1,5,1,201,ok,req_b21a2951-3986-4fd9-88f2-212f753b268f)',
'(1,4,"2026-11-28 06:04:37.845+00","2026-11-28 06:04:37.87+00",7,1,6,1,201,ok,req_ebaa2efe-127b-4c55-84c5-ac775cd87f7f)',
'(1,5,"2026-11-28 06:04:37.846+00","2026-11-28 06:04:37.873+00",8,1,7,1,201,ok,req_68d8447e-2ad8-486a-b2a7-886452d2df51)',
'(1,6,"2026-11-28 06:04:37.868+00","2026-11-28 06:04:37.875+00",4,1,8,1,201,ok,req_05259579-e636-4c6b-991f-b530d2b19783)',
'(1,7,"2026-11-28 06:04:37.925+00","2026-11-28 06:04:37.929+00",,,9,1,201,ok,req_90543e67-4927-4a45-8c36-c8816764138d)',
'(1,8,"2026-11-28 06:04:37.938+00","2026-11-28 06:04:37.941+00",,,10,1,201,ok,req_b25eae40-1836-4d75-8f33-41e687549e8e)',
'(2,7,"2026-11-28 06:04:38.896+00","2026-11-28 06:04:38.901+00",,,1,1,201,ok,req_23ac4a56-d760-401a-b1a6-267a656abd76)',
'(2,8,"2026-11-28 06:04:38.925+00","2026-11-28 06:04:38.933+00",,,2,1,201,ok,req_d7064b74-5d05-425b-97be-5d7231702225)',
'(2,1,"2026-11-28 06:04:38.988+00","2026-11-28 06:04:39+00",5,1,3,1,201,ok,req_1bb2a7f0-a647-42a3-b2bf-5544c0ce938b)',
'(2,2,"2026-11-28 06:04:38.988+00","2026-11-28 06:04:39+00",6,1,4,1,201,ok,req_6e40f3f0-411a-4b4e-a823-91afe1e69868)',
'(2,7,"2026-11-28 06:04:39.029+00","2026-11-28 06:04:39.035+00",,,5,1,201,ok,req_dfcf54a0-8e5b-4422-87b5-c914f3ecda9a)',
'(2,8,"2026-11-28 06:04:39.053+00","2026-11-28 06:04:39.072+00",,,6,1,201,ok,req_877c238a-a8ac-447f-8131-709c378d8c95)'
]::call[]);
delete from change;
insert into change (change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,2,,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,,,,2,1,t,1,{},unknown,unknown,t,)',
'(2,1,2,,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,,,,3,1,t,1,{},unknown,unknown,t,)'
]::change[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-26 06:04:37.782+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 06:04:37.805+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-26 06:04:37.931+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-26 06:04:37.946+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-28 06:04:38.907+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-28 06:04:38.942+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-28 06:04:39.037+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-28 06:04:39.074+00",,{})'
]::control_outcome[]);
delete from customer;
insert into customer (customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since) overriding system value select customer_id, roster_id, reference, version, record_digest, first_import_id, absent_since, own_digest, left_at, returned_at, left_because, unreadable_party_since from unnest(array[
'(1,1,C-1,1,"\\xc3a82f664ed349f033407299d890eb67",1,,,,,,,c-1)',
'(2,1,C-2,1,"\\x5d5fa6dd98d9253b0342429cd1d603e5",1,,,,,,,c-2)',
'(3,1,C-3,1,"\\xda0cf03e7c92cafe53468d8ccef880ec",1,,,,,,,c-3)',
'(4,1,C-4,1,"\\x37c6f444daed48495c1aac3435fb4427",1,,,,,,,c-4)',
'(5,1,C-5,1,"\\x4bbb87210e7032564bc1db33b15f316f",1,,,,,,,c-5)',
'(6,1,C-6,1,"\\x0cffecd398f35b8d56d490c148b308e5",1,,,,,,,c-6)'
]::customer[]);
delete from customer_state;
insert into customer_state (account_id, customer_id, risk_tier, last_state, reason, because, because_run_id, has_failed, waiting, worst_topic, state, changed_at, run_id, as_of, latest_at) overriding system value select account_id, customer_id, risk_tier, last_state, reason, because, because_run_id, has_failed, waiting, worst_topic, state, changed_at, run_id, as_of, latest_at from unnest(array[
'(1,1,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-26 06:04:38.153+00",2,"2026-11-28 06:04:39.001+00","2026-11-28 06:04:39.001+00")',
'(1,2,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-26 06:04:38.153+00",2,"2026-11-28 06:04:39.001+00","2026-11-28 06:04:39.001+00")',
'(1,3,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:04:38.821+00",1,"2026-11-26 06:04:37.876+00","2026-11-26 06:04:37.876+00")',
'(1,4,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:04:38.821+00",1,"2026-11-26 06:04:37.876+00","2026-11-26 06:04:37.876+00")',
'(1,5,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:04:38.821+00",1,"2026-11-26 06:04:37.876+00","2026-11-26 06:04:37.876+00")',
'(1,6,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:04:38.821+00",1,"2026-11-26 06:04:37.876+00","2026-11-26 06:04:37.876+00")'
]::customer_state[]);
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,1,,open_alert,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(2,2,,open_alert,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(3,3,,clear,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(4,4,,clear,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(5,5,,clear,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(6,6,,clear,,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-26 06:04:38.153+00")',
'(7,3,clear,not_screened,expired,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-28 06:04:38.821+00")',
'(8,4,clear,not_screened,expired,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-28 06:04:38.821+00")',
'(9,5,clear,not_screened,expired,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-28 06:04:38.821+00")',
'(10,6,clear,not_screened,expired,t,"2026-11-26 06:04:37.876+00","2026-11-27 06:04:37.876+00","2026-11-27 09:04:37.876+00",1,"2026-11-28 06:04:38.821+00")'
]::customer_state_change[]);
delete from customer_version;
insert into customer_version (customer_id, version, import_id, risk_tier, record, changed_fields) overriding system value select customer_id, version, import_id, risk_tier, record, changed_fields from unnest(array[
'(1,1,1,,"{""parties"": [{""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Wilhelmina Achterberg"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(2,1,1,,"{""parties"": [{""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Oktavian Prunescu"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(3,1,1,,"{""parties"": [{""name"": ""Tamsin Oyelaran"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Tamsin Oyelaran"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(4,1,1,,"{""parties"": [{""name"": ""Bertil Kvarnström"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Bertil Kvarnström"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(5,1,1,,"{""parties"": [{""name"": ""Aroha Ngata"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Aroha Ngata"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(6,1,1,,"{""parties"": [{""name"": ""Ciro Malvestuto"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Ciro Malvestuto"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)'
]::customer_version[]);
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-9692,"2026-11-28 06:04:38.566+00","2026-11-28 06:04:38.566+00","1970-01-01 00:00:00+00")'
]::lease[]);
delete from listed_party;
insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries) overriding system value select listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries from unnest(array[
'(1,1,"\\x26b1b15a5546de35d6ff75085d037793174b653a365e666b21ca502629d4d2cb",amla_c,"Control Listed",Person,{sanction},{1960-01-01},{fr})',
'(2,1,"\\x1bcf441644d0019a56ffa7bb6e1becc4e402432435bf18dd8fceb66db74ecd47",amla_one,"Wilhelmina Achterberg",Person,{sanction},{1960-01-01},{fr})',
'(3,1,"\\xb49a036225e9020f97fd1cd6fcfc1f73ec69f0d661f97e3cff05534b0a445155",amla_two,"Oktavian Prunescu",Person,{sanction},{1960-01-01},{fr})'
]::listed_party[]);
delete from match_detail;
insert into match_detail (run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids) overriding system value select run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids from unnest(array[
'(1,amla_one,1,activity,"2026-11-26 06:04:37.98+00",200,,req_a9d921d3-484d-4a44-8b7c-671bf0f53794,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})',
'(1,amla_two,1,activity,"2026-11-26 06:04:37.98+00",200,,req_787ea5d3-c267-4d65-8c16-03d56ab4dc48,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})'
]::match_detail[]);
delete from next_state;
insert into next_state (run_id, party_id, former_run_id, former_request_id, former_response_id, former_settings_digest, former_state, former_unreturned, settings_digest, state, reported_scores, unreturned, is_superseded) overriding system value select run_id, party_id, former_run_id, former_request_id, former_response_id, former_settings_digest, former_state, former_unreturned, settings_digest, state, reported_scores, unreturned, is_superseded from unnest(array[
'(1,1,,,,,,,settings-of-the-test,open_alert,,,f)',
'(1,2,,,,,,,settings-of-the-test,open_alert,,,f)',
'(1,3,,,,,,,settings-of-the-test,clear,,,f)',
'(1,4,,,,,,,settings-of-the-test,clear,,,f)',
'(1,5,,,,,,,settings-of-the-test,clear,,,f)',
'(1,6,,,,,,,settings-of-the-test,clear,,,f)'
]::next_state[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks, restorations) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks, restorations from unnest(array[
'(1,default,"\\x06a176ee705c4ba0dd40993017ea40836fb2608d4c71e559d31af3ae957365e5","\\x1fe4e561a84c4525bc8d9494d004f031c1cf13bce1a740e9961f560bafcefd5f","2026-11-26 06:04:37.233+00",,,,,,[],[])'
]::organisation[]);
delete from party;
insert into party (party_id, customer_id, ordinal, request_id, is_current) overriding system value select party_id, customer_id, ordinal, request_id, is_current from unnest(array[
'(1,1,0,1,t)',
'(2,2,0,2,t)',
'(3,3,0,3,t)',
'(4,4,0,4,t)',
'(5,5,0,5,t)',
'(6,6,0,6,t)'
]::party[]);
delete from party_state;
insert into party_state (account_id, party_id, request_id, customer_version, settings_digest, state, response_id, run_id, screened_at, reported_scores, unreturned, failed_run_id) overriding system value select account_id, party_id, request_id, customer_version, settings_digest, state, response_id, run_id, screened_at, reported_scores, unreturned, failed_run_id from unnest(array[
'(1,3,3,1,settings-of-the-test,clear,3,1,"2026-11-26 06:04:37.876+00",,,)',
'(1,4,4,1,settings-of-the-test,clear,7,1,"2026-11-26 06:04:37.876+00",,,)',
'(1,5,5,1,settings-of-the-test,clear,8,1,"2026-11-26 06:04:37.876+00",,,)',
'(1,6,6,1,settings-of-the-test,clear,4,1,"2026-11-26 06:04:37.876+00",,,)',
'(1,1,1,1,settings-of-the-test,open_alert,5,2,"2026-11-28 06:04:39.001+00",,,)',
'(1,2,2,1,settings-of-the-test,open_alert,6,2,"2026-11-28 06:04:39.001+00",,,)'
]::party_state[]);
delete from planned;
insert into planned (run_id, party_id, request_id, customer_version, search_order, reason, skipped_because) overriding system value select run_id, party_id, request_id, customer_version, search_order, reason, skipped_because from unnest(array[
'(1,1,1,1,0,new,)',
'(1,2,2,1,0,new,)',
'(1,3,3,1,0,new,)',
'(1,4,4,1,0,new,)',
'(1,5,5,1,0,new,)',
'(1,6,6,1,0,new,)',
'(2,1,1,1,3333332,overdue,)',
'(2,2,2,1,3333332,overdue,)',
'(2,3,3,1,3333332,overdue,)',
'(2,4,4,1,3333332,overdue,)',
'(2,5,5,1,3333332,overdue,)',
'(2,6,6,1,3333332,overdue,)'
]::planned[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id from unnest(array[
'(1,1,{},{},"2026-11-26 06:04:38.293+00",16fa8ae3d50f7432bb7d19393871acee7cc6651d7b047ed70d23c556bd687547,,)',
'(2,1,{},{},"2026-11-28 06:04:39.34+00",b03def240efa656ba4e2905ac503d3b6baa52dfced6d28a7634a6becc0494d89,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores from unnest(array[
'(1,1,"\\x525cad59ae2766eb3a84bc704857ea6da6895041ea1541563af3f1946c942a17","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:04:37.782+00",1,1,amla_c,{1},{t},{1})',
'(2,1,"\\x68cd614dc221a01b57965028845fe2eb2595dea3f32878e7f051fd08555cf5ea","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:04:37.805+00",0,0,,,,)',
'(3,1,"\\x0292d085b94bebe2fd910f463486a793e2c95aa4582f9be07d2bf06c2dfd3bc2","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:04:37.882+00",0,0,,,,)',
'(4,1,"\\x297485b69af89d70bc962450ae3dda12445322d43f7bdfe62254e3a7e1746f55","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:04:37.882+00",0,0,,,,)',
'(5,1,"\\x649934cb160c9720345b2de6da921f977ac41875c64c8ce4a368f6892b351eb9","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:04:37.882+00",1,1,amla_one,{2},{t},{1})',
'(6,1,"\\x7267e7fa7363d65b695fffcf405252d1b3ff65639c89100604a27cc4868c416d","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:04:37.882+00",1,1,amla_two,{3},{t},{1})',
'(7,1,"\\xb392efec6d25bde940cc8aaa8bb4ec29549e8849fc0f48fba41da5ff41b5a2fc","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:04:37.882+00",0,0,,,,)',
'(8,1,"\\xc1611867ad7fc4edf0efc5cae37899db8826a07de4cb62c88ecc2ca76752abc6","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:04:37.882+00",0,0,,,,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids) overriding system value select sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids from unnest(array[
'(1,1,"2026-11-26 06:04:38.079+00",report,1,"{1,2}",2,)',
'(2,1,"2026-11-28 06:04:39.164+00",report,2,"{1,2}",2,)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at) overriding system value select roster_id, organisation_id, name, created_at from unnest(array[
'(1,1,people,"2026-11-26 06:04:37.252+00")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 06:04:37.477+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}",)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-28 06:04:38.602+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}","{""known"": 6, ""fields"": [], ""joined"": 0, ""reread"": [], ""missing"": 0, ""returned"": 0, ""offboarded"": 0}")'
]::roster_import[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-9692,"2026-11-26 06:04:37.349+00",{},10)',
'(2,1,2,test-9692,"2026-11-28 06:04:38.574+00",{},6)'
]::run_worker[]);
delete from screening_request;
insert into screening_request (request_id, organisation_id, type, name) overriding system value select request_id, organisation_id, type, name from unnest(array[
'(1,1,person,"Wilhelmina Achterberg")',
'(2,1,person,"Oktavian Prunescu")',
'(3,1,person,"Tamsin Oyelaran")',
'(4,1,person,"Bertil Kvarnström")',
'(5,1,person,"Aroha Ngata")',
'(6,1,person,"Ciro Malvestuto")',
'(7,1,person,"Control Listed")',
'(8,1,person,"Zzyzx Qwfpg")'
]::screening_request[]);
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision) overriding system value select shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision from unnest(array[
'(1,1,2,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T10:04:38.079+00:00"", ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-26T06:04:38.079+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)',
'(2,2,3,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T10:04:38.079+00:00"", ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-26T06:04:38.079+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)'
]::shown_alert[]);
select setval('acceptance_acceptance_id_seq', 1);
select setval('account_account_id_seq', 1);
select setval('alert_alert_id_seq', 2);
select setval('alert_event_event_id_seq', 2);
select setval('change_change_id_seq', 2);
select setval('customer_customer_id_seq', 6);
select setval('customer_state_change_change_id_seq', 10);
select setval('listed_party_listed_id_seq', 3);
select setval('organisation_organisation_id_seq', 1);
select setval('party_party_id_seq', 100);
select setval('response_response_id_seq', 8);
select setval('review_sheet_sheet_id_seq', 2);
select setval('roster_import_import_id_seq', 2);
select setval('roster_roster_id_seq', 2);
select setval('run_run_id_seq', 2);
select setval('screening_request_request_id_seq', 14);
select setval('shown_alert_shown_id_seq', 2);
reset session_replication_role;
