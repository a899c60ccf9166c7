import { createHmac, randomBytes } from 'node:crypto';

const OPAQUE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HUMANIZED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const draw = (letters: string, length: number): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Makes the opaque part of an identifier: 24 mixed-case letters and digits (service facts: tokens). */
export const makeToken = (): string => draw(OPAQUE, 24);

/** Makes a token for people: 9 upper-case letters and digits (service facts: tokens). */
export const makeHumanizedToken = (): string => draw(HUMANIZED, 9);

/** Whose account a key opens. */
type Account = 'main' | 'other';
/** The mode that a key decides (interface: Mode rules). */
export type Mode = 'test' | 'live';
/** What a credential is for (interface: Authentication 3). */
export type KeyKind = 'private' | 'public' | 'jwt';
/** What a presented key looks like by its prefix; `none` when nothing was presented. */
export type KeyFamily = 'private_sandbox' | 'private' | 'public_sandbox' | 'public' | 'unknown' | 'none';

/** The account and mode behind a credential, and the public key of the same mode. */
export interface KeyOwner {
  account: Account;
  mode: Mode;
  kind: KeyKind;
  publicKey: string;
}

/** The credentials of a sandbox and the names it answers to, made anew at each start. */
export interface SandboxKeys {
  privateKey: string;
  livePrivateKey: string;
  otherPrivateKey: string;
  publicKey: string;
  workflowToken: string;
  kycLevel: string;
  kybLevel: string;
  jwt: string;
}

/** The credentials that open a sandbox at this moment. */
export interface KeyRing {
  /** The credentials handed out; `privateKey` is the latest, also when it was revoked. */
  readonly keys: Readonly<SandboxKeys>;
  /** The owner of a credential; undefined when it opens nothing. */
  findOwner(key: string): KeyOwner | undefined;
  /** Revokes the main organisation's private test key and gives its successor, which belongs to the same public key. */
  rotate(): string;
  /** Revokes the main organisation's private test key. */
  revoke(): void;
}

const makeJwt = (): string => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'sandbox', jti: makeToken() })}`;
  return `${content}.${createHmac('sha256', randomBytes(32)).update(content).digest('base64url')}`;
};

const makePrivateTestKey = (): string => `private_sandbox_${makeToken()}`;

/** Makes the credentials of one sandbox: two modes of the main organisation and another organisation in test mode. */
export const createKeyRing = (): KeyRing => {
  const keys: SandboxKeys = {
    privateKey: makePrivateTestKey(),
    livePrivateKey: `private_${makeToken()}`,
    otherPrivateKey: makePrivateTestKey(),
    publicKey: `public_sandbox_${makeToken()}`,
    workflowToken: `wf_${makeToken()}`,
    kycLevel: 'kyc_standard',
    kybLevel: 'kyb_standard',
    jwt: makeJwt(),
  };
  const livePublicKey = `public_${makeToken()}`;
  const otherPublicKey = `public_sandbox_${makeToken()}`;
  const inTest = { account: 'main', mode: 'test', publicKey: keys.publicKey } as const;
  const inLive = { account: 'main', mode: 'live', publicKey: livePublicKey } as const;
  const ofOther = { account: 'other', mode: 'test', publicKey: otherPublicKey } as const;
  const owners = new Map<string, KeyOwner>([
    [keys.privateKey, { ...inTest, kind: 'private' }],
    [keys.publicKey, { ...inTest, kind: 'public' }],
    [keys.jwt, { ...inTest, kind: 'jwt' }],
    [keys.livePrivateKey, { ...inLive, kind: 'private' }],
    [livePublicKey, { ...inLive, kind: 'public' }],
    [keys.otherPrivateKey, { ...ofOther, kind: 'private' }],
    [otherPublicKey, { ...ofOther, kind: 'public' }],
  ]);
  const revoke = (): void => {
    owners.delete(keys.privateKey);
  };
  return {
    keys,
    findOwner: (key) => owners.get(key),
    revoke,
    rotate: () => {
      revoke();
      keys.privateKey = makePrivateTestKey();
      owners.set(keys.privateKey, { ...inTest, kind: 'private' });
      return keys.privateKey;
    },
  };
};

/** The family of a key by its prefix. */
export const toKeyFamily = (key: string | undefined): KeyFamily => {
  if (key === undefined || key === '') return 'none';
  const families = ['private_sandbox', 'private', 'public_sandbox', 'public'] as const;
  return families.find((family) => key.startsWith(`${family}_`)) ?? 'unknown';
};
