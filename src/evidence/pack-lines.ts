import { z } from 'zod';
import { describeMistake, type LineFileName } from './manifest.js';
import { LineError } from './read-file.js';

const id = z.int().min(1);
const sequence = id;
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/, 'is no time');

// Base64 of a nonce of 12 bytes, the ciphertext, and a tag of 16.
const shortestSealed = 40;
const isSealed = (text: string): boolean =>
  text.length >= shortestSealed && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const sealed = z.string().refine(isSealed, 'is no sealed text');

const reference = z.tuple([id, sequence]);

// A customer and a version together are one exact number of a double.
const versions = 2 ** 20;
const customer = z
  .int()
  .min(1)
  .max(2 ** 33 - 1);
const version = z
  .int()
  .min(1)
  .max(versions - 1);
const toRecordNumber = (ofCustomer: number, ofVersion: number): number => ofCustomer * versions + ofVersion;

const call = z.tuple([time, time.nullable(), z.int().nullable(), z.string(), z.string().nullable()]);

/** What became of a party or a customer, best first: a customer has the worst outcome of its parties. */
const outcomes = ['skipped', 'reused', 'screened', 'remaining', 'failed'] as const;
type PackOutcome = (typeof outcomes)[number];

const party = z.looseObject({
  party: id,
  request: id.nullable(),
  reason: z.string().nullable(),
  outcome: z.enum(outcomes),
  because: z.string().nullish(),
  answer: reference.optional(),
});
type PackParty = z.infer<typeof party>;

