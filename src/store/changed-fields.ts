/** In an order of their own: who has only changed places has not changed. */
const rolesSql = (record: string, roles: string): string =>
  `(select jsonb_agg(party order by party) from jsonb_path_query(${record}, '$.parties[*] ? (${roles})') as party)`;

const aliases = '@.role == "alias"';
const conflicting = '@.role == "conflicting_row"';
/** SQL: the condition of a JSON path that a party of a record is from a source of related parties. */
export const relatedPath = '@.role != "customer" && @.role != "alias" && @.role != "conflicting_row"';

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
    ['related_parties', (record) => rolesSql(record, relatedPath)],
    ['conflicting_rows', (record) => rolesSql(record, conflicting)],
    ['standing', (record) => `${record} -> 'isActive'`],
    ['end_date', (record) => `${record} -> 'endDate'`],
    ['attributes', (record) => `${record} -> 'attributes'`],
  ];
  const cases = parts.map(([field, of]) => `case when ${of(before)} is distinct from ${of(after)} then '${field}' end`);
  return `array_remove(array[${cases.join(', ')}], null)`;
}
