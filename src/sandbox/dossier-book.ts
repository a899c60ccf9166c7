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
    // An unknown cursor starts past the end, so the page is empty: legal by the interface, and a trap for a client that takes it as the end.
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

const insertSchema = z.strictObject({ ...when, insert: fieldsSchema }).transform(({ insert, ...change }) => {
  const id = insert.id ?? makeDossierId();
  return { ...change, kind: 'insert' as const, id, fields: { ...insert, id } };
});
const updateSchema = z
  .strictObject({ ...when, update: z.string(), set: fieldsSchema.omit({ id: true, token: true }) })
  .transform(({ update, set, ...change }) => ({ ...change, kind: 'update' as const, id: update, fields: set }));
const removeSchema = z
  .strictObject({ ...when, remove: z.string() })
  .transform(({ remove, ...change }) => ({ ...change, kind: 'remove' as const, id: remove }));

/** One change of the main organisation's dossiers; at once by default. `id` may be a humanized token. */
const dossierChangeSchema = z
  .union([insertSchema, updateSchema, removeSchema])
  .refine(
    (change) => change.afterMs === undefined || change.afterCalls === undefined,
    'afterMs or afterCalls, not both',
  );
type PlannedChange = z.output<typeof dossierChangeSchema>;
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
  #dossiers = new Map<string, SandboxDossier>();
  /** Counts the calls of `replace`, which drop the changes planned before. */
  #generation = 0;
  #ids = new Map<string, string>();
  #list: ReturnType<typeof createDossierList> | undefined;
  #afterCalls: { callsLeft: number; make: () => void }[] = [];

  constructor(
    mode: Mode,
    clock: SandboxClock,
    hear: (before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void = () => undefined,
  ) {
    this.#mode = mode;
    this.#clock = clock;
    this.#hear = hear;
  }

  /** Gives a page of the dossiers as they are, and then makes the changes that are due after this call. */
  list(query: Record<string, string>): SandboxPage {
    this.#list ??= createDossierList([...this.#dossiers.values()]);
    const page = this.#list(query);
    this.#countCall();
    return page;
  }

  /** By `dossier_<token>` or by the humanized token (interface: Identifier forms). */
  find(idOrToken: string): SandboxDossier | undefined {
    return this.#dossiers.get(this.#ids.get(idOrToken) ?? idOrToken);
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
  change(change: PlannedChange): string {
    const generation = this.#generation;
    const makeLater = (): void => {
      if (generation === this.#generation) this.#makeLater(change);
    };
    if (change.afterMs !== undefined) this.#clock.at(this.#clock.nowMs() + change.afterMs, makeLater);
    else if (change.afterCalls !== undefined) this.#afterCalls.push({ callsLeft: change.afterCalls, make: makeLater });
    else if (!this.#make(change)) throw new Error(`no dossier ${change.id}`);
    return change.id;
  }

  /** Replaces all dossiers and drops future changes. */
  replace(dossiers: readonly SandboxDossier[]): void {
    this.#generation += 1;
    this.#dossiers = new Map(dossiers.map((dossier) => [dossier.id, dossier]));
    this.#ids = new Map(dossiers.map((dossier) => [dossier.token, dossier.id]));
    this.#list = undefined;
    this.#afterCalls = [];
  }

  #put(dossier: SandboxDossier): void {
    this.#dossiers.set(dossier.id, dossier);
    this.#ids.set(dossier.token, dossier.id);
    this.#list = undefined;
  }

  #remove(idOrToken: string): SandboxDossier | undefined {
    const before = this.find(idOrToken);
    if (!before) return undefined;
    this.#dossiers.delete(before.id);
    this.#ids.delete(before.token);
    this.#list = undefined;
    this.#hear(before, undefined);
    return before;
  }

  /** Makes a change now; undefined for an unknown dossier. */
  #make(change: PlannedChange): SandboxDossier | undefined {
    switch (change.kind) {
      case 'insert':
        return this.insert(change.fields);
      case 'update':
        return this.update(change.id, change.fields);
      case 'remove':
        return this.#remove(change.id);
    }
  }

  /** A later change does nothing when its dossier no longer exists, or its id or token is taken. */
  #makeLater(change: PlannedChange): void {
    if (change.kind === 'insert') {
      const { token } = change.fields;
      const isTaken = this.find(change.id) !== undefined || (token !== undefined && this.find(token) !== undefined);
      if (isTaken) return;
    }
    this.#make(change);
  }

  #countCall(): void {
    for (const planned of this.#afterCalls) planned.callsLeft -= 1;
    const due = this.#afterCalls.filter(({ callsLeft }) => callsLeft <= 0);
    this.#afterCalls = this.#afterCalls.filter(({ callsLeft }) => callsLeft > 0);
    for (const planned of due) planned.make();
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
  const makeAll = (changes: readonly PlannedChange[]): string[] => changes.map((one) => books[one.mode].change(one));
  const change = (changes: readonly z.input<typeof dossierChangeSchema>[]): string[] =>
    makeAll(changes.map((one) => dossierChangeSchema.parse(one)));
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
        context.json({ ids: makeAll(changes) }),
      ),
  };
};
