import type { Client } from '../../client/client.js';
import { toKeyFingerprint, toKeyMode } from '../../client/credentials.js';
import { keyVariable } from '../../config/environment.js';
import type { Config } from '../../config/load-config.js';
import { NotFoundError } from '../../errors.js';
import { findControlCoverage } from '../../matches/control.js';
import { findProxy } from '../../outgoing.js';
import { findLiveProblems } from '../../runs/account.js';
import type { RunMode } from '../../vocabulary.js';
import { findMissingService } from '../app-context.js';
import { describeError } from '../describe-error.js';
import { findMode } from '../open-database.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

function checkKey(config: Config): Finding {
  const { keyProblems } = config;
  const [problem] = keyProblems;
  if (problem)
    return wrong('key', `${problem.where} ${problem.message}`, 'correct it: only this organisation needs it');
  const key = config.secret(keyVariable);
  if (key === undefined) {
    const variable = config.variableOf(keyVariable);
    return wrong('key', `${variable} is not set`, `set it, or ${variable}_FILE, to the private key`);
  }
  const mode = toKeyMode(key);
  const print = `fingerprint ${toKeyFingerprint(key)}`;
  if (mode === 'unknown') {
    return doubtful('key', `of an unknown family, ${print}`, 'private keys begin with private_ or private_sandbox_');
  }
  return well('key', `${mode}, ${print}`);
}

/** Whether service, key and settings agree on the mode. */
async function checkMode(client: Client, url: string, agreed: RunMode | undefined): Promise<Finding> {
  const differ = (words: string) => wrong('service', `${url} ${words}`, 'use the key of the right account');
  try {
    const answer = await client.apiKeys.public().catch(async (error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
      return { data: null, ...(await client.identify()) };
    });
    if (answer.data === null) {
      const mode = answer.isTest ? 'test' : 'live';
      const what = `${url} names no public key of this account; the key counts as a ${mode} key by ${agreed ? 'service.mode' : 'its prefix'}`;
      return doubtful('service', what, 'create a public key, so that the service reports the mode');
    }
    const mode = answer.data.is_test ? 'test' : 'live';
    if (client.keyMode !== 'unknown' && client.keyMode !== mode) {
      return differ(`says ${mode}, the key says ${client.keyMode}`);
    }
    if (agreed !== undefined && agreed !== mode) return differ(`says ${mode}, service.mode says ${agreed}`);
    return well('service', `${url} answers, ${mode} mode`);
  } catch (error) {
    const { message, next } = describeError(error, { isDoctor: true });
    return wrong('service', `${url}: ${message}`, next ?? 'contact the operators of the service');
  }
}

function describeWay(url: URL): Finding {
  const found = findProxy(url, {});
  if (found === null) return well('network', `requests go to ${url.host} directly`);
  return well('network', `requests to ${url.host} go through ${found.url} (${found.source})`);
}

/** Checks the key, the service, the budget of a live key and the controls; costs nothing. */
export const checkService = async (config: Config): Promise<Finding[]> => [
  ...(await checkConnection(config)),
  ...checkBudget(config),
  ...checkControls(config),
];

/** Checks the network path, the mode by GET /api_keys/public, and the service's clock. */
async function checkConnection(config: Config): Promise<Finding[]> {
  const key = checkKey(config);
  const { service } = config.settings;
  const apiKey = config.secret(keyVariable);
  if (service.baseUrl === undefined || apiKey === undefined) {
    const isUrlMissing = service.baseUrl === undefined;
    const [problem] = findMissingService(config);
    const message = isUrlMissing ? `${problem?.path ?? ''} is not set` : 'not checked, because there is no key';
    const missing = wrong('service', message, `set NIGHTSCREEN_BASE_URL and ${config.variableOf(keyVariable)}`);
    return [key, missing];
  }
  const { createClient } = await import('../../client/client.js');
  const skewsMs: number[] = [];
  const client = createClient({
    ...service,
    retry: { maxAttempts: 1 },
    baseUrl: service.baseUrl,
    apiKey,
    observer: {
      ended: ({ startedAt }, { endedAt, servedAt }) => {
        if (servedAt) skewsMs.push(toSkewMs(servedAt, startedAt, endedAt));
      },
    },
  });
  try {
    const way = describeWay(new URL(service.baseUrl));
    const finding = await checkMode(client, service.baseUrl, service.mode);
    // Without an answer the clocks cannot be compared, and `finding` reports the failure.
    const clock = skewsMs.length > 0 ? [checkClock(skewsMs)] : [];
    return [key, way, finding, ...clock];
  } finally {
    await client.close();
  }
}

/** How far the service's clock is ahead by its `Date` header: the true time lies within the second after it. */
function toSkewMs(servedAt: Date, sentAt: Date, receivedAt: Date): number {
  const earliest = servedAt.getTime() - receivedAt.getTime();
  const latest = servedAt.getTime() + 1_000 - sentAt.getTime();
  return earliest > 0 ? earliest : Math.min(latest, 0);
}

const toleratedSkewSeconds = 30;

/** The clock skew by the answer with the smallest difference. */
function checkClock(skewsMs: readonly number[]): Finding {
  const check = 'clock skew';
  const leastMs = skewsMs.reduce((least, skew) => (Math.abs(skew) < Math.abs(least) ? skew : least));
  const seconds = Math.round(leastMs / 1_000);
  if (seconds === 0) return well(check, "the service's clock and this machine's agree to the second");
  const words = `the service's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine's`;
  return Math.abs(seconds) <= toleratedSkewSeconds
    ? well(check, words)
    : doubtful(check, words, 'set the clock (NTP): due dates, deadlines and the evidence depend on it');
}

/** Whether a live key has its required budget and database; a test key needs none. */
function checkBudget(config: Config): Finding[] {
  if (findMode(config) !== 'live') return [];
  const isRefused = config.secret('DATABASE_URL') === undefined && !config.settings.database.acceptEmbedded;
  const problems = findLiveProblems(config.settings, isRefused);
  const { maxSearchesPerMonth, pricePerSearch, currency } = config.settings.budget;
  if (problems.length > 0) {
    return problems.map(({ path, message }) =>
      wrong('budget', `${path} ${message}`, `write it under \`${path.split('.')[0]}:\``),
    );
  }
  return [well('budget', `${maxSearchesPerMonth} searches a month at ${pricePerSearch} ${currency} each`)];
}

/**
 * The kinds of listed parties that the controls cover and lack; the loss of a missing kind would go unnoticed. Without
 * any control no live run is complete.
 */
function checkControls(config: Config): Finding[] {
  const { controls } = config.settings;
  const { covered, missing } = findControlCoverage(controls);
  if (controls.length === 0) {
    const what = `none configured, so a service that finds nobody reads as clear; missing: ${missing.join('; ')}`;
    const next = 'write `controls:` with names whose answers you know (docs/first-week.md)';
    return [findMode(config) === 'live' ? wrong('controls', what, next) : doubtful('controls', what, next)];
  }
  const cover = `${controls.length} cover ${covered.length} of ${covered.length + missing.length} kinds`;
  if (missing.length === 0) return [well('controls', cover)];
  const next = 'add a listed party of each kind to `controls:`, with the `topics` for which it is listed';
  return [doubtful('controls', `${cover}; missing: ${missing.join('; ')}`, next)];
}
