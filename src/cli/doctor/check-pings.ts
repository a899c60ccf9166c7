import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { pingedWork } from '../../webhooks/ping-settings.js';
import { findPingAddress } from '../with-pings.js';
import { type Finding, well, wrong } from './finding.js';

/** Whether each monitor that is to be told has an address, without which its work is refused; nothing is said where there is none, and nothing is sent. */
export function checkPings(config: Config): Finding[] {
  return pingedWork.flatMap((work) => {
    if (config.settings.pings[work] === undefined) return [];
    const check = `ping of ${work}`;
    try {
      findPingAddress(config, work);
      return [well(check, 'its monitor has an address')];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const next = `set it, or take pings.${work} out: ${work} and the scheduler are refused without it`;
      return error.problems.map(({ path, message }) => wrong(check, `${path} ${message}`, next));
    }
  });
}
