import { z } from 'zod';
import { createAml, foldEcho } from '../../client/aml.js';
import { readAnswer } from '../../client/answers.js';
import { ResponseError } from '../../errors.js';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { describeUnexpected, type Probe, type ProbeAnswer, type ProbeFacts, type ProbeSender } from './probe-sender.js';

/** What the search is probed with; at most `spend` searches with a name are sent, refused ones included. */
interface SearchProbeSettings {
  configuredField: string;
  spend: number;
  party: SearchedParty;
}

/** Searches that were sent with a name, and the field that was accepted. */
interface SearchTrial {
  accepted: { field: string; ids: readonly string[]; breach: string | null } | null;
  refusals: readonly string[];
  unanswered: string | null;
}

const path = '/aml/search';

/** Whether requests cost nothing: by the word of the service, which no other contradicts (interface: Mode rules 2). */
const isFree = (facts: ProbeFacts): boolean => facts.mode === 'test';

const describeTrial = (trial: SearchTrial, spent: number, configured: string): Finding => {
  const check = 'name field';
  const { accepted, refusals, unanswered } = trial;
  const refused = refusals.length === 0 ? '' : `refused: ${refusals.join('; ')}`;
  if (accepted === null) {
    if (unanswered !== null) return doubtful(check, `not proven: ${unanswered}`, 'probe again later');
    return wrong(
      check,
      refused,
      `ask the operators for the name, or try more of them: --spend ${Math.min(20, spent + 6)}`,
    );
  }
  const found = `\`${accepted.field}\` is accepted, the name's echo comes back`;
  if (accepted.breach !== null) {
    return wrong(check, `${found}, but the client would not take the answer: ${accepted.breach}`, 'tell the operators');
  }
  if (accepted.field === configured) return well(check, found);
  return wrong(check, `${found}; ${refused}`, `set service.aml.nameField to ${accepted.field}`);
};

/** Which parameter a search takes the name in, and whether `results[].id` stays the same (interface: AML search). */
export function probeSearch(sender: ProbeSender, facts: ProbeFacts, settings: SearchProbeSettings): Probe[] {
  const { configuredField, party } = settings;
  /** Nothing is spent before service, key and settings agree on the mode. */
  const findSpend = (): number => (facts.mode === null ? 0 : settings.spend);
  const howToSpend = (): string =>
    settings.spend > 0
      ? 'settle the key mode first: nothing is searched before'
      : '`doctor --probe --spend 2` makes it';
  let guessed: string | undefined;
  let trial: SearchTrial | null = null;
  let spent = 0;

  const search = (field: string): Promise<ProbeAnswer> => {
    spent += 1;
    const body = { type: party.type, [field]: party.name };
    return sender.send({ method: 'POST', path, body, isSearch: true });
  };

  const askWithout = async (): Promise<Finding> => {
    const check = 'search without a name';
    if (!isFree(facts)) {
      const next = findSpend() === 0 ? howToSpend() : 'nothing to do: it is searched with a name below';
      const because = facts.mode === null ? 'the key mode is not settled' : 'a request with a live key may cost';
      return doubtful(check, `not asked: ${because}`, next);
    }
    const answer = await sender.send({
      method: 'POST',
      path,
      route: `${path} (without a name)`,
      body: { type: party.type },
    });
    if (answer.status !== 400 && answer.status !== 422) {
      const isAnswered = answer.status >= 200 && answer.status < 300;
      const meaning = isAnswered ? ': a wrong name field would not be refused' : '';
      const next = isAnswered ? 'nothing to set: an answer without the echo is never a clear' : 'probe again later';
      return doubtful(check, `${describeUnexpected(answer)}${meaning}`, next);
    }
    guessed = guessNameField(answer.value);
    const words = `is refused: ${describeUnexpected(answer)}, ${guessed === undefined ? 'naming no field' : `naming \`${guessed}\``}`;
    return guessed === undefined || guessed === configuredField
      ? well(check, words)
      : doubtful(
          check,
          `${words} where ${configuredField} is configured`,
          findSpend() > 1 ? 'nothing to do: both are tried below' : '`doctor --probe --spend 2` tries both',
        );
  };

  const tryFields = async (): Promise<SearchTrial> => {
    const refusals: string[] = [];
    for (const field of listNameFields(configuredField, guessed).slice(0, findSpend())) {
      const verdict: SearchVerdict = await judgeSearch(await search(field), field, party);
      if (verdict.kind === 'unanswered') return { accepted: null, refusals, unanswered: verdict.words };
      if (verdict.kind === 'accepted') return { accepted: { field, ...verdict }, refusals, unanswered: null };
      refusals.push(`\`${field}\` (${verdict.words})`);
    }
    return { accepted: null, refusals, unanswered: null };
  };

  const askField = async (): Promise<Finding> => {
    if (findSpend() === 0) {
      facts.nameField = { name: guessed ?? configuredField, isProven: false };
      return doubtful('name field', `\`${facts.nameField.name}\`, not proven: that takes a search`, howToSpend());
    }
    trial = await tryFields();
    const isProven = trial.accepted !== null;
    facts.nameField = { name: trial.accepted?.field ?? guessed ?? configuredField, isProven };
    return describeTrial(trial, spent, configuredField);
  };

  const askIds = async (): Promise<Finding> => {
    const check = 'match ids';
    const accepted = trial?.accepted;
    const spend = findSpend();
    if (spend === 0) return doubtful(check, 'not compared: that takes two searches', howToSpend());
    if (!accepted) return doubtful(check, 'not compared: no search was accepted', 'settle the name field first');
    if (accepted.ids.length === 0) {
      return doubtful(check, `nothing to compare: ${party.name} gave no results`, 'name a listed party as a canary');
    }
    if (spent >= spend)
      return doubtful(check, 'not compared: the spend is used up', `\`doctor --probe --spend ${spent + 1}\` goes on`);
    const verdict = await judgeSearch(await search(accepted.field), accepted.field, party);
    if (verdict.kind !== 'accepted') return doubtful(check, `not compared: ${verdict.words}`, 'probe again later');
    const again = accepted.ids.filter((id) => verdict.ids.includes(id)).length;
    const words = `${again} of ${accepted.ids.length} results of ${party.name} had the same id in a second search`;
    return again === accepted.ids.length && again === verdict.ids.length
      ? well(check, words)
      : doubtful(check, words, 'nothing to set: matches whose id changed are paired by their content');
  };

  return [
    { check: 'search without a name', ask: askWithout },
    { check: 'name field', ask: askField },
    { check: 'match ids', ask: askIds },
  ];
}

