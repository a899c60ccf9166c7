import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { severityRules } from '../changes/severity.js';
import { shiftedClock } from '../clock.js';
import { readMessage } from '../errors.js';
import { verifyEvidence } from '../evidence/verify.js';
import type { ReportJson } from '../reports/report-json.js';
import { countNoun } from '../reports/text.js';
import type { AppContext } from '../runs/app-context.js';
import { resumeRun } from '../runs/resume-run.js';
import type { RunSummary } from '../runs/run-summary.js';
import { runScreening } from '../runs/screening-run.js';
import { exportStatus } from '../runs/status.js';
import type { Sandbox } from '../sandbox/start-sandbox.js';
import { codeWords } from '../vocabulary/words.js';
import {
  compareWithExpected,
  dayMs,
  findDemoRoster,
  type LoadDemoWorld,
  playNight,
  readExpected,
  readReportJson,
  subtract,
} from './demo-nights.js';
import { findDemoFixture } from './process.js';

/** What each part of the self-test plays. */
export const nights = {
  'Known matches': 'The first night of a roster whose hits are known. The service answers everything.',
  'Known changes, with failures of the service':
    'Lists and dossiers change in known ways, and all scores a little. Searches get errors, cut connections and no answers, which repetitions repair. Two customers get answers about somebody else.',
  'An outage amid a night, and the night resumed':
    'After 60 searches the service answers no more, so the run stops. Then it answers again, and the run is resumed.',
  'A service without its lists': 'The service answers each search, and finds nobody.',
  'Known hits that vanish together, and half of a roster':
    'The service finds nobody but the names of the control searches. Half of the roster is missing.',
  'Packs of evidence': 'The packs of all these runs are verified without the database.',
} as const;

/** One expectation of the self-test, in words. */
export interface SelftestCheck {
  night: keyof typeof nights;
  about: string;
  expected: string;
  found: string;
  isMet: boolean;
}

const searchPath = '/aml/search';

/** They get wrong answers in the second night: the first one has a hit, the other one has none. */
const misanswered = [
  { reference: 'C-10050', name: '선우하윤' },
  { reference: 'C-10015', name: 'Clémence Lefrançois-Bruyère' },
];

const wrongAnswers = misanswered.map(({ name }) => ({
  path: searchPath,
  name,
  times: 1_000,
  raw: { status: 201, body: '{"query":"Somebody Else","type":"person","total":0,"results":[]}' },
}));

/** Failures that a repetition repairs, spread over the second night. */
const passingFaults = [
  { status: 503, retryAfter: '1' },
  { status: 503, times: 5 },
  { status: 502, body: '<html>bad gateway</html>', times: 2 },
  { status: 500, times: 2 },
  { cut: 'before_work', times: 3 },
  { cut: 'after_work', times: 3 },
  { hang: 'before_headers', times: 2 },
  { hang: 'in_body' },
].map((fault) => ({ path: searchPath, afterCalls: 8, times: 1, ...fault })) as Parameters<Sandbox['setFaults']>[0];

const failedCalls = passingFaults.reduce((sum, { times = 1 }) => sum + times, 0);

/** The searches that are answered before the outage of the third night. */
const answeredBeforeOutage = 60;
const endless = 1_000_000;

/**
 * Plays all nights against the sandbox; `app` is on an empty database of its own, and `folder` is for files. Gives each expectation with what was
 * found. Throws only when it is stopped.
 */
export async function playSelftest(
  app: AppContext,
  { sandbox, loadWorld, folder, signal }: SelftestWorld,
): Promise<readonly SelftestCheck[]> {
  const test = new Selftest(app, sandbox, loadWorld, folder, signal);
  await test.play('Known matches', () => test.playKnownMatches());
  await test.play('Known changes, with failures of the service', () => test.playKnownChanges());
  await test.play('An outage amid a night, and the night resumed', () => test.playOutage());
  await test.play('A service without its lists', () => test.playLostList());
  await test.play('Known hits that vanish together, and half of a roster', () => test.playVanishedHits());
  await test.play('Packs of evidence', () => test.verifyPacks());
  return test.expectations;
}

interface SelftestWorld {
  sandbox: Sandbox;
  loadWorld: LoadDemoWorld;
  folder: string;
  signal: AbortSignal;
}

