-- Nothing is settled, confirmed or proposed without the decision that says so; where one was lost, somebody has to look again.
update review_item set state = 'open' where state in ('proposed', 'settled', 'confirmed') and disposition_id is null;
update party_state set reviewed_state = null
from review_item item
where item.party_id = party_state.party_id and item.account_id = party_state.account_id and item.state in ('open', 'proposed')
  and party_state.reviewed_state in ('settled_false_positive', 'incompletely_seen');

alter table review_item
  add constraint review_item_decided check (disposition_id is not null or state in ('open', 'gone'));
