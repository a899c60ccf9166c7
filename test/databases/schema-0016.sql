-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 16 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from run;
insert into run (run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, wave, proven_wave, applied_wave, unconfirmed_because, is_held, roster_file, open_alerts, details, settings_id, health, settled_alerts, unaccepted, keys, watch, sweep, published_list, vanishing) overriding system value select run_id, organisation_id, roster_id, account_id, mode, kind, state, state_reasons, stage, selection, in_scope, lease_key, epoch, owner, resumed, settings_digest, version, compared_run_id, started_at, finished_at, sums, cadence, billable_attempts, settings, halted_by, wave, proven_wave, applied_wave, unconfirmed_because, is_held, roster_file, open_alerts, details, settings_id, health, settled_alerts, unaccepted, keys, watch, sweep, published_list, vanishing from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-31460,0,settings-of-the-test,0.0.0-test,,"2026-11-25 23:08:32.912+00","2026-11-25 23:08:38.384+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,3,2,2,,f,,"{""news"": {""alerts"": 2, ""expired"": 0, ""sanctionHits"": 2}, ""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-25T23:08:37.016+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 8.4, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{1daad594dc0c},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-31460,0,settings-of-the-test,0.0.0-test,1,"2026-11-27 23:08:40.57+00","2026-11-27 23:08:42.546+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,3,2,2,,f,,"{""news"": {""alerts"": 0, ""expired"": 0, ""sanctionHits"": 0}, ""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-25T23:08:37.016+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 12.2, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{1daad594dc0c},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,,"[{""known"": 2, ""family"": ""any"", ""standing"": 2, ""vanished"": 0}, {""known"": 2, ""family"": ""sanction"", ""standing"": 2, ""vanished"": 0}]")'
]::run[]);
select open_run_range(run_id) from run;
delete from acceptance;
insert into acceptance (acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until) overriding system value select acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until from unnest(array[
'(1,settings,f,"first settings",t,"recorded by the first run","2026-11-25 23:08:32.65+00",1,,,"{""guards"": {""people"": {""columns"": true, ""maxGrowth"": 0.5, ""maxDoubtShare"": 0.2, ""maxRejectShare"": 0.005, ""maxShrinkNight"": 0.01, ""maxChangedShare"": 0.01, ""maxShrink30Days"": 0.03, ""maxDuplicateShare"": 0.05}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""rosters"": {""people"": {""csv"": {""skipRows"": []}, ""columns"": {""ignore"": [], ""realDates"": [], ""realNames"": []}, ""parties"": {""columns"": {""ignore"": []}}}}, ""service"": {""aml"": {""nameField"": ""name""}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",c30167830eab560908ffb1a891a759d0f205c74b3e7271c3103605ba6591ac55,{},,,,,,,)'
]::acceptance[]);
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-25 23:08:32.861+00",[],)'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,2,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-25 23:08:37.016+00","2026-11-26 03:08:37.016+00",,,1,,,sanction,f,)',
'(2,1,2,open,3,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-25 23:08:37.016+00","2026-11-26 03:08:37.016+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-25 23:08:37.016+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-25 23:08:37.016+00",1,{},critical,,,f)'
]::alert_event[]);
delete from batch;
insert into batch (run_id, worker, number, wave, committed_at) overriding system value select run_id, worker, number, wave, committed_at from unnest(array[
'(1,1,1,2,"2026-11-25 23:08:36.137+00")',
'(2,1,1,2,"2026-11-27 23:08:41.646+00")'
]::batch[]);
delete from call;
insert into call (run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id) overriding system value select run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id from unnest(array[
'(1,1,"2026-11-27 23:08:35.436+00","2026-11-27 23:08:35.507+00",,,1,1,201,ok,req_4b37e351-10b8-46e8-b10d-b651d4cec95c)',
'(1,2,"2026-11-27 23:08:35.66+00","2026-11-27 23:08:35.717+00",,,2,1,201,ok,req_93798513-3644-421b-a167-136528812026)',
'(1,1099511627777,"2026-11-27 23:08:35.932+00","2026-11-27 23:08:36.063+00",4,1,3,1,201,ok,req_b3f99beb-4048-4351-802b-894e350a1690)',
'(1,1099511627778,"2026-11-27 23:08:35.932+00","2026-11-27 23:08:36.064+00",6,1,4,1,201,ok,req_faa81a0f-31eb-4102-8bba-3fed4e1a925d)',
'(1,1099511627779,"2026-11-27 23:08:35.932+00","2026-11-27 23:08:36.064+00",5,1,5,1,201,ok,req_c617e689-c6a9-45da-9be9-296e2542c62c)',
'(1,1099511627780,"2026-11-27 23:08:35.933+00","2026-11-27 23:08:36.083+00",3,1,6,1,201,ok,req_f0d793e5-dc9b-4cbe-b85f-90f9994ace76)',
'(1,1099511627781,"2026-11-27 23:08:35.95+00","2026-11-27 23:08:36.11+00",8,1,7,1,201,ok,req_643f72ae-4076-4db6-9d3b-74a158990ef1)',
'(1,1099511627782,"2026-11-27 23:08:35.95+00","2026-11-27 23:08:36.112+00",7,1,8,1,201,ok,req_c225cd31-63a1-4ed8-980d-28b91699da6c)',
'(1,1,"2026-11-27 23:08:36.412+00","2026-11-27 23:08:36.452+00",,,9,1,201,ok,req_a0b6c21b-d25d-4d29-ae8b-32bca9983d9c)',
'(1,2,"2026-11-27 23:08:36.502+00","2026-11-27 23:08:36.505+00",,,10,1,201,ok,req_31668d0d-71fd-4536-b23d-d0732700f3a3)',
'(2,1,"2026-11-27 23:08:41.381+00","2026-11-27 23:08:41.4+00",,,1,1,201,ok,req_6c036928-a4f3-47eb-ae89-01411d8a19d0)',
'(2,2,"2026-11-27 23:08:41.463+00","2026-11-27 23:08:41.494+00",,,2,1,201,ok,req_7ce0695b-146b-4345-86b5-277363874fa0)',
'(2,1099511627777,"2026-11-27 23:08:41.599+00","2026-11-27 23:08:41.63+00",4,1,3,1,201,ok,req_69645267-cc9c-4165-b907-08c874302064)',
'(2,1099511627778,"2026-11-27 23:08:41.599+00","2026-11-27 23:08:41.645+00",6,1,4,1,201,ok,req_b8e86cb7-d1c0-46e2-bd70-10d22c6854fe)',
'(2,1,"2026-11-27 23:08:41.695+00","2026-11-27 23:08:41.705+00",,,5,1,201,ok,req_7bd72913-ba9f-410c-b07a-0e7377e46d5f)',
'(2,2,"2026-11-27 23:08:41.79+00","2026-11-27 23:08:41.798+00",,,6,1,201,ok,req_3fbd6bef-c262-40ca-8a91-a6356328e738)'
]::call[]);
delete from change;
insert into change (change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,2,,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,,,,2,1,t,1,{},unknown,unknown,t,)',
'(2,1,2,,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,,,,3,1,t,1,{},unknown,unknown,t,)'
]::change[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-25 23:08:35.535+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-25 23:08:35.72+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-25 23:08:36.46+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-25 23:08:36.523+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-27 23:08:41.418+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-27 23:08:41.496+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-27 23:08:41.734+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-27 23:08:41.815+00",,{})'
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
delete from customer_state;
insert into customer_state (account_id, customer_id, risk_tier, last_state, reason, because, because_run_id, has_failed, waiting, worst_topic, state, changed_at, run_id, as_of, latest_at) overriding system value select account_id, customer_id, risk_tier, last_state, reason, because, because_run_id, has_failed, waiting, worst_topic, state, changed_at, run_id, as_of, latest_at from unnest(array[
'(1,2,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-25 23:08:37.554+00",2,"2026-11-27 23:08:41.646+00","2026-11-27 23:08:41.646+00")',
'(1,3,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-25 23:08:37.554+00",2,"2026-11-27 23:08:41.646+00","2026-11-27 23:08:41.646+00")',
'(1,4,high,clear,,remaining,2,f,0,,not_screened,"2026-11-27 23:08:40.654+00",1,"2026-11-25 23:08:36.137+00","2026-11-25 23:08:36.137+00")',
'(1,5,high,clear,,remaining,2,f,0,,not_screened,"2026-11-27 23:08:40.654+00",1,"2026-11-25 23:08:36.137+00","2026-11-25 23:08:36.137+00")',
'(1,6,high,clear,,remaining,2,f,0,,not_screened,"2026-11-27 23:08:40.654+00",1,"2026-11-25 23:08:36.137+00","2026-11-25 23:08:36.137+00")',
'(1,7,high,clear,,remaining,2,f,0,,not_screened,"2026-11-27 23:08:40.654+00",1,"2026-11-25 23:08:36.137+00","2026-11-25 23:08:36.137+00")'
]::customer_state[]);
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,2,,open_alert,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(2,3,,open_alert,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(3,4,,clear,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(4,5,,clear,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(5,6,,clear,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(6,7,,clear,,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-25 23:08:37.554+00")',
'(7,4,clear,not_screened,expired,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-27 23:08:40.654+00")',
'(8,5,clear,not_screened,expired,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-27 23:08:40.654+00")',
'(9,6,clear,not_screened,expired,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-27 23:08:40.654+00")',
'(10,7,clear,not_screened,expired,t,"2026-11-25 23:08:36.137+00","2026-11-26 23:08:36.137+00","2026-11-27 02:08:36.137+00",1,"2026-11-27 23:08:40.654+00")'
]::customer_state_change[]);
delete from customer_version;
insert into customer_version (customer_id, version, import_id, risk_tier, record, changed_fields) overriding system value select customer_id, version, import_id, risk_tier, record, changed_fields from unnest(array[
'(2,1,1,,"{""parties"": [{""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Wilhelmina Achterberg"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(3,1,1,,"{""parties"": [{""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Oktavian Prunescu"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(4,1,1,,"{""parties"": [{""name"": ""Tamsin Oyelaran"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Tamsin Oyelaran"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(5,1,1,,"{""parties"": [{""name"": ""Bertil Kvarnström"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Bertil Kvarnström"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(6,1,1,,"{""parties"": [{""name"": ""Aroha Ngata"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Aroha Ngata"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)',
'(7,1,1,,"{""parties"": [{""name"": ""Ciro Malvestuto"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Ciro Malvestuto"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",,f)'
]::customer_version[]);
delete from lease;
insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at) overriding system value select lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at from unnest(array[
'(screening/default/people,2,test-31460,"2026-11-27 23:08:40.495+00","2026-11-27 23:08:41.6+00","1970-01-01 00:00:00+00")'
]::lease[]);
delete from listed_party;
insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries) overriding system value select listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries from unnest(array[
'(1,1,"\\x26b1b15a5546de35d6ff75085d037793174b653a365e666b21ca502629d4d2cb",amla_c,"Control Listed",Person,{sanction},{1960-01-01},{fr})',
'(2,1,"\\x1bcf441644d0019a56ffa7bb6e1becc4e402432435bf18dd8fceb66db74ecd47",amla_one,"Wilhelmina Achterberg",Person,{sanction},{1960-01-01},{fr})',
'(3,1,"\\xb49a036225e9020f97fd1cd6fcfc1f73ec69f0d661f97e3cff05534b0a445155",amla_two,"Oktavian Prunescu",Person,{sanction},{1960-01-01},{fr})'
]::listed_party[]);
delete from match_detail;
insert into match_detail (run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids) overriding system value select run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids from unnest(array[
'(1,amla_one,1,activity,"2026-11-25 23:08:36.558+00",200,,req_b72eb229-3a46-4393-9bb5-34ee5a9cb33a,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})',
'(1,amla_two,1,activity,"2026-11-25 23:08:36.558+00",200,,req_6c69e208-2852-4de8-bf90-ac9a398417d8,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})'
]::match_detail[]);
delete from next_state;
insert into next_state (run_id, party_id, former_run_id, former_request_id, former_response_id, former_settings_digest, former_state, former_unreturned, settings_digest, state, reported_scores, unreturned) overriding system value select run_id, party_id, former_run_id, former_request_id, former_response_id, former_settings_digest, former_state, former_unreturned, settings_digest, state, reported_scores, unreturned from unnest(array[
'(1,1,,,,,,,settings-of-the-test,open_alert,,)',
'(1,2,,,,,,,settings-of-the-test,open_alert,,)',
'(1,3,,,,,,,settings-of-the-test,clear,,)',
'(1,4,,,,,,,settings-of-the-test,clear,,)',
'(1,5,,,,,,,settings-of-the-test,clear,,)',
'(1,6,,,,,,,settings-of-the-test,clear,,)'
]::next_state[]);
delete from organisation;
insert into organisation (organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks) overriding system value select organisation_id, name, digest_key, review_key, created_at, schedule_paused_at, schedule_paused_until, schedule_paused_by, schedule_pause_reason, schedule_resumed_by, webhooks from unnest(array[
'(1,default,"\\x87246169a670214b90ae2f37be7b935a99e732db0a6815784aa2573e9d96e4d7","\\x52fa31e32ebd43e4a27f20dbe6a76f589ff139ed3a5044e3bcbd3e054c7b0682","2026-11-25 23:08:32.508+00",,,,,,[])'
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
insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id) overriding system value select account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state, reported_scores, unreturned, failed_run_id from unnest(array[
'(1,3,1,1099511627779,5,1,settings-of-the-test,"2026-11-25 23:08:36.137+00",clear,,,)',
'(1,4,1,1099511627780,3,1,settings-of-the-test,"2026-11-25 23:08:36.137+00",clear,,,)',
'(1,5,1,1099511627781,8,1,settings-of-the-test,"2026-11-25 23:08:36.137+00",clear,,,)',
'(1,6,1,1099511627782,7,1,settings-of-the-test,"2026-11-25 23:08:36.137+00",clear,,,)',
'(1,1,2,1099511627777,4,1,settings-of-the-test,"2026-11-27 23:08:41.646+00",open_alert,,,)',
'(1,2,2,1099511627778,6,1,settings-of-the-test,"2026-11-27 23:08:41.646+00",open_alert,,,)'
]::party_state[]);
delete from planned;
insert into planned (run_id, party_id, request_id, customer_version, search_order, reason, skipped_because) overriding system value select run_id, party_id, request_id, customer_version, search_order, reason, skipped_because from unnest(array[
'(1,1,1099511627777,1,0,new,)',
'(1,2,1099511627778,1,0,new,)',
'(1,3,1099511627779,1,0,new,)',
'(1,4,1099511627780,1,0,new,)',
'(1,5,1099511627781,1,0,new,)',
'(1,6,1099511627782,1,0,new,)',
'(2,1,1099511627777,1,3333327,overdue,)',
'(2,2,1099511627778,1,3333327,overdue,)',
'(2,3,1099511627779,1,3333327,overdue,)',
'(2,4,1099511627780,1,3333327,overdue,)',
'(2,5,1099511627781,1,3333327,overdue,)',
'(2,6,1099511627782,1,3333327,overdue,)'
]::planned[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id from unnest(array[
'(1,1,{},{},"2026-11-25 23:08:38.585+00",72549c095c281401f8143a160c1fe098999bddac0480f73fb4ccd5758e4af35d,,)',
'(2,1,{},{},"2026-11-27 23:08:42.728+00",133897da1adb92aa349ce4ce6c61edf0ef44b6c8193bfacc1b6edc49cf400f27,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores from unnest(array[
'(1,1,"\\x42b2f402d77987f3902d0dee00fa5d2de01ca64dc4428b3ab7bae292ca33dad9","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-25 23:08:35.535+00",1,1,amla_c,{1},{t},{1})',
'(2,1,"\\xbcb8b8cd09f25cb9ca817c611f3029e365929c180f8f56feb8d03a2fa865b2aa","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-25 23:08:35.72+00",0,0,,,,)',
'(3,1,"\\x270d9152e733faebdeb90adec48e406c9a7908c88ffa7b1a54e6265965c13a1c","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-25 23:08:36.14+00",0,0,,,,)',
'(4,1,"\\x486429461150e8ed7a393362ff6330be6bc55e66b0d3f60a9a4897e17d7b5d01","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-25 23:08:36.14+00",1,1,amla_one,{2},{t},{1})',
'(5,1,"\\x502530f1d32f20b22a51efebb929d01e27ee0c3d172e7cc8e98d68ecd6768e0a","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-25 23:08:36.14+00",0,0,,,,)',
'(6,1,"\\x54f7dea50d1d3c5d2b24002790e1695ef8962075743b24b1b7384ea21ac27744","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-25 23:08:36.14+00",1,1,amla_two,{3},{t},{1})',
'(7,1,"\\xb0a5cab1196d62be6e50c3d29fa66c50c160c226f4a65b061eaf5d8449b65f66","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-25 23:08:36.14+00",0,0,,,,)',
'(8,1,"\\xc5cdf3f5928530adc82d466fd92a69435a8bc7d618fc29987a09e2bcdb15cc3d","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-25 23:08:36.14+00",0,0,,,,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids) overriding system value select sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids from unnest(array[
'(1,1,"2026-11-25 23:08:37.016+00",report,1,"{1,2}",2,)',
'(2,1,"2026-11-27 23:08:42.044+00",report,2,"{1,2}",2,)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at) overriding system value select roster_id, organisation_id, name, created_at from unnest(array[
'(1,1,people,"2026-11-25 23:08:32.539+00")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-25 23:08:33.526+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}",)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-27 23:08:40.654+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}","{""known"": 6, ""fields"": [], ""joined"": 0, ""reread"": [], ""missing"": 0, ""returned"": 0, ""offboarded"": 0}")'
]::roster_import[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-31460,"2026-11-25 23:08:32.912+00",{},10)',
'(2,1,2,test-31460,"2026-11-27 23:08:40.57+00",{},6)'
]::run_worker[]);
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
delete from shown_alert;
insert into shown_alert (shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision) overriding system value select shown_id, alert_id, listed_id, rank, is_hit, score, facts, revision from unnest(array[
'(1,1,2,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T03:08:37.016+00:00"", ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-25T23:08:37.016+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)',
'(2,2,3,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T03:08:37.016+00:00"", ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-25T23:08:37.016+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)'
]::shown_alert[]);
select setval('acceptance_acceptance_id_seq', 1);
select setval('account_account_id_seq', 1);
select setval('alert_alert_id_seq', 2);
select setval('alert_event_event_id_seq', 2);
select setval('change_change_id_seq', 2);
select setval('customer_customer_id_seq', 28);
select setval('customer_state_change_change_id_seq', 10);
select setval('listed_party_listed_id_seq', 3);
select setval('organisation_organisation_id_seq', 1);
select setval('party_party_id_seq', 100);
select setval('response_response_id_seq', 8);
select setval('review_sheet_sheet_id_seq', 2);
select setval('roster_import_import_id_seq', 2);
select setval('roster_roster_id_seq', 2);
select setval('run_run_id_seq', 2);
select setval('screening_request_block', 1099511627803);
select setval('screening_request_request_id_seq', 8);
select setval('shown_alert_shown_id_seq', 2);
reset session_replication_role;
