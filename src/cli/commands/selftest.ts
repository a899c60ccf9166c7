import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { html } from 'hono/html';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { makeFolder, writePrivately } from '../../files.js';
import { showFacts, showSentence, showTable } from '../../reports/html-markup.js';
import { showPageHead, showSection } from '../../reports/html-page.js';
import type { Column, Fact } from '../../reports/section.js';
import { countNoun, formatTime } from '../../reports/text.js';
import type { DatabaseLocation } from '../../store/database/open-database.js';
import { buildAppContext } from '../app-context.js';
import { defineCommand, text } from '../command.js';
import { type LoadDemoWorld, loadDemoWorld, toDemoSettings, toSandboxConfig } from '../demo-nights.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { meanings } from '../options.js';
import { version } from '../process.js';
import type { SelftestCheck } from '../selftest-nights.js';
import { loadInvocationConfig } from '../session.js';
import { formatTable } from '../text.js';

/** What a passed self-test leaves open. */
const untested = [
  'It says nothing about the lists of the service: which names they hold, and how new they are.',
  'It says nothing about the matching of the service: the sandbox compares names in a way of its own. To measure the service, use `assure`.',
  'It does not use your key, your rosters, your mail server or your webhooks: nightscreen doctor tries them.',
  'It says nothing about your own volumes: it has 115 customers.',
];

const advice =
  'Do not rely on this installation before the cause is known. Repeat the self-test without a configuration file, in an empty folder: if it passes there, a setting or the database is the cause. If it fails there too, report it with this folder, which has invented names only';

/** With a slower pace the self-test would take minutes. */
const least = { perSecond: 100, concurrency: 4 };
const most = { perSecond: 500, concurrency: 16 };
const clamp = (name: keyof typeof least, value: number): number => Math.min(most[name], Math.max(least[name], value));

/** Failures must not take long. */
const quickFailures = { timeoutSeconds: 2, retry: { maxAttempts: 4, baseDelayMs: 100, maxDelayMs: 1_000 } };

async function makeSelftestConfig(own: Config, folder: string, sandbox: { url: string; privateKey: string }) {
  const { timezone, service: ownService, screening, changes, rosters } = own.settings;
  const rate = {
    perSecond: clamp('perSecond', ownService.rate.perSecond),
    concurrency: clamp('concurrency', ownService.rate.concurrency),
  };
  const settings = await toDemoSettings(
    {
      timezone,
      service: { baseUrl: sandbox.url, mode: 'test', rate },
      screening: { controlsEvery: 40, ...(screening.hold && { hold: screening.hold }) },
      // The risk categories are those of the demo's list.
      changes: { scoreStep: changes.scoreStep, severities: changes.severities },
      run: { deadline: '1s' },
      reports: { dir: join(folder, 'reports') },
      evidence: { dir: join(folder, 'evidence') },
    },
    { file: 'roster-part.csv', guards: rosters[0]?.guards },
  );
  // Only a program that uses the client can set these.
  const service = { ...settings.service, ...quickFailures };
  return toSandboxConfig({ ...settings, service }, 'selftest', sandbox.privateKey);
}

/** Works on an empty database of its own, of the configured kind, which is removed afterwards. */
async function withOwnDatabase<T>(config: Config, work: (location: DatabaseLocation) => Promise<T>): Promise<T> {
  const url = config.secret('DATABASE_URL');
  if (url !== undefined) {
    const { withOwnSchema } = await import('../../store/database/own-schema.js');
    return withOwnSchema(url, work);
  }
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-selftest-'));
  return work({ folder }).finally(() => rm(folder, { recursive: true, force: true }));
}

/** Plays the nights of the self-test with this configuration, and writes its page. Tests give another world. */
export async function runSelftest(
  { signal, terminal, options }: Pick<Invocation, 'signal' | 'terminal' | 'options'>,
  config: Config,
  folder: string,
  loadWorld: LoadDemoWorld = loadDemoWorld,
): Promise<Outcome> {
  const startedAt = systemClock.now();
  const { startSandbox } = await import('../../sandbox/start-sandbox.js');
  const { playSelftest } = await import('../selftest-nights.js');
  await makeFolder(folder, 'name another folder with --out');
  if (!options.quiet)
    terminal.writeMessage('self-test: five nights against a sandbox on this machine; up to a minute\n');
  const sandbox = await startSandbox({ world: await loadWorld('before') });
  const expectations = await withOwnDatabase(config, async (location) => {
    const own = await makeSelftestConfig(config, folder, sandbox);
    // No tracer may take these runs for those of the organisation.
    const app = await buildAppContext({ config: own, command: 'selftest', location, emit: () => undefined });
    return playSelftest(app, { sandbox, loadWorld, folder, signal }).finally(() => app.close());
  }).finally(() => sandbox.close());
  const result = describeResult(config, startedAt, expectations);
  const page = join(folder, 'selftest.html');
  await writePrivately(page, await renderPage(result));
  const document = { ...result, untested, page, evidence: join(folder, 'evidence') };
  const exitCode = result.passed ? exitCodes.complete : exitCodes.incomplete;
  return toOutcome('nightscreen/selftest/1', document, formatResult(result, page), exitCode);
}

