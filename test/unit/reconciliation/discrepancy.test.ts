import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  findImbalances,
  findJoinProblem,
  type ReconciliationSums,
  reconciliationSettingsSchema,
  toSeverities,
} from '../../../src/reconciliation/discrepancy.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { discrepancyKinds } from '../../../src/vocabulary.js';

const sums = (changes: Partial<ReconciliationSums> = {}): ReconciliationSums => ({
  customers: 100,
  withDossier: 90,
  withoutDossier: 6,
  notExpected: 2,
  ambiguousCustomers: 2,
  dossiers: 120,
  withCustomer: 95,
  withoutCustomer: 4,
  ambiguousDossiers: 1,
  ofOtherRosters: 20,
  notCompared: 90,
  ...changes,
});

it('customers and dossiers each have exactly one place', () => {
  expect(findImbalances(sums())).toEqual([]);
  expect(findImbalances(sums({ withDossier: 89 }))).toEqual([
    '100 customers were compared with dossiers, and 99 have a place',
  ]);
  expect(findImbalances(sums({ ofOtherRosters: 21 }))).toEqual([
    '120 dossiers were compared with customers, and 121 have a place',
  ]);
});

it('a way of joining that gives nobody or everybody a dossier cannot be right', () => {
  const few = { customers: 2, dossiers: 3 };
  const none = { withDossier: 0, withoutDossier: 98, ambiguousCustomers: 0, withCustomer: 0, withoutCustomer: 120 };
  expect(findJoinProblem(sums(), few)).toBeNull();
  expect(findJoinProblem(sums(none), few)).toBe('it joins none of 100 customers with any of 120 dossiers');
  expect(findJoinProblem(sums({ ...none, dossiers: 4 }), few)).toBeNull();
  expect(findJoinProblem(sums({ ...none, notExpected: 98 }), few)).toBeNull();
  expect(findJoinProblem(sums(), { customers: 51, dossiers: 1 })).toBe(
    'it gives 51 of 100 customers the same reference',
  );
  expect(findJoinProblem(sums(), { customers: 1, dossiers: 61 })).toBe('it gives 61 of 120 dossiers to one customer');
});

it('severities are configurable but for those that are never less', () => {
  expect(toSeverities({ severity: { stale_dossier: 'low' } })).toMatchObject({
    stale_dossier: 'low',
    approved_with_true_match: 'critical',
    name_conflict: 'high',
  });
  expect(reconciliationSettingsSchema.safeParse({ severity: { name_conflict: 'low' } }).success).toBe(false);
  expect(reconciliationSettingsSchema.safeParse({ severity: { stale_dossier: 'critical' } }).success).toBe(false);
});

const roster = (dossiers: object, columns: object = {}) =>
  rosterSettingsSchema.safeParse({ name: 'retail', csv: { path: 'a.csv' }, columns, dossiers });

it.each([
  ['^KYC-(.+)$', null],
  ['^(?:KYC|KYB)-(\\d+)$', null],
  ['^KYC-.+$', /holds 0 groups/],
  ['^(KYC)-(.+)$', /holds 2 groups/],
  ['^KYC-(.+$', /is no regular expression/],
  ['(?<id>.+)', /the database reads differently/],
  ['\\b(.+)', /the database reads differently/],
  ['^(.+?)-x', /the database reads differently/],
])('the pattern %s of a reference is judged before anything is read', (pattern, problem) => {
  const { error } = roster({ reference: { pattern } });
  if (problem === null) expect(error).toBeUndefined();
  else expect(JSON.stringify(error?.issues)).toMatch(problem);
});

it('columns that a link reads have to be kept', () => {
  expect(roster({ customerColumn: 'kyc_ref' }, { attributes: 'all' }).success).toBe(true);
  expect(roster({ customerColumn: 'kyc_ref' }, { attributes: ['kyc_ref'] }).success).toBe(true);
  expect(roster({ expect: { where: { segment: 'retail' } } }).error?.issues[0]?.message).toBe(
    'reads segment, which columns.attributes of the roster does not keep',
  );
});

it('the documentation names every kind with its severity', async () => {
  const text = await readFile(new URL('../../../docs/reconciliation.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const reported = rows.flatMap((row) => {
    const [, codes = '', severity = ''] = row.split('|');
    return [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${code} ${severity.trim()}`);
  });
  expect(reported).toEqual(
    expect.arrayContaining(Object.entries(toSeverities({ severity: {} })).map((one) => one.join(' '))),
  );
  expect(reported).toHaveLength(discrepancyKinds.length);
});
