-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 29 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account overriding system value select * from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-20 11:59:12.149+00")'
]::account[]);
delete from canary_outcome;
insert into canary_outcome overriding system value select * from unnest(array[
'(1,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-20 11:59:17.778+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-20 11:59:17.922+00",,{})',
'(1,0,person,"Canary Listed",match,passed,,1,2,end,6,"2026-11-20 11:59:19.369+00",,{})',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,6,"2026-11-20 11:59:19.483+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,1,start,0,"2026-11-22 11:59:24.994+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,1,start,0,"2026-11-22 11:59:25.12+00",,{})',
'(2,0,person,"Canary Listed",match,passed,,1,2,end,2,"2026-11-22 11:59:25.598+00",,{})',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2,2,end,2,"2026-11-22 11:59:25.834+00",,{})'
]::canary_outcome[]);
delete from change_event;
insert into change_event overriding system value select * from unnest(array[
'(1,1,1,1,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)',
'(2,1,1,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",{},unknown,unknown,t,)'
]::change_event[]);
delete from commit_batch;
insert into commit_batch overriding system value select * from unnest(array[
'(1,1,1,1,3,"2026-11-20 11:59:18.712+00")',
'(2,1,1,2,3,"2026-11-20 11:59:19.015+00")',
'(3,2,2,1,2,"2026-11-22 11:59:25.33+00")'
]::commit_batch[]);
delete from customer;
insert into customer overriding system value select * from unnest(array[
'(2,1,C-1,1,"\\xc3a82f664ed349f033407299d890eb67",1,,,,,)',
'(3,1,C-2,1,"\\x5d5fa6dd98d9253b0342429cd1d603e5",1,,,,,)',
'(4,1,C-3,1,"\\xda0cf03e7c92cafe53468d8ccef880ec",1,,,,,)',
'(5,1,C-4,1,"\\x37c6f444daed48495c1aac3435fb4427",1,,,,,)',
'(6,1,C-5,1,"\\x4bbb87210e7032564bc1db33b15f316f",1,,,,,)',
'(7,1,C-6,1,"\\x0cffecd398f35b8d56d490c148b308e5",1,,,,,)'
]::customer[]);
delete from customer_block;
insert into customer_block overriding system value select * from unnest(array[
'(t)'
]::customer_block[]);
delete from customer_state_change;
insert into customer_state_change overriding system value select * from unnest(array[
'(1,2,,open_hit,,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-20 11:59:21.264+00")',
'(2,3,,open_hit,,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-20 11:59:21.264+00")',
'(3,4,,clear,,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-20 11:59:21.264+00")',
'(4,5,,clear,,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-20 11:59:21.264+00")',
'(5,6,,clear,,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-20 11:59:21.264+00")',
'(6,7,,clear,,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-20 11:59:21.264+00")',
'(7,2,open_hit,not_screened,expired,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-22 11:59:24.79+00")',
'(8,3,open_hit,not_screened,expired,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-22 11:59:24.79+00")',
'(9,4,clear,not_screened,expired,t,"2026-11-20 11:59:18.712+00","2026-11-21 11:59:18.712+00","2026-11-21 12:59:18.712+00",1,"2026-11-22 11:59:24.79+00")',
'(10,5,clear,not_screened,expired,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-22 11:59:24.79+00")',
'(11,6,clear,not_screened,expired,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-22 11:59:24.79+00")',
'(12,7,clear,not_screened,expired,t,"2026-11-20 11:59:19.015+00","2026-11-21 11:59:19.015+00","2026-11-21 12:59:19.015+00",1,"2026-11-22 11:59:24.79+00")'
]::customer_state_change[]);
delete from customer_version;
insert into customer_version overriding system value select * from unnest(array[
'(2,1,1,,"{""parties"": [{""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Wilhelmina Achterberg"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(3,1,1,,"{""parties"": [{""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Oktavian Prunescu"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(4,1,1,,"{""parties"": [{""name"": ""Tamsin Oyelaran"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Tamsin Oyelaran"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(5,1,1,,"{""parties"": [{""name"": ""Bertil Kvarnström"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Bertil Kvarnström"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(6,1,1,,"{""parties"": [{""name"": ""Aroha Ngata"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Aroha Ngata"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)',
'(7,1,1,,"{""parties"": [{""name"": ""Ciro Malvestuto"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Ciro Malvestuto"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}",)'
]::customer_version[]);
delete from detail_lookup;
insert into detail_lookup overriding system value select * from unnest(array[
'(1,activity,amla_one,"2026-11-20 11:59:19.665+00",200,,1,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a",req_90746a9c-79c8-4639-ba61-25ec6e63cfdf)',
'(1,activity,amla_two,"2026-11-20 11:59:19.665+00",200,,2,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149",req_e607edfc-0d23-4e78-aa4e-60e9da4e05d6)'
]::detail_lookup[]);
delete from lease;
insert into lease overriding system value select * from unnest(array[
'(screening/default/people,2,test-5747,"2026-11-22 11:59:23.317+00","2026-11-22 11:59:24.922+00","2026-11-22 11:59:23.317+00")'
]::lease[]);
delete from match;
insert into match overriding system value select * from unnest(array[
'(1,1,amla_c,"Canary Listed",Person,t,1,{sanction},{1960-01-01},{fr})',
'(3,1,amla_one,"Wilhelmina Achterberg",Person,t,1,{sanction},{1960-01-01},{fr})',
'(4,1,amla_two,"Oktavian Prunescu",Person,t,1,{sanction},{1960-01-01},{fr})'
]::match[]);
delete from match_detail;
insert into match_detail overriding system value select * from unnest(array[
'(1,1,activity,amla_one,"\\x54474d6cdd4fca4013ef6e391eda1f60576d09f5734834350a498dca89ab496a","{""id"":""amla_one"",""schema"":""Person"",""name"":""Wilhelmina Achterberg"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-20 11:59:19.665+00")',
'(2,1,activity,amla_two,"\\x184c620a5bdb3a929c75a6286ea714513b2d5f81011539c08358eee5c660e149","{""id"":""amla_two"",""schema"":""Person"",""name"":""Oktavian Prunescu"",""aliases"":[],""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}",0,{},1,"2026-11-20 11:59:19.665+00")'
]::match_detail[]);
delete from organisation;
insert into organisation overriding system value select * from unnest(array[
'(1,default,"\\xe6b1ebf32a7ec672eb2abcfc7bac4744906f2762b1ca2557d57080b5382888cf","2026-11-20 11:59:11.449+00")'
]::organisation[]);
delete from party;
insert into party overriding system value select * from unnest(array[
'(1,2,0,1099511627777,t)',
'(2,3,0,1099511627778,t)',
'(3,4,0,1099511627779,t)',
'(4,5,0,1099511627780,t)',
'(5,6,0,1099511627781,t)',
'(6,7,0,1099511627782,t)'
]::party[]);
delete from party_state;
insert into party_state overriding system value select * from unnest(array[
'(1,3,1,1099511627779,5,1,settings-of-the-test,"2026-11-20 11:59:18.712+00",clear,,,,,,,)',
'(1,4,1,1099511627780,6,1,settings-of-the-test,"2026-11-20 11:59:19.015+00",clear,,,,,,,)',
'(1,5,1,1099511627781,7,1,settings-of-the-test,"2026-11-20 11:59:19.015+00",clear,,,,,,,)',
'(1,6,1,1099511627782,8,1,settings-of-the-test,"2026-11-20 11:59:19.015+00",clear,,,,,,,)',
'(1,1,2,1099511627777,3,1,settings-of-the-test,"2026-11-22 11:59:25.33+00",open_hit,,,,1,"2026-11-20 11:59:18.712+00",,)',
'(1,2,2,1099511627778,4,1,settings-of-the-test,"2026-11-22 11:59:25.33+00",open_hit,,,,1,"2026-11-20 11:59:18.712+00",,)'
]::party_state[]);
delete from report;
insert into report overriding system value select * from unnest(array[
'(1,1,{},{},"2026-11-20 11:59:21.404+00",323ede2483782ebb825f46c59670bef69cab8f9070ac85e0fb84b0946b740665,,)',
'(2,1,{},{},"2026-11-22 11:59:26.678+00",0e91aa52169e3bde55ce37284a60fb7f8c6c2e0ceb6f43236c8afd97635f1214,,1)'
]::report[]);
delete from response;
insert into response overriding system value select * from unnest(array[
'(1,1,"\\x01729489dcecc2d77bdc1f3564087b2b32d74346edad571764d622462b1f56c9","{""query"":""Canary Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Canary Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:59:17.778+00",1,1,amla_c)',
'(2,1,"\\x11dcebdff1cb3bfde58e804a432e988e2525f09a7e74f05bca84f30a131d9514","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:59:17.922+00",0,0,)',
'(3,1,"\\x015ef33df835418b1845ef33e9d9b92987454cb28a189e75feaae656ec314d1d","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:59:18.712+00",1,1,amla_one)',
'(4,1,"\\xae24a2b8ed48cb5d8cb7ba44a156801b696c650952ce4d780f3c5e7a3a32ad8e","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:59:18.712+00",1,1,amla_two)',
'(5,1,"\\xf3340682742c48b591af905a60d587a207dc6fed7f27ad9cec7e2cf058aeb375","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:59:18.712+00",0,0,)',
'(6,1,"\\x6da1d73e06cc2333afd0830dd502a8f12eae7f42309cfc37041f7b189c628efa","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:59:19.015+00",0,0,)',
'(7,1,"\\x78ec01bae74e2b9f39a1bac08b9f797d47661d4de69f0c81f2bd260b45f2e5df","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:59:19.015+00",0,0,)',
'(8,1,"\\xa17ee18565e82799e2280be75a631756260bca2483d61194bc4550ac6ea0cac3","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:59:19.015+00",0,0,)'
]::response[]);
delete from review_event;
insert into review_event overriding system value select * from unnest(array[
'(1,1,opened,"2026-11-20 11:59:20.074+00",1,{},critical,,,f)',
'(2,2,opened,"2026-11-20 11:59:20.074+00",1,{},critical,,,f)'
]::review_event[]);
delete from review_item;
insert into review_item overriding system value select * from unnest(array[
'(1,1,1,open,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-20 11:59:20.074+00","2026-11-20 15:59:20.074+00",,)',
'(2,1,2,open,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}",1,critical,sanction_hit_gained,959,t,"2026-11-20 11:59:20.074+00","2026-11-20 15:59:20.074+00",,)'
]::review_item[]);
delete from review_sheet;
insert into review_sheet overriding system value select * from unnest(array[
'(1,"2026-11-20 11:59:20.074+00",report,1,"{1,2}",2)'
]::review_sheet[]);
delete from roster;
insert into roster overriding system value select * from unnest(array[
'(1,1,people,"2026-11-20 11:59:11.474+00")'
]::roster[]);
delete from roster_import;
insert into roster_import overriding system value select * from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-20 11:59:13.837+00",6,6,0,0,0,f,"{customer_id,type,name}",{},6,0,0,0,0,0,0,{})',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-22 11:59:23.741+00",6,6,0,0,0,f,"{customer_id,type,name}",{},0,0,0,0,0,0,0,{})'
]::roster_import[]);
delete from run;
insert into run overriding system value select * from unnest(array[
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-5747,0,settings-of-the-test,0.0.0-test,1,"2026-11-22 11:59:23.412+00","2026-11-22 11:59:26.271+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 6, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 0, ""open_hit"": 2, ""confirmed"": 0, ""not_screened"": 4, ""below_threshold"": 0, ""incompletely_seen"": 0, ""settled_false_positive"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 6}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",6,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}}",max_searches,3,,,,,1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 6, ""repeated"": 0, ""perSecond"": 6.1, ""limitPerSecond"": 400}",)',
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-5747,0,settings-of-the-test,0.0.0-test,,"2026-11-20 11:59:12.248+00","2026-11-20 11:59:20.997+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 10, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""open_hit"": 2, ""confirmed"": 0, ""not_screened"": 0, ""below_threshold"": 0, ""incompletely_seen"": 0, ""settled_false_positive"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 10}, ""changesBySeverity"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""possiblyBilledTwice"": 0}","{""hours"": {""low"": 24, ""high"": 24, ""medium"": 24}, ""reason"": null}",10,"{""run"": {""deadline"": ""200ms"", ""timezone"": ""UTC""}, ""budget"": {""currency"": ""EUR"", ""reserveShare"": 0.05}, ""review"": {""fourEyes"": [], ""holidays"": [], ""timezone"": ""UTC"", ""workdays"": [1, 2, 3, 4, 5], ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""rate"": {""perSecond"": 400, ""concurrency"": 8}, ""baseUrl"": ""SERVICE_URL""}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""evidence"": {""details"": {""entity"": true, ""activity"": true, ""maxPerRun"": 200}}, ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}}",,2,,2,"{""byAge"": {""older"": 0, ""upToOneDay"": 2, ""upToOneWeek"": 0, ""upToThirtyDays"": 0}, ""byOwner"": [], ""overdue"": 0, ""waiting"": 2, ""oldestAt"": ""2026-11-20T11:59:20.074+00:00"", ""proposed"": 0, ""bySeverity"": [{""overdue"": 0, ""waiting"": 2, ""severity"": ""critical""}], ""unassigned"": 2}","{""hits"": 2, ""kept"": 2, ""asked"": 2, ""leftOver"": 0, ""backlogLeft"": 0, ""backlogAsked"": 0, ""notAvailable"": 0, ""withoutRecord"": 0, ""stoppedBecause"": null}",1,"{""cost"": null, ""breaks"": {""count"": 0, ""seconds"": 0, ""longestSeconds"": 0}, ""billable"": 10, ""repeated"": 0, ""perSecond"": 5.2, ""limitPerSecond"": 400}","{""gone"": 0, ""carried"": 0, ""expired"": 0, ""reopened"": 0, ""trueMatch"": 0, ""inconclusive"": 0, ""falsePositive"": 0}")'
]::run[]);
delete from run_holder;
insert into run_holder overriding system value select * from unnest(array[
'(1,1,test-5747,"2026-11-20 11:59:12.248+00",{})',
'(2,2,test-5747,"2026-11-22 11:59:23.412+00",{})'
]::run_holder[]);
delete from run_key;
insert into run_key overriding system value select * from unnest(array[
'(1,50c8eb1fc6b1,"2026-11-20 11:59:16.561+00")',
'(2,50c8eb1fc6b1,"2026-11-22 11:59:24.409+00")'
]::run_key[]);
delete from run_watch;
insert into run_watch overriding system value select * from unnest(array[
'(1,t,6,2,2,2,2,"{""hits"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}, ""matches"": {""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 333.3333333333333}}",,,,0,0,0,"{""usual"": null, ""verdict"": ""unknown"", ""formerRuns"": 0, ""perThousand"": 0}")',
'(2,f,2,2,2,2,2,,,,,2,0,0,)'
]::run_watch[]);
delete from screening;
insert into screening overriding system value select * from unnest(array[
'(1,1,1099511627777,3,1,1,new,screened,,-32768)',
'(1,2,1099511627778,4,1,1,new,screened,,-32768)',
'(1,3,1099511627779,5,1,1,new,screened,,-32768)',
'(1,4,1099511627780,6,2,1,new,screened,,-32768)',
'(1,5,1099511627781,7,2,1,new,screened,,-32768)',
'(1,6,1099511627782,8,2,1,new,screened,,-32768)',
'(2,3,1099511627779,,,1,overdue,remaining,,-20635)',
'(2,4,1099511627780,,,1,overdue,remaining,,-20635)',
'(2,5,1099511627781,,,1,overdue,remaining,,-20635)',
'(2,6,1099511627782,,,1,overdue,remaining,,-20635)',
'(2,1,1099511627777,3,3,1,overdue,screened,,-20635)',
'(2,2,1099511627778,4,3,1,overdue,screened,,-20635)'
]::screening[]);
delete from screening_request;
insert into screening_request overriding system value select * from unnest(array[
'(1099511627781,1,person,"Aroha Ngata")',
'(1099511627780,1,person,"Bertil Kvarnström")',
'(1099511627782,1,person,"Ciro Malvestuto")',
'(1099511627778,1,person,"Oktavian Prunescu")',
'(1099511627779,1,person,"Tamsin Oyelaran")',
'(1099511627777,1,person,"Wilhelmina Achterberg")',
'(1,1,person,"Canary Listed")',
'(2,1,person,"Zzyzx Qwfpg")'
]::screening_request[]);
delete from search_attempt;
insert into search_attempt overriding system value select * from unnest(array[
'(1,1,1,"2026-11-22 11:59:17.688+00","2026-11-22 11:59:17.735+00",201,ok,req_c14fdd39-5896-4a8e-80ef-043c5552506b)',
'(2,1,2,"2026-11-22 11:59:17.863+00","2026-11-22 11:59:17.91+00",201,ok,req_8d670880-b8d8-48a9-977f-a89c23371c43)',
'(3,1,1099511627777,"2026-11-22 11:59:18.487+00","2026-11-22 11:59:18.548+00",201,ok,req_1175321c-876f-4a62-a9c7-909f13a702d8)',
'(4,1,1099511627778,"2026-11-22 11:59:18.487+00","2026-11-22 11:59:18.589+00",201,ok,req_c198cfc2-441e-46e8-8e56-cb9dc34657cc)',
'(5,1,1099511627779,"2026-11-22 11:59:18.503+00","2026-11-22 11:59:18.621+00",201,ok,req_e3dd599b-89cb-4d30-b835-941a57b06ccc)',
'(6,1,1099511627780,"2026-11-22 11:59:18.504+00","2026-11-22 11:59:18.931+00",201,ok,req_ae8747f9-5edd-43bb-bc35-4e4338c0235b)',
'(7,1,1099511627781,"2026-11-22 11:59:18.504+00","2026-11-22 11:59:18.963+00",201,ok,req_47a1da3d-c16a-46ae-9a4d-a04a8044c217)',
'(8,1,1099511627782,"2026-11-22 11:59:18.505+00","2026-11-22 11:59:19.005+00",201,ok,req_2ad6694d-1575-4e81-9286-00751e96534f)',
'(9,1,1,"2026-11-22 11:59:19.315+00","2026-11-22 11:59:19.324+00",201,ok,req_99c61f25-3313-4d57-81ee-9c74c9043ef8)',
'(10,1,2,"2026-11-22 11:59:19.431+00","2026-11-22 11:59:19.454+00",201,ok,req_f56048bb-0fda-4f0b-a4d4-443ce61577ac)',
'(11,2,1,"2026-11-22 11:59:24.921+00","2026-11-22 11:59:24.958+00",201,ok,req_0dc9dc51-6798-49c3-ae95-7b56aa343a4e)',
'(12,2,2,"2026-11-22 11:59:25.077+00","2026-11-22 11:59:25.099+00",201,ok,req_0a9f4cef-5250-4d76-aaf8-755def45f050)',
'(13,2,1099511627777,"2026-11-22 11:59:25.258+00","2026-11-22 11:59:25.321+00",201,ok,req_8a7ba481-9c4f-4711-80cd-480a8c1add03)',
'(14,2,1099511627778,"2026-11-22 11:59:25.259+00","2026-11-22 11:59:25.328+00",201,ok,req_2fcaad96-1357-4f7d-b925-ecfb494ce148)',
'(15,2,1,"2026-11-22 11:59:25.55+00","2026-11-22 11:59:25.558+00",201,ok,req_314a0dd3-f3b0-4e50-9f31-226dfafecb1b)',
'(16,2,2,"2026-11-22 11:59:25.737+00","2026-11-22 11:59:25.773+00",201,ok,req_16c4dfac-3e5f-466b-b8b5-b95a999b2070)'
]::search_attempt[]);
delete from settings_record;
insert into settings_record overriding system value select * from unnest(array[
'(1,1,"{""guards"": {""people"": {}}, ""review"": {""fourEyes"": [], ""expiresAfterDays"": {}}, ""changes"": {""topics"": {""pep"": [""role.pep""], ""crime"": [""crime"", ""wanted""], ""other"": [""debarment"", ""role"", ""poi"", ""reg"", ""export"", ""corp"", ""fin"", ""gov"", ""asset"", ""mil"", ""invest""], ""sanction"": [""sanction""], ""associate"": [""role.rca""]}, ""scoreStep"": 0.02, ""severities"": {}, ""raisedTiers"": [""high""], ""birthDateLowers"": true}, ""service"": {""aml"": {}}, ""canaries"": [{""name"": ""Canary Listed"", ""type"": ""person"", ""expect"": ""match""}, {""name"": ""Zzyzx Qwfpg"", ""type"": ""person"", ""expect"": ""none""}], ""screening"": {""reuseMaxAge"": 0, ""cadenceHours"": 24, ""canariesEvery"": 10000, ""leaveAfterDays"": 7}}",2e3e2c4bcd3af5c61f1735be8210a751006391c4e3f4e15f51af98fa96f077ce,{},"first settings",t,"recorded by the first run","2026-11-20 11:59:11.509+00")'
]::settings_record[]);
delete from shown_item;
insert into shown_item overriding system value select * from unnest(array[
'(1,1,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-20T15:59:20.074+00:00"", ""owner"": null, ""party"": {""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-1""}, ""state"": ""open"", ""itemId"": 1, ""legacy"": null, ""listed"": {""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""openedAt"": ""2026-11-20T11:59:20.074+00:00"", ""priority"": 959, ""proposal"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""lastDecision"": null, ""reopenedBecause"": []}")',
'(2,2,"{""mode"": ""test"", ""rule"": ""sanction_hit_gained"", ""dueAt"": ""2026-11-20T15:59:20.074+00:00"", ""owner"": null, ""party"": {""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""riskTier"": null, ""birthDate"": null, ""countries"": [], ""reference"": ""C-2""}, ""state"": ""open"", ""itemId"": 2, ""legacy"": null, ""listed"": {""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}, ""openedAt"": ""2026-11-20T11:59:20.074+00:00"", ""priority"": 959, ""proposal"": null, ""severity"": ""critical"", ""lastSaidId"": null, ""lastDecision"": null, ""reopenedBecause"": []}")'
]::shown_item[]);
select setval('account_account_id_seq', 2);
select setval('change_event_change_id_seq', 2);
select setval('commit_batch_batch_id_seq', 3);
select setval('customer_customer_id_seq', 28);
select setval('customer_state_change_change_id_seq', 12);
select setval('match_detail_detail_id_seq', 2);
select setval('organisation_organisation_id_seq', 1);
select setval('party_party_id_seq', 100);
select setval('response_response_id_seq', 8);
select setval('review_event_event_id_seq', 2);
select setval('review_item_item_id_seq', 2);
select setval('review_sheet_sheet_id_seq', 1);
select setval('roster_import_import_id_seq', 2);
select setval('roster_roster_id_seq', 2);
select setval('run_run_id_seq', 2);
select setval('screening_request_block', 1099511627803);
select setval('screening_request_request_id_seq', 8);
select setval('search_attempt_attempt_id_seq', 16);
select setval('settings_record_settings_record_id_seq', 1);
select setval('shown_item_shown_id_seq', 2);
reset session_replication_role;
