import { createHmac, randomBytes } from 'node:crypto';

/** Whose account a key opens. */
export type Account = 'main' | 'other';
/** The mode that a key decides (interface: Mode rules). */
export type Mode = 'test' | 'live';
/** What a presented key looks like by its prefix; `none` when nothing was presented. */
export type KeyFamily = 'private_sandbox' | 'private' | 'public_sandbox' | 'public' | 'unknown' | 'none';

/** The account and mode behind a private key, and the public key of the same mode. */
export interface KeyOwner {
  account: Account;
  mode: Mode;
  publicKey: string;
}

/** Every credential of one sandbox, made anew at each start. */
export interface SandboxKeys {
  privateKey: string;
  livePrivateKey: string;
  otherPrivateKey: string;
  publicKey: string;
  workflowToken: string;
  kycLevel: string;
  kybLevel: string;
  jwt: string;
  owners: ReadonlyMap<string, KeyOwner>;
}

const makeToken = (): string =>
  randomBytes(32)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 24);

const makeJwt = (): string => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'sandbox', jti: makeToken() })}`;
  return `${content}.${createHmac('sha256', randomBytes(32)).update(content).digest('base64url')}`;
};

/** Makes the credentials of one sandbox: two modes of the main organisation and another organisation in test mode. */
export const makeKeys = (): SandboxKeys => {
  const privateKey = `private_sandbox_${makeToken()}`;
  const livePrivateKey = `private_${makeToken()}`;
  const otherPrivateKey = `private_sandbox_${makeToken()}`;
  const publicKey = `public_sandbox_${makeToken()}`;
  return {
    privateKey,
    livePrivateKey,
    otherPrivateKey,
    publicKey,
    workflowToken: `wf_${makeToken()}`,
    kycLevel: 'kyc_standard',
    kybLevel: 'kyb_standard',
    jwt: makeJwt(),
    owners: new Map<string, KeyOwner>([
      [privateKey, { account: 'main', mode: 'test', publicKey }],
      [livePrivateKey, { account: 'main', mode: 'live', publicKey: `public_${makeToken()}` }],
      [otherPrivateKey, { account: 'other', mode: 'test', publicKey: `public_sandbox_${makeToken()}` }],
    ]),
  };
};

/** The family of a key by its prefix. */
export const toKeyFamily = (key: string | undefined): KeyFamily => {
  if (key === undefined || key === '') return 'none';
  const families = ['private_sandbox', 'private', 'public_sandbox', 'public'] as const;
  return families.find((family) => key.startsWith(`${family}_`)) ?? 'unknown';
};
