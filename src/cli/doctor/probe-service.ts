import { stringify } from 'yaml';
import { z } from 'zod';
import { parseHttpDate } from '../../client/answers.js';
import { toKeyMode } from '../../client/credentials.js';
import type { Config } from '../../config/load-config.js';
import { AuthenticationError, ConnectionError } from '../../errors.js';
import { toRedactor } from '../../logging.js';
import type { RunMode } from '../../vocabulary.js';
import { describeError } from '../describe-error.js';
import { listSecrets } from '../workplace.js';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { makeUnknownId, probeDossiers, UnexpectedAnswer } from './probe-dossiers.js';
import { probeSearch, type SearchedParty } from './probe-search.js';
import {
  describeShape,
  describeUnexpected,
  openProbeSender,
  type Probe,
  type ProbeAnswer,
  type ProbeFacts,
  type ProbeSender,
  type ProbeSenderSettings,
  toShownKey,
} from './probe-sender.js';
import { checkClock } from './service.js';

/** What the probes found, how often each operation was called, and the settings that follow. */
export interface ProbeReport {
  findings: readonly Finding[];
  calls: { total: number; searches: number; byOperation: Readonly<Record<string, number>> };
  snippet: string;
}

/** What the service is probed with; `spend` bounds the searches with a name. */
interface ProbeSettings extends ProbeSenderSettings {
  spend: number;
  party: SearchedParty;
}

/** A service that left so many calls in a row without an answer is not asked any further. */
const mostSilences = 4;

const askAll = async (
  probes: readonly Probe[],
  facts: ProbeFacts,
  sender: ProbeSender,
  signal: AbortSignal,
): Promise<Finding[]> => {
  const findings: Finding[] = [];
  let silences = 0;
  for (const { check, ask } of probes) {
    const [sentBefore, answersBefore] = [sender.sent.length, sender.answers.length];
    try {
      findings.push(await ask());
    } catch (error) {
      signal.throwIfAborted();
      const { message, next } = describeError(error);
      if (error instanceof AuthenticationError) return [...findings, wrong(check, message, next ?? 'check the key')];
      if (!(error instanceof ConnectionError || error instanceof UnexpectedAnswer)) throw error;
      findings.push(doubtful(check, `could not be asked: ${message}`, 'probe again later, or ask the operators'));
    }
    if (!facts.isService) return findings;
    const answers = sender.answers.length - answersBefore;
    silences = answers > 0 ? 0 : silences + sender.sent.length - sentBefore;
    if (silences >= mostSilences) {
      const words = `not asked any further: ${silences} calls in a row were left without an answer`;
      return [...findings, wrong('probe', words, 'check the network, or ask the operators of the service')];
    }
  }
  return findings;
};

const isAnsweredSearch = ({ request, status }: ProbeAnswer): boolean =>
  request.path === '/aml/search' && request.isSearch !== true && status >= 200 && status < 300;

const countCalls = ({ sent, answers }: ProbeSender): ProbeReport['calls'] => {
  const byOperation: Record<string, number> = {};
  for (const { method, path, route } of sent) {
    const operation = `${method} ${route ?? path}`;
    byOperation[operation] = (byOperation[operation] ?? 0) + 1;
  }
  // One without a name that was answered all the same was a search to the service.
  const searches = sent.filter(({ isSearch }) => isSearch).length + answers.filter(isAnsweredSearch).length;
  return { total: sent.length, searches, byOperation };
};

/** Looks into each gap of the interface by calls that create nothing, each sent at most once; throws the signal's reason. */
async function probeService(settings: ProbeSettings): Promise<ProbeReport> {
  const { service, apiKey, spend, party, signal } = settings;
  const sender = openProbeSender(settings);
  const nameField = { name: service.aml.nameField, isProven: false };
  const facts: ProbeFacts = { mode: null, isService: true, nameField };
  try {
    const findings = await askAll(
      [
        probeKeyMode(sender, facts, { apiKey, mode: service.mode }),
        ...probeSearch(sender, facts, { configuredField: service.aml.nameField, spend, party }),
        ...probeDossiers(sender),
        probeErrorShape(sender),
        ...probeLists(sender),
        ...probeHeaders(sender),
        probeClock(sender),
      ],
      facts,
      sender,
      signal,
    );
    return {
      findings,
      calls: countCalls(sender),
      snippet: sender.answers.some(({ status }) => status < 400) ? writeSnippet(facts) : '',
    };
  } finally {
    await sender.close();
  }
}

