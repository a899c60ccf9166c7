import { NightscreenError } from '../../errors.js';
import type { Account } from '../../store/organisations.js';

/** The key of a run that has begun under one account turns out to be of another: what was done must not be counted on that one. */
export class OtherAccount extends NightscreenError {
  readonly account: Account;

  constructor(account: Account) {
    super('other_account', 'stopped: it was begun under another account than the one of this key');
    this.account = account;
  }
}
