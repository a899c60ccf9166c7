-- By the superuser, when the server begins: the login of Nightscreen owns its database and has no other right.
create role nightscreen login password 'nightscreen';
create database nightscreen owner nightscreen;
