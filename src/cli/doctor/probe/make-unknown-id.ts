import { randomBytes } from 'node:crypto';

/** The id of a dossier that exists nowhere, in the form the interface gives (interface: Identifier forms). */
export const makeUnknownId = (): string => `dossier_${randomBytes(12).toString('hex')}`;
