/** In an order of their own: who has only changed places has not changed, nor who is only written in another way. */
const rolesSql = (record: string, roles: string): string =>
  `(select jsonb_agg(party - 'said' order by party - 'said') from jsonb_path_query(${record}, '$.parties[*] ? (${roles})') as party)`;

const aliases = '@.role == "alias"';
const conflicting = '@.role == "conflicting_row"';
const related = '@.role == "joint_holder" || @.role == "director" || @.role == "beneficial_owner"';

/** SQL for the parts of a customer's record that are not as they were, from two records as jsonb. */
export function changedFieldsSql(before: string, after: string): string {
  const own = (key: string) => (record: string) => `${record} #> '{parties,0,${key}}'`;
  const parts: readonly (readonly [string, (record: string) => string])[] = [
    // What is sent may change by itself, where a newer version normalises names in another way.
    ['name', (record) => `jsonb_build_array(${own('name')(record)}, ${own('sentName')(record)})`],
    ['type', own('type')],
    ['birth_date', own('birthDate')],
    ['countries', own('countries')],
    ['risk_tier', (record) => `${record} -> 'riskTier'`],
    ['aliases', (record) => rolesSql(record, aliases)],
    ['related_parties', (record) => rolesSql(record, related)],
    ['conflicting_rows', (record) => rolesSql(record, conflicting)],
    ['standing', (record) => `${record} -> 'isActive'`],
    ['end_date', (record) => `${record} -> 'endDate'`],
    ['attributes', (record) => `${record} -> 'attributes'`],
    ['doubts', (record) => `${record} -> 'doubts'`],
  ];
  const cases = parts.map(([field, of]) => `case when ${of(before)} is distinct from ${of(after)} then '${field}' end`);
  return `array_remove(array[${cases.join(', ')}], null)`;
}
