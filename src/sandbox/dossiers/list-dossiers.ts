import { z } from 'zod';
import { describeProblem } from '../describe-problem.js';
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

/** Prepares dossiers for listing: most recent first, those of the same instant by id. */
export const createDossierList = (dossiers: readonly SandboxDossier[]): ListDossiers => {
  const rows = dossiers.map(toRow);
  rows.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.dossier.id < b.dossier.id ? -1 : 1));
  const places = new Map(rows.map((row, place) => [row.dossier.id, place]));

  const listAfter = (cursor: string, filter: Filter): DossierPage => {
    const found: SandboxDossier[] = [];
    // A cursor that is not there gives an empty last page: legal by the interface, and a trap for who takes it as the end.
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

  return (query) => {
    const filter = filterSchema.safeParse(query);
    if (!filter.success) return { problem: describeProblem(filter.error) };
    const cursor = query['starting_after'];
    if (cursor !== undefined) return listAfter(cursor, filter.data);
    const page = pageSchema.safeParse(query);
    return page.success ? listPage(page.data.page, filter.data) : { problem: describeProblem(page.error) };
  };
};