/** Names that a search's name parameter is likely to have, likeliest first. */
const candidates = ['name', 'query', 'q', 'full_name', 'search', 'search_term', 'term', 'entity_name', 'fullName'];

const namings = [
  /["'`]([A-Za-z]\w{0,39})["'`]/g,
  /(?:\bat|\bparameter|\bfield|\bproperty|\bmissing|\brequired):?\s+([A-Za-z]\w{0,39})/gi,
  /\b([A-Za-z]\w{0,39}):?(?: parameter| field)? (?:is|must|can't|cannot|may not|should)\b/gi,
];

function listTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`"${key}"`, ...listTexts(inner, depth + 1)]);
}

/** The likely field that the refusal of a search without a name complains of, or undefined; a guess to be tried, never a proof. */
function guessNameField(refusal: unknown): string | undefined {
  const text = listTexts(refusal).join('\n');
  const named = namings.flatMap((pattern) => [...text.matchAll(pattern)].map(([, word = '']) => word));
  const folded = named.map((word) => candidates.find((each) => each.toLowerCase() === word.toLowerCase()));
  return folded.find((word) => word !== undefined);
}

/** The fields to try in order: the configured one, what a refusal named, then the likely ones. */
const listNameFields = (configured: string, guessed: string | undefined): string[] => [
  ...new Set([configured, ...(guessed === undefined ? [] : [guessed]), ...candidates]),
];

/** The name that is searched for, and as what. */
export interface SearchedParty {
  type: 'person' | 'entity';
  name: string;
}

/**
 * What an answer to a search says of its name field. `accepted`: the name's echo came back. `refused`: the field is not known, or is
 * ignored. `unanswered`: nothing about the field, and no reason to try others. `breach` says why the client would refuse an accepted one.
 */
type SearchVerdict =
  | { kind: 'accepted'; ids: readonly string[]; breach: string | null }
  | { kind: 'refused'; words: string }
  | { kind: 'unanswered'; words: string };

const echoSchema = z.object({ query: z.string(), type: z.string() });
const idsSchema = z.object({ results: z.array(z.object({ id: z.string() })) });

/** Judges an answer as the client would, without its strictness about everything else. */
async function judgeSearch(answer: ProbeAnswer, nameField: string, party: SearchedParty): Promise<SearchVerdict> {
  const { status, value } = answer;
  if (status === 400 || status === 422) return { kind: 'refused', words: describeUnexpected(answer) };
  if (status < 200 || status >= 300 || value === undefined) {
    return { kind: 'unanswered', words: describeUnexpected(answer) };
  }
  const echo = echoSchema.safeParse(value);
  if (echo.data?.type !== party.type || foldEcho(echo.data.query) !== foldEcho(party.name)) {
    return { kind: 'refused', words: `status ${status}, but the name's echo did not come back` };
  }
  const parsed = idsSchema.safeParse(value);
  const ids = parsed.success ? parsed.data.results.map(({ id }) => id) : [];
  return { kind: 'accepted', ids, breach: await findBreach(answer, nameField, party) };
}

async function findBreach(answer: ProbeAnswer, nameField: string, party: SearchedParty): Promise<string | null> {
  const aml = createAml(async (operation) => {
    const { data, text } = readAnswer(operation, answer);
    return { data, body: text, status: answer.status, requestId: undefined, attempts: 1 };
  }, nameField);
  try {
    await aml.search(party);
    return null;
  } catch (error) {
    if (error instanceof ResponseError) return error.message;
    throw error;
  }
}
