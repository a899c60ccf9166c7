-- What Nightscreen 0.1.0 left in a database; its schema is that of the first 5 files of sql/, without rows.
-- roster: "customer_id,type,name\nC-1,person,Wilhelmina Achterberg\nC-2,person,Oktavian Prunescu\nC-3,person,Tamsin Oyelaran\nC-4,person,Bertil Kvarnström\nC-5,person,Aroha Ngata\nC-6,person,Ciro Malvestuto\n"
set session_replication_role = replica;
delete from account;
insert into account overriding system value select * from unnest(array[
'(1,1,PUBLIC_KEY,t,SERVICE_URL,"2026-11-20 11:57:27.073+00")'
]::account[]);
delete from canary_outcome;
insert into canary_outcome overriding system value select * from unnest(array[
'(1,0,person,"Canary Listed",match,passed,,1)',
'(1,1,person,"Zzyzx Qwfpg",none,passed,,2)',
'(2,0,person,"Canary Listed",match,passed,,1)',
'(2,1,person,"Zzyzx Qwfpg",none,passed,,2)'
]::canary_outcome[]);
delete from change_event;
insert into change_event overriding system value select * from unnest(array[
'(1,1,2,2,1,match_added,critical,sanction_hit_gained,service_data,t,amla_two,{},,"{""id"": ""amla_two"", ""name"": ""Oktavian Prunescu"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}")',
'(2,1,3,6,1,match_added,critical,sanction_hit_gained,service_data,t,amla_one,{},,"{""id"": ""amla_one"", ""name"": ""Wilhelmina Achterberg"", ""rank"": 1, ""isHit"": true, ""score"": 1, ""schema"": ""Person"", ""topics"": [""sanction""], ""countries"": [""fr""], ""birthDates"": [""1960-01-01""]}")'
]::change_event[]);
delete from commit_batch;
insert into commit_batch overriding system value select * from unnest(array[
'(1,1,1,1,1,"2026-11-20 11:57:30.897+00")',
'(2,1,1,2,2,"2026-11-20 11:57:31.677+00")',
'(3,1,1,3,3,"2026-11-20 11:57:32.187+00")',
'(4,2,2,1,2,"2026-11-22 11:57:33.88+00")'
]::commit_batch[]);
delete from customer;
insert into customer overriding system value select * from unnest(array[
'(1,1,C-1,1,c3a82f664ed349f033407299d890eb677bac29145f8f4d3c7d6e462ede4504d4,1,2,)',
'(2,1,C-2,1,5d5fa6dd98d9253b0342429cd1d603e52e56b8157fa7eefbdaf83aa9ca6736ae,1,2,)',
'(3,1,C-3,1,da0cf03e7c92cafe53468d8ccef880ec2e5c0f11382dd73c079986af3ca2ed89,1,2,)',
'(4,1,C-4,1,37c6f444daed48495c1aac3435fb4427f14edd0e21c7776e89a60d01207d3267,1,2,)',
'(5,1,C-5,1,4bbb87210e7032564bc1db33b15f316fead277c73978029346181d84c8d93f69,1,2,)',
'(6,1,C-6,1,0cffecd398f35b8d56d490c148b308e50256fa226896929bcc5b44a12e371288,1,2,)'
]::customer[]);
delete from customer_version;
insert into customer_version overriding system value select * from unnest(array[
'(1,1,1,,"{""parties"": [{""name"": ""Wilhelmina Achterberg"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Wilhelmina Achterberg"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")',
'(2,1,1,,"{""parties"": [{""name"": ""Oktavian Prunescu"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Oktavian Prunescu"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")',
'(3,1,1,,"{""parties"": [{""name"": ""Tamsin Oyelaran"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Tamsin Oyelaran"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")',
'(4,1,1,,"{""parties"": [{""name"": ""Bertil Kvarnström"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Bertil Kvarnström"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")',
'(5,1,1,,"{""parties"": [{""name"": ""Aroha Ngata"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Aroha Ngata"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")',
'(6,1,1,,"{""parties"": [{""name"": ""Ciro Malvestuto"", ""role"": ""customer"", ""type"": ""person"", ""sentName"": ""Ciro Malvestuto"", ""birthDate"": null, ""countries"": []}], ""riskTier"": null}")'
]::customer_version[]);
delete from lease;
insert into lease overriding system value select * from unnest(array[
'(screening/default/people,2,test-5075,"2026-11-22 11:57:32.977+00","2026-11-22 11:57:32.977+00","2026-11-22 11:57:32.977+00")'
]::lease[]);
delete from match;
insert into match overriding system value select * from unnest(array[
'(1,1,amla_c,"Canary Listed",Person,t,1,{sanction},{1960-01-01},{fr})',
'(4,1,amla_two,"Oktavian Prunescu",Person,t,1,{sanction},{1960-01-01},{fr})',
'(8,1,amla_one,"Wilhelmina Achterberg",Person,t,1,{sanction},{1960-01-01},{fr})'
]::match[]);
delete from organisation;
insert into organisation overriding system value select * from unnest(array[
'(1,default,"\\xaabeece6593dce2b804331a13427267e92a59cd46be95cb86e8b574b9ad6a1fb","2026-11-20 11:57:26.457+00")'
]::organisation[]);
delete from party;
insert into party overriding system value select * from unnest(array[
'(1,4,0,1,t)',
'(2,2,0,2,t)',
'(3,5,0,3,t)',
'(4,6,0,4,t)',
'(5,3,0,5,t)',
'(6,1,0,6,t)'
]::party[]);
delete from party_state;
insert into party_state overriding system value select * from unnest(array[
'(1,3,1,3,5,1,settings-of-the-test,"2026-11-20 11:57:31.677+00",clear,,)',
'(1,4,1,4,6,1,settings-of-the-test,"2026-11-20 11:57:32.187+00",clear,,)',
'(1,5,1,5,7,1,settings-of-the-test,"2026-11-20 11:57:32.187+00",clear,,)',
'(1,6,1,6,8,1,settings-of-the-test,"2026-11-20 11:57:32.187+00",open_hit,,)',
'(1,1,2,1,3,1,settings-of-the-test,"2026-11-22 11:57:33.88+00",clear,,)',
'(1,2,2,2,4,1,settings-of-the-test,"2026-11-22 11:57:33.88+00",open_hit,,)'
]::party_state[]);
delete from report;
insert into report overriding system value select * from unnest(array[
'(1,1,{},{},"2026-11-20 11:57:32.594+00",c70ee63eecf4a8bad70d52ae3f6398fc63ebfb53cb9921f6794de96c93c99d44,)',
'(2,1,{},{},"2026-11-22 11:57:34.197+00",05f01a4f8fae0193a00621bf4b4ac6834128d2beb27fd6b560e177f3fd53b100,)'
]::report[]);
delete from response;
insert into response overriding system value select * from unnest(array[
'(1,1,"\\x9362810a11397e64bc75e5e0c3506a9a66dacbe1c7fad17a143970bc94cae01a","{""query"":""Canary Listed"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_c"",""name"":""Canary Listed"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:57:29.954+00")',
'(2,1,"\\x361a13861f5888f21aa426cf98081b030178ecef0ec27f4c3b5230e66cc120c3","{""query"":""Zzyzx Qwfpg"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:57:30.296+00")',
'(3,1,"\\x5b8b701369a80094f5a99955b414967a6e33929848e2edd52c4470394665426b","{""query"":""Bertil Kvarnström"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:57:30.897+00")',
'(4,1,"\\x6786e8be2ad46c2b8043641313811140c10d3489f20cb2ee9566ea718cfe635b","{""query"":""Oktavian Prunescu"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_two"",""name"":""Oktavian Prunescu"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:57:31.677+00")',
'(5,1,"\\xb64abb9e20873ceceead9bdba6a08d538b1f0d6c724107286e344e557b895883","{""query"":""Aroha Ngata"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:57:31.677+00")',
'(6,1,"\\x3d7ad49701dbda202ae605d5ec41a03bb11eb3dd7f7191562971acc42f46e9d4","{""query"":""Ciro Malvestuto"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:57:32.187+00")',
'(7,1,"\\x57f2a3b4a1f786b8db7887fe44da176846b6f9d4e5ff8e0793d019c0fed611a3","{""query"":""Tamsin Oyelaran"",""type"":""person"",""total"":0,""results"":[]}",0,f,"2026-11-20 11:57:32.187+00")',
'(8,1,"\\xa1ed0e19673952814077090ffb7762546e5bb20bc5e6b8b9b187d2c670dcd6c4","{""query"":""Wilhelmina Achterberg"",""type"":""person"",""total"":1,""results"":[{""id"":""amla_one"",""name"":""Wilhelmina Achterberg"",""schema"":""Person"",""match"":true,""score"":1,""topics"":[""sanction""],""birth_date"":[""1960-01-01""],""country"":[""fr""]}]}",1,f,"2026-11-20 11:57:32.187+00")'
]::response[]);
delete from roster;
insert into roster overriding system value select * from unnest(array[
'(1,1,people,"2026-11-20 11:57:26.538+00")'
]::roster[]);
delete from roster_import;
insert into roster_import overriding system value select * from unnest(array[
'(1,1,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-20 11:57:27.885+00",6,6,0,0,0)',
'(2,2,1,ROSTER_FILE,837fc3109c784439c2f366ad51361fbaf39e794536908937d6a5bfc3df8fc71f,"2026-11-22 11:57:33.196+00",6,6,0,0,0)'
]::roster_import[]);
delete from run;
insert into run overriding system value select * from unnest(array[
'(1,1,1,1,test,rescreen,complete,{},finished,due,6,screening/default/people,1,test-5075,0,settings-of-the-test,ada3d28a13b4,0.0.0-test,,"2026-11-20 11:57:27.19+00","2026-11-20 11:57:32.537+00","{""counts"": {""hits"": 2, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 2, ""planned"": 6, ""skipped"": 0, ""attempts"": 8, ""rejected"": 0, ""screened"": 6, ""searches"": 6, ""customers"": 6, ""remaining"": 0, ""duplicates"": 0}, ""states"": {""clear"": 4, ""open_hit"": 2, ""confirmed"": 0, ""not_screened"": 0, ""below_threshold"": 0, ""incompletely_seen"": 0, ""settled_false_positive"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 2}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 8}, ""possiblyBilledTwice"": 0}")',
'(2,1,1,1,test,rescreen,stopped,"{""the limit of 2 searches for this run is reached; 4 customers remain and the run can be resumed""}",planned,due,6,screening/default/people,2,test-5075,0,settings-of-the-test,ada3d28a13b4,0.0.0-test,1,"2026-11-22 11:57:33.055+00","2026-11-22 11:57:34.083+00","{""counts"": {""hits"": 1, ""rows"": 6, ""failed"": 0, ""reused"": 0, ""changes"": 0, ""inScope"": 6, ""matches"": 1, ""planned"": 6, ""skipped"": 0, ""attempts"": 4, ""rejected"": 0, ""screened"": 2, ""searches"": 2, ""customers"": 6, ""remaining"": 4, ""duplicates"": 0}, ""states"": {""clear"": 1, ""open_hit"": 1, ""confirmed"": 0, ""not_screened"": 4, ""below_threshold"": 0, ""incompletely_seen"": 0, ""settled_false_positive"": 0}, ""baseline"": {""low"": 0, ""high"": 0, ""info"": 0, ""medium"": 0, ""critical"": 0}, ""failedBecause"": {}, ""skippedBecause"": {}, ""attemptsByOutcome"": {""ok"": 4}, ""possiblyBilledTwice"": 0}")'
]::run[]);
delete from screening;
insert into screening overriding system value select * from unnest(array[
'(1,1,1,3,1,1,new,screened,)',
'(1,2,2,4,2,1,new,screened,)',
'(1,3,3,5,2,1,new,screened,)',
'(1,4,4,6,3,1,new,screened,)',
'(1,5,5,7,3,1,new,screened,)',
'(1,6,6,8,3,1,new,screened,)',
'(2,3,3,,,1,due,remaining,)',
'(2,4,4,,,1,due,remaining,)',
'(2,5,5,,,1,due,remaining,)',
'(2,6,6,,,1,due,remaining,)',
'(2,1,1,3,4,1,due,screened,)',
'(2,2,2,4,4,1,due,screened,)'
]::screening[]);
delete from screening_request;
insert into screening_request overriding system value select * from unnest(array[
'(1,1,person,"Bertil Kvarnström")',
'(2,1,person,"Oktavian Prunescu")',
'(3,1,person,"Aroha Ngata")',
'(4,1,person,"Ciro Malvestuto")',
'(5,1,person,"Tamsin Oyelaran")',
'(6,1,person,"Wilhelmina Achterberg")',
'(7,1,person,"Canary Listed")',
'(8,1,person,"Zzyzx Qwfpg")'
]::screening_request[]);
delete from search_attempt;
insert into search_attempt overriding system value select * from unnest(array[
'(1,1,7,"2026-11-22 11:57:29.788+00","2026-11-22 11:57:29.918+00",201,ok,req_b61fc3ef-edc3-475d-889f-325586258882)',
'(2,1,8,"2026-11-22 11:57:30.228+00","2026-11-22 11:57:30.288+00",201,ok,req_b2299b6b-7464-42cd-8d00-97dff7df4bd1)',
'(3,1,1,"2026-11-22 11:57:30.55+00","2026-11-22 11:57:30.678+00",201,ok,req_5469375f-147b-411e-b29a-8d9fb7c06ad4)',
'(4,1,2,"2026-11-22 11:57:30.551+00","2026-11-22 11:57:31.553+00",201,ok,req_109a5ec2-59f3-400f-a9af-65f1b085fee8)',
'(5,1,3,"2026-11-22 11:57:30.569+00","2026-11-22 11:57:31.611+00",201,ok,req_253abc43-2088-4df9-ac7e-dcfe08929a55)',
'(6,1,4,"2026-11-22 11:57:30.57+00","2026-11-22 11:57:32.12+00",201,ok,req_3eefe3c6-60b3-4c83-aaa4-ce8cd0730652)',
'(7,1,5,"2026-11-22 11:57:30.571+00","2026-11-22 11:57:32.129+00",201,ok,req_5fe8be8b-5b4f-4211-b923-ac7150a2a420)',
'(8,1,6,"2026-11-22 11:57:30.572+00","2026-11-22 11:57:32.185+00",201,ok,req_3104a41d-ecbd-4b19-b695-b3bf7a797aa3)',
'(9,2,7,"2026-11-22 11:57:33.507+00","2026-11-22 11:57:33.528+00",201,ok,req_3c263b7c-768a-4aeb-b8fc-49becf326a72)',
'(10,2,8,"2026-11-22 11:57:33.633+00","2026-11-22 11:57:33.706+00",201,ok,req_f0994dab-b81a-47a9-b1b9-e1e06541c12a)',
'(11,2,1,"2026-11-22 11:57:33.862+00","2026-11-22 11:57:33.875+00",201,ok,req_761e4715-41a8-4116-a84a-60370f8cd4d0)',
'(12,2,2,"2026-11-22 11:57:33.862+00","2026-11-22 11:57:33.878+00",201,ok,req_711b4813-018f-48ff-ab30-3e00ba0ce824)'
]::search_attempt[]);
select setval('account_account_id_seq', 2);
select setval('change_event_change_id_seq', 2);
select setval('commit_batch_batch_id_seq', 4);
select setval('customer_customer_id_seq', 12);
select setval('organisation_organisation_id_seq', 2);
select setval('party_party_id_seq', 6);
select setval('response_response_id_seq', 12);
select setval('roster_import_import_id_seq', 2);
select setval('roster_roster_id_seq', 2);
select setval('run_run_id_seq', 2);
select setval('screening_request_request_id_seq', 16);
select setval('search_attempt_attempt_id_seq', 12);
reset session_replication_role;
