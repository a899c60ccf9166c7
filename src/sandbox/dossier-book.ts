import { z } from 'zod';
import { describeProblem } from './calls.js';
import { type Mode, makeHumanizedToken, makeToken } from './keys.js';
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

/** One page of dossiers in either of the interface's envelopes, or what is wrong with the request. */
type DossierPage =
  | { dossiers: SandboxDossier[]; page: number; per_page: number; total: number; total_pages: number }
  | { dossiers: SandboxDossier[]; per_page: number; has_more: boolean; next_cursor: string | null }
  | { problem: string };

/** Lists dossiers by the query parameters of the interface (interface: GET /dossiers). */
export type ListDossiers = (query: Record<string, string>) => DossierPage;

/** A list whose dossiers change: the next query sees the change. */
interface DossierList extends ListDossiers {
  /** Adds a dossier, or puts it in the place of the one with its id. */
  put(dossier: SandboxDossier): void;
  remove(id: string): void;
}

interface Row {
  dossier: SandboxDossier;
  createdAtMs: number;
  searchText: string;
}

const toRow = (dossier: SandboxDossier): Row => ({
  dossier,
  createdAtMs: Date.parse(dossier.created_at),
  searchText: [dossier.name, dossier.token, dossier.reference ?? ''].join('\n').toLowerCase(),
});

const isWanted = ({ dossier, createdAtMs, searchText }: Row, filter: Filter): boolean =>
  (filter.search === undefined || searchText.includes(filter.search.toLowerCase())) &&
  (filter.status === undefined || dossier.status === filter.status) &&
  (filter.type === undefined || dossier.type === filter.type) &&
  (filter.date_from === undefined || createdAtMs >= filter.date_from) &&
  (filter.date_to === undefined || createdAtMs <= filter.date_to);

const compareRows = (a: Row, b: Row): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  if (a.dossier.id === b.dossier.id) return 0;
  return a.dossier.id < b.dossier.id ? -1 : 1;
};

