import { z } from 'zod';
import { describeProblem } from '../calls.js';
import { type SandboxDossier, sandboxDossierSchema } from '../world.js';

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
export type DossierPage =
  | { dossiers: SandboxDossier[]; page: number; per_page: number; total: number; total_pages: number }
  | { dossiers: SandboxDossier[]; per_page: number; has_more: boolean; next_cursor: string | null }
  | { problem: string };

/** Lists dossiers by the query parameters of the interface (interface: GET /dossiers). */
export type ListDossiers = (query: Record<string, string>) => DossierPage;

/** A list whose dossiers change: the next query sees the change. */
export interface DossierList extends ListDossiers {
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
