import type { Config } from '../../../config/load-config.js';
import { toRedactor } from '../../../logging.js';
import { listSecrets } from '../../list-secrets.js';
import { type Finding, wrong } from '../finding.js';
import { type ProbeReport, probeService } from './probe-service.js';

/** Found by every list that there is, so that a search for it has results whose ids can be compared. */
const wellKnownParty = { type: 'person', name: 'Vladimir Putin' } as const;

const redactFinding = (finding: Finding, redact: (text: string) => string): Finding => ({
  ...finding,
  message: redact(finding.message),
  next: finding.next === null ? null : redact(finding.next),
});

/** Probes the configured service with its key; one finding says so where either is not set. Throws the signal's reason. */
export async function runProbe(config: Config, spend: number, signal: AbortSignal): Promise<ProbeReport> {
  const { service, canaries } = config.settings;
  const apiKey = config.secret('NIGHTSCREEN_API_KEY');
  if (service.baseUrl === undefined || apiKey === undefined) {
    const finding = wrong('probe', 'not asked', 'set NIGHTSCREEN_BASE_URL and NIGHTSCREEN_API_KEY');
    return { findings: [finding], calls: { total: 0, searches: 0, byOperation: {} }, snippet: '' };
  }
  const party = canaries.find(({ expect }) => expect === 'match') ?? wellKnownParty;
  const report = await probeService({ service, baseUrl: service.baseUrl, apiKey, spend, party, signal });
  const redact = toRedactor(listSecrets(config));
  return { ...report, findings: report.findings.map((finding) => redactFinding(finding, redact)) };
}
