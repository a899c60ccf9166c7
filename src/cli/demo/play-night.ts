import type { Clock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import type { RunSummary } from '../../runs/run-summary.js';
import { showProgress } from '../show-progress.js';
import type { Terminal } from '../terminal.js';
import { buildWorkplace } from '../workplace.js';

/** What one night made. */
export interface Night {
  screening: RunSummary;
  sweep: RunSummary;
  /** Folder of the night's report. */
  report: string;
}

/** Plays one night by the given clock: sweep, import, screen, reconcile, report and mail as `.eml` files. */
export async function playNight(config: Config, clock: Clock, terminal: Terminal, signal: AbortSignal): Promise<Night> {
  const { runScreening } = await import('../../runs/screening-run.js');
  const { runSweep } = await import('../../runs/sweep-run.js');
  const { mailRunReport } = await import('../../runs/mail/deliver.js');
  const { writeRunReport } = await import('../../runs/write-reports.js');
  const { tell, close } = showProgress(terminal, config.settings.service.rate.perSecond, '  ');
  const workplace = await buildWorkplace({ config, command: 'demo', tell, clock });
  try {
    const [roster] = workplace.settings.rosters;
    if (!roster) throw new Error('the demo has no roster');
    const plan = { kind: 'rescreen', selection: 'due', importFirst: true, writeReport: false } as const;
    const sweep = await runSweep(workplace, { writeReport: false }, signal);
    signal.throwIfAborted();
    const screening = await runScreening(workplace, { ...plan, roster }, signal);
    signal.throwIfAborted();
    const report = await writeRunReport(workplace, screening.runId);
    await mailRunReport(workplace, report, signal);
    return { screening, sweep, report: report.directory };
  } finally {
    await workplace.close();
    close();
  }
}