type Result = ReturnType<typeof describeResult>;

function describeResult(config: Config, startedAt: Date, expectations: readonly SelftestCheck[]) {
  const finishedAt = systemClock.now();
  return {
    passed: expectations.every(({ isMet }) => isMet),
    version,
    settingsDigest: config.settingsDigest,
    organisation: config.settings.organisation,
    database: config.secret('DATABASE_URL') === undefined ? 'embedded' : 'postgres',
    startedAt: startedAt.toISOString(),
    seconds: Math.round((finishedAt.getTime() - startedAt.getTime()) / 100) / 10,
    expectations,
  };
}

const verdictOf = ({ passed, expectations }: Result): string => {
  const failed = expectations.filter(({ isMet }) => !isMet).length;
  return passed
    ? `passed: all ${expectations.length} expectations are met`
    : `FAILED: ${failed} of ${countNoun(expectations.length, 'expectation')} ${failed === 1 ? 'is' : 'are'} not met`;
};

function formatResult(result: Result, page: string): string {
  const failed = result.expectations.filter(({ isMet }) => !isMet);
  const lines = failed.flatMap(({ night, about, expected, found }) => [
    ['not met', `${night}: ${about}`],
    ['', `expected ${expected}`],
    ['', `found ${found}`],
  ]);
  const next = result.passed ? [] : [['next', advice]];
  return `${formatTable([['self-test', verdictOf(result)], ...lines, ...next, ['page', page]])}`;
}

const columns: readonly Column<SelftestCheck>[] = [
  { title: 'What', share: 24, html: ({ about }) => showSentence(about) },
  { title: 'Expected', share: 26, html: ({ expected }) => showSentence(expected) },
  { title: 'Found', html: ({ found }) => showSentence(found) },
  { title: 'Result', share: 12, html: ({ isMet }) => (isMet ? 'met' : html`<strong>NOT MET</strong>`) },
];

async function renderPage(result: Result): Promise<string> {
  const title = 'Self-test of Nightscreen';
  const facts: readonly Fact[] = [
    ['result', verdictOf(result)],
    ...(result.passed ? [] : [['next', `${advice}.`] as const]),
    ['time', `${formatTime(new Date(result.startedAt))}, ${result.seconds} seconds`],
    ['version', result.version],
    ['settings', `of organisation ${result.organisation}, with the digest`, result.settingsDigest],
    [
      'database',
      result.database === 'embedded' ? 'embedded, in a folder of its own' : 'Postgres, in a schema of its own',
    ],
    [
      'used settings',
      'score step, severities, bounds that hold a run, guards of the first roster, time zone, pace (from 100 to 500 calls a second)',
    ],
    ['names', 'all are invented; no customer of yours is in this folder'],
  ];
  const { nights: captions } = await import('../selftest-nights.js');
  const nights = [...new Set(result.expectations.map(({ night }) => night))];
  const sections = [
    { id: 'result', title: 'Result', body: showFacts(facts) },
    ...nights.map((night, index) => {
      const lines = result.expectations.filter((each) => each.night === night);
      return {
        id: `part-${index}`,
        title: night,
        body: showTable({ caption: captions[night], columns, lines, timezone: 'UTC' }),
      };
    }),
    {
      id: 'untested',
      title: 'What this does not say',
      body: html`<ul>${untested.map((line) => html`<li>${showSentence(line)}</li>\n`)}</ul>`,
    },
  ];
  const head = await showPageHead({ runId: '', mode: 'test', title, level: result.passed ? 'complete' : 'red' }, null);
  const body = await Promise.all(sections.map(showSection));
  return `${String(head)}<h1>${title}</h1>\n${body.join('')}\n</main>\n</body>\n</html>\n`;
}

/** Its folder below the one beside the evidence, by the second. */
function toFolder({ folder }: Invocation, { settings, file }: Config, out: string | undefined): string {
  const evidence = settings.evidence.dir ?? join(file === null ? folder : dirname(file), 'evidence');
  const name = systemClock.now().toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');
  return join(out === undefined ? `${evidence}-selftest` : resolve(folder, out), name);
}

export const command = defineCommand({
  usage: 'selftest',
  description:
    'play nights with known matches, changes and failures against the sandbox, on the configured database; uses no key, roster or mail server',
  options: { out: text('<folder>', meanings.out) },
  examples: ['selftest', 'selftest --out ./selftests --json'],
  run: ({ invocation, options }) => {
    const config = loadInvocationConfig(invocation);
    return runSelftest(invocation, config, toFolder(invocation, config, options.out));
  },
});
