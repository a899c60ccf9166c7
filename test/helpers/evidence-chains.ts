import { createHmac, type KeyObject } from 'node:crypto';
import type { EvidenceHead } from '../../src/evidence/manifest.js';
import { seal } from '../../src/evidence/seal.js';
import { type PackContent, type PackHead, writePack } from '../../src/evidence/write-pack.js';

const batchLines = 1_000;

/** The key of a customer or a request, the same in each chain. */
const toKey = (about: string): Buffer => createHmac('sha256', 'keys of tests').update(about).digest();

const reseal = (about: string, text: string): string => seal(toKey(about), about, text);

/** A chain on disk: the packs in their order by folder and head. */
export interface MadeChain {
  folder: string;
  paths: readonly string[];
  heads: readonly EvidenceHead[];
}

interface ChainOptions {
  customers?: number;
  organisation?: string;
  signingKey?: KeyObject;
  /** Makes the contents of other chains differ. */
  version?: string;
}

/**
 * Writes a chain of five packs: a first night of all customers, a check, a second night that stopped with half of its customers, the same
 * night accepted, and a quiet night with an erasure.
 */
export async function makeChain(folder: string, options: ChainOptions = {}): Promise<MadeChain> {
  const { customers = 12, organisation = 'default', version = '0.1.0', signingKey } = options;
  const paths: string[] = [];
  const heads: EvidenceHead[] = [];
  const add = async (run: string, pack: number, ending: PackHead['ending'], contents: PackContent[]): Promise<void> => {
    const former = heads.at(-1) ?? null;
    const sequence = heads.length + 1;
    const createdAt = new Date(Date.UTC(2026, 0, sequence)).toISOString();
    const head: PackHead = { organisation, sequence, run, pack, ending, former, createdAt, version };
    const { sha256 } = await writePack({ directory: folder, head, contents, signingKey });
    heads.push({ sequence, sha256 });
    paths.push(`${run}/${pack}`);
  };
  const half = Math.ceil(customers / 2);
  await add('7', 1, 'ended', makeNight({ sequence: 1, from: 1, to: customers, isFirst: true }));
  await add('8', 1, 'ended', makeCheck(customers));
  await add('9', 1, 'stopped', makeNight({ sequence: 3, from: 1, to: half, isFirst: false }));
  await add('9', 2, 'accepted', makeNight({ sequence: 4, from: half + 1, to: customers, isFirst: false }));
  await add('10', 1, 'ended', makeQuietNight(customers));
  return { folder, paths, heads };
}

interface NightOptions {
  sequence: number;
  from: number;
  to: number;
  isFirst: boolean;
}

type Outcome = 'skipped' | 'reused' | 'screened' | 'remaining' | 'failed';

/** Every night has each outcome, once it has ten customers. */
function toOutcome(customer: number, isFirst: boolean): Outcome {
  if (customer % 10 === 3) return 'failed';
  if (customer % 10 === 4) return 'remaining';
  if (isFirst) return 'screened';
  return customer % 10 === 5 ? 'reused' : customer % 3 === 0 ? 'screened' : 'skipped';
}

const toTime = (second: number): string => new Date(Date.UTC(2026, 0, 1, 2) + 1_000 * second).toISOString();

