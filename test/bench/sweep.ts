import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { hear } from './bare.js';
import type { Bench } from './bench.js';
import type { SweepServiceMessage } from './sweep-service.js';

/** Eight windows are at least this many times as fast as one walk. */
const goal = 6;
const latencyMs = 50;
/** Ten times the dossiers may take this many times the memory. */
const mostGrowth = 1.4;
/** List calls of a walk for each dossier: 2,510 for 250,000. */
const mostCallsEach = 0.010_04;

/** Whole sweeps over a service with latency, in windows and in one walk; then their calls and their memory by the number of dossiers. */
export const benchSweep: Bench = async ({ ground, emit, isQuick }) => {
  const service = fork(fileURLToPath(new URL('./sweep-service.ts', import.meta.url)), {
    execArgv: ['--import', createRequire(import.meta.url).resolve('tsx')],
  });
  const ready = await hear<SweepServiceMessage>(service);
  if (ready.kind !== 'ready') throw new Error('the service did not start');

  const sweep = async (dossiers: number, order: { windows: number; perSecond: number; latencyMs: number }) => {
    service.send({ dossiers, latencyMs: order.latencyMs });
    const site = await ground.openSite('postgres', 0, { ...order, service: ready });
    const { seconds, peakBytes } = await site.run(['sweep', '--no-report']);
    await ground.closeSite(site);
    service.send('calls');
    const counted = await hear<SweepServiceMessage>(service);
    if (counted.kind !== 'calls') throw new Error('the service said nothing of its calls');
    const { calls } = counted;
    emit(
      `${dossiers} dossiers, ${order.windows} windows, ${order.perSecond}/s: ${seconds.toFixed(2)} s, ${calls} list calls, at most ${(peakBytes / 1_048_576).toFixed(0)} MB`,
    );
    return { dossiers, ...order, seconds, peakBytes, calls };
  };

  try {
    const walked = isQuick ? 100 : 160_000;
    const one = await sweep(walked, { windows: 1, perSecond: 400, latencyMs });
    const eight = await sweep(walked, { windows: 8, perSecond: 400, latencyMs });
    const ratio = one.seconds / eight.seconds;
    emit(`at ${latencyMs} ms latency: 8 windows are ${ratio.toFixed(2)} times as fast as one walk (goal ${goal})`);
    const size = isQuick ? 100 : 250_000;
    const small = isQuick ? one : await sweep(size / 10, { windows: 1, perSecond: 10_000, latencyMs: 0 });
    const large = await sweep(size, { windows: 1, perSecond: 10_000, latencyMs: 0 });
    const growth = large.peakBytes / small.peakBytes;
    emit(`ten times the dossiers: ${growth.toFixed(2)} times the memory (at most ${mostGrowth})`);
    const isKept = large.calls <= large.dossiers * mostCallsEach && growth <= mostGrowth;
    return { bench: 'sweep', ratio, goal, ok: isKept && ratio >= goal, samples: [one, eight, small, large] };
  } finally {
    service.disconnect();
  }
};
