import { createHash } from 'node:crypto';
import { RosterError } from '../../errors.js';
import type { Customer, RosterRow } from '../../roster/customer.js';
import { readRoster } from '../../roster/read-roster.js';
import { toScreeningRequest } from '../../roster/screening-request.js';
import type { RosterSettings } from '../../roster/settings.js';
import { countStaged, type ImportCounts, mergeStaged } from '../../store/merge-roster.js';
import { clearStaging, type StagedRecord, type StagedRow, stageRows } from '../../store/roster-staging.js';
import { setRunStage } from '../../store/runs.js';
import type { RunSession } from '../session/run-session.js';

/**
 * Stage: reads the roster, stages its rows in chunks, and turns them into the snapshot in one transaction, so that a broken-off
 * import leaves the old snapshot whole. Throws RosterError, with nothing changed, when no row is acceptable.
 */
export async function importRoster(
  session: RunSession,
  roster: RosterSettings,
  rosterId: number,
): Promise<ImportCounts> {
  const { workplace, runId, run } = session;
  workplace.tell({ kind: 'stage_started', runId, stage: 'import' });
  const reading = await readRoster(roster, workplace.secret);
  try {
    await session.write((transaction) => clearStaging(transaction, run.runId));
    let ordinal = 0;
    for await (const rows of reading.rows) {
      session.signal.throwIfAborted();
      const staged = rows.map((row, index) => toStagedRow(row, ordinal + index + 1));
      await session.write((transaction) => stageRows(transaction, run.runId, staged));
      ordinal += rows.length;
      workplace.tell({ kind: 'progress', runId, stage: 'import', done: ordinal, total: null });
    }
    const origin = {
      runId: run.runId,
      rosterId,
      organisationId: session.organisation.organisationId,
      source: reading.source,
      sourceDigest: reading.digest(),
      importedAt: workplace.clock.now(),
    };
    const counts = await session.write(async (transaction) => {
      const staged = await countStaged(transaction, run.runId);
      if (staged.customers === 0) throw refuseEmpty(reading.source, staged.rows, staged.rejected);
      const merged = await mergeStaged(transaction, origin, staged);
      await setRunStage(transaction, run.runId, 'imported');
      return merged;
    });
    const { importId: _, ...told } = counts;
    workplace.tell({ kind: 'stage_finished', runId, stage: 'import', counts: told });
    return counts;
  } finally {
    await reading.close();
  }
}

function refuseEmpty(source: string, rows: number, rejected: number): RosterError {
  return new RosterError(
    'roster_without_customers',
    `${source}: none of its ${rows} rows is acceptable (${rejected} rejected), so the roster stays as it was. ` +
      'Check the column mapping and the file.',
  );
}

function toStagedRow(row: RosterRow, ordinal: number): StagedRow {
  if (row.kind === 'rejected') {
    const { line, reference, reason, column, fields } = row.rejected;
    return { kind: 'rejected', ordinal, line, reference, reason, column, fields };
  }
  const record = toRecord(row.customer);
  const recordDigest = createHash('sha256').update(JSON.stringify(record)).digest('hex');
  return {
    kind: 'customer',
    ordinal,
    line: row.line,
    reference: row.customer.reference,
    record,
    recordDigest,
    fields: null,
  };
}

function toRecord(customer: Customer): StagedRecord {
  return {
    riskTier: customer.riskTier,
    parties: customer.parties.map((party) => ({
      role: party.role,
      type: party.type,
      name: party.name,
      birthDate: party.birthDate,
      countries: party.countries.toSorted(),
      sentName: toScreeningRequest(party).name,
    })),
  };
}