/** What was found as configuration to paste; valid as it is, and what is only taken for granted is marked. */
function writeSnippet({ mode, nameField }: ProbeFacts): string {
  const service = { ...(mode === null ? {} : { mode }), aml: { nameField: nameField.name } };
  const text = stringify({ service });
  const line = `nameField: ${nameField.name}`;
  return nameField.isProven ? text : text.replace(line, `${line} # not proven: --spend 2 tries it`);
}

const read = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

const codePaths = [['error', 'type'], ['error', 'code'], ['code'], ['error'], ['type'], ['error_code']];

/** The shape of an error and where its code stands, seen in the 404 of a dossier that is none (interface: Errors). */
function probeErrorShape(sender: ProbeSender): Probe {
  const check = 'error shape';
  return {
    check,
    ask: async () => {
      const path = `/dossiers/${makeUnknownId()}`;
      const answer = await sender.send({ method: 'GET', path, route: '/dossiers/{id}' });
      if (answer.status !== 404) {
        const came = `a dossier that is none: ${describeUnexpected(answer)} where 404 is due`;
        return doubtful(check, came, 'ask the operators of the service');
      }
      const shape = answer.value === undefined ? 'no JSON' : describeShape(answer.value);
      const place = codePaths.find((keys) => keys.reduce(read, answer.value) === answer.code)?.join('.');
      if (place !== undefined) return well(check, `${shape}, code ${answer.code} in ${place}`);
      return doubtful(
        check,
        `${shape}, no code that the client understands`,
        'nothing to set: errors are then told apart by their status alone',
      );
    },
  };
}

const judgeEnvelope = (check: string, value: unknown): Finding => {
  if (Array.isArray(value)) return well(check, 'a bare list without an envelope');
  const shape = describeShape(value);
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const lists = entries.filter(([, inner]) => Array.isArray(inner)).map(([key]) => key);
  const [list, ...others] = lists;
  if (list !== undefined && others.length === 0)
    return well(check, `the list is in \`${toShownKey(list)}\`, found by itself`);
  const problem = list === undefined ? 'no list in' : `${lists.length} lists in`;
  return doubtful(check, `${problem} ${shape}`, 'the client takes the only list in the envelope: report this form');
};

const probeList = (sender: ProbeSender, check: string, path: string, query: Record<string, string>): Probe => ({
  check,
  ask: async () => {
    const answer = await sender.send({ method: 'GET', path, query });
    if (answer.status !== 200 || answer.value === undefined || !answer.isComplete) {
      const next = 'needed only where invitations are sent; ask the service for the right to use them';
      return doubtful(check, `GET ${path}: ${describeUnexpected(answer)}`, next);
    }
    return judgeEnvelope(check, answer.value);
  },
});

/** Where the lists of invitations and of locales stand in their answers, which the interface does not show (interface: Workflow invitations). */
const probeLists = (sender: ProbeSender): Probe[] => [
  probeList(sender, 'invitations list', '/autodoc/invitations', { per_page: '1' }),
  probeList(sender, 'locales list', '/autodoc/invitations/locales', {}),
];

const publicKeySchema = z.object({ public_key: z.string().min(1), is_test: z.boolean() });

const requestIdHeaders = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-trace-id'];
const readByTheClient = ['x-request-id', 'request-id'];
const rateHeader = /^(retry-after|(x-)?rate-?limit.*)$/i;
const sound = /^[!-~][ -~]{0,59}$/;

/** Whether the key's prefix, the service's `is_test` and `service.mode` agree (interface: Public key record); notes the mode when they do. */
function probeKeyMode(
  sender: ProbeSender,
  facts: ProbeFacts,
  key: { apiKey: string; mode: RunMode | undefined },
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
function probeHeaders({ answers }: ProbeSender): Probe[] {
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
const probeClock = ({ answers }: ProbeSender): Probe => ({
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
