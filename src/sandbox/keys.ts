import { createHmac, randomBytes } from 'node:crypto';

const OPAQUE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HUMANIZED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const draw = (letters: string, bytes: Buffer): string =>
  [...bytes].map((byte) => letters[byte % letters.length]).join('');

/** A token: 24 mixed-case letters and digits, or 9 upper-case letters and digits for people (service facts: tokens). */
export const makeToken = (kind: 'opaque' | 'humanized' = 'opaque'): string =>
  kind === 'opaque' ? draw(OPAQUE, randomBytes(24)) : draw(HUMANIZED, randomBytes(9));

/** The mode of a key (interface: Mode rules). */
export type Mode = 'test' | 'live';
/** Account and mode of a credential, and the public key of the same mode. */
export interface KeyOwner {
  account: 'main' | 'other';
  mode: Mode;
  /** The use of the credential (interface: Authentication 3). */
  kind: 'private' | 'public' | 'jwt';
  publicKey: string;
}

const makeJwt = (): string => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'sandbox', jti: makeToken() })}`;
  return `${content}.${createHmac('sha256', randomBytes(32)).update(content).digest('base64url')}`;
};

const testPrefix = 'private_sandbox_';

const makePrivateTestKey = (): string => `${testPrefix}${makeToken()}`;

/** Whether a text can be the private test key of a sandbox. */
export const isPrivateTestKey = (text: string): boolean =>
  text.startsWith(testPrefix) && /^[A-Za-z0-9]{24}$/.test(text.slice(testPrefix.length));

/** The credentials and names of the sandbox with this private test key; the same key gives the same accounts. */
function deriveKeys(privateKey: string) {
  const derive = (name: string): string =>
    draw(OPAQUE, createHmac('sha256', privateKey).update(name).digest().subarray(0, 24));
  return {
    privateKey,
    livePrivateKey: `private_${derive('live')}`,
    otherPrivateKey: `${testPrefix}${derive('other')}`,
    publicKey: `public_sandbox_${derive('public')}`,
    livePublicKey: `public_${derive('public live')}`,
    otherPublicKey: `public_sandbox_${derive('public other')}`,
    workflowToken: `wf_${derive('workflow')}`,
    kycLevel: 'kyc_standard',
    kybLevel: 'kyb_standard',
    jwt: makeJwt(),
  };
}

/** The credentials of one sandbox: two modes of the main organisation, and another organisation in test mode. */
export class KeyRing {
  /** The credentials and names of the sandbox; `privateKey` is the latest, also when revoked. */
  readonly keys: Omit<ReturnType<typeof deriveKeys>, 'livePublicKey' | 'otherPublicKey'>;
  readonly #inTest: Pick<KeyOwner, 'account' | 'mode' | 'publicKey'>;
  readonly #owners: Map<string, KeyOwner>;

  /** Without a private test key all credentials are new. */
  constructor(privateKey = makePrivateTestKey()) {
    const { livePublicKey, otherPublicKey, ...keys } = deriveKeys(privateKey);
    this.keys = keys;
    this.#inTest = { account: 'main', mode: 'test', publicKey: keys.publicKey };
    const inLive = { account: 'main', mode: 'live', publicKey: livePublicKey } as const;
    const ofOther = { account: 'other', mode: 'test', publicKey: otherPublicKey } as const;
    this.#owners = new Map<string, KeyOwner>([
      [keys.privateKey, { ...this.#inTest, kind: 'private' }],
      [keys.publicKey, { ...this.#inTest, kind: 'public' }],
      [keys.jwt, { ...this.#inTest, kind: 'jwt' }],
      [keys.livePrivateKey, { ...inLive, kind: 'private' }],
      [livePublicKey, { ...inLive, kind: 'public' }],
      [keys.otherPrivateKey, { ...ofOther, kind: 'private' }],
      [otherPublicKey, { ...ofOther, kind: 'public' }],
    ]);
  }

  /** The owner of a credential; undefined for an invalid one. */
  findOwner(key: string): KeyOwner | undefined {
    return this.#owners.get(key);
  }

  /** Revokes the main organisation's private test key. */
  revoke(): void {
    this.#owners.delete(this.keys.privateKey);
  }

  /** Revokes the main organisation's private test key and gives its successor, with the same public key. */
  rotate(): string {
    this.revoke();
    this.keys.privateKey = makePrivateTestKey();
    this.#owners.set(this.keys.privateKey, { ...this.#inTest, kind: 'private' });
    return this.keys.privateKey;
  }
}
