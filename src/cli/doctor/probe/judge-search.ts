import { z } from 'zod';
import { createAml } from '../../../client/resources/aml.js';
import { foldEcho } from '../../../client/resources/fold-echo.js';
import { readAnswer } from '../../../client/transport/read-answer.js';
import { ResponseError } from '../../../errors.js';
import { describeUnexpected } from './describe-answer.js';
import type { ProbeAnswer } from './probe-sender.js';

/** The name that is searched for, and as what. */
export interface SearchedParty {
  type: 'person' | 'entity';
  name: string;
}

/**
 * What an answer to a search says of its name field. `accepted`: the name's echo came back. `refused`: the field is not known, or is
 * ignored. `unanswered`: nothing about the field, and no reason to try others. `breach` says why the client would refuse an accepted one.
 */
export type SearchVerdict =
  | { kind: 'accepted'; ids: readonly string[]; breach: string | null }
  | { kind: 'refused'; words: string }
  | { kind: 'unanswered'; words: string };

const echoSchema = z.object({ query: z.string(), type: z.string() });
const idsSchema = z.object({ results: z.array(z.object({ id: z.string() })) });

/** Judges an answer as the client would, without its strictness about everything else. */
export async function judgeSearch(
  answer: ProbeAnswer,
  nameField: string,
  party: SearchedParty,
): Promise<SearchVerdict> {
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
