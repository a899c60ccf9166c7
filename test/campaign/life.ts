import { subscribe } from 'node:diagnostics_channel';
import { z } from 'zod';
import { type Clock, systemClock } from '../../src/clock.js';
import { mailSettingsSchema } from '../../src/mail/settings.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { evidenceSettingsSchema, type RunEvent } from '../../src/runs/app-context.js';
import { retryMails } from '../../src/runs/mail/manage.js';
import type { RunSummary } from '../../src/runs/run-summary.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { runWorker } from '../../src/runs/worker-run.js';
import { runReports } from '../../src/runs/write-reports.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { makeAppContext, neverHeld } from '../helpers/small-world.js';
import { campaignControls, type LifeMessage, type LifeOrder, toEvidence } from './site.js';
import { setTrap } from './traps.js';

// One process of a campaign: the real run over the real client and the real database, told over IPC what to do and where to die.
const emit = (message: LifeMessage): void => void process.send?.(message);

const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort(new Error('SIGTERM')));

const mail = {
  ...mailSettingsSchema.parse({
    transport: 'smtp',
    from: 'night@bank.example',
    recipients: [{ to: 'reviewer@bank.example', kinds: ['report', 'warning', 'failure'], attach: 'full' }],
  }),
  earlyWarning: false,
  timeoutMs: 5_000,
};

/** Sets the clock of this process, as that of a host may be wrong: its dates, and not what it measures. */
function shiftDates(offsetMs: number): void {
  if (offsetMs === 0) return;
  const { now } = Date;
  Date.now = () => now() + offsetMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, words, called) =>
      Reflect.construct(target, words.length === 0 ? [target.now()] : words, called),
  });
}

const makeClock = ({ haste = 1 }: LifeOrder): Clock => {
  // With the machine's own clock the rate is shared with other processes.
  if (haste === 1) return systemClock;
  const begunMs = Date.now();
  const elapsedMs = (): number => performance.now() * haste;
  const sinceMs = elapsedMs();
  return {
    elapsedMs,
    now: () => new Date(begunMs + elapsedMs() - sinceMs),
    sleep: (ms, signal) => systemClock.sleep(ms / haste, signal),
  };
};

const searchSent = z.object({ request: z.object({ method: z.literal('POST'), origin: z.coerce.string() }) });

/** Tells when the headers of each search were written to a socket, by the monotonic clock of the machine. */
function tellSent(): void {
  let calls: { origin: string; atMs: number }[] = [];
  subscribe('undici:client:sendHeaders', (message) => {
    const { data } = searchSent.safeParse(message);
    if (data) calls.push({ origin: data.request.origin, atMs: Number(process.hrtime.bigint()) / 1e6 });
  });
  setInterval(() => {
    if (calls.length > 0) emit({ kind: 'sent', calls });
    calls = [];
  }, 100);
}

async function live(order: LifeOrder, emitStage: (stage: string) => void): Promise<RunSummary | null> {
  const trap = await setTrap(order);
  if (order.tellsSent) tellSent();
  shiftDates(order.offsetMs);
  const database = await openDatabase(
    { ...order.location, reconnect: { reconnectForMs: 90_000 } },
    `life ${process.pid}`,
  );
  try {
    await migrate(database);
    const roster = toFileRoster('crowd', order.roster);
    const app = await makeAppContext(
      trap.watch(database),
      { url: order.service.url, privateKey: order.service.apiKey },
      {
        clock: makeClock(order),
        rate: order.rate,
        observer: trap.observer,
        settings: {
          organisation: order.organisation ?? 'default',
          service: { baseUrl: order.service.url, rate: order.rate },
          rosters: [roster],
          controls: campaignControls,
          screening: neverHeld,
          run: { deadline: order.deadline ?? '1h' },
          reports: { dir: order.reports },
          evidence: evidenceSettingsSchema.parse({ dir: toEvidence(order.reports), details: { maxPerRun: 200 } }),
          fleet: order.isFleet ? { worker: 'separate' } : false,
          ...(order.smtpUrl === undefined ? {} : { mail }),
        },
      },
    );
    const secret = (name: string): string | undefined => (name === 'SMTP_URL' ? order.smtpUrl : undefined);
    const hear = (event: RunEvent): void => {
      if (event.kind === 'run_started' || event.kind === 'run_finished') emitStage(event.kind);
      if (event.kind === 'stage_started') emitStage(event.stage);
    };
    try {
      if (order.task === 'work') {
        await runWorker({ ...app, owner: `life-${process.pid}` }, stopping.signal);
        return null;
      }
      if (order.task === 'report') {
        await runReports({ ...app, emit: hear }, {});
        return null;
      }
      if (order.task === 'mail') {
        await retryMails({ ...app, secret }, []);
        return null;
      }
      const options = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: true } as const;
      return await runScreening({ ...app, secret, emit: hear }, options, stopping.signal);
    } finally {
      await app.client().close();
    }
  } finally {
    await database.close();
  }
}

process.on('message', (order: LifeOrder) => {
  const begunMs = performance.now();
  const afterMs = (): number => performance.now() - begunMs;
  live(order, (stage) => emit({ kind: 'stage', stage, afterMs: afterMs() })).then(
    (summary) => emit({ kind: 'ended', summary, afterMs: afterMs() }),
    (error: unknown) => {
      const { name, message } = error instanceof Error ? error : { name: 'unknown', message: String(error) };
      emit({ kind: 'failed', error: name, message, afterMs: afterMs() });
    },
  );
});
process.on('disconnect', () => process.exit());
emit({ kind: 'ready' });
