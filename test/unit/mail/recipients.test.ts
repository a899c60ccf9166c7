import { describe, expect, it } from 'vitest';
import { listRecipients, type MailTrigger, mailSettingsSchema, toMailTrigger } from '../../../src/mail/settings.js';
import { toReport } from '../../../src/reports/report.js';
import { buildChange, buildCounts, buildRedFacts, buildRunFacts } from '../../helpers/run-facts.js';

const settings = mailSettingsSchema.parse({
  from: 'night@bank.example',
  to: ['mlro@bank.example'],
  recipients: [
    { to: 'Board@bank.example', kinds: ['summary'] },
    { to: ['operator@bank.example', 'board@bank.example'], kinds: ['failure'] },
    { to: 'retail@bank.example', rosters: ['retail'], attach: 'masked' },
    { to: 'urgent@bank.example', severities: ['critical'], kinds: ['report', 'warning'], attach: 'archive' },
    { to: 'MLRO@bank.example', kinds: ['summary', 'failure'], attach: 'full' },
  ],
});
const reported = (about: Partial<MailTrigger>) =>
  Object.fromEntries(
    listRecipients(settings, { kind: 'report', roster: 'retail', level: 'complete', severities: [], ...about }).map(
      ({ address, shows, attach }) => [address, `${shows} ${attach}`],
    ),
  );

describe('of a report', () => {
  it('that is complete and has found nothing, reviewers and managers are notified, operators are not', () => {
    expect(reported({})).toEqual({
      'mlro@bank.example': 'report none',
      'Board@bank.example': 'summary none',
      'retail@bank.example': 'report masked',
    });
  });

  it('that is partial, operators are notified too, and whoever is notified of failures gets that instead of a summary', () => {
    expect(reported({ level: 'partial' })).toMatchObject({
      'operator@bank.example': 'failure none',
      'board@bank.example': 'failure none',
      'mlro@bank.example': 'report none',
    });
  });

  it('of another roster, nobody is notified who asked for one', () => {
    expect(reported({ roster: 'core' })).not.toHaveProperty('retail@bank.example');
    expect(reported({ roster: null })).toHaveProperty('retail@bank.example');
  });

  it('is reported to whoever asked for a severity when it occurs, and always when the run is red', () => {
    expect(reported({ severities: ['low'] })).not.toHaveProperty('urgent@bank.example');
    expect(reported({ severities: ['low', 'critical'] })).toMatchObject({ 'urgent@bank.example': 'report archive' });
    expect(reported({ level: 'red' })).toMatchObject({ 'urgent@bank.example': 'report archive' });
  });

  it('is reported to whoever asked for other severities when it is partial and nobody else would be reported', () => {
    const urgent = { to: 'urgent@bank.example', severities: ['critical'], kinds: ['report'] };
    const only = mailSettingsSchema.parse({ from: 'night@bank.example', recipients: [urgent] });
    const about = { kind: 'report', roster: 'retail', severities: ['low'] } as const;
    expect(listRecipients(only, { ...about, level: 'partial' })).toMatchObject([{ address: 'urgent@bank.example' }]);
    expect(listRecipients(only, { ...about, level: 'complete' })).toEqual([]);
    expect(reported({ level: 'partial' })).not.toHaveProperty('urgent@bank.example');
  });

  it('level and severities are those of its verdict, changes and first screenings', () => {
    const facts = buildRunFacts({
      changes: [buildChange({ severity: 'low' })],
      baselineChanges: [buildChange({ severity: 'critical' })],
      baseline: { critical: 1, high: 0, medium: 0, low: 0, info: 0 },
      counts: buildCounts({ changes: 1 }),
    });
    expect(toMailTrigger(toReport(facts))).toEqual({
      kind: 'report',
      roster: 'retail',
      level: 'complete',
      severities: ['low', 'critical'],
    });
    expect(toMailTrigger(toReport(buildRedFacts())).level).toBe('red');
  });
});

it('of critical changes amid a run, those are reported who get warnings; of other failures, those who get failures', () => {
  expect(Object.keys(reported({ kind: 'warning', severities: ['critical'] }))).toEqual([
    'mlro@bank.example',
    'retail@bank.example',
    'urgent@bank.example',
  ]);
  expect(Object.keys(reported({ kind: 'failure', level: 'red' }))).toEqual([
    'mlro@bank.example',
    'operator@bank.example',
    'board@bank.example',
  ]);
});

it('a failure that nobody asked for is reported to those who get the report', () => {
  const settings = mailSettingsSchema.parse({
    from: 'nightscreen@bank.example',
    recipients: [{ to: 'reviewer@bank.example', attach: 'full' }],
  });
  expect(listRecipients(settings, { kind: 'failure', roster: 'retail', level: 'red', severities: [] })).toEqual([
    { address: 'reviewer@bank.example', shows: 'failure', attach: 'none' },
  ]);
});
