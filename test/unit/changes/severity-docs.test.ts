import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { corroborate } from '../../../src/changes/corroboration.js';
import { diffMatches } from '../../../src/changes/match-changes.js';
import {
  changeSettingsSchema,
  type SeverityRuleName,
  severityRules,
  toSeverity,
} from '../../../src/changes/severity.js';
import type { Match } from '../../../src/matches/match.js';
import { severities } from '../../../src/vocabulary.js';
import { makeMatch } from '../../helpers/run-facts.js';

const page = readFileSync(new URL('../../../docs/severity.md', import.meta.url), 'utf8');
const cells = (heading: string) =>
  page
    .slice(page.indexOf(heading))
    .split('\n\n', 1)
    .join()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
const settings = changeSettingsSchema.parse({});
const table = cells('| severity | rule |');

it('the documented table of severities is the one that judges', () => {
  expect(table.map(([, severity, rule, when]) => [severity, rule, when])).toEqual(
    severityRules.map(({ severity, rule, when }) => [severity, `\`${rule}\``, when]),
  );
});

it('the documented families of topics are the default ones', () => {
  const { topics } = settings;
  expect(cells('| family | topics |').map(([, family, listed]) => [family, listed])).toEqual(
    Object.entries(topics).map(([family, listed]) => [`\`${family}\``, listed.map((one) => `\`${one}\``).join(', ')]),
  );
});

describe('a contradicting birth date', () => {
  const made = (topics: string[], facts: Partial<Match> = {}) => makeMatch({ topics, ...facts });
  const weak = { isHit: false };
  const confirmed = { isTrueMatch: true, cause: 'customer_record' } as const;
  /** A change of each rule: before, after, and what else it takes. */
  const examples: Record<
    SeverityRuleName,
    [before: Match | null, after: Match | null, facts?: Partial<Parameters<typeof toSeverity>[0]>, truncated?: true]
  > = {
    sanction_hit_gained: [null, made(['sanction'])],
    true_match_customer_changed: [made(['role.pep']), made(['role.pep'], { score: 0.8 }), confirmed],
    crime_hit_gained: [null, made(['crime'])],
    sanction_birth_date_agrees: [null, made(['sanction'], weak)],
    unknown_topic: [null, made(['moon'], weak)],
    hit_without_topic: [null, made([])],
    sanction_below_threshold: [null, made(['sanction'], weak)],
    pep_hit_gained: [null, made(['role.pep'])],
    crime_below_threshold: [null, made(['crime'], weak)],
    associate_hit_gained: [null, made(['role.rca'])],
    hit_gained: [null, made(['poi'])],
    hit_lost: [made(['role.pep']), made(['role.pep'], weak)],
    not_returned: [made(['role.pep']), null, {}, true],
    delisted: [made(['role.pep']), null],
    sanction_topic_lost: [made(['sanction', 'poi']), made(['poi'])],
    hit_facts_changed: [made(['role.pep']), made(['role.pep'], { birthDates: ['1950'] })],
    rekeyed: [made(['role.pep']), made(['role.pep'], { id: 'amla_two' })],
    other_change: [made(['role.pep']), made(['role.pep'], { countries: ['fr'] })],
  };
  const assess = (rule: SeverityRuleName, facts: Partial<Parameters<typeof toSeverity>[0]>, ...further: string[]) => {
    const [before, after, own, truncated = false] = examples[rule];
    const list = (match: Match | null) => (match ? [{ ...match, topics: [...match.topics, ...further] }] : []);
    const known = { matches: list(before), unreturned: [], removed: [], reportedScores: {} };
    const answer = { total: truncated ? 9 : 1, truncated, matches: list(after) };
    const [difference] = diffMatches(known, answer, settings.scoreStep).differences;
    if (!difference) throw new Error('no difference');
    const corroboration = { birthDate: 'contradict', country: 'contradict' } as const;
    const nothing = { corroboration, cause: 'service_data', isTrueMatch: false, riskTier: null } as const;
    return toSeverity({ difference, ...nothing, ...own, ...facts }, settings);
  };
  const unknown = { corroboration: { birthDate: 'unknown', country: 'contradict' } } as const;
  const steps: readonly string[] = severities;
  const place = (severity = '') => steps.indexOf(severity);

  it.each(severityRules.map(({ rule }) => rule).filter((rule) => rule !== 'sanction_birth_date_agrees'))(
    'lowers %s as documented',
    (rule) => {
      const [, severity, , , lowered] = table.find(([, , name]) => name === `\`${rule}\``) ?? [];
      expect(assess(rule, unknown)).toEqual({ severity, rule, adjustments: [] });
      const adjustments = lowered === severity ? [] : ['birth_date_contradicts'];
      expect(assess(rule, {})).toEqual({ severity: lowered, rule, adjustments });
      expect(place(lowered) - place(severity)).toBeLessThanOrEqual(1);
    },
  );

  it('never lowers a sanction below medium, a confirmed match, or what the answer no longer holds, whatever the rule', () => {
    for (const { rule } of severityRules) {
      const [, after, own] = examples[rule];
      // A sanction that is lost is one without anything added.
      const further = rule === 'sanction_topic_lost' ? [] : ['sanction'];
      const withIt = place(assess(rule, {}, ...further).severity);
      expect(withIt, rule).toBeLessThanOrEqual(
        Math.max(place('medium'), place(assess(rule, unknown, ...further).severity)),
      );
      const facts = { ...own, isTrueMatch: true };
      expect(assess(rule, facts).severity, rule).toBe(assess(rule, { ...facts, ...unknown }).severity);
      if (after === null) expect(assess(rule, {}).severity, rule).toBe(assess(rule, unknown).severity);
    }
  });
});

describe('the documented comparisons', () => {
  const list = (cell = '') => cell.split(', ').filter((alert) => alert !== '');

  it.each(cells('| customer | listed | birth date |'))('%sborn %s, listed %s: %s', (_, ours, listed, verdict) => {
    const party = { birthDate: ours || null, countries: [] };
    expect(corroborate(party, { birthDates: list(listed), countries: [] }).birthDate).toBe(verdict);
  });

  it.each(cells('| customer | listed | country |'))('%sof %s, listed %s: %s', (_, ours, listed, verdict) => {
    const party = { birthDate: null, countries: list(ours) };
    expect(corroborate(party, { birthDates: [], countries: list(listed) }).country).toBe(verdict);
  });
});
