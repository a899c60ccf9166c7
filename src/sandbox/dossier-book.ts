import type { Hono } from 'hono';
import { z } from 'zod';
import { addControl, type CallEnv, describeProblem } from './calls.js';
import { type Mode, makeToken } from './keys.js';
import type { SandboxClock } from './sandbox-clock.js';
import { type SandboxDossier, sandboxDossierSchema } from './world.js';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const filterSchema = z.object({
  search: z.string().optional(),
  status: sandboxDossierSchema.shape.status.optional(),
  type: sandboxDossierSchema.shape.type.optional(),
  date_from: instant.optional(),
  date_to: instant.optional(),
  per_page: z.coerce.number().int().min(1).max(100).default(50),
});
const pageSchema = z.object({ page: z.coerce.number().int().min(1).max(1000).default(1) });
type Filter = z.infer<typeof filterSchema>;

type SandboxPage =
  | { dossiers: SandboxDossier[]; page: number; per_page: number; total: number; total_pages: number }
  | { dossiers: SandboxDossier[]; per_page: number; has_more: boolean; next_cursor: string | null }
  | { problem: string };

interface DossierRow {
  dossier: SandboxDossier;
  createdAtMs: number;
  searchText: string;
}

const toRow = (dossier: SandboxDossier): DossierRow => ({
  dossier,
  createdAtMs: Date.parse(dossier.created_at),
  searchText: [dossier.name, dossier.token, dossier.reference ?? ''].join('\n').toLowerCase(),
});

const isWanted = ({ dossier, createdAtMs, searchText }: DossierRow, filter: Filter): boolean =>
  (filter.search === undefined || searchText.includes(filter.search.toLowerCase())) &&
  (filter.status === undefined || dossier.status === filter.status) &&
  (filter.type === undefined || dossier.type === filter.type) &&
  (filter.date_from === undefined || createdAtMs >= filter.date_from) &&
  (filter.date_to === undefined || createdAtMs <= filter.date_to);

const compareRows = (a: DossierRow, b: DossierRow): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  if (a.dossier.id === b.dossier.id) return 0;
  return a.dossier.id < b.dossier.id ? -1 : 1;
};

/**
 * Prepares dossiers for listing by the query parameters of the interface (interface: GET /dossiers): most recent first, then by id.
 */
export const createDossierList = (dossiers: readonly SandboxDossier[]) => {
  const rows = dossiers.map(toRow).sort(compareRows);
  const places = new Map(rows.map(({ dossier }, place) => [dossier.id, place]));

  const listAfter = (cursor: string, filter: Filter): SandboxPage => {
    const found: SandboxDossier[] = [];
    // An unknown cursor gives an empty last page: legal by the interface, and a trap for a client that takes it as the end.
    const start = places.get(cursor) ?? rows.length;
    let place = start + 1;
    for (; place < rows.length && found.length <= filter.per_page; place += 1) {
      const row = rows[place];
      if (row && isWanted(row, filter)) found.push(row.dossier);
    }
    const hasMore = found.length > filter.per_page;
    const page = found.slice(0, filter.per_page);
    return {
      dossiers: page,
      per_page: filter.per_page,
      has_more: hasMore,
      next_cursor: hasMore ? (page.at(-1)?.id ?? null) : null,
    };
  };

  const listPage = (page: number, filter: Filter): SandboxPage => {
    const wanted = rows.filter((row) => isWanted(row, filter));
    const start = (page - 1) * filter.per_page;
    return {
      dossiers: wanted.slice(start, start + filter.per_page).map((row) => row.dossier),
      page,
      per_page: filter.per_page,
      total: wanted.length,
      total_pages: Math.ceil(wanted.length / filter.per_page),
    };
  };

  return (query: Record<string, string>): SandboxPage => {
    const filter = filterSchema.safeParse(query);
    if (!filter.success) return { problem: describeProblem(filter.error) };
    const cursor = query['starting_after'];
    if (cursor !== undefined) return listAfter(cursor, filter.data);
    const page = pageSchema.safeParse(query);
    return page.success ? listPage(page.data.page, filter.data) : { problem: describeProblem(page.error) };
  };
};

