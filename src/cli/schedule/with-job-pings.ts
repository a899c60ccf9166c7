import type { Config } from '../../config/load-config.js';
import type { OccasionEnding } from '../../runs/scheduled.js';
import { pingedWork } from '../../webhooks/ping-settings.js';
import { findPingAddress, type PingListener, withPings } from '../with-pings.js';
import { toEndingExitCode } from './perform-job.js';

/** Finds what keeps monitors from being told before any job is begun; throws ConfigError. */
export function checkPings(config: Config): void {
  for (const work of pingedWork) findPingAddress(config, work);
}

/** Performs a job, and tells its monitor that it began and how it ended, where one is configured. */
export async function withJobPings(
  config: Config,
  job: string,
  listener: PingListener,
  perform: () => Promise<OccasionEnding>,
): Promise<OccasionEnding> {
  const work = pingedWork.find((name) => name === job && name !== 'watchdog');
  if (work === undefined) return perform();
  const toEnd = (ending: OccasionEnding) => ({ exitCode: toEndingExitCode(ending), lines: ending.runIds });
  return withPings(config, work, listener, perform, toEnd);
}
