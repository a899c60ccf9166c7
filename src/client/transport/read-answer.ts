import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { ResponseError } from '../../errors.js';
import type { Operation } from '../operation.js';
import type { RawAnswer } from './send-request.js';

const maxEvidenceBytes = 65_536;

type Issue = z.core.$ZodIssue;

const toPath = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');

/** The issue worth naming: within a union that of the form which came nearest. */
const findIssue = (issues: readonly Issue[]): Issue | undefined => {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const nearest = issue.errors.toSorted((one, other) => one.length - other.length).at(0);
  return findIssue(nearest ?? []) ?? issue;
};

/** The first key that one object of a valid JSON text has twice (RFC 8259, 4: what such an object means is not defined); undefined where none has. */
function findRepeatedKey(json: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === braceOpen) open.push(new Set());
    else if (character === bracketOpen) open.push(null);
    else if (character === braceClose || character === bracketClose) open.pop();
    else if (character === quote) {
      const start = at;
      do at = json.indexOf('"', at + 1);
      while (isEscaped(json, at));
      afterText.lastIndex = at + 1;
      const keys = open.at(-1);
      if (!keys || !afterText.test(json)) continue;
      const raw = json.slice(start + 1, at);
      const key: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}

const [braceOpen, braceClose, bracketOpen, bracketClose, quote, backslash] = [...'{}[]"\\'].map((one) =>
  one.charCodeAt(0),
);
const afterText = /\s*:/y;

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The data of a 2xx answer; throws ResponseError with what is wrong, where, and the answer as evidence, but no value in the message. */
export const readAnswer = <T>(operation: Operation<T>, answer: RawAnswer): { data: T; text: string } => {
  const { method } = operation;
  const { status, body } = answer;
  const path = operation.route ?? operation.path;
  const fail = (code: string, complaint: string): never => {
    throw new ResponseError(code, `${method} ${path}: ${complaint}`, {
      method,
      path,
      status,
      body: body.subarray(0, maxEvidenceBytes).toString('utf8'),
    });
  };
  if (!answer.isComplete) return fail('too_large', 'the answer is longer than service.maxResponseBytes allows');
  if (status !== operation.successStatus) {
    return fail('unexpected_status', `answered with status ${status} where ${operation.successStatus} means success`);
  }
  if (!isUtf8(body)) return fail('not_json', 'the answer is not JSON (it is not UTF-8)');
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = text === '' && operation.mayBeEmpty ? {} : JSON.parse(text);
  } catch {
    return fail('not_json', 'the answer is not JSON');
  }
  // The last one would win, as in `"results":[...],"results":[]`.
  const twice = findRepeatedKey(text);
  if (twice !== undefined) {
    const shown = /^\w{1,64}$/.test(twice) ? twice : 'a field';
    return fail('duplicate_key', `${shown}: is named twice in one object`);
  }
  const parsed = operation.schema.safeParse(value);
  if (!parsed.success) {
    const issue = findIssue(parsed.error.issues);
    return fail(
      'invalid_body',
      `${toPath(issue?.path ?? []) || 'the answer'}: ${issue?.message ?? 'has another form'}`,
    );
  }
  const breach = operation.findBreach?.(parsed.data);
  return breach ? fail(breach.code, breach.message) : { data: parsed.data, text };
};
