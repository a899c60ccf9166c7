import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CurrentDecision, classifyDecision } from '../../../src/matches/alert.js';
import { dispositionVerdicts } from '../../../src/vocabulary.js';

const names = fc.constantFrom('ada', 'boris', 'cleo');
const releasing: readonly string[] = ['false_positive', 'no_longer_matched'];
const verdicts = fc.constantFrom(...dispositionVerdicts);
const said = fc.record({
  verdict: verdicts,
  reviewer: names,
  needsSecondPerson: fc.boolean(),
  isChanged: fc.boolean(),
});

interface Stored extends CurrentDecision {
  kind: 'decided' | 'proposed' | 'approved';
}

/** Plays what several people say about one alert, one after the other, as it would be stored. */
function play(sayings: readonly (typeof said extends fc.Arbitrary<infer Said> ? Said : never)[]) {
  let status: Stored | null = null;
  return sayings.map(({ isChanged, ...each }, index) => {
    const before: Stored | null = isChanged && status !== null ? { ...status, isAboutTheSame: false } : status;
    const step = classifyDecision(before, each);
    if (step.kind !== 'same_already') {
      const others = step.kind === 'approved' ? (before?.reviewers ?? []) : [];
      status = {
        kind: step.kind,
        dispositionId: index,
        verdict: each.verdict,
        isFinal: step.kind !== 'proposed',
        reviewers: [each.reviewer, ...others],
        isAboutTheSame: true,
      };
    }
    return { ...each, before, step, after: status };
  });
}

it('where two people are needed no one person releases an alert, and any one restricts, whatever is said in whatever order', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), (sayings) => {
      for (const { verdict, reviewer, needsSecondPerson, before, step } of play(sayings)) {
        if (step.kind === 'approved') {
          expect(before).toMatchObject({ isFinal: false, isAboutTheSame: true, verdict });
          expect(before?.dispositionId).toBe(step.proposalId);
          expect(before?.reviewers).not.toContain(reviewer);
        }
        if (needsSecondPerson && releasing.includes(verdict)) expect(step.kind).not.toBe('decided');
        else expect(step.kind).not.toBe('proposed');
      }
    }),
  );
});

it('the same person saying the same again is no second decision, as long as what is to be seen is the same', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 8 }), said, (sayings, last) => {
      const again = { ...last, isChanged: false };
      const [second] = play([...sayings, last, again]).slice(-1);
      expect(second?.step).toEqual({ kind: 'same_already' });
    }),
  );
});

it('what one person proposes and another says too is decided, and a true match takes one person', () => {
  const needsSecondPerson = true;
  const [proposed, confirmed, late, other] = play([
    { verdict: 'false_positive', reviewer: 'ada', needsSecondPerson, isChanged: false },
    { verdict: 'false_positive', reviewer: 'boris', needsSecondPerson, isChanged: false },
    { verdict: 'false_positive', reviewer: 'ada', needsSecondPerson, isChanged: false },
    { verdict: 'true_match', reviewer: 'ada', needsSecondPerson, isChanged: false },
  ]);
  expect(proposed?.step).toEqual({ kind: 'proposed' });
  expect(confirmed?.step).toEqual({ kind: 'approved', proposalId: 0 });
  expect(late?.step).toEqual({ kind: 'same_already' });
  expect(other?.step).toEqual({ kind: 'decided' });
});

it('a proposal from before two were needed no longer is decided by its own reviewer', () => {
  const steps = play([
    { verdict: 'false_positive', reviewer: 'ada', needsSecondPerson: true, isChanged: false },
    { verdict: 'false_positive', reviewer: 'ada', needsSecondPerson: false, isChanged: false },
  ]);
  expect(steps.map(({ step }) => step.kind)).toEqual(['proposed', 'decided']);
});