/** In a later night, one answer of two is the one of the first night, and one record of seven has a second version. */
function makeNight({ sequence, from, to, isFirst }: NightOptions): PackContent[] {
  const unaccepted = { row_rejected: 2, conflicting_duplicate: 1 };
  const gaps = ['row_rejected', 'row_rejected', 'conflicting_duplicate', 'doubtful_name'];
  const numbers = (): Iterable<number> => count(from, to);
  const toRequest = (customer: number): number => 1_000 + customer;
  const toAnswer = (customer: number): number => (isFirst ? 5_000 : 5_000_000) + customer;
  const isChanged = (customer: number): boolean => !isFirst && customer % 7 === 0;
  const isOldAnswer = (customer: number): boolean => !isFirst && customer % 2 === 0;
  const toReference = (customer: number): [number, number] =>
    isOldAnswer(customer) && toOutcome(customer, true) === 'screened'
      ? [5_000 + customer, 1]
      : [toAnswer(customer), sequence];

  function* listCustomers(): Generator<object> {
    for (const customer of numbers()) {
      if (!isFirst && !isChanged(customer)) continue;
      const record = [customer, isFirst ? 1 : 2];
      const text = JSON.stringify({ name: `Ada Berg ${customer}`, birthDate: '1970-01-01', countries: ['DK'] });
      yield { record, sealed: reseal(`record/${record.join('/')}`, text) };
    }
    for (const customer of numbers()) {
      const outcome = toOutcome(customer, isFirst);
      const search = toRequest(customer);
      const calls = [[toTime(customer), toTime(customer + 1), 201, 'answer', `req_${customer}`]];
      if (outcome === 'screened') yield { search, calls, answer: toReference(customer) };
      if (outcome === 'failed')
        yield { search, calls: [[toTime(customer), null, null, 'timeout', null]], failure: 'timeout' };
    }
    for (const customer of numbers()) {
      const outcome = toOutcome(customer, isFirst);
      const request = outcome === 'skipped' ? null : toRequest(customer);
      const reason = outcome === 'skipped' ? null : 'overdue';
      const party: Record<string, unknown> = { party: 10 * customer, request, reason, outcome };
      if (outcome === 'failed') party['because'] = 'timeout';
      if (outcome === 'reused') party['answer'] = [5_000 + customer, 1];
      const record = isChanged(customer) ? [2, sequence] : [1, 1];
      yield { customer, record, state: outcome === 'screened' ? 'clear' : null, parties: [party] };
    }
    for (const [at, reason] of gaps.entries()) {
      const about = `gap/${sequence}/${at + 1}`;
      const whose =
        reason === 'doubtful_name' ? { customer: from } : { sealed: reseal(about, `{"reference":"X-${at}"}`) };
      yield { gap: at + 1, reason, ...whose };
    }
  }

  function* listAnswers(): Generator<object> {
    for (const customer of numbers()) {
      const [answer, place] = toReference(customer);
      if (toOutcome(customer, isFirst) !== 'screened' || place !== sequence) continue;
      const text = JSON.stringify({ query: `Ada Berg ${customer}`, total: 0, results: [] });
      yield { answer, request: toRequest(customer), sealed: reseal(`answer/${answer}`, text) };
    }
  }

  function* listChanges(): Generator<object> {
    for (const customer of numbers()) {
      if (customer % 5 !== 1) continue;
      const change = 100 * sequence * to + customer;
      const kind = { kind: 'match_added', severity: 'high', rule: 'became_hit', cause: 'service_data' };
      yield { change, customer, party: 10 * customer, ...kind, sealed: reseal(`change/${change}`, '{}') };
    }
    for (const customer of numbers())
      if (customer % 5 === 1)
        yield {
          event: 7 * sequence * to + customer,
          alert: customer,
          customer,
          kind: 'opened',
          happenedAt: toTime(1),
          sealed: reseal(`event/${customer}`, '{}'),
        };
  }

  const outcomes = [...numbers()].map((customer) => toOutcome(customer, isFirst));
  const sum = (wanted: Outcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  const counts = {
    inScope: outcomes.length + 3,
    planned: outcomes.length - sum('skipped'),
    skipped: sum('skipped') + 3,
    screened: sum('screened'),
    reused: sum('reused'),
    failed: sum('failed'),
    remaining: sum('remaining'),
  };
  return [
    makeRunFile({ counts, unaccepted }),
    { name: 'customers.jsonl.gz', lines: toLines(listCustomers()) },
    { name: 'answers.jsonl.gz', lines: toLines(listAnswers()) },
    { name: 'changes.jsonl.gz', lines: toLines(listChanges()) },
  ];
}

/** A check has no customers; a disposition of a reviewer goes with it. */
function makeCheck(customers: number): PackContent[] {
  const answer = 1_000_000 + customers;
  const details = [1, 2].map((detail) => ({ detail, kind: 'entity', sealed: reseal(`detail/8/${detail}`, '{}') }));
  const events = [
    { discrepancyEvent: 4, discrepancy: 1, kind: 'opened', customer: 1, sealed: reseal('discrepancy/4', '{}') },
    { discrepancyEvent: 5, discrepancy: 2, kind: 'opened', dossier: 'dos_1' },
  ];
  const acceptances = [1, 2].map((acceptance) => ({
    acceptance,
    kind: 'gap',
    sealed: reseal(`acceptance/${acceptance}`, '{}'),
  }));
  const answers = [{ answer, request: 900, sealed: reseal(`answer/${answer}`, '{"query":"Bo Lind"}') }];
  const dispositions = [1, 2, 3].map((disposition) => ({
    disposition,
    alert: disposition,
    customer: disposition,
    kind: 'decided',
    verdict: 'false_positive',
    reviewer: 'j.holm',
    decidedAt: toTime(disposition),
    sealed: reseal(`disposition/${disposition}`, '{"comment":"another birth date"}'),
  }));
  return [
    makeRunFile({ counts: null }),
    { name: 'answers.jsonl.gz', lines: toLines([...answers, ...details]) },
    { name: 'changes.jsonl.gz', lines: toLines(events) },
    { name: 'dispositions.jsonl.gz', lines: toLines([...dispositions, ...acceptances]) },
  ];
}

function makeQuietNight(customers: number): PackContent[] {
  const rows = [
    { row: [3, 7], line: 8, reason: 'name_missing', sealed: reseal('row/3/7', '{}') },
    { row: [3, 9], line: 10, reason: 'id_missing' },
    { row: [4, 2], line: 3, reason: 'name_missing', sealed: reseal('row/4/2', '{}') },
  ];
  const skipped = [...count(3, customers)].map((customer) => ({
    customer,
    record: [1, 1],
    state: 'clear',
    parties: [{ party: 10 * customer, request: null, reason: null, outcome: 'skipped' }],
  }));
  const rest = { planned: 0, screened: 0, reused: 0, failed: 0, remaining: 0 };
  const erased = [1, 2].map((customer) => ({ erased: customer, at: toTime(9), by: 'j.holm', reason: 'request' }));
  return [
    makeRunFile({ counts: { inScope: skipped.length, skipped: skipped.length, ...rest }, unaccepted: {} }),
    { name: 'customers.jsonl.gz', lines: toLines([...rows, ...skipped]) },
    { name: 'dispositions.jsonl.gz', lines: toLines(erased) },
  ];
}

const makeRunFile = (rest: object): PackContent => ({
  name: 'run.json',
  text: `${JSON.stringify({ schema: 'nightscreen/evidence-run/1', run: { kind: 'rescreen' }, ...rest }, null, 2)}\n`,
});

function* count(from: number, to: number): Generator<number> {
  for (let number = from; number <= to; number += 1) yield number;
}

function* toLines(values: Iterable<object>): Generator<readonly string[]> {
  let batch: string[] = [];
  for (const value of values) {
    batch.push(JSON.stringify(value));
    if (batch.length < batchLines) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
