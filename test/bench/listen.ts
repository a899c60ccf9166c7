import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { collect, compileCli, runCli, startCli } from '../helpers/cli-process.js';
import { sendEvent, signEvent } from '../helpers/play-events.js';
import type { Bench } from './bench.js';

const perSecond = 200;
const goalMs = 100;
/** Every fifth event is sent once more. */
const repeatedEvery = 5;

/** Answers of `nightscreen reconcile listen` to 200 events a second, each sent on time whatever became of the others; commits reach the disk. */
export const benchListen: Bench = async ({ ground, emit, isQuick }) => {
  const seconds = isQuick ? 1 : 30;
  const program = await compileCli();
  // As long as the service's key.
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-bench-'));
  const events = Array.from({ length: perSecond * seconds }, (_, index) =>
    signEvent(
      'decision.approved',
      { dossier_id: `dossier_Made${index % 1_000}`, padding: 'x'.repeat(2_000) },
      { key: pair.privateKey },
    ),
  ).map((event, index, all) => (index % repeatedEvery === 0 ? (all[Math.max(1, index - 51)] ?? event) : event));
  try {
    await writeFile(join(folder, 'events.pem'), pair.publicKey.export({ type: 'spki', format: 'pem' }));
    await writeFile(join(folder, 'nightscreen.config.yaml'), 'listen:\n  key: ./events.pem\n');
    const samples = [];
    for (const [database, environment] of [
      ['postgres', { DATABASE_URL: ground.toUrl(await ground.createDatabase()) }],
      ['embedded', {}],
    ] as const) {
      const migrated = await runCli(['db', 'migrate'], { folder, environment });
      if (migrated.exitCode !== 0) throw new Error(migrated.stderr);
      const child = startCli(['reconcile', 'listen', '--port', '0', '--json'], { folder, environment });
      const [said, summary] = [collect(child.stderr), collect(child.stdout)];
      const port = await findPort(said);
      const times = (await sendAll(port, events)).toSorted((one, other) => one - other);
      const stopping = performance.now();
      child.kill('SIGTERM');
      await once(child, 'close');
      const endMs = Math.round(performance.now() - stopping);
      const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
      const sample = { database, events: times.length, p50: at(0.5), p99: at(0.99), max: at(0.999_999), endMs };
      emit(
        `${database}: ${times.length} events at ${perSecond}/s: p50 ${sample.p50} ms, p99 ${sample.p99} ms, slowest ${sample.max} ms (goal ${goalMs}); ends ${endMs} ms after SIGTERM`,
      );
      samples.push({ ...sample, counts: JSON.parse(summary.text()) as unknown });
    }
    const worst = Math.max(...samples.map(({ p99 }) => p99));
    return { bench: 'listen', ratio: worst / goalMs, goal: 1, ok: worst <= goalMs, samples };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await program.remove();
  }
};

async function findPort(said: { text: () => string }): Promise<number> {
  for (let tries = 0; tries < 300; tries += 1) {
    const [, port] = /"port":(\d+)/.exec(said.text()) ?? [];
    if (port !== undefined) return Number(port);
    await delay(100);
  }
  throw new Error(`it does not listen: ${said.text()}`);
}

/** Milliseconds from when each event was due to be sent until its answer. */
async function sendAll(port: number, events: readonly ReturnType<typeof signEvent>[]): Promise<readonly number[]> {
  const begun = performance.now();
  const answers: Promise<number>[] = [];
  for (const [index, event] of events.entries()) {
    const dueMs = begun + (index * 1_000) / perSecond;
    const ahead = dueMs - performance.now();
    if (ahead > 0) await delay(ahead);
    answers.push(
      sendEvent(port, event).then((status) => {
        if (status !== 200) throw new Error(`answered ${status}`);
        return performance.now() - dueMs;
      }),
    );
  }
  return Promise.all(answers);
}
