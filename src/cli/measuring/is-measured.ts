import type { Config } from '../../config/load-config.js';

/** The commands after which figures are others than before. */
const measured: ReadonlySet<string> = new Set([
  'rescreen',
  'onboard',
  'screen',
  'sweep',
  'import',
  'report',
  'runs resume',
  'review import',
  'mail retry',
  'mail drop',
  'status send',
  'watchdog',
]);

/** Whether a command that ends by itself is measured, and the settings say where its metrics are left. */
export function isMeasured({ settings }: Config, command: string): boolean {
  return settings.metrics.textfile !== undefined && (measured.has(command) || command.startsWith('schedule run '));
}
