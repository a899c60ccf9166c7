import type { HistoryFacts, TrendPoint } from '../../src/reports/run-facts.js';

/** A run of the past in figures. */
export function buildTrendPoint(changes: Partial<TrendPoint> = {}): TrendPoint {
  return {
    runId: '2026-11-21-rescreen-7',
    finishedAt: new Date('2026-11-21T02:04:15Z'),
    seconds: 252,
    searches: 470,
    notScreened: 0,
    hits: 12,
    changes: 9,
    changesBySeverity: { critical: 1, high: 2, medium: 2, low: 3, info: 1 },
    waiting: 14,
    ...changes,
  };
}

/** How an ordinary night went, after 29 others. */
export function buildHistory(): HistoryFacts {
  const dayMs = 86_400_000;
  const last = new Date('2026-11-21T02:04:15Z').getTime();
  return {
    health: {
      perSecond: 9.4,
      limitPerSecond: 10,
      repeated: 3,
      breaks: { count: 2, seconds: 900, longestSeconds: 800 },
      billable: 475,
      cost: { amount: 47.5, currency: 'EUR' },
    },
    settled: { falsePositive: 40, trueMatch: 1, inconclusive: 2, carried: 38, reopened: 1, expired: 1, gone: 3 },
    trend: Array.from({ length: 30 }, (_, index) => {
      const finishedAt = new Date(last - (29 - index) * dayMs);
      const changes = (index * 7) % 23;
      const serious = Math.floor(changes / 5);
      return buildTrendPoint({
        runId: `${finishedAt.toISOString().slice(0, 10)}-rescreen-${index + 1}`,
        finishedAt,
        seconds: 240 + ((index * 37) % 60),
        searches: 450 + ((index * 13) % 50),
        notScreened: index === 11 ? 310 : index % 9 === 8 ? 4 : 0,
        hits: 10 + (index % 5),
        changes,
        changesBySeverity: { critical: 0, high: serious, medium: changes - serious, low: 0, info: 0 },
        waiting: 8 + ((index * 5) % 17),
      });
    }),
  };
}
