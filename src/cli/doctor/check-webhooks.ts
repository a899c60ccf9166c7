import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { countNoun } from '../../reports/text.js';
import { readWebhookKeys } from '../../runs/status.js';
import { type Finding, well, wrong } from './finding.js';

/** Whether each webhook has a secret that signs, without which runs are refused; nothing is said where there is none, and nothing is sent. */
export function checkWebhooks(config: Config): Finding[] {
  const { webhooks } = config.settings;
  if (webhooks.length === 0) return [];
  try {
    readWebhookKeys(config);
    return [well('webhooks', `${countNoun(webhooks.length, 'address', 'addresses')}, each with a secret`)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const next = 'set it (docs/status.md, Webhooks): runs are refused without it';
    return error.problems.map(({ where, message }) => wrong('webhooks', `${where} ${message}`, next));
  }
}
