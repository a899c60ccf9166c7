-- Beside which record of the customer the answer before was given: a report of a change by the customer's own record shows both records.
-- Null where it is the same record, for first screenings, and for changes from before this was noted.
alter table change_event add column former_customer_version integer;
alter table taken_back_change add column former_customer_version integer;
