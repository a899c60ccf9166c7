import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database/database.js';
import {
  claimNext,
  makeDue,
  noteAttempt,
  type OutboxEntry,
  queueOutbox,
  queueReport,
  queueReportMails,
  readOutbox,
} from '../../../src/store/operations/outbox.js';
import { readRun } from '../../../src/store/runs.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const now = new Date('2026-11-22T02:00:00Z');
const later = (hours: number): Date => new Date(now.getTime() + hours * 3_600_000);

const setUp = `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) values (1, 'retail', now());
  insert into run (organisation_id, roster_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
    select 1, 1, 'test', 'rescreen', 'complete', 'finished', 'k', 1, 'o', 's', 'v', now() from generate_series(1, 2);
`;

const entry = (changes: Partial<OutboxEntry> = {}): OutboxEntry => ({
  organisationId: 1,
  kind: 'mail_failure',
  destination: 'mlro@bank.example',
  runId: null,
  dedupKey: 'failure/1',
  content: { subject: 'did not run' },
  messageId: '<1@bank.example>',
  queuedAt: now,
  giveUpAt: later(72),
  ...changes,
});

const claimAs = (database: Database, owner: string, at = now, leaseMs = 60_000) =>
  claimNext(database, {
    organisation: 'default',
    kinds: ['mail_failure', 'mail_report'],
    owner,
    now: at,
    leaseMs,
    except: [],
  });

describeOnEachDatabase('the outbox', (open, { dialect }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.runScript(setUp);
  });

  it('keeps each thing once, gives it to one sender, and tells what became of it', async () => {
    expect(await queueOutbox(database, [entry(), entry({ dedupKey: 'failure/2' }), entry()])).toBe(2);
    expect(
      await claimNext(database, {
        organisation: 'default',
        kinds: ['webhook'],
        owner: 'one',
        now,
        leaseMs: 1,
        except: [],
      }),
    ).toBeNull();

    const first = await claimAs(database, 'one');
    const second = await claimAs(database, 'one');
    expect([first?.outboxId, second?.outboxId, await claimAs(database, 'one')]).toEqual([1, 2, null]);
    expect(first?.content).toEqual({ subject: 'did not run' });

    const sender = { owner: 'one', now };
    const failed = { kind: 'failed', said: '451 later', nextAttemptAt: later(1) } as const;
    expect(await noteAttempt(database, { outboxId: 1 }, { ...sender, owner: 'another' }, failed)).toBeNull();
    expect(await noteAttempt(database, { outboxId: 1 }, sender, failed)).toBe('queued');
    expect(await noteAttempt(database, { outboxId: 2 }, sender, { kind: 'refused', said: '550 no' })).toBe('refused');
    expect(await claimAs(database, 'one')).toBeNull();
    expect((await claimAs(database, 'one', later(1)))?.outboxId).toBe(1);
    expect(await noteAttempt(database, { outboxId: 1 }, sender, { kind: 'sent', said: '250 ok' })).toBe('sent');
    expect(
      (await readOutbox(database, 'default', { kinds: ['mail_failure'], all: false })).map(({ state }) => state),
    ).toEqual(['refused']);
    expect((await readOutbox(database, 'default', { outboxIds: [1, 2] })).map(({ attempts }) => attempts)).toEqual([
      [
        { triedAt: now, outcome: 'failed', said: '451 later' },
        { triedAt: now, outcome: 'sent', said: '250 ok' },
      ],
      [{ triedAt: now, outcome: 'refused', said: '550 no' }],
    ]);
    await makeDue(database, 'default', [2], { now: later(80), giveUpAt: later(80) });
    await claimAs(database, 'one', later(80));
    const tooLate = { ...failed, nextAttemptAt: later(90) };
    expect(await noteAttempt(database, { outboxId: 2 }, { owner: 'one', now: later(81) }, tooLate)).toBe('given_up');
  });

  it('gives what a dead sender held to another', async () => {
    await queueOutbox(database, [entry({ dedupKey: 'failure/3' })]);
    const dead = await claimAs(database, 'dead');
    expect(dead?.dedupKey).toBe('failure/3');
    // On a server it may be alive until its claim ends; the embedded database has one process.
    expect(await claimAs(database, 'alive')).toEqual(dialect === 'embedded' ? dead : null);
    await database.execute(
      `update outbox set claimed_until = now() - interval '1 second' where claimed_by is not null`,
    );
    expect(await claimAs(database, 'alive')).toEqual(dead);
  });

  it('puts one mail for each recipient and revision in the place of a report that was queued, in one thread for the roster', async () => {
    const run = await readRun(database, 2);
    if (run === null) throw new Error('there is no run');
    const times = { queuedAt: now, giveUpAt: later(72) };
    const queueMails = (revision: number, messageId: string, to = 'MLRO@bank.example'): Promise<void> =>
      queueReportMails(database, { ...run, runId: 1 }, { revision, endedAt: now }, [{ to, messageId }], times);
    const list = async () =>
      (await readOutbox(database, 'default', { kinds: ['mail_report'], all: true })).map(({ revision, content }) => [
        revision,
        content,
      ]);
    const to = 'MLRO@bank.example';
    const first = [1, { to, messageId: '<first>', thread: [] }];
    const second = [2, { to, messageId: '<second>', thread: ['<first>'] }];
    await queueReport(database, { ...run, runId: 1 }, times);
    await queueReport(database, { ...run, runId: 1 }, times);
    expect(await list()).toEqual([[null, null]]);
    await queueMails(1, '<first>');
    await queueReport(database, { ...run, runId: 1 }, times);
    await queueMails(1, '<again>');
    expect(await list()).toEqual([first]);
    await queueMails(2, '<second>');
    await queueMails(3, '<third>', 'mlro@bank.example');
    const third = [3, { to: 'mlro@bank.example', messageId: '<third>', thread: ['<first>', '<second>'] }];
    expect(await list()).toEqual([first, second, third]);
  });

  it('keeps what a run that has ended again queued, while the report of its earlier end is made', async () => {
    const run = await readRun(database, 2);
    if (run === null) throw new Error('there is no run');
    const waiting = async () =>
      (await readOutbox(database, 'default', { kinds: ['mail_report'], all: true }))
        .filter(({ runId, destination }) => runId === 2 && destination === null)
        .map(({ queuedAt, state }) => [queuedAt, state]);
    await queueReport(database, run, { queuedAt: now, giveUpAt: later(72) });
    await database.execute(`update outbox set state = 'given_up' where run_id = 2`);
    await queueReport(database, run, { queuedAt: later(1), giveUpAt: later(73) });
    const mail = { to: 'mlro@bank.example', messageId: '<stopped>' };
    const times = { queuedAt: later(1), giveUpAt: later(73) };
    await queueReportMails(database, run, { revision: 1, endedAt: now }, [mail], times);
    expect(await waiting()).toEqual([[later(1), 'queued']]);
    await queueReportMails(database, run, { revision: 2, endedAt: later(1) }, [mail], times);
    expect(await waiting()).toEqual([]);
  });
});