const when = {
  /** The dossiers of the test keys or of the live key. */
  mode: z.enum(['test', 'live']).default('test'),
  /** After this time of the sandbox's clock. */
  afterMs: z.number().min(0).optional(),
  /** After this many further calls of the list. */
  afterCalls: z.number().int().min(1).optional(),
};
const fieldsSchema = sandboxDossierSchema.partial();

/** One change of the main organisation's dossiers; at once by default. */
const dossierChangeSchema = z
  .union([
    z.strictObject({ ...when, insert: fieldsSchema }),
    z.strictObject({ ...when, update: z.string(), set: fieldsSchema.omit({ id: true, token: true }) }),
    z.strictObject({ ...when, remove: z.string() }),
  ])
  .refine(
    (change) => change.afterMs === undefined || change.afterCalls === undefined,
    'afterMs or afterCalls, not both',
  );
type DueChange = z.output<typeof dossierChangeSchema>;
type DossierFields = z.output<typeof fieldsSchema>;

const VERIFIED: readonly string[] = ['completed', 'approved', 'rejected'];

/** Adds the facts of a state: a verified dossier has a document and a completion time. */
const fillByStatus = (dossier: SandboxDossier, nowMs: number): SandboxDossier => {
  if (!VERIFIED.includes(dossier.status)) return dossier;
  return {
    ...dossier,
    completed_at: dossier.completed_at ?? new Date(nowMs).toISOString(),
    documents_count: Math.max(dossier.documents_count, 1),
  };
};

const makeDossierId = (): string => `dossier_${makeToken()}`;

const toDossier = (fields: DossierFields, mode: Mode, nowMs: number): SandboxDossier => {
  const createdAt = fields.created_at ?? new Date(nowMs).toISOString();
  const plain: SandboxDossier = {
    id: makeDossierId(),
    token: makeToken('humanized'),
    type: 'kyc',
    status: 'open',
    name: 'New applicant',
    reference: null,
    risk_score: null,
    is_test: mode === 'test',
    download_status: 'not_downloaded',
    documents_count: 0,
    created_at: createdAt,
    updated_at: createdAt,
    completed_at: null,
  };
  return fillByStatus(Object.assign(plain, fields), nowMs);
};

const toUpdated = (dossier: SandboxDossier, fields: DossierFields, nowMs: number): SandboxDossier => {
  const updated = { ...dossier, updated_at: new Date(nowMs).toISOString() };
  return { ...fillByStatus(Object.assign(updated, fields), nowMs), id: dossier.id, token: dossier.token };
};

/** The dossiers of one organisation in one mode. `hear` gets each change: a new dossier has no `before`, a removed one no `after`. */
export class DossierBook {
  readonly #mode: Mode;
  readonly #clock: SandboxClock;
  readonly #hear: (before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void;
  #held = new Map<string, SandboxDossier>();
  #ids = new Map<string, string>();
  #list: ReturnType<typeof createDossierList> | undefined;
  #afterCalls: { left: number; act: () => void }[] = [];

