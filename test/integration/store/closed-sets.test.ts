import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import * as vocabulary from '../../../src/vocabulary.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

/** The closed sets of the vocabulary by the column or the domain that takes their codes. */
const sets: Readonly<Record<string, readonly string[]>> = {
  'run.mode': vocabulary.runModes,
  'run.kind': vocabulary.runKinds,
  'run.state': vocabulary.runStates,
  'run.stage': vocabulary.runStages,
  'run.selection': vocabulary.planSelections,
  'run.halted_by': vocabulary.haltCodes,
  'chunk.halted_by': vocabulary.haltCodes,
  'customer_version.risk_tier': vocabulary.riskTiers,
  'screening_request.type': vocabulary.partyTypes,
  'planned.reason': [...vocabulary.planReasons, 'not_due'],
  answer_state: vocabulary.answerStates,
  'control_outcome.occasion': vocabulary.controlTriggers,
  'change.kind': vocabulary.matchChangeKinds,
  severity: vocabulary.severities,
  'change.cause': vocabulary.changeCauses,
  'change.adjustments': vocabulary.severityAdjustments,
  agreement: vocabulary.agreements,
  'evidence_pack.ending': vocabulary.packEndings,
  'packed.kind': vocabulary.packedKinds,
  'evidence_key.kind': vocabulary.evidenceKeyKinds,
  alert_state: vocabulary.alertStates,
  'alert.absence': vocabulary.absences,
  'alert.topic': vocabulary.worstTopics,
  'incident.kind': vocabulary.incidentKinds,
  'disposition.verdict': vocabulary.dispositionVerdicts,
  'dossier_change.kind': vocabulary.dossierChangeKinds,
  'discrepancy.severity': vocabulary.discrepancySeverities,
  'discrepancy_event.kind': [...vocabulary.discrepancyEvents, 'proposed', 'accepted'],
};

/** Columns whose codes no folder but the store uses. */
const ofStoreOnly =
  `acceptance.gap acceptance.kind alert_event.kind call.outcome chunk.state control_outcome.expect control_outcome.verdict
  customer.left_because customer_state.reason discrepancy.state disposition.kind dossier_record.kind invitation.channel invitation.state job_run.state
  match_detail.kind outbox.kind outbox.state roster_staging.leaves roster_standing.kind roster_step.kind run.unconfirmed_because
  run_hold.kind unaccepted_customer.reason`.split(/\s+/);

const toCodes = (list: string): readonly string[] => [...list.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);

describeOnEachDatabase('the schema', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, 120_000);

  it('takes in each column the codes of its closed set and no others', async () => {
    const checks = await readColumn(
      database,
      z.string(),
      `select case when contypid <> 0 then contypid::regtype::text else conrelid::regclass::text end || ' ' || pg_get_constraintdef(oid)
       from pg_constraint
       where contype = 'c' and connamespace = 'public'::regnamespace and not coalesce(
         (select relispartition from pg_class where pg_class.oid = conrelid), false
       )
       order by 1`,
    );
    const found = checks.flatMap((check): [string, readonly string[]][] => {
      const [, owner, column, codes] =
        /^(\w+) CHECK \(\(\(?(\w+)(?:\)::text)? (?:= ANY|<@) \(?ARRAY\[([^\]]*)\]\)?\)\)$/.exec(check) ?? [];
      if (owner === undefined || codes === undefined) return [];
      return [[column === 'VALUE' ? owner : `${owner}.${column}`, toCodes(codes).toSorted()]];
    });
    const compared = Object.fromEntries(found.filter(([name]) => !ofStoreOnly.includes(name)));
    expect(compared).toEqual(Object.fromEntries(Object.entries(sets).map(([name, codes]) => [name, codes.toSorted()])));
    expect(found.map(([name]) => name)).toEqual(expect.arrayContaining(ofStoreOnly));
    // The severities that settings may name for four eyes.
    const ofSettings = checks.find((check) => check.startsWith('accepted_settings '));
    expect(ofSettings).toContain(`'["${vocabulary.severities.join('", "')}"]'`);
  });

  it('orders the codes of a set as the vocabulary does', async () => {
    const definitions = await readColumn(
      database,
      z.string(),
      `select pg_get_viewdef(oid) from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace
       union all
       select prosrc from pg_proc where pronamespace = 'public'::regnamespace`,
    );
    const arrays = definitions.flatMap((text) =>
      [...text.matchAll(/array\[([^\]]*)\]/gi)].map(([, list = '']) => toCodes(list)),
    );
    for (const codes of [vocabulary.customerStates, vocabulary.worstTopics, vocabulary.severities]) {
      const alike = arrays.filter(
        (array) => array.length === codes.length && array.every((code) => codes.some((each) => each === code)),
      );
      for (const array of alike) expect(array).toEqual(codes);
    }
    expect(arrays).toContainEqual([...vocabulary.customerStates]);
    expect(arrays).toContainEqual([...vocabulary.worstTopics]);
  });
});
