import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as vocabulary from '../../../src/vocabulary.js';

const folder = new URL('../../../sql/', import.meta.url);
const schema = readdirSync(folder)
  .map((file) => readFileSync(new URL(file, folder), 'utf8').replaceAll(/--.*/g, ''))
  .join('\n');

const toCodes = (list = ''): readonly string[] => [...list.matchAll(/'(\w+)'/g)].map(([, code]) => code ?? '');

/** The codes that a column may have, by table and column. */
const checks: ReadonlyMap<string, readonly string[]> = new Map(
  [...schema.matchAll(/create (?:unlogged )?table (\w+) \(([\s\S]*?)\n\)/g)].flatMap(([, table, columns = '']) =>
    [...columns.matchAll(/\n {2}(\w+) text[^\n]*?check \(\1 in \(([^)]*)\)/g)].map(
      ([, column, list]): [string, readonly string[]] => [`${table}.${column}`, toCodes(list)],
    ),
  ),
);

it.each<[string, readonly string[]]>([
  ['run.mode', vocabulary.runModes],
  ['run.kind', vocabulary.runKinds],
  ['run.state', vocabulary.runStates],
  ['run.stage', vocabulary.runStages],
  ['run.selection', vocabulary.planSelections],
  ['run.halted_by', vocabulary.haltCodes],
  ['customer_version.risk_tier', vocabulary.riskTiers],
  ['screening_request.type', vocabulary.partyTypes],
  ['party_state.state', vocabulary.answerStates],
  ['single_search.verdict', vocabulary.answerStates],
  ['control_outcome.occasion', vocabulary.controlTriggers],
  ['change.kind', vocabulary.matchChangeKinds],
  ['change.severity', vocabulary.severities],
  ['change.cause', vocabulary.changeCauses],
  ['change.birth_date_agreement', vocabulary.agreements],
  ['change.country_agreement', vocabulary.agreements],
  ['change_alert.state', vocabulary.alertStates],
  ['alert.state', vocabulary.alertStates],
  ['alert.severity', vocabulary.severities],
  ['alert.absence', vocabulary.absences],
  ['alert.topic', vocabulary.worstTopics],
  ['incident.kind', vocabulary.incidentKinds],
  ['disposition.verdict', vocabulary.dispositionVerdicts],
  ['dossier_change.kind', vocabulary.dossierChangeKinds],
  ['discrepancy.severity', vocabulary.discrepancySeverities],
  ['discrepancy_event.kind', [...vocabulary.discrepancyEvents, 'proposed', 'accepted']],
])('the column %s takes the codes of its closed set and no others', (column, codes) => {
  expect(new Set(checks.get(column))).toEqual(new Set(codes));
});

it.each<[string, readonly string[]]>([
  ['states of a customer', vocabulary.customerStates],
  ['topics', vocabulary.worstTopics],
])('the schema orders %s as their closed set does', (_, codes) => {
  const arrays = [...schema.matchAll(/array\[([^\]]*)\]/g)].map(([, list]) => toCodes(list));
  const alike = arrays.filter((array) => array.length === codes.length && array.every((code) => codes.includes(code)));
  expect(alike.length).toBeGreaterThan(0);
  for (const array of alike) expect(array).toEqual(codes);
});