  constructor(
    mode: Mode,
    clock: SandboxClock,
    hear: (before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void = () => undefined,
  ) {
    this.#mode = mode;
    this.#clock = clock;
    this.#hear = hear;
  }

  list(query: Record<string, string>): SandboxPage {
    this.#list ??= createDossierList([...this.#held.values()]);
    const page = this.#list(query);
    this.#countCall();
    return page;
  }

  /** By `dossier_<token>` or by the humanized token (interface: Identifier forms). */
  find(idOrToken: string): SandboxDossier | undefined {
    return this.#held.get(this.#ids.get(idOrToken) ?? idOrToken);
  }

  /** Adds a dossier, by default open and created now; throws when its id or token is taken. */
  insert(fields: DossierFields): SandboxDossier {
    const dossier = toDossier(fields, this.#mode, this.#clock.nowMs());
    if (this.find(dossier.id) || this.find(dossier.token))
      throw new Error(`there is a dossier ${dossier.id} or ${dossier.token}`);
    this.#put(dossier);
    this.#hear(undefined, dossier);
    return dossier;
  }

  /** Changes a dossier; undefined for an unknown one. */
  update(idOrToken: string, fields: DossierFields): SandboxDossier | undefined {
    const before = this.find(idOrToken);
    if (!before) return undefined;
    const after = toUpdated(before, fields, this.#clock.nowMs());
    this.#put(after);
    this.#hear(before, after);
    return after;
  }

  /** Makes a change when it is due, and gives the id of its dossier; throws when it is due now and fails. */
  change(order: DueChange): string {
    const change =
      'insert' in order ? { ...order, insert: { ...order.insert, id: order.insert.id ?? makeDossierId() } } : order;
    const id = 'insert' in change ? change.insert.id : 'update' in change ? change.update : change.remove;
    const held = this.#held;
    const act = (): void => this.#carryOutLater(change, held);
    if (change.afterMs !== undefined) this.#clock.at(this.#clock.nowMs() + change.afterMs, act);
    else if (change.afterCalls !== undefined) this.#afterCalls.push({ left: change.afterCalls, act });
    else if (!this.#carryOut(change)) throw new Error(`no dossier ${id}`);
    return id;
  }

  /** Replaces all dossiers and drops future changes. */
  replace(dossiers: readonly SandboxDossier[]): void {
    this.#held = new Map(dossiers.map((dossier) => [dossier.id, dossier]));
    this.#ids = new Map(dossiers.map((dossier) => [dossier.token, dossier.id]));
    this.#list = undefined;
    this.#afterCalls = [];
  }

  #put(dossier: SandboxDossier): void {
    this.#held.set(dossier.id, dossier);
    this.#ids.set(dossier.token, dossier.id);
    this.#list = undefined;
  }

  #remove(idOrToken: string): SandboxDossier | undefined {
    const before = this.find(idOrToken);
    if (!before) return undefined;
    this.#held.delete(before.id);
    this.#ids.delete(before.token);
    this.#list = undefined;
    this.#hear(before, undefined);
    return before;
  }

  #carryOut(change: DueChange): SandboxDossier | undefined {
    if ('insert' in change) return this.insert(change.insert);
    return 'update' in change ? this.update(change.update, change.set) : this.#remove(change.remove);
  }

  /** A later change does nothing when its dossier no longer exists, or its id or token is taken. */
  #carryOutLater(change: DueChange, world: unknown): void {
    if (world !== this.#held) return;
    const { id, token } = 'insert' in change ? change.insert : {};
    if (this.find(id ?? '') === undefined && this.find(token ?? '') === undefined) this.#carryOut(change);
  }

  #countCall(): void {
    for (const waiting of this.#afterCalls) waiting.left -= 1;
    const due = this.#afterCalls.filter((waiting) => waiting.left <= 0);
    if (due.length === 0) return;
    this.#afterCalls = this.#afterCalls.filter((waiting) => waiting.left > 0);
    for (const waiting of due) waiting.act();
  }
}

/** The main organisation's dossiers in both modes; `hear` gets each change. */
export const createMainBooks = (
  clock: SandboxClock,
  hear: (mode: Mode, before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void,
) => {
  const books = {
    test: new DossierBook('test', clock, (before, after) => hear('test', before, after)),
    live: new DossierBook('live', clock, (before, after) => hear('live', before, after)),
  };
  /** Makes or plans changes, and gives the ids of their dossiers; throws at the first failure. */
  const change = (changes: readonly z.input<typeof dossierChangeSchema>[]): string[] => {
    const orders = changes.map((one) => dossierChangeSchema.parse(one));
    return orders.map((order) => books[order.mode].change(order));
  };
  return {
    ...books,
    change,
    find: (idOrToken: string) => books.test.find(idOrToken) ?? books.live.find(idOrToken),
    replace: (dossiers: readonly SandboxDossier[]): void => {
      books.test.replace(dossiers.filter((dossier) => dossier.is_test));
      books.live.replace(dossiers.filter((dossier) => !dossier.is_test));
    },
    /** Adds the control that changes dossiers. */
    addControls: (app: Hono<CallEnv>): void =>
      addControl(app, 'dossiers', z.array(dossierChangeSchema), (context, changes) =>
        context.json({ ids: change(changes) }),
      ),
  };
};
