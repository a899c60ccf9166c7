import { z } from 'zod';
import { toKeyMode } from '../../../client/calls/api-key.js';
import { parseHttpDate } from '../../../client/transport/retry-after.js';
import { checkClock } from '../check-clock.js';
import { doubtful, well, wrong } from '../finding.js';
import { describeUnexpected } from './describe-answer.js';
import type { Probe, ProbeFacts } from './probe.js';
import type { ProbeSender } from './probe-sender.js';

const publicKeySchema = z.object({ public_key: z.string().min(1), is_test: z.boolean() });

const requestIdHeaders = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-trace-id'];
const readByTheClient = ['x-request-id', 'request-id'];
const rateHeader = /^(retry-after|(x-)?rate-?limit.*)$/i;
const sound = /^[!-~][ -~]{0,59}$/;

/** Whether the key's prefix, the service's `is_test` and `service.mode` agree (interface: Public key record); notes the mode when they do. */
export function probeKeyMode(
  sender: ProbeSender,
  facts: ProbeFacts,
  key: { apiKey: string; mode: 'test' | 'live' | undefined },
): Probe {
  const check = 'key mode';
  return {
    check,
    ask: async () => {
      const answer = await sender.send({ method: 'GET', path: '/api_keys/public' });
      const parsed = publicKeySchema.safeParse(answer.value);
      if (answer.status === 404) {
        facts.isService = false;
        const words = 'GET /api_keys/public is answered with 404: the service is not at this address';
        return wrong(check, words, 'correct service.baseUrl; does it include the version prefix, such as /v1?');
      }
      if (answer.status !== 200 || !parsed.success) {
        return wrong(check, `GET /api_keys/public: ${describeUnexpected(answer)}`, 'ask the operators of the service');
      }
      const said = parsed.data.is_test ? 'test' : 'live';
      const prefix = toKeyMode(key.apiKey);
      const others = [prefix === 'unknown' ? said : prefix, key.mode ?? said];
      const words = `the service says ${said}, the key's prefix ${prefix}, service.mode ${key.mode ?? 'is not set'}`;
      if (others.some((other) => other !== said)) {
        return wrong(check, words, 'use the key of the right account, or correct service.mode');
      }
      facts.mode = said;
      return well(check, words);
    },
  };
}

/** Which request id and rate limit headers came with the answers so far; sends nothing. */
export function probeHeaders({ answers }: ProbeSender): Probe[] {
  const namesSeen = (isWanted: (name: string) => boolean): string[] => [
    ...new Set(answers.flatMap(({ headers }) => Object.keys(headers).filter(isWanted))),
  ];
  return [
    {
      check: 'request id',
      ask: async () => {
        const names = namesSeen((name) => requestIdHeaders.includes(name));
        const known = names.find((name) => readByTheClient.includes(name));
        const others = 'calls can be named to the operators of the service by their time only';
        if (known === undefined) {
          return doubtful(
            'request id',
            names.length === 0 ? 'no such header comes' : `only ${names.join(', ')}`,
            others,
          );
        }
        const count = answers.filter(({ headers }) => known in headers).length;
        return well('request id', `${known} comes with ${count} of ${answers.length} answers`);
      },
    },
    {
      check: 'rate limit',
      ask: async () => {
        const seen = namesSeen((name) => rateHeader.test(name)).map((name) => {
          const value = answers.map(({ headers }) => headers[name]).findLast((each) => each !== undefined);
          return typeof value === 'string' && sound.test(value) ? `${name}: ${value}` : name;
        });
        return well('rate limit', seen.length === 0 ? 'no header tells of one' : seen.join(', '));
      },
    },
  ];
}

/** How far the service's clock is from this machine's by the Date header; sends nothing. */
export const probeClock = ({ answers }: ProbeSender): Probe => ({
  check: 'clock skew',
  ask: async () =>
    checkClock(
      answers.map(({ headers, sentAt, receivedAt }) => {
        const date = headers['date'];
        const servedAtMs = typeof date === 'string' ? parseHttpDate(date) : Number.NaN;
        return { sentAt, receivedAt, servedAt: Number.isNaN(servedAtMs) ? undefined : new Date(servedAtMs) };
      }),
    ),
});
