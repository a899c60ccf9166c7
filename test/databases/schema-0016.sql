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
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-16371,0,settings-of-the-test,0.0.0-test,,"2026-11-26 06:30:24.329+00","2026-11-26 06:30:25.142+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 0, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",,3,2,2,,f,,"{""news"": {""alerts"": 2, ""expired"": 0, ""sanctionHits"": 2}, ""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-26T06:30:25+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 56.3, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{10e785223e5f},"{""rates"": {""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}, ""volume"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 6, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 0}, ""isComparable"": true}",,,[])',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-16371,0,settings-of-the-test,0.0.0-test,1,"2026-11-28 06:30:25.412+00","2026-11-28 06:30:25.714+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""truncated"": 0, ""open_alert"": 2, ""true_match"": 0, ""not_screened"": 4, ""false_positive"": 0, ""below_threshold"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""unreadableParties"": 0, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""workdays"": [1, 2, 3, 4, 5], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""maxPerRun"": 200}}, ""timezone"": ""UTC"", ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}, ""reconciliation"": {""severity"": {}}}",max_searches,3,2,2,,f,,"{""news"": {""alerts"": 0, ""expired"": 0, ""sanctionHits"": 0}, ""byAge"": {""older"": 0, ""upToOneDay"": 0, ""upToOneWeek"": 2, ""upToThirtyDays"": 0}, ""absent"": 0, ""overdue"": 2, ""waiting"": 2, ""oldestAt"": ""2026-11-26T06:30:25+00:00"", ""proposed"": 0, ""customers"": 2, ""byAssignee"": [], ""bySeverity"": [{""overdue"": 2, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}",,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 96.2, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}",,{10e785223e5f},"{""rates"": null, ""volume"": null, ""listCap"": null, ""findings"": {""hits"": 2, ""changes"": 0, ""matches"": 2, ""screened"": 2, ""hitSquares"": 2, ""matchSquares"": 2, ""changeSquares"": 0, ""searchesAgain"": 2}, ""isComparable"": false}",,,"[{""known"": 2, ""family"": ""any"", ""standing"": 2, ""vanished"": 0}, {""known"": 2, ""family"": ""sanction"", ""standing"": 2, ""vanished"": 0}]")'
]::run[]);
select open_run_range(run_id) from run;
delete from acceptance;
insert into acceptance (acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until) overriding system value select acceptance_id, kind, is_proposal, accepted_by, is_attested, reason, accepted_at, organisation_id, run_id, roster_id, settings, digest, differences, proposed_by, held_by, changes, gap, reference, rows, until from unnest(array[
'(1,settings,f,"first settings",t,"recorded by the first run","2026-11-26 06:30:24.26+00",1,,,"{""guards"": {""people"": {""columns"": true, ""maxGrowth"": 0.5, ""maxDoubtShare"": 0.2, ""maxRejectShare"": 0.005, ""maxShrinkNight"": 0.01, ""maxChangedShare"": 0.01, ""maxShrink30Days"": 0.03, ""maxDuplicateShare"": 0.05}}, ""review"": {""fourEyes"": [], ""autoClose"": false, ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}}, ""rosters"": {""people"": {""csv"": {""skipRows"": []}, ""columns"": {""ignore"": [], ""realDates"": [], ""realNames"": []}, ""parties"": {""columns"": {""ignore"": []}}}}, ""service"": {""aml"": {""nameField"": ""name""}}, ""controls"": [{""name"": ""Control Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""controlsEvery"": 10000, ""leaveAfterDays"": 7}}",c30167830eab560908ffb1a891a759d0f205c74b3e7271c3103605ba6591ac55,{},,,,,,,)'
]::acceptance[]);
delete from account;
insert into account (account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps) overriding system value select account_id, organisation_id, public_key, is_test, base_url, created_at, list_caps from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-26 06:30:24.32+00",[],)'
]::account[]);
delete from alert;
insert into alert (alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy) overriding system value select alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, due_at, disposition_id, assigned_to, revision, absence, absent_since, topic, is_true_match, legacy from unnest(array[
'(1,1,1,open,2,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-26 06:30:25+00","2026-11-26 10:30:25+00",,,1,,,sanction,f,)',
'(2,1,2,open,3,1,t,1,1,critical,sanction_hit_gained,959,t,"2026-11-26 06:30:25+00","2026-11-26 10:30:25+00",,,1,,,sanction,f,)'
]::alert[]);
delete from alert_event;
insert into alert_event (event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested) overriding system value select event_id, alert_id, kind, happened_at, run_id, reasons, severity, actor, assigned_to, is_attested from unnest(array[
'(1,1,opened,"2026-11-26 06:30:25+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-26 06:30:25+00",1,{},critical,,,f)'
]::alert_event[]);
delete from batch;
insert into batch (run_id, worker, number, wave, committed_at) overriding system value select run_id, worker, number, wave, committed_at from unnest(array[
'(1,1,1,2,"2026-11-26 06:30:24.853+00")',
'(2,1,1,2,"2026-11-28 06:30:25.57+00")'
]::batch[]);
delete from call;
insert into call (run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id) overriding system value select run_id, request_id, started_at, ended_at, response_id, batch, number, worker, status, outcome, service_request_id from unnest(array[
'(1,7,"2026-11-28 06:30:24.745+00","2026-11-28 06:30:24.753+00",,,1,1,201,ok,req_7f352509-d4d9-4bfc-9fd9-a8d42a3e516c)',
'(1,8,"2026-11-28 06:30:24.782+00","2026-11-28 06:30:24.787+00",,,2,1,201,ok,req_490ee253-828c-4fc9-b93d-0f8ad921d6be)',
'(1,1,"2026-11-28 06:30:24.824+00","2026-11-28 06:30:24.838+00",4,1,3,1,201,ok,req_4623c903-3a07-45ad-92d5-fa1993509431)',
'(1,2,"2026-11-28 06:30:24.824+00","2026-11-28 06:30:24.839+00",7,1,4,1,201,ok,req_e0c298c6-3afb-457a-9e1e-8a6d6b5919d8)',
'(1,3,"2026-11-28 06:30:24.824+00","2026-11-28 06:30:24.839+00",5,1,5,1,201,ok,req_f4f0fab4-cc52-47d0-9902-9c322eaa82c7)',
'(1,4,"2026-11-28 06:30:24.825+00","2026-11-28 06:30:24.846+00",8,1,6,1,201,ok,req_ea4a8652-16b6-455e-9c35-5be394bb0d71)',
'(1,5,"2026-11-28 06:30:24.825+00","2026-11-28 06:30:24.849+00",6,1,7,1,201,ok,req_d8c5a2d8-c6da-43c1-8930-4564d9fa9a8e)',
'(1,6,"2026-11-28 06:30:24.844+00","2026-11-28 06:30:24.852+00",3,1,8,1,201,ok,req_9be9710a-0fd5-4a78-b0bf-ac95af88a259)',
'(1,7,"2026-11-28 06:30:24.891+00","2026-11-28 06:30:24.895+00",,,9,1,201,ok,req_54511d3f-5c5c-46c1-a64c-83e27c1e0275)',
'(1,8,"2026-11-28 06:30:24.905+00","2026-11-28 06:30:24.908+00",,,10,1,201,ok,req_6f0b9892-d3d7-4896-b2ad-6933ebf9e583)',
'(2,7,"2026-11-28 06:30:25.536+00","2026-11-28 06:30:25.539+00",,,1,1,201,ok,req_fda16bc3-10eb-40de-a168-96191e704f68)',
'(2,8,"2026-11-28 06:30:25.547+00","2026-11-28 06:30:25.55+00",,,2,1,201,ok,req_087d9fc1-57dc-41e4-9048-b8f79290824e)',
'(2,1,"2026-11-28 06:30:25.565+00","2026-11-28 06:30:25.568+00",4,1,3,1,201,ok,req_ecfe0139-00fc-4e8a-8760-cb14ed190656)',
'(2,2,"2026-11-28 06:30:25.565+00","2026-11-28 06:30:25.569+00",7,1,4,1,201,ok,req_57c4963d-7717-4f65-b90b-6b070c7fe772)',
'(2,7,"2026-11-28 06:30:25.578+00","2026-11-28 06:30:25.581+00",,,5,1,201,ok,req_78dfe355-6c0a-4f89-9b59-329bed4b40a3)',
'(2,8,"2026-11-28 06:30:25.588+00","2026-11-28 06:30:25.59+00",,,6,1,201,ok,req_eed96390-81d4-46d9-a1e2-70e72be823a8)'
]::call[]);
delete from change;
insert into change (change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version) overriding system value select change_id, run_id, wave, replaces, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments, birth_date_agreement, country_agreement, sanction_hit, former_customer_version from unnest(array[
'(1,1,2,,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,,,,2,1,t,1,{},unknown,unknown,t,)',
'(2,1,2,,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,,,,3,1,t,1,{},unknown,unknown,t,)'
]::change[]);
delete from control_outcome;
insert into control_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics) overriding system value select run_id, ordinal, type, name, expect, verdict, found, response_id, round, occasion, searches, asked_at, label, topics from unnest(array[
'(1,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-26 06:30:24.757+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-26 06:30:24.791+00",,{})',
'(1,0,person,"Control Listed",match,passed,,1,2,end,6,"2026-11-26 06:30:24.898+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-26 06:30:24.91+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,1,start,0,"2026-11-28 06:30:25.541+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-28 06:30:25.552+00",,{})',
'(2,0,person,"Control Listed",match,passed,,1,2,end,2,"2026-11-28 06:30:25.583+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-28 06:30:25.593+00",,{})'
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
'(1,1,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-26 06:30:25.056+00",2,"2026-11-28 06:30:25.57+00","2026-11-28 06:30:25.57+00")',
'(1,2,high,open_alert,,,,f,1,sanction,open_alert,"2026-11-26 06:30:25.056+00",2,"2026-11-28 06:30:25.57+00","2026-11-28 06:30:25.57+00")',
'(1,3,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:30:25.514+00",1,"2026-11-26 06:30:24.853+00","2026-11-26 06:30:24.853+00")',
'(1,4,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:30:25.514+00",1,"2026-11-26 06:30:24.853+00","2026-11-26 06:30:24.853+00")',
'(1,5,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:30:25.514+00",1,"2026-11-26 06:30:24.853+00","2026-11-26 06:30:24.853+00")',
'(1,6,high,clear,,remaining,2,f,0,,not_screened,"2026-11-28 06:30:25.514+00",1,"2026-11-26 06:30:24.853+00","2026-11-26 06:30:24.853+00")'
]::customer_state[]);
delete from customer_state_change;
insert into customer_state_change (change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at) overriding system value select change_id, customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at from unnest(array[
'(1,1,,open_alert,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(2,2,,open_alert,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(3,3,,clear,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(4,4,,clear,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(5,5,,clear,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(6,6,,clear,,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-26 06:30:25.056+00")',
'(7,3,clear,not_screened,expired,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-28 06:30:25.514+00")',
'(8,4,clear,not_screened,expired,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-28 06:30:25.514+00")',
'(9,5,clear,not_screened,expired,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-28 06:30:25.514+00")',
'(10,6,clear,not_screened,expired,t,"2026-11-26 06:30:24.853+00","2026-11-27 06:30:24.853+00","2026-11-27 09:30:24.853+00",1,"2026-11-28 06:30:25.514+00")'
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
'(screening/default/people,2,test-16371,"2026-11-28 06:30:25.406+00","2026-11-28 06:30:25.406+00","1970-01-01 00:00:00+00")'
]::lease[]);
delete from listed_party;
insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries) overriding system value select listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries from unnest(array[
'(1,1,"\\x26b1b15a5546de35d6ff75085d037793174b653a365e666b21ca502629d4d2cb",amla_c,"Control Listed",Person,{sanction},{1960-01-01},{fr})',
'(2,1,"\\x1bcf441644d0019a56ffa7bb6e1becc4e402432435bf18dd8fceb66db74ecd47",amla_one,"Wilhelmina Achterberg",Person,{sanction},{1960-01-01},{fr})',
'(3,1,"\\xb49a036225e9020f97fd1cd6fcfc1f73ec69f0d661f97e3cff05534b0a445155",amla_two,"Oktavian Prunescu",Person,{sanction},{1960-01-01},{fr})'
]::listed_party[]);
delete from match_detail;
insert into match_detail (run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids) overriding system value select run_id, record_id, account_id, kind, asked_at, status, reason, service_request_id, received_digest, digest, body, withheld_links, entity_ids from unnest(array[
'(1,amla_one,1,activity,"2026-11-26 06:30:24.934+00",200,,req_3a7bea02-c181-4a1b-be15-474249759ecd,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})',
'(1,amla_two,1,activity,"2026-11-26 06:30:24.934+00",200,,req_f3fa986d-6f31-424d-b748-c018b670540d,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{})'
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
'(1,default,"\\x1746182695d04692408779135f5c3c3ead7b7d0f72d9c03747b1358c9a304c93","\\xdb3de17b2a0f476cbbc6c67d9956207f509305c64c104e3bb08450632005fb02","2026-11-26 06:30:24.234+00",,,,,,[],[])'
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
'(1,3,3,1,settings-of-the-test,clear,5,1,"2026-11-26 06:30:24.853+00",,,)',
'(1,4,4,1,settings-of-the-test,clear,8,1,"2026-11-26 06:30:24.853+00",,,)',
'(1,5,5,1,settings-of-the-test,clear,6,1,"2026-11-26 06:30:24.853+00",,,)',
'(1,6,6,1,settings-of-the-test,clear,3,1,"2026-11-26 06:30:24.853+00",,,)',
'(1,1,1,1,settings-of-the-test,open_alert,4,2,"2026-11-28 06:30:25.57+00",,,)',
'(1,2,2,1,settings-of-the-test,open_alert,7,2,"2026-11-28 06:30:25.57+00",,,)'
]::party_state[]);
delete from planned;
insert into planned (run_id, party_id, request_id, customer_version, search_order, reason, skipped_because) overriding system value select run_id, party_id, request_id, customer_version, search_order, reason, skipped_because from unnest(array[
'(1,1,1,1,0,new,)',
'(1,2,2,1,0,new,)',
'(1,3,3,1,0,new,)',
'(1,4,4,1,0,new,)',
'(1,5,5,1,0,new,)',
'(1,6,6,1,0,new,)',
'(2,1,1,1,3333333,overdue,)',
'(2,2,2,1,3333333,overdue,)',
'(2,3,3,1,3333333,overdue,)',
'(2,4,4,1,3333333,overdue,)',
'(2,5,5,1,3333333,overdue,)',
'(2,6,6,1,3333333,overdue,)'
]::planned[]);
delete from report;
insert into report (run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id) overriding system value select run_id, revision, sweep_run_ids, earlier_run_ids, created_at, manifest_sha256, sent_at, former_settings_id from unnest(array[
'(1,1,{},{},"2026-11-26 06:30:25.172+00",e36b829de91739a963dd1210262ee886dd2f6f67e45c1d0fcf99d8809b3aaef3,,)',
'(2,1,{},{},"2026-11-28 06:30:25.73+00",f65098bf599a43251181fbd7dc4f6d502012cb8e701ae22a7fb7cb79a2b4d483,,1)'
]::report[]);
delete from response;
insert into response (response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores) overriding system value select response_id, organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores from unnest(array[
'(1,1,"\\x6bb5287308669742655dc9b10c4a1fb3c1559941980c1800458ecf80311fd766","{""query"":""Control Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Control Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:30:24.757+00",1,1,amla_c,{1},{t},{1})',
'(2,1,"\\xe44d8f75d1d0c1026fa426ae23d3ca9d585972ce6fae49178eee27bac6ab132f","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:30:24.791+00",0,0,,,,)',
'(3,1,"\\x524cff054a02fa6dd7fdcdc8435a9743ff9f03e3e223954181950b3a6f96e60c","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:30:24.855+00",0,0,,,,)',
'(4,1,"\\x7da419a5aa21163d23619a51f69db9e92b3095ad915c784aa5a867c678b73f78","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:30:24.855+00",1,1,amla_one,{2},{t},{1})',
'(5,1,"\\x7e33d29346d7ce374d8dfeda7d9c0b4bf2dcfd95c60462faa559864146ba4ec0","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:30:24.855+00",0,0,,,,)',
'(6,1,"\\x9fb9a7a2fef7a76ecf6a2151916037890c3005adde0b36fe4e71ddda49180790","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:30:24.855+00",0,0,,,,)',
'(7,1,"\\xa0732d172931f8ed2fdd6b19a81472fcef97494044ebf5daca89169bb461bb61","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-26 06:30:24.855+00",1,1,amla_two,{3},{t},{1})',
'(8,1,"\\xdfeb81323c837961d394f387276da4b5f935734d0f7c266515f1a6c170e1d01a","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-26 06:30:24.855+00",0,0,,,,)'
]::response[]);
delete from review_sheet;
insert into review_sheet (sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids) overriding system value select sheet_id, organisation_id, exported_at, exported_by, run_id, shown_ids, waiting, alert_ids from unnest(array[
'(1,1,"2026-11-26 06:30:25+00",report,1,"{1,2}",2,)',
'(2,1,"2026-11-28 06:30:25.633+00",report,2,"{1,2}",2,)'
]::review_sheet[]);
delete from roster;
insert into roster (roster_id, organisation_id, name, created_at) overriding system value select roster_id, organisation_id, name, created_at from unnest(array[
'(1,1,people,"2026-11-26 06:30:24.242+00")'
]::roster[]);
delete from roster_import;
insert into roster_import (import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes) overriding system value select import_id, run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent, is_delta, headers, party_headers, joined, changed, leavers, returned, conflicts, party_rows, party_rejected, overridden_guards, unreadable_ids, doubts, dropped_parties, control_total, unmapped_names, mapping, changes from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-26 06:30:24.426+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}",)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-28 06:30:25.424+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{},0,[],[],,{},"{""columns.type"": null, ""columns.language"": null, ""columns.riskTier"": null, ""columns.birthDate"": null, ""columns.countries"": null}","{""known"": 6, ""fields"": [], ""joined"": 0, ""reread"": [], ""missing"": 0, ""returned"": 0, ""offboarded"": 0}")'
]::roster_import[]);
delete from run_worker;
insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, calls) overriding system value select run_id, worker, epoch, owner, taken_at, differences, calls from unnest(array[
'(1,1,1,test-16371,"2026-11-26 06:30:24.329+00",{},10)',
'(2,1,2,test-16371,"2026-11-28 06:30:25.412+00",{},6)'
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
'(1,1,2,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T10:30:25+00:00"", ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 1, ""openedAt"": ""2026-11-26T06:30:25+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)',
'(2,2,3,1,t,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-26T10:30:25+00:00"", ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""legacy"": null, ""absence"": null, ""alertId"": 2, ""openedAt"": ""2026-11-26T06:30:25+00:00"", ""priority"": 959, ""proposal"": null, ""replaced"": null, ""severity"": ""critical"", ""assignedTo"": null, ""lastSaidId"": null, ""absentSince"": null, ""lastDecision"": null, ""reopenedBecause"": []}",1)'
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
