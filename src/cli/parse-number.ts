import { InvalidArgumentError } from 'commander';

/** A parser of whole numbers from `minimum` to `maximum` for options; throws commander's InvalidArgumentError. */
export const parseWholeNumber =
  (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
