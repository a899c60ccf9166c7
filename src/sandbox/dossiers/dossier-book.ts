import type { SandboxDossier } from '../world.js';
import { createDossierList, type ListDossiers } from './list-dossiers.js';

/** The dossiers of one organisation. */
export interface DossierBook {
  list: ListDossiers;
  /** By `dossier_<token>` or by the humanized token (interface: Identifier forms). */
  find(idOrToken: string): SandboxDossier | undefined;
  add(dossier: SandboxDossier): void;
}

const indexDossiers = (dossiers: readonly SandboxDossier[]): Map<string, SandboxDossier> =>
  new Map(dossiers.flatMap((dossier) => [[dossier.token, dossier] as const, [dossier.id, dossier] as const]));

/** Creates a book that holds these dossiers; the list and the index are made when they are first asked for. */
export const createDossierBook = (dossiers: readonly SandboxDossier[]): DossierBook => {
  let held = dossiers;
  let list: ListDossiers | undefined;
  let index: Map<string, SandboxDossier> | undefined;
  return {
    list: (query) => {
      list ??= createDossierList(held);
      return list(query);
    },
    find: (idOrToken) => {
      index ??= indexDossiers(held);
      return index.get(idOrToken);
    },
    add: (dossier) => {
      held = [...held, dossier];
      list = undefined;
      index = undefined;
    },
  };
};
