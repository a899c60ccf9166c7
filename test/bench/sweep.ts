import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../helpers/cli-process.js';
import { countBusiestSecond } from '../helpers/figures.js';
import type { Bench } from './bench.js';
import type { SweepOrder, SweepReport } from './sweep-program.js';
import type { SweepServiceMessage, SweepWorld } from './sweep-service.js';

/** Eight windows are at least six times as fast as one walk; 7.5 times is what is aimed at. */
const goal = 6;
const latencyMs = 50;
/** Ten times the dossiers may take this many times the memory. */
const mostGrowth = 1.4;

const hear = async <Message>(child: ChildProcess): Promise<Message> => {
  const [message]: Message[] = await once(child, 'message');
  if (message === undefined) throw new Error('the process said nothing');
  return message;
};

/** Whole sweeps over a service with latency, in windows and in one walk; then their calls and their memory by the number of dossiers. */
export const benchSweep: Bench = async ({ ground, emit, isQuick }) => {
  const walked = isQuick ? 500 : 80_000;
  const sizes = isQuick ? [100, 1_000] : [25_000, 250_000];
  const service = fork(fileURLToPath(new URL('./sweep-service.ts', import.meta.url)), {
    execArgv: ['--import', createRequire(import.meta.url).resolve('tsx')],
  });
  const program = await bundleProgram(new URL('./sweep-program.ts', import.meta.url));
  const ready = await hear<SweepServiceMessage>(service);
  if (ready.kind !== 'ready') throw new Error('the service did not start');
  const { url, privateKey } = ready;

  const sweep = async (order: Pick<SweepOrder, 'databaseUrl' | 'windows' | 'perSecond'>) => {
    // A process of its own: the most memory that it held is that of this sweep.
    const child = fork(program.path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send({ url, privateKey, ...order });
    const { error, sentMs, ...report } = await hear<SweepReport>(child);
    child.disconnect();
    if (error !== null) throw new Error(error);
    service.send('calls');
    const calls = await hear<SweepServiceMessage>(service);
    if (calls.kind !== 'calls') throw new Error('the service said nothing of its calls');
    const busiestSecond = countBusiestSecond(sentMs);
    const sample = { ...order, ...report, calls: calls.atMs.length, busiestSecond };
    emit(
      `${report.dossiers} dossiers, ${order.windows} windows, ${order.perSecond}/s: ${(report.spanMs / 1_000).toFixed(2)} s, ${sample.calls} list calls of ${(report.cpuMs / sample.calls).toFixed(1)} ms CPU, busiest second ${busiestSecond}, at most ${(report.peakBytes / 1_048_576).toFixed(0)} MB`,
    );
    return sample;
  };
  const withDatabase = async <T>(world: SweepWorld, work: (databaseUrl: string) => Promise<T>): Promise<T> => {
    service.send(world);
    return work(ground.toUrl(await ground.createDatabase()));
  };

  try {
    const speeds = await withDatabase({ dossiers: walked, latencyMs }, async (databaseUrl) => [
      // The starting point, and a rate that the windows use up.
      await sweep({ databaseUrl, windows: 8, perSecond: 60 }),
      await sweep({ databaseUrl, windows: 1, perSecond: 400 }),
      await sweep({ databaseUrl, windows: 8, perSecond: 400 }),
    ]);
    const [, one, eight] = speeds;
    const ratio = (one?.spanMs ?? 0) / (eight?.spanMs ?? 1);
    emit(`at ${latencyMs} ms latency: 8 windows are ${ratio.toFixed(2)} times as fast as one walk (goal ${goal})`);
    const amounts = [];
    for (const dossiers of sizes) {
      const order = { windows: 1, perSecond: 10_000 };
      amounts.push(
        ...(await withDatabase({ dossiers, latencyMs: 0 }, async (databaseUrl) => [
          await sweep({ databaseUrl, ...order }),
          await sweep({ databaseUrl, ...order }),
        ])),
      );
    }
    const [small, , large, largeAgain] = amounts;
    const growth = Math.max(large?.peakBytes ?? 0, largeAgain?.peakBytes ?? 0) / (small?.peakBytes ?? 1);
    emit(`ten times the dossiers: ${growth.toFixed(2)} times the memory (at most ${mostGrowth})`);
    const isKept =
      speeds.every(({ busiestSecond, perSecond }) => busiestSecond <= perSecond) &&
      [large, largeAgain].every((sample) => (sample?.calls ?? 9_999) <= 2_510) &&
      growth <= mostGrowth;
    return { bench: 'sweep', ratio, goal, ok: isKept && ratio >= goal, samples: [...speeds, ...amounts] };
  } finally {
    service.disconnect();
    await program.remove();
  }
};
