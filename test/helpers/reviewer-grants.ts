import { readFileSync } from 'node:fs';

/** The rights that docs/review.md tells an operator to give to reviewers, for these roles. */
export const toReviewerGrants = (...roles: readonly string[]): string => {
  const grants = readFileSync('docs/review.md', 'utf8').match(/^grant .* to nightscreen_reviewer;$/gm) ?? [];
  return grants.join('\n').replaceAll(/nightscreen_reviewer;$/gm, `${roles.join(', ')};`);
};