class Selftest {
  readonly expectations: SelftestCheck[] = [];
  readonly #app: AppContext;
  readonly #sandbox: Sandbox;
  readonly #loadWorld: LoadDemoWorld;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #night: keyof typeof nights = 'Known matches';
  #isRosterHeld = false;

  constructor(app: AppContext, sandbox: Sandbox, loadWorld: LoadDemoWorld, folder: string, signal: AbortSignal) {
    const emit: AppContext['emit'] = (event) => {
      if (event.kind === 'warning' && event.code === 'roster_held') this.#isRosterHeld = true;
      app.emit(event);
    };
    this.#app = { ...app, emit };
    this.#sandbox = sandbox;
    this.#loadWorld = loadWorld;
    this.#folder = folder;
    this.#signal = signal;
  }

  /** An error is an expectation that is not met, and the other parts continue. */
  async play(night: keyof typeof nights, work: () => Promise<void>): Promise<void> {
    this.#night = night;
    await work().catch((error: unknown) => {
      if (this.#signal.aborted) throw error;
      this.#expectTrue('this part', 'ends without an error', readMessage(error), false);
    });
  }

  async playKnownMatches(): Promise<void> {
    this.#sandbox.setWorld(await this.#loadWorld('before'));
    const { part, hits } = await readExpected();
    const { report } = await playNight({ ...this.#app, clock: shiftedClock(-dayMs) }, this.#signal);
    const found = await readReportJson(report.directory);
    this.#expect('rows of the roster', describeRows(part), describeRows(found.coverage?.counts));
    this.#expect('customers', describeScreened(part.customers), describeCoverage(found));
    const flagged = found.baselineChanges.filter(({ after }) => after?.isHit);
    const pairs = flagged.map(({ party, matchId }) => `${party.reference} ${matchId}`);
    this.#expectLines('hits on the lists', hits, pairs);
  }

  async playKnownChanges(): Promise<void> {
    const { scoreStep, severities } = this.#app.settings.changes;
    // Noise far below the step, which is no change.
    const ranking = { shuffleSeed: 7, scoreNoise: Math.min(0.004, scoreStep / 5) };
    this.#sandbox.setWorld({ ...(await this.#loadWorld('after')), ranking });
    this.#sandbox.setFaults([...wrongAnswers, ...passingFaults]);
    const callsBefore = this.#countCalls();
    const { report } = await playNight(this.#app, this.#signal);
    this.#sandbox.setFaults([]);
    const found = await readReportJson(report.directory);
    const { expected, missing, unexpected } = compareWithExpected(...withoutScores(found, await readExpected()));
    this.#expectDifference('changes', expected, missing, unexpected);
    const wrong = (found.changes ?? []).flatMap(({ party, rule, severity, adjustments }) => {
      const ofTable = severityRules.find((each) => each.rule === rule);
      const meant = ofTable && (severities[ofTable.rule] ?? ofTable.severity);
      return adjustments.length > 0 || severity === meant ? [] : [`${party.reference} ${rule} ${severity}`];
    });
    this.#expectLines('severities other than configured', [], wrong);
    const [here, there] = [sum(found.calls.byOutcome), this.#countCalls() - callsBefore];
    const failed = here - (found.calls.byOutcome.find(({ code }) => code === 'ok')?.count ?? 0);
    this.#expectTrue('failed calls', `at least ${failedCalls}`, String(failed), failed >= failedCalls);
    this.#expectTrue('calls in the ledger', `all of ${there} that arrived`, String(here), here >= there);
    const rejected = (found.notScreened ?? []).filter(({ reason }) => reason === 'row_rejected').length;
    const others = (found.notScreened ?? []).filter(({ reason }) => reason !== 'row_rejected');
    this.#expectLines(
      'not screened, because of wrong answers',
      misanswered.map(({ reference }) => reference),
      others.map(({ party }) => party.reference),
    );
    this.#expect('not screened, because of their rows', '3 customers', countNoun(rejected, 'customer'));
  }

  async playOutage(): Promise<void> {
    const before = await this.#readStates();
    this.#sandbox.setFaults([{ path: searchPath, status: 503, times: endless, afterCalls: answeredBeforeOutage }]);
    const arrived = this.#sandbox.ledger().length;
    const stopped = await this.#screenAll();
    this.#expect('end of the run', describeEnd('stopped', 'outage'), describeEnd(stopped.state, stopped.haltedBy));
    const left = await this.#readReport(stopped);
    const missed = new Set((left.notScreened ?? []).map(({ party }) => party.reference));
    const { inScope = 0, screened = 0 } = left.coverage?.counts ?? {};
    const least = inScope - screened;
    this.#expectTrue('customers listed as not screened', `at least ${least}`, `${missed.size}`, missed.size >= least);
    const changed = await this.#listChangedStates(before);
    const cleared = changed.filter(({ reference, state }) => missed.has(reference) && state !== 'not_screened');
    this.#expectLines('missed customers with a new state', [], cleared.map(describeState));

    this.#sandbox.setFaults([]);
    const resumed = await resumeRun(this.#app, stopped.runId, this.#signal);
    const whole = await this.#readReport(resumed);
    this.#expect('same run, resumed', stopped.runId, resumed.runId);
    const { part } = await readExpected();
    this.#expect('customers', describeScreened(part.customers), describeCoverage(whole));
    this.#expect('changes', 'no changes', countChanges(whole));
    const unknown = sum(whole.calls.byOutcome.filter(({ code }) => code === 'timeout' || code === 'connection'));
    const repeated = this.#listRepeated(arrived);
    const found = repeated.length === 0 ? '0' : `${repeated.length}: ${repeated.join(', ')}`;
    const most = `at most ${unknown}, the calls of unknown outcome`;
    this.#expectTrue('names searched twice', most, found, repeated.length <= unknown);
  }

  async playLostList(): Promise<void> {
    const before = await this.#readStates();
    this.#sandbox.setWorld({ ...(await this.#loadWorld('after')), watchlist: [] });
    const run = await this.#screenAll();
    const report = await this.#readReport(run);
    const failed = (report.controls ?? []).filter(({ verdict }) => verdict === 'failed').length;
    this.#expectTrue('failed control searches', 'at least 1', String(failed), failed > 0);
    this.#expect('customers', '0 screened', `${report.coverage?.counts.screened ?? 'unknown'} screened`);
    this.#expectLines('customers with a new state', [], (await this.#listChangedStates(before)).map(describeState));
  }

  async playVanishedHits(): Promise<void> {
    const before = await this.#readStates();
    const world = await this.#loadWorld('after');
    const known = new Set(this.#app.settings.controls.map(({ name }) => name));
    const watchlist = world.watchlist.filter(({ name, aliases }) => [name, ...aliases].some((each) => known.has(each)));
    this.#sandbox.setWorld({ ...world, watchlist });
    const run = await this.#screenAll(await this.#writeHalfRoster());
    const report = await this.#readReport(run);
    const held = report.held.filter(({ kind }) => kind === 'answers').length > 0;
    this.#expect('answers', 'held', held ? 'held' : 'applied');
    const { maxShrinkNight = 0.01, maxShrink30Days = 0.03 } = findDemoRoster(this.#app).guards ?? {};
    const isGuarded = Math.min(maxShrinkNight, maxShrink30Days) < 0.5;
    this.#expect('the roster', isGuarded ? 'held' : 'imported', this.#isRosterHeld ? 'held' : 'imported');
    this.#expectLines('customers with a new state', [], (await this.#listChangedStates(before)).map(describeState));
  }

  async verifyPacks(): Promise<void> {
    const { dir } = this.#app.settings.evidence;
    const verdict = await verifyEvidence(dir ?? '');
    // Two sweeps and five screening runs, one of which has a pack from before it was resumed.
    this.#expect('packs', '8 packs', countNoun(verdict.packs, 'pack'));
    this.#expectLines(
      'problems that the verifier finds',
      [],
      verdict.problems.map(({ pack, file, what }) => `${pack ?? ''} ${file ?? ''}: ${what}`),
    );
  }

  #expect(about: string, expected: string, found: string): void {
    this.#expectTrue(about, expected, found, expected === found);
  }

  #expectTrue(about: string, expected: string, found: string, isMet: boolean): void {
    this.expectations.push({ night: this.#night, about, expected, found, isMet });
  }

  #expectLines(about: string, expected: readonly string[], found: readonly string[]): void {
    this.#expectDifference(about, expected.length, subtract(expected, found), subtract(found, expected));
  }

  #expectDifference(about: string, count: number, missing: readonly string[], unexpected: readonly string[]): void {
    const expected = count === 0 ? 'none' : `exactly ${count} known ones`;
    const parts = [
      ...missing.map((line) => `missing: ${line}`),
      ...unexpected.map((line) => (count === 0 ? line : `unexpected: ${line}`)),
    ];
    this.#expectTrue(about, expected, parts.join('; ') || expected, parts.length === 0);
  }

  #screenAll(roster = findDemoRoster(this.#app)): Promise<RunSummary> {
    const plan = { kind: 'screen', selection: 'all', importFirst: true, writeReport: true } as const;
    return runScreening(this.#app, { ...plan, roster }, this.#signal);
  }

  #readReport({ artifacts, runId }: RunSummary): Promise<ReportJson> {
    if (artifacts === null) throw new Error(`the run ${runId} has no report`);
    return readReportJson(artifacts);
  }

  async #readStates(): Promise<ReadonlyMap<string, string>> {
    const status = await exportStatus(this.#app, {}, this.#signal);
    const states = new Map<string, string>();
    for await (const batch of status.batches) {
      for (const { reference, state } of batch) states.set(reference, state);
    }
    return states;
  }

  async #listChangedStates(before: ReadonlyMap<string, string>) {
    const after = await this.#readStates();
    return [...after].flatMap(([reference, state]) =>
      before.get(reference) === state ? [] : [{ reference, former: before.get(reference) ?? 'none', state }],
    );
  }

  #countCalls(): number {
    return this.#sandbox.ledger().filter(({ path }) => path === searchPath).length;
  }

  /** The names whose search the service answered twice since this call, control searches aside. */
  #listRepeated(since: number): readonly string[] {
    const controls = new Set(this.#app.settings.controls.map(({ name }) => name));
    const names = this.#sandbox
      .ledger()
      .slice(since)
      .flatMap(({ searchName, searchType, worked }) =>
        worked && searchName !== null && !controls.has(searchName) ? [`${searchName} (${searchType})`] : [],
      );
    return subtract(names, [...new Set(names)]);
  }

  async #writeHalfRoster() {
    const [head = '', ...rows] = (await readFile(findDemoFixture('roster-part.csv'), 'utf8')).trimEnd().split('\n');
    const path = join(this.#folder, 'half-roster.csv');
    await writeFile(path, `${[head, ...rows.slice(0, rows.length / 2)].join('\n')}\n`, { mode: 0o600 });
    const roster = findDemoRoster(this.#app);
    return { ...roster, csv: { delimiter: 'auto' as const, encoding: 'auto' as const, header: true, path } };
  }
}

const describeRows = (counts: Partial<Record<'rows' | 'customers' | 'rejected' | 'duplicates', number | null>> = {}) =>
  `${counts.rows} rows: ${counts.customers} customers, ${counts.rejected} rejected, ${counts.duplicates} duplicates`;

const describeScreened = (customers: number): string => `${customers} screened, 0 failed, 0 remaining`;

const describeCoverage = ({ coverage }: ReportJson): string =>
  `${coverage?.counts.screened} screened, ${coverage?.counts.failed} failed, ${coverage?.counts.remaining} remaining`;

const describeEnd = (state: RunSummary['state'], haltedBy: RunSummary['haltedBy']): string =>
  `${codeWords.runState[state]}${haltedBy === null ? '' : ` by ${haltedBy}`}`;

const describeState = ({ reference, former, state }: { reference: string; former: string; state: string }): string =>
  `${reference} ${former} to ${state}`;

const countChanges = ({ changes }: ReportJson): string =>
  changes === null || changes.length > 0 ? `${changes?.length ?? 'unknown'} changes` : 'no changes';

const sum = (tallies: readonly { count: number }[]): number => tallies.reduce((total, { count }) => total + count, 0);

/** A configured score step may hide or show scores beside other fields. */
function withoutScores(report: ReportJson, expected: Awaited<ReturnType<typeof readExpected>>) {
  const withoutScore = <Change extends { fields: readonly string[] }>(change: Change) => ({
    ...change,
    fields: change.fields.filter((field) => field !== 'score'),
  });
  const changes = (report.changes ?? []).map(withoutScore);
  return [
    { ...report, changes },
    { ...expected, matches: expected.matches.map(withoutScore) },
  ] as const;
}
