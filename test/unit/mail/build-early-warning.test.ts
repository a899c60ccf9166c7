import { describe, expect, it } from 'vitest';
import { buildEarlyWarning, type EarlyWarning } from '../../../src/mail/early-warning.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
import { buildChange, buildParty } from '../../helpers/run-facts.js';

const settings = mailSettingsSchema.parse({ from: 'night@example.org', to: ['a@example.org'] });
const reader = { address: 'a@example.org', attach: 'none' } as const;
const warn = (changes: Partial<EarlyWarning> = {}): EarlyWarning => ({
  runId: '2026-11-21-rescreen-7',
  roster: 'retail',
  organisation: 'default',
  mode: 'live',
  timezone: 'UTC',
  changes: 1,
  firstChangeId: 12,
  lastChangeId: 12,
  queuedAt: new Date('2026-11-21T02:03:00Z'),
  hasControls: true,
  listed: [{ ...buildChange(), isBaseline: false }],
  ...changes,
});

describe('a provisional mail', () => {
  it('says that it is provisional in subject and text, and tells customers by reference only', () => {
    const { subject, text, html } = buildEarlyWarning(warn(), reader, settings);
    expect(subject).toBe('[PROVISIONAL] 1 critical change - retail, 2026-11-21');
    expect(text).toContain('PROVISIONAL: 1 critical change; the run is still in progress');
    expect(text).toContain('- C-1001: Newly listed, flagged as hit - Politically exposed, Sanctioned');
    expect(text).toContain('2026-11-21-rescreen-7, not finished');
    for (const body of [text, html]) expect(body).not.toMatch(/Haddad/i);
  });

  it.each([
    [1, [true], 'sanction hit'],
    [3, [true, false, false], 'sanction hit, 3 critical changes'],
    [2, [true, true], '2 sanction hits'],
    [2, [false, false], '2 critical changes'],
  ])('of %i changes says how many are sanction hits: %j', (changes, hits, said) => {
    const listed = hits.map((isSanctionHit) => ({ ...buildChange({ isSanctionHit }), isBaseline: false }));
    const { subject } = buildEarlyWarning(warn({ changes, listed }), reader, settings);
    expect(subject).toBe(`[PROVISIONAL] ${said} - retail, 2026-11-21`);
  });

  it('names customer and listed party where mail may hold personal data', () => {
    const { text } = buildEarlyWarning(warn(), { ...reader, attach: 'full' }, settings);
    expect(text).toContain(
      'C-1001 Amina Haddad: Newly listed, flagged as hit - Politically exposed, Sanctioned, as Amina HADDAD',
    );
    expect(text).toContain('This message contains personal data');
  });

  it('is the same message for the same changes and recipient, and another one otherwise', () => {
    const idOf = (warning: EarlyWarning, address = reader.address as string): string =>
      buildEarlyWarning(warning, { ...reader, address }, settings).messageId;
    expect(idOf(warn())).toBe(idOf(warn({ queuedAt: new Date(0), listed: [] })));
    expect(idOf(warn())).not.toBe(idOf(warn({ lastChangeId: 13 })));
    expect(idOf(warn())).not.toBe(idOf(warn(), 'b@example.org'));
  });

  it('counts what does not fit, says that a key is a test key, and shows hostile references as text', () => {
    const party = buildParty({ reference: '<b>\u202eC\u0000</b>\r\nBcc: x@example.org' });
    const listed = [{ ...buildChange({ party }), isBaseline: true }];
    const { subject, text, html } = buildEarlyWarning(warn({ mode: 'test', changes: 61, listed }), reader, settings);
    expect(subject).toContain('61 critical changes - TEST key');
    expect(text).toContain('First screening, flagged as hit');
    expect(text).toContain('and 60 more, which the report will list');
    expect(html).not.toContain('<b>');
    for (const body of [text, html]) {
      for (const hidden of ['\u0000', '\u202e', '\r']) expect(body).not.toContain(hidden);
    }
  });
});
