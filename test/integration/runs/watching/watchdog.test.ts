import { afterEach, expect, it } from 'vitest';
import { mailSettingsSchema } from '../../../../src/mail/settings.js';
import type { Workplace } from '../../../../src/runs/workplace.js';
import { jobsSettingsSchema } from '../../../../src/scheduling/settings.js';
import { watchdogSettingsSchema } from '../../../../src/scheduling/watchdog/settings.js';
import { type Watch, watch } from '../../../../src/scheduling/watchdog/watch.js';
import { listOutbox, queueOutbox } from '../../../../src/store/outbox.js';
import { describeOnEachDatabase } from '../../../helpers/databases.js';
import { type MailServer, startMailServer } from '../../../helpers/mail-server.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import type { TestWorkplace } from '../../../helpers/workplace.js';

const hourMs = 3_600_000;
const settings = { jobs: jobsSettingsSchema.parse({}), watchdog: watchdogSettingsSchema.parse({}) };
const mail = mailSettingsSchema.parse({ transport: 'smtp', from: 'night@bank.example', to: ['ops@bank.example'] });
const at = (workplace: TestWorkplace, hours: number): Workplace => {
  const now = (): Date => new Date(Date.now() + hours * hourMs);
  return { ...workplace, clock: { ...workplace.clock, now } };
};
const describe = ({ findings, isAlarm }: Watch) => [
  isAlarm,
  ...findings.map(({ kind, isKnown }) => (isKnown ? `(${kind})` : kind)),
];

const servers: MailServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
const alarmsOf = (server: MailServer): readonly string[] =>
  server.received
    .map(({ subject }) => subject.replace(/ - .*$/, ''))
    .filter((subject) => /ALARM|RECOVERED/.test(subject));

describeOnEachDatabase('the watchdog', (open) => {
  const begin = openSmallSites(open);
  const startSite = async () => {
    const server = await startMailServer();
    servers.push(server);
    const site = await begin();
    const workplace = { ...(await site.work({ settings: { mail } })), secret: () => server.url };
    return { ...site, server, workplace };
  };

  it('tells an incident once, whoever looks at the same time, and once when it is over', async () => {
    const { workplace, run, server } = await startSite();
    const looks = await Promise.all([1, 2, 3].map(() => watch(workplace, settings)));
    for (const found of looks) expect(describe(found)).toEqual([true, 'did_not_run']);
    expect(describe(await watch(at(workplace, 1), settings))).toEqual([true, 'did_not_run']);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: did not run']);

    await run(workplace);
    const over = await watch(workplace, settings);
    expect(describe(over)).toEqual([false]);
    expect(over.over.map(({ kind }) => kind)).toEqual(['did_not_run']);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: did not run', '[RECOVERED] people: did not run']);

    // A day without a night: it did not run, and the screenings are too old.
    expect(describe(await watch(at(workplace, 24), settings))).toEqual([false]);
    expect(describe(await watch(at(workplace, 27), settings))).toEqual([true, 'did_not_run', 'screening_overdue']);
  });

  it('tells of a customer who fails every night when that is new, and when it has lasted for too long', async () => {
    const { workplace, run, server, sandbox } = await startSite();
    await run(workplace);
    const fail = (...names: string[]): void =>
      sandbox.setFaults(names.map((name) => ({ name, status: 400, times: 9 })));
    fail('Tamsin Oyelaran');
    await run(at(workplace, 24));
    expect(describe(await watch(at(workplace, 24), settings))).toEqual([true, 'customers_failing']);
    // Still the same night.
    expect(describe(await watch(at(workplace, 30), settings))).toEqual([true, 'customers_failing']);

    await run(at(workplace, 48));
    const known = await watch(at(workplace, 48), settings);
    expect(describe(known)).toEqual([false, '(customers_failing)']);
    fail('Tamsin Oyelaran', 'Aroha Ngata');
    await run(at(workplace, 72));
    const further = await watch(at(workplace, 72), settings);
    expect(describe(further)).toEqual([true, 'customers_failing']);
    expect(further.findings[0]?.reason).toContain(
      '2 customers cannot be screened though the service answers others; 1 of them newly',
    );

    // A week after the first one's last valid answer.
    fail('Tamsin Oyelaran', 'Aroha Ngata');
    await run(at(workplace, 7 * 24));
    const aged = await watch(at(workplace, 7 * 24 + 1), settings);
    expect(aged.findings[0]?.reason).toContain('1 without a valid answer for longer');
    sandbox.setFaults([]);
    await run(at(workplace, 8 * 24));
    expect(describe(await watch(at(workplace, 8 * 24), settings))).toEqual([false]);
    const told = '[ALARM] people: customers cannot be screened';
    expect(alarmsOf(server)).toEqual([told, told, told, '[RECOVERED] people: customers cannot be screened']);
  });

  it('tells of runs and screenings that a clock which was ahead has dated, until everybody is screened anew', async () => {
    const { workplace, run, server, database } = await startSite();
    const ofReport = { kind: 'mail_failure', destination: 'mlro@bank.example', runId: null } as const;
    const times = { queuedAt: new Date(), giveUpAt: new Date(Date.now() + hourMs) };
    await run(at(workplace, 30 * 24));
    await queueOutbox(database, [
      { organisationId: 1, ...ofReport, dedupKey: 'failure/1', content: {}, messageId: '<1@bank.example>', ...times },
    ]);
    const found = await watch(workplace, settings);
    expect(describe(found)).toEqual([true, 'job_failed']);
    expect(found.findings[0]?.reason).toMatch(/rescreen-1 began at .* yet to come; \d customers screened at/);
    await run(workplace);
    expect((await watch(workplace, settings)).findings[0]?.reason).toMatch(/^\d customers screened at/);
    await run(workplace, { selection: 'all' });
    expect(describe(await watch(workplace, settings))).toEqual([false]);
    expect(alarmsOf(server).at(0)).toBe('[ALARM] people: a clock was ahead');
    expect(alarmsOf(server).at(-1)).toBe('[RECOVERED] people: a clock was ahead');
    // What is no alarm is left to the host that makes the reports.
    const [other] = (await listOutbox(database, ['mail_failure'], { all: true })).filter(
      ({ dedupKey }) => dedupKey === 'failure/1',
    );
    expect(other).toMatchObject({ state: 'queued', attempts: 0 });
  });

  it('sees a failed control search, a run that was left and one that stopped, and keeps what cannot be mailed yet', async () => {
    const { workplace, run, server, sandbox, database } = await startSite();
    server.isRefusing = true;
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    await run(workplace);
    expect(describe(await watch(workplace, settings))).toEqual([true, 'canary_failed']);
    expect(alarmsOf(server)).toEqual([]);
    server.isRefusing = false;
    await database.execute(
      `update run set state = 'running', finished_at = null where run_id = (select max(run_id) from run)`,
    );
    await database.execute(
      `update lease set heartbeat_at = heartbeat_at - interval '11 minutes', expires_at = acquired_at`,
    );
    const left = await watch(at(workplace, 1), settings);
    expect(describe(left)).toEqual([true, 'canary_failed', 'stuck']);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: control searches failed', expect.stringContaining('is stuck')]);
    await database.execute(
      `update run set state = 'stopped', state_reasons = '{the key was refused}', halted_by = 'account'`,
    );
    const stopped = await watch(at(workplace, 2), settings);
    expect(stopped.findings.find(({ kind }) => kind === 'partial')?.reason).toContain(
      'ended stopped: the key was refused',
    );
  });
});
