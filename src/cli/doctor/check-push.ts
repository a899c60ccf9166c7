import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { readPushAuthorization } from '../../metrics/push-authorization.js';
import { type Finding, well, wrong } from './finding.js';

/** Whether the secret that a push gateway asks for is there; nothing is said where it asks for none, and nothing is sent. */
export function checkPush({ settings: { metrics }, secret }: Config): Finding[] {
  const check = 'push gateway';
  try {
    if (readPushAuthorization(metrics, secret) === null) return [];
    return [well(check, `metrics are pushed with ${metrics.pushgatewayUser ? 'user and password' : 'a bearer token'}`)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const next = 'set it (docs/metrics.md): until then no figures are pushed, and alerts go by old ones';
    return error.problems.map(({ where, message }) => wrong(check, `${where} ${message}`, next));
  }
}
