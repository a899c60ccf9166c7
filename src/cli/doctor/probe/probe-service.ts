import { AuthenticationError, ConnectionError } from '../../../errors.js';
import { describeError } from '../../describe-error.js';
import { doubtful, type Finding, wrong } from '../finding.js';
import { UnexpectedAnswer } from './dossier-sample.js';
import type { SearchedParty } from './judge-search.js';
import type { Probe, ProbeFacts } from './probe.js';
import { probeClock, probeHeaders, probeKeyMode } from './probe-account.js';
import { probeDossiers } from './probe-dossiers.js';
import { probeErrorShape } from './probe-errors.js';
import { probeLists } from './probe-lists.js';
import { probeSearch } from './probe-search.js';
import { openProbeSender, type ProbeAnswer, type ProbeSender, type ProbeSenderSettings } from './probe-sender.js';
import { writeSnippet } from './write-snippet.js';

/** What the probes found, how often each operation was called, and the settings that follow. */
export interface ProbeReport {
  findings: readonly Finding[];
  calls: { total: number; searches: number; byOperation: Readonly<Record<string, number>> };
  snippet: string;
}

/** What the service is probed with; `spend` bounds the searches with a name. */
export interface ProbeSettings extends ProbeSenderSettings {
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
export async function probeService(settings: ProbeSettings): Promise<ProbeReport> {
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
