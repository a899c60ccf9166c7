import { stringify } from 'yaml';
import { createClient } from '../../client/client.js';
import { keyVariable } from '../../config/environment.js';
import type { Config } from '../../config/load-config.js';
import { ApiError, AuthenticationError, NightscreenError, ResponseError } from '../../errors.js';
import type { RunMode } from '../../vocabulary.js';
import { describeError } from '../describe-error.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** The findings of the probe, its calls, and the resulting settings. */
export interface ProbeReport {
  findings: readonly Finding[];
  calls: { total: number; searches: number };
  /** Settings to paste; empty when the mode is unclear. */
  snippet: string;
}

/** The name to search for when the settings have no controls: every list has this person. */
const wellKnownParty = { type: 'person', name: 'Vladimir Putin' } as const;

/** Possible names of a search's name parameter, most probable first. */
const candidates = ['name', 'query', 'q', 'full_name', 'search', 'search_term', 'term', 'entity_name', 'fullName'];

const check = 'name field';

/** The service refuses a wrong field with 400 or 422; if it ignores the field, the answer lacks the name's echo and the client refuses it. */
const isRefusal = (error: unknown): error is ApiError | ResponseError =>
  error instanceof ResponseError || (error instanceof ApiError && (error.status === 400 || error.status === 422));

/** Tries name fields until a search is accepted or `spend` searches are made. */
async function tryNameFields(
  search: (field: string) => Promise<unknown>,
  configured: string,
  spend: number,
): Promise<{ field: string; isProven: boolean; finding: Finding }> {
  if (spend === 0) {
    const finding = doubtful(check, `\`${configured}\` is not proven`, '`doctor --probe --spend 2` tries it');
    return { field: configured, isProven: false, finding };
  }
  const refusals: string[] = [];
  let fields = [...new Set([configured, ...candidates])];
  for (let searches = 0; searches < spend; searches += 1) {
    const [field, ...others] = fields;
    if (field === undefined) break;
    try {
      await search(field);
      const found = `\`${field}\` is accepted, and the answer echoes the name`;
      const finding =
        field === configured
          ? well(check, found)
          : wrong(check, `${found}; refused: ${refusals.join('; ')}`, `set service.aml.nameField to ${field}`);
      return { field, isProven: true, finding };
    } catch (error) {
      if (!(error instanceof NightscreenError)) throw error;
      if (!isRefusal(error)) {
        const { message, next } = describeError(error);
        const assess = error instanceof AuthenticationError ? wrong : doubtful;
        const finding = assess(check, `not proven: ${message}`, next ?? 'probe again later');
        return { field: configured, isProven: false, finding };
      }
      refusals.push(`\`${field}\` (${error.message})`);
      // A refusal often names the missing field.
      const { body = '' } = error;
      const isNamed = (name: string): boolean => new RegExp(`\\b${name}\\b`, 'i').test(body);
      fields = [...others.filter(isNamed), ...others.filter((name) => !isNamed(name))];
    }
  }
  const next = `get the name from the service's operators, or try more names: --spend ${Math.min(20, spend + 6)}`;
  return { field: configured, isProven: false, finding: wrong(check, `refused: ${refusals.join('; ')}`, next) };
}

/**
 * Finds the name parameter of a search by at most `spend` searches, each sent once; without a `mode` that service, key and settings agree on it
 * sends nothing. Throws the signal's reason.
 */
export async function probeService(
  config: Config,
  { mode, spend, signal }: { mode: RunMode | null; spend: number; signal: AbortSignal },
): Promise<ProbeReport> {
  const { service, controls } = config.settings;
  const calls = { total: 0, searches: 0 };
  const [baseUrl, apiKey] = [service.baseUrl, config.secret(keyVariable)];
  if (mode === null || baseUrl === undefined || apiKey === undefined) {
    const next = 'correct what the checks of key and service report, then probe again';
    return { findings: [wrong(check, 'not tried: the mode is unclear', next)], calls, snippet: '' };
  }
  const { type, name } = controls.find(({ expect }) => expect === 'match') ?? wellKnownParty;
  const search = async (nameField: string): Promise<void> => {
    const client = createClient({
      ...service,
      aml: { nameField },
      retry: { maxAttempts: 1 },
      baseUrl,
      apiKey,
      observer: {
        started: ({ operation }) => {
          calls.total += 1;
          if (operation === 'aml.search') calls.searches += 1;
        },
      },
    });
    try {
      await client.aml.search({ type, name }, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      await client.close();
    }
  };
  const { field, isProven, finding } = await tryNameFields(search, service.aml.nameField, spend);
  const text = stringify({ service: { mode, aml: { nameField: field } } });
  const snippet = isProven ? text : text.replace(/(nameField: .*)/, '$1 # not proven: --spend 2 tries it');
  return { findings: [finding], calls, snippet };
}
