/** The rights that docs/review.md tells an operator to give to reviewers, for these roles. */
export const toReviewerGrants = (...roles: readonly string[]): string => `
  grant select on all tables in schema public to ${roles.join(', ')};
  grant insert on disposition, review_sheet, legacy_decision, review_event, review_delegation to ${roles.join(', ')};
  grant update (assigned_to) on review_item to ${roles.join(', ')};
  grant update (reported_scores) on party_state to ${roles.join(', ')};`;