/** The place of a row in sorted rows, or where it belongs. */
const findPlace = (rows: readonly Row[], row: Row): number => {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = rows[middle];
    if (other && compareRows(other, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Prepares dossiers for listing: most recent first, those of the same instant by id. */
export const createDossierList = (dossiers: readonly SandboxDossier[]): DossierList => {
  const rows = dossiers.map(toRow).sort(compareRows);
  const rowsById = new Map(rows.map((row) => [row.dossier.id, row]));

  const remove = (id: string): void => {
    const row = rowsById.get(id);
    if (row) rows.splice(findPlace(rows, row), 1);
    rowsById.delete(id);
  };
  const put = (dossier: SandboxDossier): void => {
    remove(dossier.id);
    const row = toRow(dossier);
    rows.splice(findPlace(rows, row), 0, row);
    rowsById.set(dossier.id, row);
  };

  const listAfter = (cursor: string, filter: Filter): DossierPage => {
    const found: SandboxDossier[] = [];
    // A cursor that is not there gives an empty last page: legal by the interface, and a trap for who takes it as the end.
    const cursorRow = rowsById.get(cursor);
    const start = cursorRow ? findPlace(rows, cursorRow) : rows.length;
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

  const listPage = (page: number, filter: Filter): DossierPage => {
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

  const list = (query: Record<string, string>): DossierPage => {
    const filter = filterSchema.safeParse(query);
    if (!filter.success) return { problem: describeProblem(filter.error) };
    const cursor = query['starting_after'];
    if (cursor !== undefined) return listAfter(cursor, filter.data);
    const page = pageSchema.safeParse(query);
    return page.success ? listPage(page.data.page, filter.data) : { problem: describeProblem(page.error) };
  };
  return Object.assign(list, { put, remove });
};

const when = {
  /** Whose dossiers: those of the test keys or those of the live key. */
  mode: z.enum(['test', 'live']).default('test'),
  /** When the sandbox's clock has gone on by so much. */
  afterMs: z.number().min(0).optional(),
  /** When the list was called so many times more. */
  afterCalls: z.number().int().min(1).optional(),
};
const fieldsSchema = sandboxDossierSchema.partial();

/** One change of the main organisation's dossiers; at once unless it says when. */
export const dossierChangeSchema = z
  .union([
    z.strictObject({ ...when, insert: fieldsSchema }),
    z.strictObject({ ...when, update: z.string(), set: fieldsSchema.omit({ id: true, token: true }) }),
    z.strictObject({ ...when, remove: z.string() }),
  ])
  .refine(
    (change) => change.afterMs === undefined || change.afterCalls === undefined,
    'afterMs or afterCalls, not both',
  );
/** A change of the main organisation's dossiers as a caller writes it. */
export type DossierChange = z.input<typeof dossierChangeSchema>;
type DueChange = z.output<typeof dossierChangeSchema>;
type DossierFields = z.output<typeof fieldsSchema>;

/** Hears of each change: without `before` the dossier is new, without `after` it is gone. */
type HearChange = (before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void;

/** The dossiers of one organisation in one mode. */
export interface DossierBook {
  list(query: Record<string, string>): DossierPage;
  /** By `dossier_<token>` or by the humanized token (interface: Identifier forms). */
  find(idOrToken: string): SandboxDossier | undefined;
  /** Adds a dossier, open and made now where nothing else is said; throws when its id or token is taken. */
  insert(fields: DossierFields): SandboxDossier;
  /** Changes a dossier; undefined when there is none. */
  update(idOrToken: string, fields: DossierFields): SandboxDossier | undefined;
  /** Does a change when it is due, and gives the id that it names or makes; throws when it is due now and cannot be done. */
  change(change: DueChange): string;
  /** Replaces all dossiers; changes that were still to come are forgotten. */
  replace(dossiers: readonly SandboxDossier[]): void;
}

const VERIFIED: readonly string[] = ['completed', 'approved', 'rejected'];

/** What a state brings with it: a dossier that was verified has a document and the time of its completion. */
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
    token: makeHumanizedToken(),
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
  return { ...fillByStatus(Object.assign(updated, fields), nowMs), ...{ id: dossier.id, token: dossier.token } };
};

/** Creates a book without dossiers. */
export const createDossierBook = (mode: Mode, clock: SandboxClock, hear: HearChange): DossierBook => {
  let held = new Map<string, SandboxDossier>();
  let ids = new Map<string, string>();
  let list: DossierList | undefined;
  let afterCalls: { left: number; act: () => void }[] = [];

  const find = (idOrToken: string): SandboxDossier | undefined => held.get(ids.get(idOrToken) ?? idOrToken);
  const put = (dossier: SandboxDossier): void => {
    held.set(dossier.id, dossier);
    ids.set(dossier.token, dossier.id);
    list?.put(dossier);
  };
  const insert = (fields: DossierFields): SandboxDossier => {
    const dossier = toDossier(fields, mode, clock.nowMs());
    if (find(dossier.id) || find(dossier.token))
      throw new Error(`there is a dossier ${dossier.id} or ${dossier.token}`);
    put(dossier);
    hear(undefined, dossier);
    return dossier;
  };
  const update = (idOrToken: string, fields: DossierFields): SandboxDossier | undefined => {
    const before = find(idOrToken);
    if (!before) return undefined;
    const after = toUpdated(before, fields, clock.nowMs());
    put(after);
    hear(before, after);
    return after;
  };
  const remove = (idOrToken: string): SandboxDossier | undefined => {
    const before = find(idOrToken);
    if (!before) return undefined;
    held.delete(before.id);
    ids.delete(before.token);
    list?.remove(before.id);
    hear(before, undefined);
    return before;
  };
  const carryOut = (change: DueChange): SandboxDossier | undefined => {
    if ('insert' in change) return insert(change.insert);
    return 'update' in change ? update(change.update, change.set) : remove(change.remove);
  };
  /** A change that comes later does nothing when its dossier is gone by then, or its id or token is taken. */
  const carryOutLater = (change: DueChange, world: unknown): void => {
    if (world !== held) return;
    const { id, token } = 'insert' in change ? change.insert : {};
    if (find(id ?? '') === undefined && find(token ?? '') === undefined) carryOut(change);
  };
  const countCall = (): void => {
    for (const waiting of afterCalls) waiting.left -= 1;
    const due = afterCalls.filter((waiting) => waiting.left <= 0);
    if (due.length === 0) return;
    afterCalls = afterCalls.filter((waiting) => waiting.left > 0);
    for (const waiting of due) waiting.act();
  };

  return {
    find,
    insert,
    update,
    list: (query) => {
      list ??= createDossierList([...held.values()]);
      const page = list(query);
      countCall();
      return page;
    },
    change: (order) => {
      const change =
        'insert' in order ? { ...order, insert: { ...order.insert, id: order.insert.id ?? makeDossierId() } } : order;
      const id = 'insert' in change ? change.insert.id : 'update' in change ? change.update : change.remove;
      const act = carryOutLater.bind(undefined, change, held);
      if (change.afterMs !== undefined) clock.at(clock.nowMs() + change.afterMs, act);
      else if (change.afterCalls !== undefined) afterCalls.push({ left: change.afterCalls, act });
      else if (!carryOut(change)) throw new Error(`no dossier ${id}`);
      return id;
    },
    replace: (dossiers) => {
      held = new Map(dossiers.map((dossier) => [dossier.id, dossier]));
      ids = new Map(dossiers.map((dossier) => [dossier.token, dossier.id]));
      list = undefined;
      afterCalls = [];
    },
  };
};
