import { RunLockedError } from '../errors.js';
import type { PublishedList } from '../lists/listed-party.js';
import type { RosterSettings } from '../roster/settings.js';
import { toRunId } from '../store/runs.js';
import type { PlanSelection, ScreeningKind } from '../vocabulary.js';
import { type KnownAccount, noteAccount, toAssumedMode } from './account.js';
import type { AppContext } from './app-context.js';
import { findOtherList, forceListed } from './checks/because-of.js';
import { findBlocker } from './find-blocker.js';
import { RunHalted } from './halt.js';
import { findGivenFile, type RosterScope } from './roster-scope.js';
import type { OutageWatch } from './screening/outages.js';
import { forceMarked, planScreenings } from './screening/plan.js';
import type { RunRequest, RunSession } from './session.js';
import type { Acceptance } from './settings-diff.js';

/** What kind of screening run, of which customers. */
export interface ScreeningOptions {
  kind: ScreeningKind;
  roster: RosterSettings;
  selection: PlanSelection;
  importFirst: boolean;
  writeReport: boolean;
  maxSearches?: number | undefined;
  /** A published list: whomever it may mean is asked about now. */
  becauseOf?: PublishedList | undefined;
  /** Goes on with the run of this number or with none. */
  resumeOnly?: number | undefined;
  /** Takes the roster although guards would hold it. */
  acceptRoster?: Acceptance | undefined;
}

/** A roster that is configured is looked at again when its run is resumed; one whose file is not known any more cannot be. */
const isResumedFrom = ({ resumeOnly, roster }: ScreeningOptions): boolean =>
  resumeOnly !== undefined && roster.csv?.path !== '';

/** What is to be run: the kind, and when an open run may be resumed in its place. */
export function toRequest(
  app: AppContext,
  options: ScreeningOptions,
  scope: RosterScope,
  known: KnownAccount,
): RunRequest {
  const { kind, selection, resumeOnly } = options;
  const intention = {
    kind,
    selection,
    mode: known.mode,
    account: known.account instanceof RunHalted ? null : known.account,
    keyFingerprint: app.client().keyFingerprint,
    roster: options.importFirst || isResumedFrom(options) ? options.roster : null,
    isNamed: resumeOnly !== undefined,
    acceptRoster: options.acceptRoster,
  };
  const { organisation, rosterId, roster } = scope;
  const findOurs = async (open: RunSession['run']) => {
    if (selection === 'dirty' && open.selection !== 'dirty') {
      throw new RunLockedError(
        `${toRunId(open)} was broken off and goes first: nightscreen runs resume ${toRunId(open)}`,
        open.owner,
      );
    }
    const otherList = await findOtherList(app, open, options.becauseOf);
    return otherList === null ? findBlocker(app, open, intention) : { blocker: otherList, differences: [] };
  };
  // Whoever resumes a run by its number has given no file: the run's own holds.
  const rosterFile =
    resumeOnly === undefined && options.importFirst ? findGivenFile(app.settings.rosters, options.roster) : undefined;
  const mode = known.mode ?? toAssumedMode(app);
  return { organisation, rosterId, roster, kind, selection, mode, rosterFile, resumeOnly, findBlocker: findOurs };
}

/** What the stages need beside the session. */
export interface ScreeningPart extends ScreeningOptions {
  known: KnownAccount;
  rosterId: number;
  outage: OutageWatch;
}

/** Makes the plan, or keeps the one that an earlier start has made for this account. */
export async function planOrResume(session: RunSession, accountId: number | null, part: ScreeningPart): Promise<void> {
  const { run } = session;
  const { rosterId, selection } = part;
  await session.write((transaction) => noteAccount(transaction, session, accountId));
  // A plan made for another account, or for none, says nothing about who is due under this one.
  const isPlanned = (run.stage === 'planned' || run.stage === 'screened') && run.accountId === accountId;
  if (isPlanned) return;
  if (selection === 'dirty') await forceMarked(session, { rosterId, accountId });
  else await forceListed(session, part.becauseOf, { rosterId, accountId });
  await planScreenings(session, { rosterId, accountId, selection });
}