const recordLine = z.looseObject({ record: z.tuple([customer, version]), sealed });
const searchLine = z.looseObject({
  search: id,
  calls: z.array(call),
  answer: reference.optional(),
  failure: z.string().optional(),
});
const customerLine = z.looseObject({
  customer,
  record: z.tuple([version, sequence]),
  state: z.string().nullable(),
  parties: z.array(party),
});
/** A rejected row of an import; sealed are its fields, where it has a readable reference. */
const rowLine = z.looseObject({
  row: z.tuple([id, id]),
  line: z.int().min(0),
  reason: z.string(),
  sealed: sealed.optional(),
});
/** Somebody in scope whom the run could not screen, or only by a hit; without an accepted record the reference is sealed. */
const gapLine = z.looseObject({
  gap: id,
  reason: z.string(),
  customer: customer.optional(),
  sealed: sealed.optional(),
});
const answerLine = z.looseObject({ answer: id, request: id, sealed });
const changeLine = z.looseObject({ change: id, customer, sealed });
const detailLine = z.looseObject({ detail: id, kind: z.string(), sealed });
const eventLine = z.looseObject({ event: id, customer, sealed: sealed.optional() });
const dossierLine = z.looseObject({ dossierChange: id, dossier: z.string() });
/** A search beside a plan: a single check, or one of a measurement of recall. */
const singleLine = z.looseObject({ single: id, request: id, answer: reference.optional(), sealed });
const discrepancyLine = z.looseObject({
  discrepancyEvent: id,
  discrepancy: id,
  customer: customer.optional(),
  sealed: sealed.optional(),
});
const acceptanceLine = z.looseObject({ acceptance: id, kind: z.string(), sealed });
const dispositionLine = z.looseObject({ disposition: id, customer, sealed });
const reportLine = z.looseObject({ report: z.tuple([id, version]), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const erasedLine = z.looseObject({ erased: customer, at: time, by: z.string(), reason: z.string() });

/** A failed control search fails all parties of a run, also those that were not searched for. */
const isUnconfirmed = (because: string | null | undefined): boolean =>
  because === 'control_failed' || because === 'not_confirmed';

/** A set of numbers that are added in ascending order: 8 bytes for each, a fifth of what a Set takes. */
class SortedNumbers {
  private numbers = new Float64Array(64);
  private size = 0;

  add(number: number): void {
    if (this.size === this.numbers.length) {
      const grown = new Float64Array(2 * this.size);
      grown.set(this.numbers);
      this.numbers = grown;
    }
    this.numbers[this.size] = number;
    this.size += 1;
  }

  has(number: number): boolean {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.numbers[middle] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.numbers[low] === number;
  }

  /** Frees what growing took beyond the numbers. */
  trim(): void {
    this.numbers = this.numbers.slice(0, this.size);
  }
}

/** An erasure that a pack records. */
export interface Erasure {
  customer: number;
  at: string;
  by: string;
  reason: string;
  sequence: number;
}

/** What later lines may refer to: the answers and records of a pack. `isWhole` is false where a damage may hide some of them. */
export interface PackIndex {
  answers: SortedNumbers;
  records: SortedNumbers;
  isWhole: boolean;
}

/** The packs that are read so far, by sequence number; a number that is missing above the first is a gap, which the chain reports. */
export type ChainIndex = ReadonlyMap<number, PackIndex>;

/** The number of customers by outcome. */
export type OutcomeCounts = Record<PackOutcome, number>;

/** Checks the lines of one pack, file by file, answers before customers. A wrong line throws LineError. */
export class PackLines {
  readonly index: PackIndex = { answers: new SortedNumbers(), records: new SortedNumbers(), isWhole: true };
  readonly erased: Erasure[] = [];
  /** Customers without an accepted record, by reason. */
  readonly unaccepted = new Map<string, number>();
  readonly customers: OutcomeCounts = { skipped: 0, reused: 0, screened: 0, remaining: 0, failed: 0 };
  private readonly sequence: number;
  private readonly first: number;
  private readonly chain: ChainIndex;
  private readonly searches = new SortedNumbers();
  private readonly answered = new SortedNumbers();
  private part = 0;
  private last = 0;
  private lastOfTwo = 0;

  /** `first`: the sequence number of the first pack that is present; `chain`: the packs before this one. */
  constructor(sequence: number, first: number, chain: ChainIndex) {
    this.sequence = sequence;
    this.first = first;
    this.chain = chain;
  }

  /** The check of each line of a file, which starts with the first one. */
  startFile(name: LineFileName): (line: string) => void {
    this.part = 0;
    this.last = 0;
    this.lastOfTwo = 0;
    const check = this.checks[name];
    return (line) => check(parseLine(line));
  }

  /** Is called once the answers and the customers are read; `isWhole`: whether all of them were right. */
  closeIndex(isWhole: boolean): void {
    this.index.isWhole = isWhole;
    this.index.answers.trim();
    this.index.records.trim();
  }

  private readonly checks: Readonly<Record<LineFileName, (value: object) => void>> = {
    'customers.jsonl.gz': (value) => {
      if ('gap' in value) return this.checkGap(read(gapLine, value));
      if ('customer' in value) return this.checkCustomer(read(customerLine, value));
      if ('search' in value) return this.checkSearch(read(searchLine, value));
      if ('single' in value) return this.checkSingle(read(singleLine, value));
      if ('row' in value) {
        const [ofImport, ordinal] = read(rowLine, value).row;
        return this.follow(2, ofImport, `row ${ofImport}/${ordinal}`, ordinal);
      }
      const [ofCustomer, ofVersion] = read(recordLine, value).record;
      const record = toRecordNumber(ofCustomer, ofVersion);
      this.follow(1, record, `record ${ofCustomer}/${ofVersion}`);
      this.index.records.add(record);
    },
    'answers.jsonl.gz': (value) => {
      if ('detail' in value) {
        const { detail } = read(detailLine, value);
        return this.follow(2, detail, `detail ${detail}`);
      }
      const { answer } = read(answerLine, value);
      this.follow(1, answer, `answer ${answer}`);
      this.index.answers.add(answer);
    },
    'changes.jsonl.gz': (value) => {
      if ('change' in value) {
        const { change } = read(changeLine, value);
        return this.follow(1, change, `change ${change}`);
      }
      if ('event' in value) {
        const { event } = read(eventLine, value);
        return this.follow(2, event, `event ${event}`);
      }
      if ('discrepancyEvent' in value) {
        const { discrepancyEvent } = read(discrepancyLine, value);
        return this.follow(4, discrepancyEvent, `event ${discrepancyEvent} of a discrepancy`);
      }
      const { dossierChange } = read(dossierLine, value);
      this.follow(3, dossierChange, `change ${dossierChange} of a dossier`);
    },
    'dispositions.jsonl.gz': (value) => {
      if ('disposition' in value) {
        const { disposition } = read(dispositionLine, value);
        return this.follow(1, disposition, `disposition ${disposition}`);
      }
      if ('acceptance' in value) {
        const { acceptance } = read(acceptanceLine, value);
        return this.follow(2, acceptance, `acceptance ${acceptance}`);
      }
      if ('report' in value) {
        const [run, revision] = read(reportLine, value).report;
        return this.follow(3, run, `report ${run}/${revision}`, revision);
      }
      const { erased, at, by, reason } = read(erasedLine, value);
      this.follow(4, erased, `the erasure of customer ${erased}`);
      this.erased.push({ customer: erased, at, by, reason, sequence: this.sequence });
    },
  };

  private checkSearch({ search, answer, failure }: z.infer<typeof searchLine>): void {
    this.follow(3, search, `search ${search}`);
    this.searches.add(search);
    if (answer && failure !== undefined) throw new LineError(`search ${search} has both an answer and a failure`);
    if (!answer) return;
    this.answered.add(search);
    this.checkAnswer(answer);
  }

  private checkSingle({ single, answer }: z.infer<typeof singleLine>): void {
    this.follow(4, single, `search ${single} beside the plan`);
    if (answer) this.checkAnswer(answer);
  }

  private checkCustomer({ customer, record, parties }: z.infer<typeof customerLine>): void {
    this.follow(5, customer, `customer ${customer}`);
    const [ofVersion, ofPack] = record;
    const records = this.findPack(ofPack)?.records;
    if (records?.has(toRecordNumber(customer, ofVersion)) === false)
      throw new LineError(`record ${customer}/${ofVersion} is not in pack ${ofPack}`);
    let worst = 0;
    for (const one of parties) {
      this.checkParty(one);
      worst = Math.max(worst, outcomes.indexOf(one.outcome));
    }
    this.customers[outcomes[worst] ?? 'skipped'] += 1;
  }

  private checkGap({ gap, reason, customer, sealed }: z.infer<typeof gapLine>): void {
    this.follow(6, gap, `gap ${gap}`);
    if (customer !== undefined) return;
    if (sealed === undefined) throw new LineError(`gap ${gap} names nobody`);
    this.unaccepted.set(reason, (this.unaccepted.get(reason) ?? 0) + 1);
  }

  private checkParty({ party, request, reason, outcome, because, answer }: PackParty): void {
    if (outcome !== 'skipped' && (request === null || reason === null))
      throw new LineError(`party ${party} is ${outcome} without a request and a reason`);
    if (answer) this.checkAnswer(answer);
    if (outcome === 'reused' && !answer) throw new LineError(`party ${party} is reused without an answer`);
    const searched = outcome === 'screened' ? this.answered : this.searches;
    const isSearched = outcome === 'screened' || (outcome === 'failed' && !answer && !isUnconfirmed(because));
    if (isSearched && !searched.has(request ?? 0))
      throw new LineError(`party ${party} is ${outcome}, and no search line shows it for request ${request}`);
  }

  private checkAnswer([answer, ofPack]: z.infer<typeof reference>): void {
    if (this.findPack(ofPack)?.answers.has(answer) === false)
      throw new LineError(`answer ${answer} is not in pack ${ofPack}`);
  }

  /** Null for a pack that cannot be asked: it is missing or damaged, which is reported there. */
  private findPack(ofPack: number): PackIndex | null {
    if (ofPack > this.sequence) throw new LineError(`the line refers to pack ${ofPack}, which is later than its own`);
    if (ofPack < this.first) return null;
    const pack = ofPack === this.sequence ? this.index : this.chain.get(ofPack);
    return pack?.isWhole ? pack : null;
  }

  /** Each part of a file is in ascending order, and its parts are too: a line that is there twice or was moved shows here. */
  private follow(part: number, number: number, what: string, ofTwo = 0): void {
    if (part < this.part) throw new LineError(`${what} stands after lines of a later part of the file`);
    if (part === this.part && number === this.last && ofTwo === this.lastOfTwo)
      throw new LineError(`${what} is there twice`);
    const isLower = number < this.last || (number === this.last && ofTwo < this.lastOfTwo);
    if (part === this.part && isLower) throw new LineError(`${what} is not in ascending order`);
    this.part = part;
    this.last = number;
    this.lastOfTwo = ofTwo;
  }
}

function parseLine(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new LineError('the line is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LineError('the line is no JSON object');
  return value;
}

function read<T>(schema: z.ZodType<T>, value: object): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new LineError(`the line is not as the format says: ${describeMistake(parsed.error)}`);
}
