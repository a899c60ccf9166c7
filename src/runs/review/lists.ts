import { createHmac } from 'node:crypto';
import { gatherBy } from '../../gather-by.js';
import { toAlertCode } from '../../matches/alert-code.js';
import { type DiscrepancyList, isNew, type WaitingAlert } from '../../reports/run-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { readReviewOrganisation } from '../../store/organisations.js';
import { readDecidableAlerts } from '../../store/review/decisions.js';
import { countByAccount, findPlainlyAbsent, openReviewSheet, saveBulk } from '../../store/review/waiting.js';
import type { AppContext } from '../app-context.js';
import { listDiscrepancies, toBulkSeenVersion, toWaitingAlert } from './alerts.js';
import { requireKnown } from './people.js';

/** A working list with its alerts and discrepancies. */
export type WorkingList = Awaited<ReturnType<typeof exportAlerts>>;

/** Which alerts a working list contains, and who exports it. */
interface WorkingListRequest {
  roster: string | null;
  exportedBy: string;
  /** Only alerts that are assigned to this person. */
  assignee?: string | null;
  /** Only proposals that wait for a second person. */
  onlyProposals?: boolean;
  /** Only alerts that the last screening, or a run after it, opened or made more severe. */
  onlyNew?: boolean;
  /** Also the discrepancies beyond the limit of one sheet. */
  allDiscrepancies?: boolean;
  /** Without the proposals of this person, which others must confirm. */
  notProposedBy?: string | null;
}

/** Lists what waits for reviewers, each alert with the code by which its decision is read back. Throws ConfigError for an unknown name. */
export async function exportAlerts(
  { database, settings, clock }: AppContext,
  {
    roster,
    exportedBy,
    assignee = null,
    onlyProposals = false,
    onlyNew = false,
    notProposedBy = null,
    allDiscrepancies = false,
  }: WorkingListRequest,
) {
  const now = clock.now();
  const { organisationId, name, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  await requireKnown(database, organisationId, { roster, person: { name: assignee, flag: '--assignee' } });
  const sheet = await openReviewSheet(database, { organisationId, roster, assignee, exportedBy, now });
  const { sheetId } = sheet;
  const isChosenBy = (proposer: string | null): boolean =>
    proposer === null ? !onlyProposals : proposer !== notProposedBy;
  const alerts = sheet.waiting
    .filter(({ proposal }) => isChosenBy(proposal?.reviewer ?? null))
    .filter((alert) => !onlyNew || isNew(alert))
    .toSorted((left, right) => Number(isNew(right)) - Number(isNew(left)))
    .map((alert) => ({ alertId: alert.alertId, shown: toWaitingAlert(alert, { sheetId, reviewKey }) }));
  const bulk = await listBulkRows(database, alerts, { organisationId, sheetId, reviewKey });
  const isEveryone = !onlyProposals && notProposedBy === null;
  let discrepancies: DiscrepancyList = { count: 0, listed: [] };
  // Discrepancies are not assigned.
  if (assignee === null) {
    const limit = isEveryone && !allDiscrepancies ? undefined : null;
    discrepancies = (await listDiscrepancies(database, name, { roster }, limit)) ?? discrepancies;
  }
  if (!isEveryone) {
    const listed = discrepancies.listed.filter(({ acceptance }) =>
      isChosenBy(acceptance?.isFinal === false ? acceptance.reviewer : null),
    );
    discrepancies = { count: listed.length, listed };
  }
  const accounts = await countByAccount(
    database,
    alerts.map(({ alertId }) => alertId),
  );
  return {
    accounts,
    sheetId,
    exportedAt: now,
    timezone: settings.timezone,
    alerts: [...bulk, ...alerts.map(({ shown }) => shown)],
    discrepancies,
  };
}

interface ListedAlert {
  alertId: number;
  shown: WaitingAlert;
}

/** The most alerts of one bulk row. */
const mostAlerts = 500;
/** The customers that each bulk row names for quality assurance: this share, and at least this many. */
const sample = { share: 0.05, least: 5 };

/**
 * Makes bulk rows: each confirms the absent alerts of one listed party and one kind of absence as no longer matched. An alert qualifies if it
 * has no proposal and is no true match, the customer's record is unchanged, and the last answer is complete. The row is bound to a digest of
 * the current alerts.
 */
async function listBulkRows(
  database: Queryable,
  alerts: readonly ListedAlert[],
  { organisationId, sheetId, reviewKey }: { organisationId: number; sheetId: number; reviewKey: Buffer },
): Promise<readonly WaitingAlert[]> {
  const absent = alerts.filter(({ shown }) => shown.absence !== null && shown.absence !== 'customer_changed');
  const accounts = await findPlainlyAbsent(
    database,
    absent.map(({ alertId }) => alertId),
  );
  const eligible = absent.filter(({ alertId }) => accounts.has(alertId));
  const groups = gatherBy(eligible, ({ alertId, shown: { absence, listed } }) =>
    JSON.stringify([accounts.get(alertId), absence, listed.id, listed.schema, listed.name]),
  );
  const rows: WaitingAlert[] = [];
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += mostAlerts) {
      const chunk = group.slice(start, start + mostAlerts);
      const [first] = chunk;
      if (first === undefined || chunk.length < 2) continue;
      const alertIds = chunk.map(({ alertId }) => alertId).sort((left, right) => left - right);
      const bulkId = await saveBulk(database, sheetId, alertIds);
      const seen = await readDecidableAlerts(database, organisationId, alertIds);
      const seenVersion = toBulkSeenVersion(seen, alertIds, reviewKey);
      rows.push({
        ...first.shown,
        mark: toAlertCode({ alertId: bulkId, seenVersion }, reviewKey, 'B'),
        party: { ...first.shown.party, reference: `${chunk.length} alerts`, name: '', birthDate: null, countries: [] },
        corroboration: { birthDate: 'unknown', country: 'unknown' },
        lastDecision: null,
        legacy: null,
        assignedTo: null,
        news: null,
        bulk: { alerts: chunk.length, sample: chooseSample(chunk, reviewKey) },
      });
    }
  }
  return rows;
}

/** The sample depends only on the organisation's key and the alerts, so that no person can choose it. */
function chooseSample(alerts: readonly ListedAlert[], reviewKey: Buffer): readonly string[] {
  const place = ({ alertId }: ListedAlert): string =>
    createHmac('sha256', reviewKey).update(`sample ${alertId}`).digest('hex');
  return alerts
    .toSorted((left, right) => (place(left) < place(right) ? -1 : 1))
    .slice(0, Math.max(sample.least, Math.ceil(sample.share * alerts.length)))
    .map(({ shown }) => shown.party.reference);
}
