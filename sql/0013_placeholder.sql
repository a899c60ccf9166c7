-- Taken by another part of the work.
select 1;
