import type { Config } from '../../config/load-config.js';
import type { Metrics } from '../../metrics/create-metrics.js';
import { createMetrics } from '../../metrics/create-metrics.js';
import { pushMetrics } from '../../metrics/push-metrics.js';
import type { MetricsSettings } from '../../metrics/settings.js';
import { writeTextfile } from '../../metrics/write-textfile.js';
import { readMetricFacts } from '../../runs/measuring/read-metric-facts.js';
import type { Workplace } from '../../runs/workplace.js';
import type { Invocation } from '../invocation.js';
import { version } from '../version.js';

/** The metrics of a process, read anew from an open database and left where the settings say. */
export interface Measuring {
  metrics: Metrics;
  /** Never throws: what cannot be measured or left is told, and the work itself stands. */
  refresh(workplace: Workplace): Promise<void>;
}

/** Measures a command that ends by itself. */
export function measureCommand(invocation: Invocation, { settings }: Config): Measuring {
  return measureInto(settings.metrics, createMetrics(version, { isLasting: false }), {
    // Whoever asks to stop waits a few seconds only.
    isStopping: () => invocation.signal.aborted,
    complain: (message) => invocation.terminal.writeMessage(`nightscreen: ${message}\n`),
  });
}

/** Measures into `metrics`, and leaves them where the settings say. */
export function measureInto(
  settings: MetricsSettings,
  metrics: Metrics,
  { isStopping, complain }: { isStopping: () => boolean; complain: (message: string) => void },
): Measuring {
  const attempt = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      complain(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
  const { textfile, pushgateway, timeoutMs } = settings;
  return {
    metrics,
    refresh: async (workplace) => {
      if (isStopping()) return;
      const isRead = await attempt('the figures for metrics could not be read', async () =>
        metrics.show(await readMetricFacts(workplace)),
      );
      if (!isRead) metrics.showUnreadable();
      if (textfile === undefined && pushgateway === undefined) return;
      const text = await metrics.write();
      if (textfile !== undefined) {
        await attempt(`metrics could not be written to ${textfile}`, () => writeTextfile(textfile, text));
      }
      if (pushgateway !== undefined) {
        const { contentType } = metrics;
        await attempt('metrics could not be pushed', () => pushMetrics(pushgateway, { text, contentType }, timeoutMs));
      }
    },
  };
}
